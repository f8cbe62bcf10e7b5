//! What to act on, the worst first: one sentence each, with nodes and margin.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Outcome, Severity, Verdict, VerdictRecord};

use super::criteria::measured;
use super::findings::{Found, found};
use super::nodes::shortfall;
use crate::number::whole_percent;
use crate::words::{Badge, count, cut};

const LONGEST_REASON: usize = 320;

#[derive(Clone, Debug)]
pub struct Action<'a> {
    pub badge: Badge,
    /// The nodes that the sentence is about; none for the run as a whole.
    pub nodes: Vec<&'a str>,
    /// The problem, with the margin.
    pub what: String,
    /// The worst case.
    pub case: Option<&'a str>,
}

/// Verdicts that are not a pass, problems among the findings, and, for a run without a profile, cases that failed.
pub fn actions(document: &Document) -> Vec<Action<'_>> {
    let mut all = of_verdicts(document);
    if document.verdicts.is_empty() {
        all.extend(of_cases(document));
    }
    // Failures come before unknowns.
    let at = all.iter().position(|action| action.badge.tone != Verdict::Fail).unwrap_or(all.len());
    drop(all.splice(at..at, of_findings(document)));
    all
}

fn of_verdicts(document: &Document) -> Vec<Action<'_>> {
    let is_open = |record: &&VerdictRecord| record.verdict >= Verdict::Warn;
    let mut records: Vec<&VerdictRecord> = document.verdicts.iter().filter(is_open).collect();
    records.sort_by_key(|record| (Reverse(record.verdict), shortfall(record)));
    // The same sentence about several nodes is shown once, for the worst node.
    let said = |record: &&VerdictRecord| {
        (record.verdict, record.criterion.clone(), record.reason.clone(), record.waiver.is_some())
    };
    let groups = groups(records, said);
    groups.iter().map(|group| of_group(group)).collect()
}

fn groups<T, K: Ord>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    for item in items {
        let at = *places.entry(key(&item)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(item);
    }
    groups
}

fn of_group<'a>(group: &[&'a VerdictRecord]) -> Action<'a> {
    let worst = group[0];
    let mut nodes: Vec<&str> = group.iter().filter_map(|record| record.node.as_deref()).collect();
    nodes.dedup();
    let mut subjects: Vec<&str> = group.iter().map(|record| record.subject.as_str()).collect();
    subjects.dedup();
    let what = sentence(worst, group.len() > 1, subjects.len() == 1);
    Action { badge: worst.verdict.into(), nodes, what, case: worst.case.as_deref() }
}

fn sentence(record: &VerdictRecord, is_group: bool, has_one_subject: bool) -> String {
    let on = match record.subject.as_str() {
        "node" => String::new(),
        subject if has_one_subject => format!(" on {subject}"),
        _ => String::new(),
    };
    let name = format!("{}{on}", record.criterion);
    let of = match &record.node {
        Some(node) if is_group => format!(" at worst ({node})"),
        _ => String::new(),
    };
    let measured = measured(record).map(|measured| measured + &of);
    let reason = record.reason.as_deref().map(|reason| cut(reason, LONGEST_REASON));
    let waiver = record.waiver.as_ref().map(|waiver| format!(" Waived: {waiver}.")).unwrap_or_default();
    let margin = |percent: f64| whole_percent(percent.abs());
    let said = match (record.verdict, measured, record.margin_percent) {
        (Verdict::Fail, Some(measured), Some(percent)) => {
            format!(
                "{name} is {measured}; {} is wanted, which it misses by {}",
                record.bound,
                margin(percent)
            )
        }
        (Verdict::Fail, Some(measured), None) => format!("{name} is {measured}; {} is wanted", record.bound),
        (Verdict::Fail, None, _) => format!("{name} is not met; {} is wanted", record.bound),
        (Verdict::Unknown, Some(measured), _) => {
            format!("{name} is {measured} and could not be judged; {} is wanted", record.bound)
        }
        (Verdict::Unknown, None, _) => format!("{name} could not be judged; {} is wanted", record.bound),
        (_, Some(measured), Some(percent)) => format!(
            "{name} is {measured}; {} is wanted, {} {}",
            record.bound,
            if percent < 0.0 { "which it misses by" } else { "which it exceeds by" },
            margin(percent)
        ),
        (_, _, _) => format!("{name} is to be looked at; {} is wanted", record.bound),
    };
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let stop = if (said.clone() + &reason).ends_with('.') { "" } else { "." };
    format!("{said}{reason}{stop}{waiver}")
}

/// For a run without a profile: the cases that failed.
fn of_cases(document: &Document) -> Vec<Action<'_>> {
    let is_open = |case: &&CaseRecord| matches!(case.outcome, Outcome::Failed | Outcome::Unmeasured);
    let mut cases: Vec<&CaseRecord> = document.results.iter().filter(is_open).collect();
    cases.sort_by_key(|case| case.outcome);
    // A file system that hangs does so in every case after the first.
    let said = |case: &&CaseRecord| (case.outcome, case.bench.clone(), case.reason.clone());
    groups(cases, said).iter().map(|group| of_same_end(group)).collect()
}

/// Cases of one benchmark that ended in the same way.
fn of_same_end<'a>(group: &[&'a CaseRecord]) -> Action<'a> {
    let first = group[0];
    let nodes: BTreeSet<&str> = group.iter().flat_map(|case| &case.nodes).map(String::as_str).collect();
    let which = match group {
        [only] => only.case.to_string(),
        several => format!("{} of {}", count(several.len(), "case"), first.bench),
    };
    let what = match first.outcome {
        Outcome::Failed => "did not deliver",
        _ => "could not be measured",
    };
    let reason = first.reason.as_deref().map(|reason| cut(reason, LONGEST_REASON)).unwrap_or_default();
    Action {
        badge: first.outcome.into(),
        nodes: nodes.into_iter().collect(),
        what: format!("{which} {what}: {reason}"),
        case: Some(first.case.as_str()),
    }
}

fn of_findings(document: &Document) -> impl Iterator<Item = Action<'_>> {
    let problems = found(document).into_iter().filter(|found| found.finding.severity == Severity::Problem);
    problems.map(|found: Found<'_>| Action {
        badge: found.badge(),
        nodes: found.finding.node.as_deref().into_iter().collect(),
        what: format!("{}: {}", found.finding.kind, cut(&found.finding.text, LONGEST_REASON)),
        case: found.cases.first().copied(),
    })
}
