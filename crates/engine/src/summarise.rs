//! From measures to the record: summaries with their intervals and limits.

use std::borrow::Cow;
use std::collections::BTreeMap;

use seatrial_bench::Benchmark;
use seatrial_model::record::{
    Axis, CaseRecord, MetricRecord, SeriesColumn, SeriesRecord, SeriesRow, Summary,
};
use seatrial_model::{
    Case, Cause, FactorCase, Finding, LimitRecord, Limits, Measures, Params, Reason, Site, Values,
};
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

/// The limits of a case, on nodes with the settings that they had during it, and by what the measurement told more than the plan.
fn limits(bench: &Benchmark, case: &Case, found: Params, site: &Site) -> Limits {
    let set = case.origin.study.as_ref().and_then(FactorCase::set);
    let site = set.map_or(Cow::Borrowed(site), |block| Cow::Owned(site.during(&block.changes)));
    if found.is_empty() {
        return bench.limits(case, &site);
    }
    let mut case = case.clone();
    found.iter().for_each(|(name, value)| case.planned.set(name, value.clone()));
    bench.limits(&case, &site)
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

#[cfg(test)]
mod tests {
    use seatrial_model::machine::{Known, Machine, Nic, NicKind};
    use seatrial_model::profile::Test;
    use seatrial_model::setting::{NodeChange, SettingChange};
    use seatrial_model::{Limit, SiteNode, Subject};

    use super::*;
    use crate::inputs::PlanInputs;
    use crate::setting_blocks::{SettingBlocks, TriedSetting};

    fn node(name: &str) -> SiteNode {
        let eth0 = Nic {
            name: "eth0".to_owned(),
            kind: NicKind::Physical,
            up: Known::Known(true),
            mtu: Known::Known(1500),
            speed_mbit_s: Known::Known(10_000),
            networks: Known::Known(vec!["10.0.0.0/16".to_owned()]),
            link_layer: Known::Known("ethernet".to_owned()),
            ..Nic::default()
        };
        let nics = Known::Known(vec![eth0]);
        SiteNode::new(name, Machine { cpu: seatrial_testkit::cores([0]), nics, ..Machine::default() })
    }

    #[test]
    fn the_limit_of_a_case_follows_the_setting_that_its_nodes_have_meanwhile() {
        let nodes = ["n1", "n2"];
        let change = |node: &str| NodeChange {
            node: node.to_owned(),
            before: "1500".to_owned(),
            change: SettingChange {
                setting: "nic.mtu".to_owned(),
                subject: Subject::device("nic", "eth0"),
                wanted: 9000_u64.into(),
            },
        };
        let tried = TriedSetting { label: "nic.mtu=9000".to_owned(), changes: nodes.map(change).into() };
        let site = Site { nodes: nodes.map(node).into() };
        let id = "net.tcp_stream".to_owned();
        let test = Test { id: id.clone(), bench: id.clone(), ..Test::default() };
        let registry = &seatrial_registry::REGISTRY;
        let study = SettingBlocks { settings: vec![tried], repeats: 1, seed: 1 };
        let plan = study.plan(&[test], registry, PlanInputs::of(&site)).expect("a plan");
        let bench = registry.find(&id).expect("a benchmark");
        let mut seen = Vec::new();
        for case in plan.cases.iter().filter(|case| case.nodes == nodes) {
            let mtu = if case.origin.study.as_ref().is_some_and(|study| study.set().is_some()) {
                9000
            } else {
                1500
            };
            let limits = limits(bench, case, Params::default(), &site);
            let Some(Limit::Chain(bounds)) = limits.get("throughput") else { panic!("{limits:?}") };
            // Of a TCP segment with timestamps in an Ethernet frame (38 B around the packet).
            let wanted = 10.0 * f64::from(mtu - 52) / f64::from(mtu + 38);
            assert!(
                bounds.iter().all(|bound| (bound.value.value() - wanted).abs() < 1e-9),
                "{mtu}: {bounds:?}"
            );
            seen.push(mtu);
        }
        seen.sort_unstable();
        assert_eq!(seen, [1500, 1500, 9000, 9000]);
    }
}
