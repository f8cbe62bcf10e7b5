//! `knee`, `peak`, `highest-working` and `larger-is-slower`: findings of sweeps over a load.

use std::collections::{BTreeSet, HashMap};

use seatrial_model::record::CaseRecord;
use seatrial_model::{About, Cause, Finding, Outcome, Severity, Unit};
use seatrial_stats::{LoadPoint, Shape, scalability, shape};

use super::larger::larger_is_slower;
use super::load_sweep::{LoadSweep, load_sweeps, words};
use super::sweep::tables_by;
use crate::number::{in_unit, quantity, significant};

/// The largest deviation of a law from a point, as a share, for its constants to be reported.
const FITS: f64 = 0.1;

/// Where each load sweep of `records` saturates or falls, its highest rate, the highest load that works where others
/// failed, and whether the largest size is slower than a smaller one. The definitions of the benchmarks tell which parameter is the load.
pub fn load_findings(records: &[CaseRecord], abouts: &[&'static About]) -> Vec<Finding> {
    let sweeps = load_sweeps(records, abouts);
    let mut found: Vec<Finding> = sweeps.iter().filter_map(highest_working).collect();
    found.extend(sweeps.iter().filter_map(knee));
    found.extend(peaks(records, &sweeps));
    found
}

fn of_case(case: &CaseRecord, finding: Finding) -> Finding {
    super::about(case, finding)
}

fn knee(sweep: &LoadSweep<'_>) -> Option<Finding> {
    let curve = sweep.curve()?;
    let shape = shape(&curve).ok().flatten()?;
    let measured = sweep.measured();
    let last = measured.len() - 1;
    let highest = (0..measured.len()).rev().max_by(|a, b| curve[*a].rate.total_cmp(&curve[*b].rate))?;
    let rate = |at: usize| in_unit(curve[at].rate, measured[at].2.unit);
    let load = |at: usize| format!("{}={}", sweep.axis, measured[at].0);
    let (metric, name) = (sweep.metric, sweep.name());
    let is_doubled = 2.0 * curve[0].load <= curve[last].load;
    let (at, severity, text) = match shape {
        Shape::Saturated { at } if at == last => (
            at,
            Severity::Info,
            format!(
                "saturated at {}: {metric} is {}, and {} brought no more than 10 %{}",
                load(at),
                rate(at),
                if is_doubled { "the last doubling" } else { "the loads measured" },
                if is_doubled { "" } else { " per doubling" }
            ),
        ),
        Shape::Saturated { at } if at == highest => (
            at,
            Severity::Info,
            format!(
                "saturated at {}: {metric} is {}, and a higher load does not raise it",
                load(at),
                rate(at)
            ),
        ),
        Shape::Saturated { at } => (
            at,
            Severity::Info,
            format!(
                "saturated at {}: {metric} is {}, and at most {} ({})",
                load(at),
                rate(at),
                rate(highest),
                load(highest)
            ),
        ),
        Shape::Falling { beyond } => (
            beyond,
            Severity::Warning,
            format!(
                "falling beyond {}: {metric} is {} there and {} with {}, {} %",
                load(beyond),
                rate(beyond),
                rate(last),
                load(last),
                significant((100.0 * (curve[last].rate / curve[beyond].rate - 1.0)).round())
            ),
        ),
        Shape::NotReached => (
            last,
            Severity::Info,
            format!(
                "saturation is not reached: {metric} still grows to {} with {}; try more",
                rate(last),
                load(last)
            ),
        ),
        Shape::Noisy => (
            highest,
            Severity::Warning,
            format!(
                "too noisy to tell where {metric} saturates over {}; raise the parameter trials",
                sweep.axis
            ),
        ),
    };
    let text = format!("{name}{text}{}{}", single(&curve), law(&curve));
    let case = measured[at].1;
    let finding = Finding::new("knee", severity, case.subject.clone(), text);
    let value = match shape {
        Shape::Saturated { .. } | Shape::Falling { .. } => quantity(curve[at].load, Unit::Count),
        Shape::NotReached | Shape::Noisy => None,
    };
    let evidence = vec![case.group.clone(), metric.to_owned(), sweep.axis.to_owned(), word(shape).to_owned()];
    Some(of_case(case, Finding { value, evidence, ..finding }))
}

/// The shape in a word, for programs.
const fn word(shape: Shape) -> &'static str {
    match shape {
        Shape::Saturated { .. } => "saturated",
        Shape::Falling { .. } => "falling",
        Shape::NotReached => "not-reached",
        Shape::Noisy => "noisy",
    }
}

fn single(curve: &[LoadPoint]) -> &'static str {
    if curve.iter().any(|point| point.ci95.is_none()) {
        " (told from values without an interval)"
    } else {
        ""
    }
}

/// The constants of the law that fits, if one does.
fn law(curve: &[LoadPoint]) -> String {
    let Some(law) = scalability(curve).ok().flatten().filter(|law| law.misfit <= FITS) else {
        return String::new();
    };
    let peak = law.peak().map(|load| format!(", highest at {}", significant(load.round())));
    format!(
        "; fits the universal scalability law with contention {} and coherency {}{}",
        significant(round(law.contention)),
        significant(round(law.coherency)),
        peak.unwrap_or_default()
    )
}

/// Two digits: a fit to few points is no more exact.
fn round(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powf(value.log10().floor() - 1.0);
    (value / unit).round() * unit
}

/// The highest rate of each table: over all parameters that are whole numbers and sizes.
fn peaks(records: &[CaseRecord], sweeps: &[LoadSweep<'_>]) -> Vec<Finding> {
    let axes: BTreeSet<(&str, &str)> =
        sweeps.iter().map(|sweep| (sweep.cases[0].1.bench.as_str(), sweep.axis)).collect();
    let is_load = |case: &CaseRecord, name: &str| axes.contains(&(case.bench.as_str(), name));
    let by_id: HashMap<&str, &CaseRecord> = records.iter().map(|case| (case.case.as_str(), case)).collect();
    let mut found: Vec<Finding> = sweeps.iter().filter_map(peak_of_one).collect();
    for table in tables_by(records, &is_load) {
        found.extend(larger_is_slower(&table, records));
        let Some((_, cell)) = table.peak() else { continue };
        let Some(case) = by_id.get(cell.case.as_str()) else { continue };
        let value = cell.value.unwrap_or_default();
        let text = format!(
            "{}the highest {} is {} with {}",
            table.name(),
            table.metric,
            in_unit(value, table.unit),
            words(&table.place(case))
        );
        let finding = Finding::new("peak", Severity::Info, case.subject.clone(), text);
        let evidence = vec![case.group.clone(), table.metric.clone()];
        found.push(of_case(case, Finding { value: quantity(value, table.unit), evidence, ..finding }));
    }
    found
}

fn peak_of_one(sweep: &LoadSweep<'_>) -> Option<Finding> {
    let curve = sweep.curve().filter(|curve| sweep.named.is_empty() && curve.len() > 1)?;
    let (at, point) =
        curve.iter().enumerate().reduce(|best, next| if next.1.rate > best.1.rate { next } else { best })?;
    let (load, case, metric) = sweep.measured()[at];
    let text = format!(
        "the highest {} is {} with {}={load}",
        sweep.metric,
        in_unit(point.rate, metric.unit),
        sweep.axis
    );
    let finding = Finding::new("peak", Severity::Info, case.subject.clone(), text);
    let evidence = vec![case.group.clone(), sweep.metric.to_owned()];
    Some(of_case(case, Finding { value: quantity(point.rate, metric.unit), evidence, ..finding }))
}

fn highest_working(sweep: &LoadSweep<'_>) -> Option<Finding> {
    let works = sweep.cases.iter().rfind(|(_, case)| case.outcome == Outcome::Measured);
    let above = |load: u64| works.is_none_or(|(working, _)| load > *working);
    let failed: Vec<&(u64, &CaseRecord)> =
        sweep.cases.iter().filter(|(load, case)| case.outcome == Outcome::Failed && above(*load)).collect();
    let (least, first) = **failed.first()?;
    let with = |(load, case): &&(u64, &CaseRecord)| match case.cause {
        Some(cause) => format!("{load} ({})", cause_word(cause)),
        None => load.to_string(),
    };
    let failures = failed.iter().map(with).collect::<Vec<_>>().join(", ");
    let untried: Vec<String> = sweep
        .cases
        .iter()
        .filter(|(load, case)| case.cause == Some(Cause::NotTried) && above(*load))
        .map(|(load, _)| load.to_string())
        .collect();
    let untried =
        if untried.is_empty() { String::new() } else { format!("; not tried: {}", untried.join(", ")) };
    let (name, axis) = (sweep.name(), sweep.axis);
    let (case, value, text) = match works {
        Some((load, case)) => {
            (*case, *load, format!("{name}the highest working {axis} is {load}; failed: {failures}{untried}"))
        }
        None => (
            first,
            0,
            format!(
                "{name}no value of {axis} worked, the lowest tried was {least}; failed: {failures}{untried}"
            ),
        ),
    };
    let finding = Finding::new("highest-working", Severity::Warning, case.subject.clone(), text);
    let evidence = vec![case.group.clone(), axis.to_owned()];
    Some(of_case(case, Finding { value: quantity(value as f64, Unit::Count), evidence, ..finding }))
}

/// The cause as in records, with blanks: `io error`.
pub fn cause_word(cause: Cause) -> String {
    let word = serde_json::to_value(cause).ok();
    word.as_ref().and_then(|word| word.as_str()).unwrap_or("failed").replace('_', " ")
}
