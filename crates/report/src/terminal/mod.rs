//! What a person sees after a run: the verdict, the numbers beside their limits, what was found, what to do next.

mod findings;
mod fleet;
mod headline;
mod measured;
mod next;
mod nodes;
mod pairs;
mod series;
mod verdicts;

use std::path::Path;

use seatrial_model::record::Document;

use crate::Look;
use crate::ink::develop;
use crate::notes::Notes;

/// Lines that a terminal surely shows at once.
const ONE_SCREEN: usize = 45;

/// What stands around a record and is not in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// The run folder, when there is one.
    pub folder: Option<&'a Path>,
    /// More things to do next: a label and what it says, for example `resume` and a command.
    pub next: &'a [(String, String)],
}

/// The record as text for a terminal, ending with a line feed.
pub fn render(document: &Document, context: &Context<'_>, look: Look) -> String {
    let mut notes = Notes::default();
    let width = look.width();
    let mut blocks = vec![headline::block(document)];
    let fleet = nodes::block(document, &mut notes, width);
    if !fleet.is_empty() {
        blocks.push(fleet + &notes.flush(width));
    }
    let judged = verdicts::block(document, &mut notes, width);
    if !judged.is_empty() {
        blocks.push(judged + &notes.flush(width));
    }
    blocks.extend(measured::blocks(document, &mut notes, width));
    blocks.extend(pairs::blocks(document, width));
    blocks.push(findings::block(document, width));
    blocks.push(next::block(document, context, width));
    blocks.retain(|block| !block.is_empty());
    let mut text = blocks.join("\n");
    if text.lines().count() > ONE_SCREEN {
        // The first line has scrolled away, and it is the one that matters.
        text += &format!("\n{}\n", text.lines().next().unwrap_or_default());
    }
    develop(&text, look.style)
}
