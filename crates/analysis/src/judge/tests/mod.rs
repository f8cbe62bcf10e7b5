//! Every rule of a judgement on records made by hand, with exact numbers.

mod bars;
mod demands;
mod disturbed;
mod numbers;
mod paths;
mod scopes;
mod settings;

use std::collections::BTreeMap;

use jiff::civil::{Date, date};
use seatrial_model::profile::{Absence, Bar, Bounds, Criterion, Missed, Profile, Statistic, Test};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Site, Verdict};

use super::{Assignment, JudgeInputs, Judgement, judge};

const TODAY: Date = date(2026, 3, 1);

fn bar(text: &str) -> Bar {
    Bar::Absolute(text.parse().unwrap())
}

fn at_least(text: &str) -> Bounds {
    Bounds::AtLeast(bar(text))
}

fn memory() -> Test {
    Test {
        id: "memory".to_owned(),
        bench: "mem.bandwidth".to_owned(),
        planned: false,
        pattern: None,
        roles: Vec::new(),
        params: BTreeMap::new(),
        on: Default::default(),
        require: BTreeMap::new(),
        expect: None,
        if_none: Absence::default(),
        partner: None,
        rounds: None,
        links: None,
        beside: None,
        groups: None,
    }
}

/// The criterion `fast` on the median of `bandwidth`.
fn fast(bounds: Bounds) -> Criterion {
    Criterion {
        id: "fast".to_owned(),
        test: "memory".to_owned(),
        metric: "bandwidth".to_owned(),
        cases: Default::default(),
        at: Default::default(),
        of: Statistic::Median,
        bounds,
        without_limit: Absence::Unknown,
        missed: Missed::Fail,
    }
}

/// A profile of the test `memory` and the criterion `fast`.
fn profile(bounds: Bounds) -> Profile {
    Profile {
        id: "site".to_owned(),
        tests: vec![memory()],
        criteria: vec![fast(bounds)],
        ..Profile::default()
    }
}

fn inputs<'a>(
    nodes: &'a Assignment,
    records: &'a [CaseRecord],
    reference: Option<&'a [CaseRecord]>,
) -> JudgeInputs<'a> {
    const NOWHERE: &Site = &Site { nodes: Vec::new() };
    JudgeInputs { typed: "site", nodes, records, reference, site: NOWHERE, settings: &[], today: TODAY }
}

/// Judges `records` of the nodes that occur in them, and of `n1` at least.
fn judged(profile: &Profile, records: &[CaseRecord]) -> Judgement {
    let mut nodes = vec!["n1".to_owned()];
    nodes.extend(records.iter().flat_map(|case| case.nodes.clone()));
    nodes.sort();
    nodes.dedup();
    let nodes = Assignment::new(profile, &nodes, &BTreeMap::new());
    let mut records = records.to_vec();
    crate::state_limits(profile, &mut records);
    judge(profile, &inputs(&nodes, &records, None))
}

/// The verdict, measured number, bound and reason of the only record.
fn only(judgement: &Judgement) -> (Verdict, String, String, String) {
    let [record] = judgement.verdicts.as_slice() else { panic!("{:#?}", judgement.verdicts) };
    let measured = record.measured.map(|measured| measured.to_string()).unwrap_or_default();
    (record.verdict, measured, record.bound.clone(), record.reason.clone().unwrap_or_default())
}

/// Verdict and reason of every record, with its criterion and node.
fn lines(judgement: &Judgement) -> Vec<String> {
    let line = |record: &seatrial_model::VerdictRecord| {
        format!(
            "{} {}: {} {}",
            record.criterion,
            record.node.as_deref().unwrap_or("-"),
            record.verdict,
            record.reason.as_deref().unwrap_or("")
        )
        .trim_end()
        .to_owned()
    };
    judgement.verdicts.iter().map(line).collect()
}
