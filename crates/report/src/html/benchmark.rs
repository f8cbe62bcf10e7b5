//! The section of a benchmark: its cases compared with their limits; sweeps, studies and series; the cases in full.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use askama::Template;
use seatrial_analysis::{AtOnce, Factors, Impact, SettingStudy, Table as Sweep};
use seatrial_model::Better;
use seatrial_model::record::{CaseRecord, MetricRecord, SeriesRecord};

use super::case::{Full, full};
use super::case_plots::{CasePlots, plots};
use super::curve::Figure;
use super::heat::Heat;
use super::plot::{Interval, Start, intervals, upright};
use super::shown::Shown;
use super::table::PageTable;
use super::words::{quantity, text};
use super::{factors, lines, prices, series, sweep};
use crate::labels;
use crate::labels::family;
use crate::number::plus_minus;
use crate::view::cases::{self as view, groups, headline, without_added};
use crate::view::impact;
use crate::view::nodes::is_fleet;
use crate::view::over_nodes;
use crate::view::pairs::at_once;
use crate::view::parts::is_absent;
use crate::view::prices::Prices;
use crate::view::setting_gains;
use crate::words::{count, tone};

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
    pub heats: Vec<Heat>,
    pub tables: Vec<PageTable>,
    /// How limits were derived, or why there is none; why cases were skipped.
    pub notes: Vec<String>,
    pub cases: Vec<Full>,
    pub rest: String,
}

struct Found<'a> {
    studies: Vec<Factors>,
    settings: Vec<SettingStudy>,
    prices: Vec<Prices<'a>>,
    at_once: Vec<AtOnce>,
    impacts: Vec<Impact>,
    sweeps: Vec<Sweep>,
    groups: Vec<(&'a str, Vec<&'a CaseRecord>)>,
}

/// The benchmarks that ran, by what they measure, in the order of the run.
pub fn families(shown: &Shown<'_>, left: &mut usize) -> Vec<(String, Vec<Benchmark>)> {
    let results = &shown.document.results;
    let others = without_added(results);
    let found = Found {
        studies: seatrial_analysis::factors(results),
        settings: seatrial_analysis::setting_studies(results),
        prices: crate::view::prices::prices(shown.document),
        at_once: seatrial_analysis::at_once(&others),
        impacts: seatrial_analysis::impacts(results),
        sweeps: seatrial_analysis::tables(results),
        groups: groups(&others.iter().filter(|case| !is_absent(case)).collect::<Vec<_>>()),
    };
    let mut names: Vec<&str> = Vec::new();
    for case in results.iter().filter(|case| !is_absent(case)) {
        if !names.contains(&case.bench.as_str()) {
            names.push(&case.bench);
        }
    }
    let mut families: Vec<(String, Vec<Benchmark>)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let made = benchmark(shown, (at + 1, name), &found, left);
        let family = text(family(name));
        match families.iter_mut().find(|(known, _)| *known == family) {
            Some((_, benchmarks)) => benchmarks.push(made),
            None => families.push((family, vec![made])),
        }
    }
    families
}

fn benchmark(
    shown: &Shown<'_>,
    (number, name): (usize, &str),
    found: &Found<'_>,
    left: &mut usize,
) -> Benchmark {
    let is_own = |case: &&CaseRecord| case.bench == name && !is_absent(case);
    let cases: Vec<&CaseRecord> = shown.document.results.iter().filter(is_own).collect();
    let CasePlots { mut figures, mut heats, tables: mut shown_tables } = CasePlots::default();
    for study in factors::of_bench(&found.studies, name) {
        figures.extend(study.figure);
        shown_tables.extend(study.tables);
    }
    for study in found.settings.iter().filter(|study| study.bench == name) {
        let tables = std::iter::once(setting_gains::table(study)).chain(setting_gains::side_effects(study));
        shown_tables.extend(tables.map(|table| PageTable::new(&table, usize::MAX)));
    }
    for (figure, table) in prices::of_bench(&found.prices, name) {
        figures.extend(figure);
        shown_tables.push(table);
    }
    for flows in found.at_once.iter().filter(|flows| flows.bench == name) {
        shown_tables.push(PageTable::new(&at_once(flows), usize::MAX));
    }
    for found in found.impacts.iter().filter(|found| found.bench == name) {
        shown_tables.push(PageTable::new(&impact::table(found), usize::MAX));
    }
    let mut drawn: Vec<&str> = Vec::new();
    let mut notes = Vec::new();
    for (_, group) in found.groups.iter().filter(|(bench, _)| *bench == name) {
        let plots = match only(group) {
            Some(case) => {
                drawn.push(case.case.as_str());
                let table = PageTable::of_run(&view::table(group, &shown.verdicts), usize::MAX, shown);
                shown_tables.push(table);
                plots(shown, case)
            }
            None => of_group(shown, name, group, &found.sweeps),
        };
        figures.extend(plots.figures);
        heats.extend(plots.heats);
        shown_tables.extend(plots.tables);
        notes.extend(view::limits(group).iter().map(|limit| text(limit)));
    }
    notes.sort();
    notes.dedup();
    notes.extend(skipped(shown, name));
    let mut in_full: Vec<&CaseRecord> =
        cases.iter().copied().filter(|case| !shown.place(case.case.as_str()).is_empty()).collect();
    in_full.sort_by_key(|case| Reverse(shown.verdict(case).unwrap_or(tone(case.outcome))));
    // What is drawn beside the table of its benchmark is not drawn again.
    let of_case = |case: &CaseRecord| {
        if drawn.contains(&case.case.as_str()) { CasePlots::default() } else { plots(shown, case) }
    };
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
        heats,
        tables: shown_tables,
        notes,
        cases: in_full.into_iter().map(|case| full(shown, case, of_case(case), left)).collect(),
        rest,
    }
}

/// Why some cases of a benchmark do not apply, a line per reason.
fn skipped(shown: &Shown<'_>, name: &str) -> Vec<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for case in shown.document.results.iter().filter(|case| case.bench == name && is_absent(case)) {
        *reasons.entry(case.reason.as_deref().unwrap_or_default()).or_default() += 1;
    }
    reasons.iter().map(|(why, number)| text(&format!("{} skipped: {why}", count(*number, "case")))).collect()
}

/// The case with numbers, if there is only one.
fn only<'a>(group: &[&'a CaseRecord]) -> Option<&'a CaseRecord> {
    let mut measured = group.iter().filter(|case| !case.metrics.is_empty());
    let first = measured.next()?;
    measured.next().is_none().then_some(first)
}

fn of_group(shown: &Shown<'_>, name: &str, cases: &[&CaseRecord], sweeps: &[Sweep]) -> CasePlots {
    let CasePlots { mut figures, heats, mut tables } = CasePlots::default();
    if cases.len() > MOST_CASES && is_fleet(shown.document) {
        tables.push(PageTable::of_run(&over_nodes::table(cases), MOST_ROWS, shown));
        return CasePlots { figures, heats, tables };
    }
    for view in sweep::of_bench(shown, sweeps, name, cases) {
        figures.extend(view.figure);
        tables.extend(view.table);
    }
    if figures.is_empty() {
        figures.extend(compared(shown, cases));
    }
    figures.extend(together(shown, cases));
    tables.push(PageTable::of_run(&view::table(cases, &shown.verdicts), usize::MAX, shown));
    CasePlots { figures, heats, tables }
}

fn compared(shown: &Shown<'_>, cases: &[&CaseRecord]) -> Option<Figure> {
    let name = headline(cases)?;
    let with: Vec<(&CaseRecord, &MetricRecord, String)> = cases
        .iter()
        .zip(labels::of_cases(cases))
        .filter_map(|(case, label)| Some((*case, case.metrics.get(name)?, text(&label))))
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
        bounds: lines::bounds(shown, case, metric),
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
    let label = format!("{name} of {} cases; the table below has the numbers", rows.len());
    let lines = [
        (rows.iter().any(|row| row.limit.is_some()), "var(--limit)", "limit"),
        (rows.iter().any(|row| !row.bounds.is_empty()), "var(--bound)", "bound of the profile"),
    ];
    let legend = lines.into_iter().filter(|(is_drawn, ..)| *is_drawn);
    Some(Figure {
        caption: text(name),
        unit: with[0].1.unit.to_string(),
        svg: intervals(&text(&label), &rows, Start::Zero)?,
        legend: legend.map(|(_, colour, name)| (upright(colour), name.to_owned())).collect(),
        note: "Dot: median. Bar: its 95 % interval. Line: smallest to largest sample.".to_owned(),
    })
}

/// Series over a numeric axis that several cases have.
fn together(shown: &Shown<'_>, cases: &[&CaseRecord]) -> Vec<Figure> {
    let labels: Vec<String> = labels::of_cases(cases).iter().map(|label| text(label)).collect();
    let metric = headline(cases).unwrap_or_default();
    let mut series: Vec<&String> = cases.iter().flat_map(|case| case.series.keys()).collect();
    series.sort();
    series.dedup();
    let figure = |name: &&String| {
        let with: Vec<(String, &SeriesRecord)> = cases
            .iter()
            .zip(&labels)
            .filter_map(|(case, label)| Some((label.clone(), case.series.get(*name)?)))
            .collect();
        let has_metric = |(_, series): &(String, &SeriesRecord)| {
            let unit = cases.iter().find_map(|case| Some(case.metrics.get(metric)?.unit));
            unit == Some(series.unit) && series.better == Better::Higher
        };
        let lines = match with.iter().all(has_metric) {
            true => lines::shared(shown, cases.iter().copied(), metric),
            false => Vec::new(),
        };
        series::together(name, &with, &lines)
    };
    series.iter().filter_map(figure).collect()
}
