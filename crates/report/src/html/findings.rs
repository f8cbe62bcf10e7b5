//! What was found, the worst first.

use seatrial_model::Finding;

use super::shown::Shown;
use super::table::{Cell, Filter, Head, Row, Table};
use super::words::{of_severity, text};
use crate::terminal::{grouped, place};

/// Findings at most; the JSON form has all.
const MOST: usize = 300;

pub fn table(shown: &Shown<'_>) -> Table {
    let found = grouped(shown.document);
    let row = |(finding, cases): &(&Finding, Vec<&str>)| {
        let badge = of_severity(finding.severity);
        let to = cases.iter().map(|case| shown.place(case)).find(|to| !to.is_empty()).unwrap_or_default();
        let about = place(finding, cases);
        let about = about.trim().trim_start_matches('(').trim_end_matches(')');
        let cells = vec![
            Cell::new(text(&finding.kind)),
            Cell::badge(Some(badge)),
            Cell::new(text(&finding.text)),
            Cell::new(text(about)).to(to),
        ];
        let nodes: Vec<&str> = finding.node.as_deref().into_iter().collect();
        // A finding is no verdict: it stays whatever verdicts are chosen.
        let filter = shown.filter_of(nodes, Filter::ANY);
        Row { cells, filter, ..Row::default() }
    };
    let rows = found.iter().take(MOST).map(row).collect();
    let mut notes = Vec::new();
    if found.len() > MOST {
        notes.push((String::new(), format!("{} more findings in the JSON form", found.len() - MOST)));
    }
    let heads =
        vec![Head::words("kind"), Head::words("weight"), Head::words("what was found"), Head::words("about")];
    Table { caption: "Findings, the worst first".to_owned(), heads, rows, notes, ..Table::default() }
}
