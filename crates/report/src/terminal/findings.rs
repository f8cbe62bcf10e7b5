//! What was found, the worst first; the same thing found in several cases is told once.

use std::collections::{BTreeMap, HashSet};

use seatrial_model::record::Document;
use seatrial_model::{Finding, Severity};

use crate::grid;
use crate::ink::Ink;
use crate::words::{clean, count, severity};

/// Findings at most; of more the worst are shown.
const MOST_ROWS: usize = 40;

/// Cases named one by one; more are counted.
const MOST_NAMES: usize = 2;

/// What was found, the worst first, each with the cases that it was found in.
pub(crate) fn grouped(document: &Document) -> Vec<(&Finding, Vec<&str>)> {
    let mut found: Vec<(&Finding, Vec<&str>)> = Vec::new();
    let mut places: BTreeMap<(&str, &str, Severity), usize> = BTreeMap::new();
    let mut told: HashSet<(usize, &str)> = HashSet::new();
    let of_cases = document
        .results
        .iter()
        .flat_map(|record| record.findings.iter().map(|finding| (finding, Some(record.case.as_str()))));
    // Factors have a table of their own.
    let of_run = document.findings.iter().filter(|finding| finding.kind != "factor");
    let of_run = of_run.map(|finding| (finding, finding.case.as_deref()));
    for (finding, case) in of_cases.chain(of_run) {
        let at = *places.entry((&finding.kind, &finding.text, finding.severity)).or_insert_with(|| {
            found.push((finding, Vec::new()));
            found.len() - 1
        });
        // The run's findings may repeat those of its cases.
        found[at].1.extend(case.filter(|case| told.insert((at, case))));
    }
    found.sort_by_key(|(finding, _)| std::cmp::Reverse(finding.severity));
    found
}

pub fn block(document: &Document, width: u16) -> String {
    let found = grouped(document);
    if found.is_empty() {
        return String::new();
    }
    let row = |(finding, cases): &(&Finding, Vec<&str>)| {
        let text = format!("{}: {}{}", clean(&finding.kind), clean(&finding.text), place(finding, cases));
        (severity(finding.severity), text)
    };
    let rows: Vec<_> = found.iter().take(MOST_ROWS).map(row).collect();
    let mut text = format!("{}\n{}", Ink::Strong.on(title(&found)), grid::paragraphs(&rows, width));
    if found.len() > MOST_ROWS {
        let more = format!(" {}, in the JSON form", count(found.len() - MOST_ROWS, "more finding"));
        text += &format!("{}\n", Ink::Faint.on(&more));
    }
    text
}

fn title(found: &[(&Finding, Vec<&str>)]) -> &'static str {
    let worst = found.iter().map(|(finding, _)| finding.severity).max();
    if worst > Some(Severity::Info) { "To be looked at" } else { "Good to know" }
}

pub(crate) fn place(finding: &Finding, cases: &[&str]) -> String {
    match cases {
        [] => {
            let node = finding.node.as_ref().map(|node| format!(" of {node}")).unwrap_or_default();
            format!(" ({}{})", clean(finding.subject.as_str()), clean(&node))
        }
        few if few.len() <= MOST_NAMES => format!(" ({})", clean(&few.join(", "))),
        many => format!(" ({})", count(many.len(), "case")),
    }
}
