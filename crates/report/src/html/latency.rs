//! Latencies as curves of percentiles: the x axis counts nines, so that the tail gets as much room as the rest.

use std::collections::BTreeMap;

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Dimension, PartRecord, Unit};

use super::curve::{FEWEST_POINTS, Figure, MOST_CURVES, height};
use super::plot::{Curve, Plot, Point, Scale};
use super::words::{number, quantity, text};
use crate::words::unit;

/// Metrics that are percentiles, and the quantile of each.
const PERCENTILES: &[(&str, f64)] = &[
    ("p50", 0.5),
    ("latency", 0.5),
    ("round_trip", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p999", 0.999),
    ("p9999", 0.9999),
    ("p99999", 0.99999),
];

const MOST_POINTS: usize = 140;

pub fn has_any(case: &CaseRecord) -> bool {
    let is_percentile = |name: &str| PERCENTILES.iter().any(|(known, _)| *known == name);
    let times = case.metrics.iter().filter(|(_, metric)| metric.unit.dimension() == Dimension::Time);
    times.filter(|(name, _)| is_percentile(name)).count() > 1
}

/// The curve of `case`: from all latencies if the parts kept them, else from the percentiles in the record.
pub fn figure(case: &CaseRecord, parts: &[PartRecord]) -> Option<Figure> {
    let counted = counted(parts);
    let (curves, note) = if counted.is_empty() || counted.len() > MOST_CURVES {
        (vec![of_metrics(case)?], "Drawn through the percentiles in the record.")
    } else {
        let curves = counted.iter().map(|(name, counts)| of_counts(name, counts)).collect();
        (curves, "Drawn from every latency, of all trials and parts.")
    };
    let ys = || curves.iter().flat_map(|curve| &curve.points).map(|point| point.y);
    let up = height(ys());
    let has_one = curves.len() == 1;
    let curves: Vec<Curve> = curves
        .into_iter()
        .map(|curve| if has_one { Curve { name: String::new(), ..curve } } else { curve })
        .collect();
    let plot = Plot {
        label: "Latency over the share of operations that took no longer".to_owned(),
        across: Scale::Nines,
        across_name: "share of operations that took no longer".to_owned(),
        up,
        curves,
        marks: Vec::new(),
    };
    Figure::new("Latency by percentile", "us", note, &plot)
}

/// Latencies in nanoseconds with their counts, by the name of the benchmark.
fn counted(parts: &[PartRecord]) -> BTreeMap<String, BTreeMap<u64, u64>> {
    let mut found: BTreeMap<String, BTreeMap<u64, u64>> = BTreeMap::new();
    let mut add = |name: &str, value: &serde_json::Value| {
        let Some(buckets) = value.get("buckets").and_then(serde_json::Value::as_array) else { return };
        let counts = found.entry(name.to_owned()).or_default();
        for bucket in buckets {
            let of = |at: usize| bucket.get(at).and_then(serde_json::Value::as_u64);
            if let (Some(nanos), Some(count)) = (of(0), of(1)) {
                *counts.entry(nanos).or_default() += count;
            }
        }
    };
    for (name, value) in parts.iter().flat_map(|part| &part.evidence) {
        add(name, value);
        // One level down: latencies by operation.
        for (name, value) in value.as_object().into_iter().flatten() {
            add(name, value);
        }
    }
    found.retain(|_, counts| counts.values().sum::<u64>() > 0);
    found
}

fn of_counts(name: &str, counts: &BTreeMap<u64, u64>) -> Curve {
    let all: u64 = counts.values().sum();
    let (mut below, mut points) = (0, Vec::new());
    for (nanos, count) in counts {
        below += count;
        // The last point has no latency beyond it, and counts as half of one.
        let beyond = ((all - below) as f64).max(0.5) / all as f64;
        points.push((-beyond.log10(), *nanos as f64 / 1e3));
    }
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.into_iter().enumerate().filter(|(at, _)| at % step == 0 || *at == last);
    let point = |(x, y): (f64, f64)| {
        let share = 100.0 * (1.0 - 10f64.powf(-x));
        let tip = format!("{} % took no longer than {} us", number((share * 1e4).round() / 1e4), number(y));
        Point { x, y, band: None, tip }
    };
    Curve { name: text(name), points: kept.map(|(_, at)| point(at)).collect() }
}

fn of_metrics(case: &CaseRecord) -> Option<Curve> {
    let of = |(name, quantile): &(&str, f64)| {
        let metric: &MetricRecord = case.metrics.get(*name)?;
        let to = |value: f64| value * metric.unit.factor() / Unit::Microsecond.factor();
        (metric.unit.dimension() == Dimension::Time).then(|| Point {
            x: -(1.0 - quantile).log10(),
            y: to(metric.median),
            band: metric.ci95.map(|(low, high)| (to(low), to(high))),
            tip: text(&format!("{name}: {}", quantity(metric.median, metric.unit))),
        })
    };
    let mut points: Vec<Point> = PERCENTILES.iter().filter_map(of).collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    (points.len() >= FEWEST_POINTS).then(|| Curve { name: unit(Unit::Microsecond), points })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_counts_and_the_tail_stands_where_its_nines_are() {
        let counts: BTreeMap<u64, u64> = [(1_000, 900), (2_000, 90), (10_000, 10)].into();
        let curve = of_counts("round_trips", &counts);
        let places: Vec<(f64, f64)> =
            curve.points.iter().map(|point| ((point.x * 10.0).round() / 10.0, point.y)).collect();
        assert_eq!(places, [(1.0, 1.0), (2.0, 2.0), (3.3, 10.0)]);
        assert_eq!(curve.points[0].tip, "90.0 % took no longer than 1.00 us");
    }
}
