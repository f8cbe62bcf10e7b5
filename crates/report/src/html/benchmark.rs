//! The section of a benchmark: its cases compared with their limits; sweeps, studies and series; the cases in full.

use askama::Template;
use seatrial_analysis::{AtOnce, Factors, Table as Sweep};
use seatrial_model::record::{CaseRecord, MetricRecord, SeriesRecord};

use super::case::{Full, full};
use super::curve::Figure;
use super::plot::{Interval, intervals};
use super::shown::Shown;
use super::table::PageTable;
use super::words::{quantity, text};
use super::{factors, series, sweep};
use crate::labels::{self, Label};
use crate::number::plus_minus;
use crate::view::cases::{self as view, groups, headline, without_factors};
use crate::view::nodes::is_fleet;
use crate::view::over_nodes;
use crate::view::pairs::at_once;
use crate::words::count;

/// Cases of a table with a row per case; larger fleets get rows per node.
const MOST_CASES: usize = 64;

const MOST_ROWS: usize = 160;

/// Cases that are drawn beside each other.
const MOST_DRAWN: usize = 24;

#[derive(Clone, Debug, Template)]
#[template(path = "benchmark.html")]
pub struct Benchmark {
    pub id: String,
    /// `mem.bandwidth`.
    pub name: String,
    pub title: String,
    /// The number of cases, and the parameters that all share.
    pub about: String,
    pub figures: Vec<Figure>,
    pub tables: Vec<PageTable>,
    /// How limits were derived, or why there is none.
    pub limits: Vec<String>,
    pub cases: Vec<Full>,
    pub rest: String,
}

struct Found<'a> {
    studies: Vec<Factors>,
    at_once: Vec<AtOnce>,
    sweeps: Vec<Sweep>,
    groups: Vec<(&'a str, Vec<&'a CaseRecord>)>,
}

pub fn benchmarks(shown: &Shown<'_>, left: &mut usize) -> Vec<Benchmark> {
    let results = &shown.document.results;
    let others = without_factors(results);
    let found = Found {
        studies: seatrial_analysis::factors(results),
        at_once: seatrial_analysis::at_once(&others),
        sweeps: seatrial_analysis::tables(results),
        groups: groups(&others.iter().collect::<Vec<_>>()),
    };
    let mut names: Vec<&str> = Vec::new();
    for case in results {
        if !names.contains(&case.bench.as_str()) {
            names.push(&case.bench);
        }
    }
    let of = |(at, name): (usize, &&str)| benchmark(shown, (at + 1, name), &found, left);
    names.iter().enumerate().map(of).collect()
}

fn benchmark(
    shown: &Shown<'_>,
    (number, name): (usize, &str),
    found: &Found<'_>,
    left: &mut usize,
) -> Benchmark {
    let cases: Vec<&CaseRecord> = shown.document.results.iter().filter(|case| case.bench == name).collect();
    let (mut figures, mut shown_tables) = (Vec::new(), Vec::new());
    for study in factors::of_bench(&found.studies, name) {
        figures.extend(study.figure);
        shown_tables.push(study.table);
    }
    for flows in found.at_once.iter().filter(|flows| flows.bench == name) {
        shown_tables.push(PageTable::new(&at_once(flows), usize::MAX));
    }
    let mut limits = Vec::new();
    for (_, group) in found.groups.iter().filter(|(bench, _)| *bench == name) {
        let (drawn, told) = of_group(shown, name, group, &found.sweeps);
        figures.extend(drawn);
        shown_tables.extend(told);
        limits.extend(view::limits(group).iter().map(|limit| text(limit)));
    }
    limits.sort();
    limits.dedup();
    let in_full: Vec<&CaseRecord> =
        cases.iter().copied().filter(|case| !shown.place(case.case.as_str()).is_empty()).collect();
    let hidden = cases.len() - in_full.len();
    let rest = match hidden {
        0 => String::new(),
        some => {
            format!("{} are in the tables above; the JSON form has them in full.", count(some, "more case"))
        }
    };
    let shared = labels::shared_params(&cases);
    let shared = if shared.is_empty() { shared } else { format!(" · {}", text(&shared)) };
    Benchmark {
        id: format!("bench-{number}"),
        name: text(name),
        title: shown.context.about(name).map_or(String::new(), |about| about.title.to_owned()),
        about: format!("{}{shared}", count(cases.len(), "case")),
        figures,
        tables: shown_tables,
        limits,
        cases: in_full.into_iter().map(|case| full(shown, case, left)).collect(),
        rest,
    }
}

fn of_group(
    shown: &Shown<'_>,
    name: &str,
    cases: &[&CaseRecord],
    sweeps: &[Sweep],
) -> (Vec<Figure>, Vec<PageTable>) {
    if cases.len() > MOST_CASES && is_fleet(shown.document) {
        return (Vec::new(), vec![PageTable::of_run(&over_nodes::table(cases), MOST_ROWS, shown)]);
    }
    let (mut figures, mut tables) = (Vec::new(), Vec::new());
    for view in sweep::of_bench(shown, sweeps, name, cases) {
        figures.extend(view.figure);
        tables.extend(view.table);
    }
    if figures.is_empty() {
        figures.extend(compared(shown, cases));
    }
    figures.extend(together(cases));
    tables.push(PageTable::of_run(&view::table(cases, &shown.verdicts), usize::MAX, shown));
    (figures, tables)
}

/// The label of each case among the others, in one line.
fn names(cases: &[&CaseRecord]) -> Vec<String> {
    let all: Vec<Label> = cases.iter().map(|case| Label::of_case(case)).collect();
    let columns = labels::columns(&all);
    let name = |at: usize| {
        let cells: Vec<&str> = columns
            .iter()
            .map(|column| column.cells()[at].as_str())
            .filter(|cell| !cell.is_empty())
            .collect();
        if cells.is_empty() { cases[at].subject.to_string() } else { cells.join(" ") }
    };
    (0..cases.len()).map(|at| text(&name(at))).collect()
}

fn compared(shown: &Shown<'_>, cases: &[&CaseRecord]) -> Option<Figure> {
    let name = headline(cases)?;
    let with: Vec<(&CaseRecord, &MetricRecord, String)> = cases
        .iter()
        .zip(names(cases))
        .filter_map(|(case, label)| Some((*case, case.metrics.get(name)?, label)))
        .collect();
    if with.len() < 2 || with.len() > MOST_DRAWN {
        return None;
    }
    let row = |(case, metric, label): &(&CaseRecord, &MetricRecord, String)| Interval {
        name: label.clone(),
        median: metric.median,
        ci95: metric.ci95,
        ends: (metric.min, metric.max),
        limit: metric.limit.value,
        class: shown.class(case),
        tip: text(&format!(
            "{label}: {} {}, n {}{}",
            quantity(metric.median, metric.unit),
            plus_minus(metric.median, metric.ci95),
            metric.n,
            metric
                .limit
                .value
                .map(|limit| format!(", limit {}", quantity(limit, metric.unit)))
                .unwrap_or_default()
        )),
    };
    let rows: Vec<Interval> = with.iter().map(row).collect();
    let svg =
        intervals(&text(&format!("{name} of {} cases; the table below has the numbers", rows.len())), &rows)?;
    let has_limit = rows.iter().any(|row| row.limit.is_some());
    let note = "Dot: median. Bar: its 95 % interval. Line: smallest to largest sample.";
    Some(Figure {
        caption: text(name),
        unit: with[0].1.unit.to_string(),
        svg,
        legend: Vec::new(),
        note: if has_limit { format!("{note} Upright line: the limit.") } else { note.to_owned() },
    })
}

/// Series over a numeric axis that several cases have.
fn together(cases: &[&CaseRecord]) -> Vec<Figure> {
    let labels = names(cases);
    let mut series: Vec<&String> = cases.iter().flat_map(|case| case.series.keys()).collect();
    series.sort();
    series.dedup();
    let figure = |name: &&String| {
        let with: Vec<(String, &SeriesRecord)> = cases
            .iter()
            .zip(&labels)
            .filter_map(|(case, label)| Some((label.clone(), case.series.get(*name)?)))
            .collect();
        series::together(name, &with)
    };
    series.iter().filter_map(figure).collect()
}
