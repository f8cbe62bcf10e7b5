//! Load sweeps: cases that differ in load alone, one sweep per combination of the other parameters.

use std::collections::{BTreeSet, HashMap};

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{About, Better, Kind, Outcome, Params, Value};
use seatrial_stats::{Interval, LoadPoint};

#[derive(Clone, Debug)]
pub(super) struct LoadSweep<'a> {
    pub axis: &'static str,
    /// Other parameters that differ between the load sweeps of the same case list.
    pub named: Params,
    /// The first metric that the benchmark declares.
    pub metric: &'static str,
    pub cases: Vec<(u64, &'a CaseRecord)>,
}

impl<'a> LoadSweep<'a> {
    pub fn measured(&self) -> Vec<(u64, &'a CaseRecord, &'a MetricRecord)> {
        let of = |(load, case): &(u64, &'a CaseRecord)| {
            Some((*load, *case, case.metrics.get(self.metric).filter(|_| case.outcome == Outcome::Measured)?))
        };
        self.cases.iter().filter_map(of).collect()
    }

    /// The measured rates as a curve; `None` unless the metric is a rate of which more is better.
    pub fn curve(&self) -> Option<Vec<LoadPoint>> {
        let measured = self.measured();
        let is_rate =
            measured.iter().all(|(.., metric)| metric.better == Better::Higher && metric.median > 0.0);
        let point = |(load, _, metric): &(u64, &CaseRecord, &MetricRecord)| LoadPoint {
            load: *load as f64,
            rate: metric.median,
            ci95: metric.ci95.map(|(low, high)| Interval { low, high }),
        };
        (is_rate && !measured.is_empty()).then(|| measured.iter().map(point).collect())
    }

    /// `block=1 MiB, pattern=seq: `, or empty when there is one load sweep.
    pub fn name(&self) -> String {
        if self.named.is_empty() { String::new() } else { format!("{}: ", words(&self.named)) }
    }
}

/// `block=1 MiB, pattern=seq`.
pub(super) fn words(params: &Params) -> String {
    params.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

/// Whether a case is neither one of several repeats nor concurrent with others.
pub(super) fn stands_alone(case: &CaseRecord) -> bool {
    let origin = &case.origin;
    !origin.is_concurrent() && origin.study.is_none() && origin.suspect.is_none() && case.retry_of.is_none()
}

/// Cases of one benchmark on one subject, which may differ in their parameters.
pub(super) fn sweeps(records: &[CaseRecord]) -> Vec<Vec<&CaseRecord>> {
    let mut sweeps: Vec<Vec<&CaseRecord>> = Vec::new();
    let mut places = HashMap::new();
    for case in records.iter().filter(|case| stands_alone(case)) {
        let key = (&case.group, &case.bench, &case.nodes, &case.subject);
        let at = *places.entry(key).or_insert(sweeps.len());
        if at == sweeps.len() {
            sweeps.push(Vec::new());
        }
        sweeps[at].push(case);
    }
    sweeps
}

pub(super) fn varying<'a>(cases: &[&'a CaseRecord]) -> Vec<&'a str> {
    let names: BTreeSet<&str> =
        cases.iter().flat_map(|case| case.params.iter().map(|(name, _)| name)).collect();
    let differs = |name: &&str| cases.iter().any(|case| case.params.get(name) != cases[0].params.get(name));
    names.into_iter().filter(differs).collect()
}

/// The load sweeps of `records` with two loads or more. The load is the first parameter of that kind that differs, by
/// the definitions of the benchmarks.
pub(super) fn load_sweeps<'a>(records: &'a [CaseRecord], abouts: &[&'static About]) -> Vec<LoadSweep<'a>> {
    sweeps(records).iter().flat_map(|cases| of_sweep(cases, abouts)).collect()
}

fn of_sweep<'a>(cases: &[&'a CaseRecord], abouts: &[&'static About]) -> Vec<LoadSweep<'a>> {
    let Some(about) = abouts.iter().find(|about| about.id == cases[0].bench) else { return Vec::new() };
    let varying = varying(cases);
    let is_load = |spec: &&seatrial_model::ParamSpec| {
        matches!(spec.kind, Kind::Load(..)) && varying.contains(&spec.name)
    };
    let (Some(axis), Some(metric)) = (about.params.iter().find(is_load), about.metrics.first()) else {
        return Vec::new();
    };
    let others = |case: &CaseRecord| -> Params {
        let own = case.params.iter().filter(|(name, _)| *name != axis.name && varying.contains(name));
        own.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    };
    let mut sweeps: Vec<LoadSweep<'a>> = Vec::new();
    for case in cases {
        let Some(Value::Count(load)) = case.params.get(axis.name) else { continue };
        let named = others(case);
        match sweeps.iter_mut().find(|sweep| sweep.named == named) {
            Some(sweep) => sweep.cases.push((*load, case)),
            None => sweeps.push(LoadSweep {
                axis: axis.name,
                named,
                metric: metric.name,
                cases: vec![(*load, case)],
            }),
        }
    }
    for sweep in &mut sweeps {
        sweep.cases.sort_by_key(|(load, _)| *load);
        sweep.cases.dedup_by_key(|(load, _)| *load);
    }
    sweeps.retain(|sweep| sweep.cases.len() > 1);
    sweeps
}
