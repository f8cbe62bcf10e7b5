//! The findings, the worst first; the same finding of several cases is shown once.

use std::collections::{BTreeMap, HashSet};

use seatrial_model::record::Document;
use seatrial_model::{Finding, Severity};

use super::table::{Builder, Cell, Table};
use crate::words::{Badge, count};

/// Listed cases; more are counted.
const MOST_NAMES: usize = 2;

#[derive(Clone, Debug, PartialEq)]
pub struct Found<'a> {
    pub finding: &'a Finding,
    pub cases: Vec<&'a str>,
}

impl Found<'_> {
    /// Its cases, else its subject.
    pub fn about(&self) -> String {
        match self.cases.as_slice() {
            [] => {
                let node = self.finding.node.as_ref().map(|node| format!(" of {node}"));
                format!("{}{}", self.finding.subject, node.unwrap_or_default())
            }
            few if few.len() <= MOST_NAMES => few.join(", "),
            many => count(many.len(), "case"),
        }
    }

    pub fn badge(&self) -> Badge {
        self.finding.severity.into()
    }
}

pub fn found(document: &Document) -> Vec<Found<'_>> {
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut places: BTreeMap<(&str, &str, Severity), usize> = BTreeMap::new();
    let mut told: HashSet<(usize, &str)> = HashSet::new();
    let of_cases = document
        .results
        .iter()
        .flat_map(|record| record.findings.iter().map(|finding| (finding, Some(record.case.as_str()))));
    // Factors have their own table.
    let of_run = document.findings.iter().filter(|finding| finding.kind != "factor");
    let of_run = of_run.map(|finding| (finding, finding.case.as_deref()));
    for (finding, case) in of_cases.chain(of_run) {
        let at = *places.entry((&finding.kind, &finding.text, finding.severity)).or_insert_with(|| {
            found.push(Found { finding, cases: Vec::new() });
            found.len() - 1
        });
        // The run's findings may repeat those of its cases.
        found[at].cases.extend(case.filter(|case| told.insert((at, case))));
    }
    found.sort_by_key(|found| std::cmp::Reverse(found.finding.severity));
    found
}

/// One row per finding. A finding is no verdict: verdict filters do not hide it.
pub fn table(found: &[Found<'_>]) -> Table {
    Builder::new("Findings, the worst first", found)
        .words("kind", |found| found.finding.kind.as_str())
        .words("weight", Found::badge)
        .words("what was found", |found| found.finding.text.as_str())
        .words("about", |found| Cell::from(found.about()).case(found.cases.first().copied()))
        .about(|found, row| row.nodes.extend(found.finding.node.clone()))
        .finish()
}
