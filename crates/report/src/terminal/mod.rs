//! The text after a run: the verdict, the numbers with their limits, findings, next steps.

mod actions;
mod findings;
mod headline;
mod measured;
mod next;
mod nodes;
mod pairs;
mod screen;
mod series;
mod sweep;
pub(crate) mod table;
mod verdicts;

use std::collections::HashSet;
use std::path::Path;

use self::series::Series;
use seatrial_model::About;
use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, Document};

use crate::TextStyle;
use crate::ink::render_colors;
use crate::notes::Notes;
use crate::view;
use crate::view::actions::{self as to_act_on, with_warnings};
use crate::view::cases::without_added;

/// Lines that every terminal shows at once.
const ONE_SCREEN: usize = 45;

/// The context of a record, beside the record itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct TerminalContext<'a> {
    pub folder: Option<&'a Path>,
    /// The benchmarks, whose checks are offered.
    pub abouts: &'a [&'static About],
    /// More next steps: label and text, for example `resume` and a command.
    pub next: &'a [(String, String)],
    pub content: Content<'a>,
}

/// What the text holds.
#[derive(Clone, Copy, Debug, Default)]
pub enum Content<'a> {
    /// What fits on one screen.
    #[default]
    Screen,
    /// Every table and every finding.
    Details,
    /// The tables of the document that the profile was made from.
    SourceTables(&'a Profile),
}

/// The record as text for a terminal, ending with a line feed.
pub fn render(document: &Document, context: &TerminalContext<'_>, style: TextStyle) -> String {
    let width = style.width();
    let text = match context.content {
        Content::Screen => screen::text(document, context, width),
        Content::Details => details(document, context, width),
        Content::SourceTables(profile) => source_tables(document, profile, context, width),
    };
    render_colors(&text, style.style)
}

/// The numbers, benchmark by benchmark.
fn tables(document: &Document, series: Series, notes: &mut Notes, width: u16) -> Vec<String> {
    let (mut blocks, in_sweeps) = sweep::blocks(document, notes, width);
    let in_sweeps: HashSet<&str> = in_sweeps.iter().map(String::as_str).collect();
    let others = without_added(&document.results);
    let rows: Vec<&CaseRecord> =
        others.iter().filter(|case| !in_sweeps.contains(case.case.as_str())).collect();
    blocks.extend(measured::blocks(document, &rows, series, notes, width));
    blocks.extend(measured::of_factors(document, notes, width));
    blocks.extend(measured::of_settings(document, notes, width));
    blocks.extend(pairs::blocks(&others, width));
    let prices = view::prices::prices(document);
    blocks.extend(prices.iter().map(|found| table::block(found.table(), usize::MAX, notes, width)));
    blocks
}

fn source_tables(
    document: &Document,
    profile: &Profile,
    context: &TerminalContext<'_>,
    width: u16,
) -> String {
    let mut notes = Notes::default();
    let mut blocks = vec![headline::block(document, width)];
    let tables = view::source_tables::tables(document, profile);
    blocks.extend(tables.into_iter().map(|of| table::block(of, usize::MAX, &mut notes, width)));
    blocks.push(next::repeats(document, &to_act_on::actions(document, context.abouts)));
    blocks.push(next::block(document, context));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

fn details(document: &Document, context: &TerminalContext<'_>, width: u16) -> String {
    let mut notes = Notes::default();
    let to_act_on = with_warnings(document, context.abouts);
    let mut blocks = vec![headline::block(document, width)];
    blocks.push(
        actions::block(document, &to_act_on, usize::MAX, usize::MAX, width)
            + &next::repeats(document, &to_act_on),
    );
    blocks.push(nodes::block(document, nodes::MOST_ROWS, &mut notes, width));
    blocks.push(verdicts::block(document, &mut notes, width));
    blocks.extend(tables(document, Series::All, &mut notes, width));
    blocks.push(findings::block(document, width));
    blocks.push(next::block(document, context));
    blocks.retain(|block| !block.is_empty());
    let mut text = blocks.join("\n");
    if text.lines().count() > ONE_SCREEN {
        // The first line has scrolled away, and it is the most important one.
        text += &format!("\n{}\n", text.lines().next().unwrap_or_default());
    }
    text
}
