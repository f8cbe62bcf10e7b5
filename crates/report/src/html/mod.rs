//! The record as one HTML file: no network, light and dark, for paper, phones, keyboards and screen readers.
//!
//! All text of a record is untrusted: names of nodes, reasons, output of tools. Text enters the page in two ways
//! only: through the templates, which escape it, and through the plots, whose library escapes it. Only plots, the
//! style and the script are marked as safe in a template. `words::text` removes characters that change the direction
//! of the following text.
//!
//! A page cannot hold a thousand nodes in full. Every node has a row; the worst cases are shown in full, and the
//! others in tables over all nodes.

mod actions;
mod answers;
mod benchmark;
mod case;
mod case_plots;
mod comparison;
mod curve;
mod download;
mod factors;
mod filter;
mod frame;
mod heat;
mod inventory;
mod latency;
mod lines;
mod map;
mod overlaid;
mod page;
mod plot;
mod prices;
mod series;
mod shown;
mod sweep;
mod table;
mod waterfall;
mod words;

use std::io::{self, Write};
use std::path::Path;

pub use comparison::ComparedSide;
pub use map::map_file;
use seatrial_model::profile::Profile;
use seatrial_model::record::Document;
use seatrial_model::setting::AuditedSetting;
use seatrial_model::{About, CaseId, PartRecord};

use crate::compare::Compared;
use crate::view::answers::Earlier;

/// The context of a record, beside the record itself. Every part may be absent.
#[derive(Clone, Copy)]
pub struct PageContext<'a> {
    pub folder: Option<&'a Path>,
    /// The profile that judged the run, for the roles of nodes.
    pub profile: Option<&'a Profile>,
    pub nodes: &'a [crate::inventory::Node],
    /// The settings of the nodes and what the profile demands.
    pub settings: &'a [AuditedSetting],
    pub planned: Option<usize>,
    /// The last comparable run before this one.
    pub earlier: Option<Earlier<'a>>,
    pub is_running: bool,
    pub abouts: &'a [&'static About],
    /// Loads the part records of a case; called for the cases that are shown in full.
    pub parts: &'a dyn Fn(&CaseId) -> Vec<PartRecord>,
}

impl Default for PageContext<'_> {
    fn default() -> Self {
        Self {
            folder: None,
            profile: None,
            nodes: &[],
            settings: &[],
            planned: None,
            earlier: None,
            is_running: false,
            abouts: &[],
            parts: &|_| Vec::new(),
        }
    }
}

impl PageContext<'_> {
    fn about(&self, bench: &str) -> Option<&'static About> {
        self.abouts.iter().copied().find(|about| about.id == bench)
    }
}

/// Writes `document` to `out` as one HTML page.
pub fn write(document: &Document, context: &PageContext<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(page::render(document, context)?.as_bytes())
}

/// Writes a comparison of `sides` to `out` as one HTML page. `command` is the command line that compares them.
pub fn write_comparison(
    compared: &Compared<'_>,
    sides: &[ComparedSide<'_>],
    command: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(comparison::render(compared, sides, command)?.as_bytes())
}
