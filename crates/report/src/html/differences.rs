//! The differences between two runs, the worst first: in numbers, and drawn on one scale.

use std::collections::BTreeMap;

use seatrial_analysis::{Change, Difference};
use seatrial_model::Better;

use super::plot::{Gain, Gains};
use super::table::{Cell, Filter, Head, Row, Table};
use super::words::{Badge, arrows, fixed, text, unit};
use crate::compare::{Call, gain as signed, interval, why, worst_first};
use crate::labels::{self, Label};
use crate::notes::Notes;
use crate::number::{change, decimals, share};
use crate::words::count;

/// Rows at most; the JSON form has all.
const MOST_ROWS: usize = 500;

/// The badge of a difference; its class gives it its colour.
pub fn of_call(call: Call) -> Badge {
    let class = match call {
        Call::Worse => "fail",
        Call::CannotTell => "unknown",
        Call::NotComparable => "warn",
        Call::Better => "pass",
        Call::Same => "skip",
    };
    Badge { sign: call.sign(), word: call.word(), class }
}

/// A difference with its sign turned such that more is better.
fn gain(row: &Difference) -> Option<Gain> {
    let change = row.change.as_ref().ok()?;
    let turn =
        |(low, high): (f64, f64)| if row.better == Better::Lower { (-high, -low) } else { (low, high) };
    Some(Gain { percent: signed(row)?, ci95: change.interval.map(turn), smallest: change.smallest_percent })
}

/// A row a metric of a case, the worst first.
pub fn table(all: &[Difference]) -> Table {
    let left_out = all.len().saturating_sub(MOST_ROWS);
    let mut shown = worst_first(all);
    shown.truncate(MOST_ROWS);
    let gains: Vec<Gain> = shown.iter().filter_map(|row| gain(row)).collect();
    let scale = Gains::new(&gains);
    let mut notes = Notes::default();
    let rows =
        shown.iter().zip(names(&shown)).map(|(row, name)| of_difference(row, name, &scale, &mut notes));
    let heads = vec![
        Head::words("metric"),
        Head::words("of"),
        Head::words("verdict"),
        Head { picture: scale.axis(), ..Head::words("difference") },
        Head::numbers("change", ""),
        Head::numbers("95 % interval", ""),
        Head::numbers("not seen below", ""),
        Head::numbers("before", ""),
        Head::numbers("after", ""),
        Head::words("in"),
        Head::words("why"),
    ];
    let (caption, rows) = ("The worst first".to_owned(), rows.collect());
    let table = Table { caption, heads, rows, is_stacked: true, ..Table::default() };
    let mut notes = notes.take();
    if left_out > 0 {
        notes.push((String::new(), format!("{} in the JSON form", count(left_out, "more row"))));
    }
    Table { notes, ..table.tidy() }
}

fn of_difference(row: &Difference, name: String, scale: &Gains, notes: &mut Notes) -> Row {
    let call = Call::of(row);
    let badge = of_call(call);
    let decimals = 1 + decimals([row.a.value, row.b.value].into_iter().flatten());
    let side = |value: Option<f64>| Cell::new(value.map_or(String::new(), |value| fixed(value, decimals)));
    let of = |said: &dyn Fn(&Change) -> String| Cell::new(row.change.as_ref().map_or(String::new(), said));
    let note = row.change.as_ref().map_or_else(|why| Some(why.clone()), why);
    let picture = gain(row).map(|gain| scale.picture(&gain, colour(call), &tip(row)));
    let cells = vec![
        Cell::new(text(&row.metric)).with(text(&row.bench)),
        Cell::new(name),
        Cell::badge(Some(badge)),
        Cell::picture(picture.unwrap_or_default()),
        of(&|of| change(of.percent)),
        of(&interval),
        of(&|of| of.smallest_percent.map_or(String::new(), |from| format!("±{}", share(from)))),
        side(row.a.value),
        side(row.b.value),
        Cell::new(unit(row.unit).trim()),
        Cell::new(note.map_or(String::new(), |note| notes.refer(&text(&note)))),
    ];
    let filter = Filter::of_nodes(row.b.nodes.iter().map(String::as_str), badge.class);
    Row { cells, filter, ..Row::default() }
}

/// What tells each row from the others of its benchmark: `n1 kernel=triad`.
fn names(rows: &[&Difference]) -> Vec<String> {
    let mut names = vec![String::new(); rows.len()];
    let mut of_bench: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        of_bench.entry(&row.bench).or_default().push(at);
    }
    for places in of_bench.values() {
        let labels: Vec<Label> = places.iter().map(|at| Label::of_difference(rows[*at])).collect();
        let columns = labels::columns(&labels);
        for (row, at) in places.iter().enumerate() {
            let told = columns.iter().filter(|column| !column.cells()[row].is_empty());
            let told = told.map(|column| match column.head() {
                "subject" => arrows(&column.cells()[row]),
                "node" | "parameters" => column.cells()[row].clone(),
                name => format!("{name}={}", column.cells()[row]),
            });
            names[*at] = text(&told.collect::<Vec<_>>().join(" "));
        }
        // Where nothing tells them apart but the metric, at least where they were measured.
        let is_told =
            columns.iter().any(|column| column.cells().iter().any(|cell| *cell != column.cells()[0]));
        if !is_told {
            places.iter().for_each(|at| names[*at] = text(&rows[*at].b.nodes.join("+")));
        }
    }
    names
}

/// What is said when the pointer is on a difference.
fn tip(row: &Difference) -> String {
    let Ok(of) = &row.change else { return String::new() };
    let ends = of.interval.map(|_| format!(", 95 % interval {}", interval(of))).unwrap_or_default();
    let from =
        of.smallest_percent.map(|from| format!(", not seen below ±{}", share(from))).unwrap_or_default();
    text(&format!("{} {}: {}{ends}{from}", row.metric, Call::of(row).word(), change(of.percent)))
}

fn colour(call: Call) -> &'static str {
    match call {
        Call::Worse => "var(--fail)",
        Call::Better => "var(--pass)",
        Call::CannotTell | Call::NotComparable => "var(--unknown)",
        Call::Same => "var(--ink2)",
    }
}
