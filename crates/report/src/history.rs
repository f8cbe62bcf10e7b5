//! The list of runs, the newest last, next to the prompt.

use std::time::Duration;

use jiff::Timestamp;
use seatrial_model::Verdict;
use serde::Serialize;

use crate::TextStyle;
use crate::grid::{self, GridColumn};
use crate::ink::{Ink, render_colors};
use crate::words::{Badge, clean, count, cut, span};

/// Characters of a command line in the list.
const LONGEST_LINE: usize = 60;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HistoryRow {
    pub id: String,
    /// `running`, `ended`, `killed`.
    pub state: String,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    /// Running time in seconds, without pauses between interruption and resume.
    pub seconds: Option<f64>,
    pub verdict: Option<Verdict>,
    /// The profile, or the command line without the program.
    pub what: String,
    pub nodes: Vec<String>,
    /// Cases that ended with numbers.
    pub measured: u64,
    pub planned: u64,
    pub problems: u64,
    /// An error of the run folder.
    pub remark: Option<String>,
}

pub fn render(rows: &[HistoryRow], style: TextStyle) -> String {
    let mut text = if rows.is_empty() {
        "no runs yet; `seatrial check` makes one\n".to_owned()
    } else {
        list(rows, style.width())
    };
    let wrong = rows.iter().filter_map(|row| Some((row.id.as_str(), row.remark.as_deref()?)));
    let remarks: Vec<_> =
        wrong.map(|(id, why)| (Ink::Doubt.on("!"), clean(&format!("{id}: {why}")))).collect();
    text += &grid::paragraphs(&remarks, style.width());
    render_colors(&text, style.style)
}

fn list(rows: &[HistoryRow], width: u16) -> String {
    let cells = |text: &dyn Fn(&HistoryRow) -> String| rows.iter().map(text).collect::<Vec<_>>();
    let took = |row: &HistoryRow| {
        row.seconds.and_then(|time| Duration::try_from_secs_f64(time).ok()).map_or(String::new(), span)
    };
    let mut columns = vec![
        GridColumn::words("run", cells(&|row| clean(&row.id))).unbroken(),
        GridColumn::numbers("took", cells(&took)),
        GridColumn::words("what", cells(&|row| cut(&clean(&subject(&row.what)), LONGEST_LINE))),
        GridColumn::words("nodes", cells(&nodes)),
        GridColumn::numbers("cases", cells(&|row| format!("{}/{}", row.measured, row.planned))),
        GridColumn::words("result", cells(&result)),
    ];
    columns.retain(|column| !column.is_empty());
    grid::fitted(&columns, width)
}

/// A command line up to its first option: the row of a run is no place for all of them, and -o json has them.
fn subject(line: &str) -> String {
    line.split_whitespace().take_while(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ")
}

fn nodes(row: &HistoryRow) -> String {
    match row.nodes.as_slice() {
        [] => String::new(),
        [node] => clean(node),
        nodes => count(nodes.len(), "node"),
    }
}

/// The verdict of a run that ended, else its state; and the number of problems.
fn result(row: &HistoryRow) -> String {
    let came = came_out(row);
    match row.problems {
        0 => came,
        problems => format!("{came}, {}", Ink::Bad.on(&count(problems as usize, "problem"))),
    }
}

fn came_out(row: &HistoryRow) -> String {
    match (row.state.as_str(), row.verdict) {
        ("ended", Some(judged)) => Badge::from(judged).marked(),
        ("ended", None) if row.measured == 0 => Ink::Doubt.on("nothing measured"),
        ("ended", None) if row.measured < row.planned => Ink::Doubt.on("partly measured"),
        ("ended", None) => "measured".to_owned(),
        (state, _) => Ink::Doubt.on(&clean(state)),
    }
}
