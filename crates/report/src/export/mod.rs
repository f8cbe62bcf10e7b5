//! Exports of a run for other programs: one file per format, and one line in the block `exports!` below.
//!
//! An export gets the contents of a run folder as [`Material`], and a sink. Flag, help, man page and completion come
//! from its [`About`]; no other code knows the export.

pub(crate) mod columns;
mod file;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Site, VerdictRecord, node_names};

pub use file::put;

#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The record; samples stored in files of the run folder are loaded where readable.
    pub document: &'a Document,
    /// The inventory and settings of the nodes, as stored with the run.
    pub site: &'a Site,
    /// The profile that judged the run, including roles of the command line.
    pub profile: Option<&'a Profile>,
    /// The run folder, for exports that include its files.
    pub folder: &'a Path,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The long flag, without dashes.
    pub flag: &'static str,
    /// The placeholder in help, for example `FILE`.
    pub value: &'static str,
    /// One sentence for help, without a full stop.
    pub help: &'static str,
    /// Whether the flag works without a value; it then writes to standard output.
    pub bare: bool,
}

pub trait Export: Sync {
    fn about(&self) -> &'static About;

    /// Writes the whole export to `out`; also fails when the format cannot represent the run.
    fn write(&self, run: &Material<'_>, out: &mut (dyn Write + Send)) -> io::Result<()>;

    /// The exit code that readers of this format expect, if it differs from Seatrial's.
    fn exit(&self, _run: &Material<'_>) -> Option<u8> {
        None
    }

    /// The line and the exit code for a run that cannot be exported because of `why`, if readers of standard output
    /// expect a line anyway.
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

exports! {
    junit: JUnit;
    csv: Csv;
    parquet: Parquet;
    prometheus: Prometheus;
    bencher: Bencher;
    nagios: Nagios;
    evidence: Evidence;
}

pub fn find(flag: &str) -> Option<&'static dyn Export> {
    EXPORTS.iter().copied().find(|export| export.about().flag == flag)
}

/// The nodes that a verdict is about, joined by `+`; empty when it is about no node in particular.
fn nodes_of(verdict: &VerdictRecord, records: &HashMap<&str, &CaseRecord>) -> String {
    let case =
        || verdict.case.as_deref().and_then(|id| records.get(id)).map(|record| node_names(&record.nodes));
    verdict.node.clone().or_else(case).unwrap_or_default()
}

/// The judged thing, in words that are stable between runs: the case, which names its node, else node and subject.
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
