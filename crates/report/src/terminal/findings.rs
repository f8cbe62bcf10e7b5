//! What was found, the worst first; the same thing found in several cases is told once.

use seatrial_model::record::Document;
use seatrial_model::{Finding, Severity};

use crate::grid;
use crate::ink::Ink;
use crate::words::{clean, count, severity};

/// Cases named one by one; more are counted.
const MOST_NAMES: usize = 2;

pub fn block(document: &Document, width: u16) -> String {
    let mut found: Vec<(&Finding, Vec<&str>)> = Vec::new();
    let of_cases = document
        .results
        .iter()
        .flat_map(|record| record.findings.iter().map(|finding| (finding, Some(record.case.as_str()))));
    let of_run = document.findings.iter().map(|finding| (finding, finding.case.as_deref()));
    for (finding, case) in of_cases.chain(of_run) {
        let same = |(known, _): &&mut (&Finding, Vec<&str>)| {
            known.kind == finding.kind && known.text == finding.text && known.severity == finding.severity
        };
        match found.iter_mut().find(same) {
            // The run's findings may repeat those of its cases.
            Some((_, cases)) => cases.extend(case.filter(|case| !cases.contains(case))),
            None => found.push((finding, case.into_iter().collect())),
        }
    }
    if found.is_empty() {
        return String::new();
    }
    found.sort_by_key(|(finding, _)| std::cmp::Reverse(finding.severity));
    let row = |(finding, cases): &(&Finding, Vec<&str>)| {
        let text = format!("{}: {}{}", clean(&finding.kind), clean(&finding.text), place(finding, cases));
        (severity(finding.severity), text)
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    format!("{}\n{}", Ink::Strong.on(title(&found)), grid::paragraphs(&rows, width))
}

fn title(found: &[(&Finding, Vec<&str>)]) -> &'static str {
    let worst = found.iter().map(|(finding, _)| finding.severity).max();
    if worst > Some(Severity::Info) { "To be looked at" } else { "Good to know" }
}

fn place(finding: &Finding, cases: &[&str]) -> String {
    match cases {
        [] => {
            let node = finding.node.as_ref().map(|node| format!(" of {node}")).unwrap_or_default();
            format!(" ({}{})", clean(finding.subject.as_str()), clean(&node))
        }
        few if few.len() <= MOST_NAMES => format!(" ({})", clean(&few.join(", "))),
        many => format!(" ({})", count(many.len(), "case")),
    }
}
