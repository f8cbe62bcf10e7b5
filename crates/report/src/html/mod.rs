//! The record as one HTML file: no network, light and dark, for paper, phones, keyboards and screen readers.
//!
//! Everything in a record may have been written by strangers: names of nodes, reasons, output of tools. Text gets into
//! the page in two ways only: through the templates, which escape it, and through the plots, whose library does. What is
//! marked as safe in a template is a plot, the style or the script. `words::text` takes out characters that would
//! change the direction of what follows.
//!
//! A thousand nodes do not fit into one page in full. Every node has a row; of the cases the worst are shown in full, and
//! the others stand in tables over all nodes.

mod actions;
mod benchmark;
mod case;
mod comparison;
mod curve;
mod download;
mod factors;
mod filter;
mod frame;
mod heat;
mod inventory;
mod latency;
mod page;
mod plot;
mod series;
mod shown;
mod sweep;
mod table;
mod waterfall;
mod words;

use std::io::{self, Write};
use std::path::Path;

pub use comparison::{Compared, Run};
use seatrial_model::profile::Profile;
use seatrial_model::record::Document;
use seatrial_model::setting::AuditedSetting;
use seatrial_model::{About, CaseId, PartRecord};

/// What stands around a record and is not in it. All of it may be missing.
#[derive(Clone, Copy)]
pub struct PageContext<'a> {
    pub folder: Option<&'a Path>,
    /// The profile that the run was judged against, for who plays which role.
    pub profile: Option<&'a Profile>,
    pub nodes: &'a [crate::inventory::Node],
    /// The settings of the nodes beside what the profile wants of them.
    pub settings: &'a [AuditedSetting],
    /// Cases that were planned.
    pub planned: Option<usize>,
    /// Whether somebody still measures.
    pub is_running: bool,
    /// What the benchmarks say of themselves.
    pub abouts: &'a [&'static About],
    /// What the parts of a case said, asked for the cases that are shown in full.
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
            is_running: false,
            abouts: &[],
            parts: &|_| Vec::new(),
        }
    }
}

impl PageContext<'_> {
    /// The definition of a benchmark.
    fn about(&self, bench: &str) -> Option<&'static About> {
        self.abouts.iter().copied().find(|about| about.id == bench)
    }
}

/// Writes `document` to `out` as one HTML page.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(document: &Document, context: &PageContext<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(page::render(document, context)?.as_bytes())
}

/// Writes what became of `others`, each held against the run `baseline`, to `out` as one HTML page. `command` is the
/// command line that compares them.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_comparison(
    baseline: Run<'_>,
    others: &[Compared<'_>],
    command: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(comparison::render(baseline, others, command)?.as_bytes())
}
