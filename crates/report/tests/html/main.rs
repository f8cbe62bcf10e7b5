//! The HTML page: what it says, what it keeps out, how large it gets, and what a real browser makes of it.

mod axe;
mod browser;
mod chromium;
mod compared;
mod comparison;
#[path = "../report/fixture.rs"]
#[expect(dead_code, reason = "the golden views use all of it")]
mod fixture;
mod page;
mod scripted;
mod site;

use seatrial_model::record::Document;
use seatrial_report::html::{PageContext, write};

/// The page of a record that nothing stands around.
fn page_of(document: &Document) -> String {
    page_in(document, &PageContext::default())
}

/// The page of a record.
fn page_in(document: &Document, context: &PageContext<'_>) -> String {
    let mut out = Vec::new();
    write(document, context, &mut out).expect("memory takes all");
    String::from_utf8(out).expect("text")
}
