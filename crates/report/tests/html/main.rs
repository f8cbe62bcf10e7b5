//! The HTML page: its content, escaping, size, and behaviour in a real browser.

mod axe;
mod browser;
mod chromium;
mod compared;
mod comparison;
#[path = "../report/fixture.rs"]
#[expect(dead_code, reason = "the golden views use all of it")]
mod fixture;
mod machines;
mod map;
mod page;
mod pictures;
mod prices;
mod scripted;
mod site;

use seatrial_model::record::Document;
use seatrial_report::html::{PageContext, write};

/// The page of a record without context.
fn page_of(document: &Document) -> String {
    page_in(document, &PageContext::default())
}

fn page_in(document: &Document, context: &PageContext<'_>) -> String {
    let mut out = Vec::new();
    write(document, context, &mut out).expect("memory takes all");
    String::from_utf8(out).expect("text")
}
