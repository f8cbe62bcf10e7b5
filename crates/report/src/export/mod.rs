//! A run in the forms that other programs read: one file a form, and one line in the block `exports!` below.
//!
//! An export is given what a run folder holds, as [`Material`], and a sink. Flag, help, man page and completion come
//! from its [`About`]; nothing else has to know of it.

pub(crate) mod columns;
mod file;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Site, VerdictRecord};

pub use file::put;

/// What an export may look at.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The record; samples that stand in files of the run folder are back in it where they could be read.
    pub document: &'a Document,
    /// What the nodes are and how they are set, as kept with the run.
    pub site: &'a Site,
    /// The profile as the run was judged by it, roles of the command line included.
    pub profile: Option<&'a Profile>,
    /// The run folder, for exports that carry its files.
    pub folder: &'a Path,
}

/// What an export says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The long flag, without dashes.
    pub flag: &'static str,
    /// What help shows behind the flag, for example `FILE`.
    pub value: &'static str,
    /// One sentence for help, without a full stop.
    pub help: &'static str,
    /// Whether the flag may stand alone; it then writes to standard output.
    pub bare: bool,
}

/// A form of a run.
pub trait Export: Sync {
    fn about(&self) -> &'static About;

    /// Writes the whole of it to `out`.
    ///
    /// # Errors
    /// When `out` cannot be written, or the run has what the form cannot say.
    fn write(&self, run: &Material<'_>, out: &mut (dyn Write + Send)) -> io::Result<()>;

    /// The exit code that readers of standard output expect of this form, where it is not that of Seatrial.
    fn exit(&self, _run: &Material<'_>) -> Option<u8> {
        None
    }

    /// The line and the exit code of a run that cannot be written because of `why`, where readers of standard output expect
    /// one all the same.
    fn failed(&self, _why: &str) -> Option<(String, u8)> {
        None
    }
}

/// Declares the modules of the exports and lists them.
macro_rules! exports {
    ($($file:ident: $export:ident;)+) => {
        $(mod $file;)+

        /// All exports, in the order of help.
        pub static EXPORTS: &[&dyn Export] = &[$(&$file::$export),+];
    };
}

// A file and the export in it.
exports! {
    junit: JUnit;
    csv: Csv;
    parquet: Parquet;
    prometheus: Prometheus;
    bencher: Bencher;
    nagios: Nagios;
    evidence: Evidence;
}

/// The export behind `--flag`.
pub fn find(flag: &str) -> Option<&'static dyn Export> {
    EXPORTS.iter().copied().find(|export| export.about().flag == flag)
}

/// The nodes that a verdict speaks about, joined by `+`; empty when it is about none in particular.
fn nodes_of(verdict: &VerdictRecord, records: &HashMap<&str, &CaseRecord>) -> String {
    let case = || verdict.case.as_deref().and_then(|id| records.get(id)).map(|record| record.nodes.join("+"));
    verdict.node.clone().or_else(case).unwrap_or_default()
}

/// What was judged, in words that stay the same from run to run: the case, which names its node, else node and subject.
fn judged(verdict: &VerdictRecord) -> String {
    match (&verdict.case, &verdict.node) {
        (Some(case), _) => case.clone(),
        (None, Some(node)) => format!("{node}/{}", verdict.subject),
        (None, None) => verdict.subject.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_flag_is_unique_and_every_help_is_one_sentence_without_a_full_stop() {
        let flags: HashSet<&str> = EXPORTS.iter().map(|export| export.about().flag).collect();
        assert_eq!(flags.len(), EXPORTS.len());
        for export in EXPORTS {
            let About { flag, help, value, .. } = export.about();
            assert!(flag.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{flag}");
            assert!(!help.is_empty() && !help.ends_with('.') && !value.is_empty(), "{flag}: {help}");
            assert!(find(flag).is_some_and(|found| found.about() == export.about()));
        }
        assert!(find("telepathy").is_none());
    }
}
