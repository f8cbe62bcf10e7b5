//! What to act on, the worst first: one sentence each, with nodes and margin.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use seatrial_analysis::disturbances;
use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Outcome, Severity, Verdict, VerdictRecord};

use super::cases::by_id;
use super::criteria::measured;
use super::findings::{Found, OF_RUN, found};
use super::nodes::shortfall;
use crate::number::{signed_percent, whole_percent};
use crate::words::{Badge, count, cut};

const LONGEST_REASON: usize = 320;

#[derive(Clone, Debug)]
pub struct Action<'a> {
    pub badge: Badge,
    /// The nodes that the sentence is about; none for the run as a whole.
    pub nodes: Vec<&'a str>,
    /// The criterion, the kind of finding, or the benchmark.
    pub name: &'a str,
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

/// As [`actions`], followed by the warnings, one for each kind.
pub fn with_warnings(document: &Document) -> Vec<Action<'_>> {
    let mut all = actions(document);
    all.extend(disturbed(document));
    let is_other = |found: &Found<'_>| {
        found.finding.severity == Severity::Warning && !OF_RUN.contains(&found.finding.kind.as_str())
    };
    let warnings: Vec<Found<'_>> = found(document).into_iter().filter(is_other).collect();
    let kinds = groups(warnings, |found| found.finding.kind.clone());
    all.extend(kinds.iter().map(|group| {
        let first = of_finding(&group[0]);
        let more = match group.len() {
            1 => String::new(),
            number => format!(" ({} more of this kind)", number - 1),
        };
        Action { what: first.what + &more, ..first }
    }));
    all
}

/// Everything that disturbed the run, in one sentence.
fn disturbed(document: &Document) -> Option<Action<'_>> {
    let found = disturbances(&document.results)?;
    let took = |(name, (low, high)): (&String, &(f64, f64))| {
        if high - low < 1.0 {
            format!("{name} {high:.0} %")
        } else {
            format!("{name} {low:.0} to {high:.0} %")
        }
    };
    let by: Vec<String> = found.by.iter().map(took).collect();
    let by = if by.is_empty() { String::new() } else { format!(" ({} of the CPU time)", by.join(", ")) };
    let what = format!(
        "machine disturbed: {} of {} trials{by}; {} may be off: measure again on a quiet machine",
        found.trials,
        found.of,
        match found.cases {
            1 => "1 median".to_owned(),
            cases => format!("{cases} medians"),
        }
    );
    Some(Action { badge: Severity::Warning.into(), nodes: Vec::new(), name: "disturbed", what, case: None })
}

fn of_verdicts<'a>(document: &'a Document) -> Vec<Action<'a>> {
    let is_open = |record: &&VerdictRecord| record.verdict >= Verdict::Warn;
    let mut records: Vec<&VerdictRecord> = document.verdicts.iter().filter(is_open).collect();
    records.sort_by_key(|record| (Reverse(record.verdict), shortfall(record)));
    // The same sentence about several nodes is shown once, for the worst node.
    let said = |record: &&VerdictRecord| {
        (record.verdict, record.criterion.clone(), record.reason.clone(), record.waiver.is_some())
    };
    let by_criterion = groups(records, said);
    // Criteria of one benchmark that are missed by the same nodes for the same reason are one thing to act on.
    let cases = by_id(document);
    let cause = |group: &Vec<&'a VerdictRecord>| {
        let bench = group[0].case.as_deref().and_then(|case| cases.get(case)).map(|case| case.bench.as_str());
        let nodes: BTreeSet<&Option<String>> = group.iter().map(|record| &record.node).collect();
        // Without a case, the criterion is about a setting, and has a remedy of its own.
        let own = bench.is_none().then_some(&group[0].criterion);
        let is_waived = group[0].waiver.is_some();
        (group[0].verdict, &group[0].reason, &group[0].subject, bench, own, nodes, is_waived)
    };
    groups(by_criterion, cause).iter().map(|alike| of_alike(alike)).collect()
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

/// One action about criteria of one cause, the worst first; each with its verdicts.
fn of_alike<'a>(alike: &[Vec<&'a VerdictRecord>]) -> Action<'a> {
    let action = of_group(&alike[0]);
    let others: Vec<&VerdictRecord> = alike[1..].iter().map(|group| group[0]).collect();
    if others.is_empty() {
        return action;
    }
    let name = |record: &&VerdictRecord| match record.margin_percent {
        Some(percent) => format!("{} ({})", record.criterion, signed_percent(percent)),
        None => record.criterion.clone(),
    };
    let names: Vec<String> = others.iter().map(name).collect();
    let what = match alike[0][0].verdict {
        Verdict::Unknown => {
            let (last, first) = names.split_last().expect("not empty");
            let first: Vec<&str> =
                [action.name].into_iter().chain(first.iter().map(String::as_str)).collect();
            let all = format!("{} and {last}", first.join(", "));
            let reason = alike[0][0].reason.as_deref().map(|reason| cut(reason, LONGEST_REASON));
            format!("{all} could not be judged: {}", reason.unwrap_or_default())
        }
        _ => format!("{} Also {}.", action.what, names.join(", ")),
    };
    Action { what, ..action }
}

fn of_group<'a>(group: &[&'a VerdictRecord]) -> Action<'a> {
    let worst = group[0];
    let mut nodes: Vec<&str> = group.iter().filter_map(|record| record.node.as_deref()).collect();
    nodes.dedup();
    let mut subjects: Vec<&str> = group.iter().map(|record| record.subject.as_str()).collect();
    subjects.dedup();
    let what = sentence(worst, group.len() > 1, subjects.len() == 1);
    Action { badge: worst.verdict.into(), nodes, name: &worst.criterion, what, case: worst.case.as_deref() }
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
        (_, _, _) => format!("{name} is to be {}", record.bound),
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
        name: &first.bench,
        what: format!("{which} {what}: {reason}"),
        case: Some(first.case.as_str()),
    }
}

fn of_findings(document: &Document) -> impl Iterator<Item = Action<'_>> {
    let problems = found(document).into_iter().filter(|found| found.finding.severity == Severity::Problem);
    problems.map(|found: Found<'_>| of_finding(&found))
}

fn of_finding<'a>(found: &Found<'a>) -> Action<'a> {
    Action {
        badge: found.badge(),
        nodes: found.finding.node.as_deref().into_iter().collect(),
        name: &found.finding.kind,
        what: format!("{}: {}", found.finding.kind, cut(&found.finding.text, LONGEST_REASON)),
        case: found.cases.first().copied(),
    }
}
