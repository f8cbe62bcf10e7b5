//! From measures to the record: summaries with their intervals and limits.

use std::collections::BTreeMap;

use seatrial_bench::Benchmark;
use seatrial_model::record::{
    Axis, CaseRecord, MetricRecord, SeriesColumn, SeriesRecord, SeriesRow, Summary,
};
use seatrial_model::{Case, Cause, Finding, LimitRecord, Limits, Measures, Params, Reason, Site, Values};
use seatrial_stats::{Sorted, Summary as Statistics};

/// More samples than this are stored in a file of their own, not in the record.
pub const MOST_SAMPLES_IN_RECORD: usize = 50_000;

/// Fewest samples for a 99th percentile.
const FEWEST_FOR_P99: usize = 100;

pub fn has_converged(values: &Values, precision_percent: f64) -> bool {
    let summary = Statistics::of(&values.trials).ok();
    let half_width = summary.and_then(|summary| summary.relative_half_width());
    half_width.is_some_and(|share| 100.0 * share <= precision_percent)
}

/// The record of a measured case. Measures that the benchmark does not declare, or that are empty, not finite or of
/// another unit, are a defect of the benchmark and reported as such.
pub fn record(bench: &Benchmark, case: &Case, measures: Measures, site: &Site) -> Result<CaseRecord, Reason> {
    let about = bench.about;
    let mut record = CaseRecord::measured(case);
    let Measures { mut metrics, series, evidence, findings, found } = measures;
    let mut limits = limits(bench, case, found, site);
    if let Some(name) = metrics.keys().find(|name| about.metric(name).is_none()) {
        return Err(undeclared("metric", name));
    }
    for spec in about.metrics {
        let Some((name, values)) = metrics.remove_entry(spec.name) else { continue };
        let summary = summary(&name, &values)?;
        let limit = match limits.remove(&name) {
            Some(limit) => limit.record(spec.better, spec.unit).map_err(|e| defect(&name, &e.to_string()))?,
            None => LimitRecord::unknown("the benchmark derives no limit for this metric"),
        };
        let mut metric = MetricRecord::new(spec.unit, spec.better, &summary, limit);
        if values.unit != spec.unit {
            return Err(defect(&name, &format!("values in {} instead of {}", values.unit, spec.unit)));
        }
        metric.converged = has_converged(&values, case.budget.precision_percent);
        if metric.n as usize <= MOST_SAMPLES_IN_RECORD {
            metric.samples = Some(values.trials);
        } else {
            metric.samples_file = Some(format!("samples/{}.json", case.id.file_stem()));
        }
        record.metrics.insert(name, metric);
    }
    record.headline = record.metrics.keys().next().cloned();
    let mut tables = BTreeMap::new();
    for (name, rows) in series {
        let spec = about.series(&name).ok_or_else(|| undeclared("series", &name))?;
        let axes =
            spec.axes.iter().map(|axis| Axis { name: axis.name.to_owned(), unit: axis.unit }).collect();
        let column = spec.column.map(|(place, title)| SeriesColumn { place, title: title.to_owned() });
        let mut table = SeriesRecord { unit: spec.unit, better: spec.better, axes, rows: Vec::new(), column };
        for row in rows {
            table.rows.push(SeriesRow { summary: summary(&name, &row.values)?, at: row.at });
        }
        tables.insert(name, table);
    }
    record.series = tables;
    record.evidence = evidence;
    record.findings.extend(findings.into_iter().map(|finding| about_case(finding, case)));
    Ok(record)
}

/// The limits of a case of which the measurement told more than the plan.
fn limits(bench: &Benchmark, case: &Case, found: Params, site: &Site) -> Limits {
    if found.is_empty() {
        return bench.limits(case, site);
    }
    let mut case = case.clone();
    found.iter().for_each(|(name, value)| case.planned.set(name, value.clone()));
    bench.limits(&case, site)
}

fn about_case(mut finding: Finding, case: &Case) -> Finding {
    finding.case.get_or_insert_with(|| case.id.to_string());
    if let [node] = case.nodes.as_slice() {
        finding.node.get_or_insert_with(|| node.clone());
    }
    finding
}

fn summary(name: &str, values: &Values) -> Result<Summary, Reason> {
    let statistics = Statistics::of(&values.trials).map_err(|error| defect(name, &error.to_string()))?;
    let p99 = (statistics.n >= FEWEST_FOR_P99)
        .then(|| Sorted::pooled(&values.trials).and_then(|sorted| sorted.quantile(0.99)).ok())
        .flatten();
    Ok(Summary {
        n: statistics.n as u64,
        trials: statistics.trials as u64,
        median: statistics.median,
        mad: statistics.mad,
        min: statistics.min,
        max: statistics.max,
        mean: statistics.mean,
        p99,
        ci95: statistics.ci95.map(|interval| (interval.low, interval.high)),
    })
}

fn undeclared(what: &str, name: &str) -> Reason {
    Reason::new(
        Cause::Protocol,
        format!("defect of the benchmark: it made a {what} '{name}' that it does not declare"),
    )
}

fn defect(name: &str, why: &str) -> Reason {
    Reason::new(
        Cause::Protocol,
        format!("defect of the benchmark: its values of '{name}' are not measurements: {why}"),
    )
}
