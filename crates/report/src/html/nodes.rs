//! Every node of the run: its roles, how it came out, and what was worst.

use seatrial_model::{Outcome, Severity, Subject, Verdict};

use super::shown::Shown;
use super::table::{Cell, Head, Row, Table};
use super::words::{Badge, of_outcome, of_severity, of_verdict, quantity, text};
use crate::notes::Notes;
use crate::number::signed_share;
use crate::terminal::{NodeSummary, Worst, is_only_found, summaries};

/// The nodes, the worst first.
pub fn table(shown: &Shown<'_>) -> Table {
    let is_judged = !shown.document.verdicts.is_empty();
    let mut notes = Notes::default();
    let summaries = summaries(shown.document);
    let rows = summaries.iter().map(|summary| row(shown, summary, is_judged, &mut notes)).collect();
    let heads = vec![
        Head::words("node"),
        Head::words("role"),
        Head::words(if is_judged { "verdict" } else { "outcome" }),
        Head::numbers(if is_judged { "met" } else { "measured" }, ""),
        Head::words("worst"),
        Head::numbers("value", ""),
        Head::numbers("margin", ""),
        Head::words("why"),
        Head::words("found"),
    ];
    let table = Table { caption: "Nodes, the worst first".to_owned(), heads, rows, ..Table::default() };
    Table { notes: notes.take(), ..table.tidy() }
}

fn row(shown: &Shown<'_>, summary: &NodeSummary<'_>, is_judged: bool, notes: &mut Notes) -> Row {
    let badge = match is_only_found(summary, is_judged) {
        true => of_severity(Severity::Problem),
        false => badge(summary.verdict, is_judged),
    };
    let mut cells = vec![
        Cell::new(text(summary.node)),
        Cell::new(shown.roles_of(summary.node)),
        Cell::badge(Some(badge)),
        Cell::new(format!("{} of {}", summary.met, summary.all)),
    ];
    let named = |name: &str, subject: &Subject| match subject.as_str() {
        "node" => text(name),
        subject => text(&format!("{name} {subject}")),
    };
    let worst = match summary.worst {
        Some(Worst::Judged(record)) if record.verdict != Verdict::Pass => {
            let to = record.case.as_deref().map_or(String::new(), |case| shown.place(case));
            let value = record.measured.map(|value| quantity(value.value(), value.unit()));
            let why = [&record.reason, &record.waiver].into_iter().flatten();
            [
                Cell::new(named(&record.criterion, &record.subject)).to(to),
                Cell::new(value.unwrap_or_default()),
                Cell::new(record.margin_percent.map_or(String::new(), signed_share)),
                Cell::new(why.map(|why| notes.refer(&text(why))).collect::<Vec<_>>().join(" ")),
            ]
        }
        Some(Worst::Case(case)) if case.outcome != Outcome::Measured => [
            Cell::new(named(&case.bench, &case.subject)).to(shown.place(case.case.as_str())),
            Cell::default(),
            Cell::default(),
            Cell::new(case.reason.as_deref().map_or(String::new(), |why| notes.refer(&text(why)))),
        ],
        _ => Default::default(),
    };
    cells.extend(worst);
    cells.push(Cell::new(text(&summary.found.join(", "))));
    Row { id: String::new(), filter: shown.filter_of([summary.node], badge.class), cells }
}

/// The verdict; of a run that is not judged, how its cases ended.
fn badge(verdict: Option<Verdict>, is_judged: bool) -> Badge {
    match (verdict, is_judged) {
        (None, _) => Badge { sign: '?', word: "nothing", class: "unknown" },
        (Some(verdict), true) => of_verdict(verdict),
        (Some(Verdict::Fail), false) => of_outcome(Outcome::Failed),
        (Some(Verdict::Unknown), false) => of_outcome(Outcome::Unmeasured),
        (Some(Verdict::Skip), false) => of_outcome(Outcome::Skipped),
        (Some(_), false) => of_outcome(Outcome::Measured),
    }
}
