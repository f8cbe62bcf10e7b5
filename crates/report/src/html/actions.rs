//! Who must act on what, the worst first: one sentence each, with how much is missing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Outcome, Severity, Verdict, VerdictRecord};

use super::filter::Filter;
use super::shown::Shown;
use super::words::{grouped, text};
use crate::number::whole_share;
use crate::view::criteria::measured;
use crate::view::findings::{Found, found};
use crate::view::nodes::{is_fleet, shortfall};
use crate::words::{Badge, count, cut, set_of};

/// Sentences at most; what is left stands in the tables.
const MOST: usize = 30;

/// Characters of a folded set of nodes.
const LONGEST_SET: usize = 60;

/// Characters of a reason.
const LONGEST_REASON: usize = 320;

/// One thing to act on.
#[derive(Clone, Debug, Template)]
#[template(path = "action.html")]
pub struct Action {
    /// How bad it is.
    pub badge: Badge,
    /// Whom it is about.
    pub who: String,
    /// What is the matter, with the margin.
    pub what: String,
    /// Where more is told.
    pub to: String,
    /// What it can be filtered by.
    pub filter: Filter,
}

/// The sentences, and how many more there would be.
pub fn actions(shown: &Shown<'_>) -> (Vec<Action>, usize) {
    let mut found = of_verdicts(shown);
    if shown.document.verdicts.is_empty() {
        found.extend(of_cases(shown));
    }
    // What is wrong goes before what could not be told.
    let at = found.iter().position(|action| action.badge.tone != Verdict::Fail).unwrap_or(found.len());
    drop(found.splice(at..at, of_findings(shown)));
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    (found, more)
}

fn of_verdicts(shown: &Shown<'_>) -> Vec<Action> {
    let is_open = |record: &&VerdictRecord| record.verdict >= Verdict::Warn;
    let mut records: Vec<&VerdictRecord> = shown.document.verdicts.iter().filter(is_open).collect();
    records.sort_by_key(|record| (Reverse(record.verdict), shortfall(record)));
    // The same said of several nodes is said once, of the worst.
    let said = |record: &&VerdictRecord| {
        (record.verdict, record.criterion.clone(), record.reason.clone(), record.waiver.is_some())
    };
    let groups = groups(records, said);
    groups.iter().map(|group| of_group(shown, group)).collect()
}

/// Items of the same key together, in the order of the first of each.
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

fn of_group(shown: &Shown<'_>, group: &[&VerdictRecord]) -> Action {
    let worst = group[0];
    let mut nodes: Vec<&str> = group.iter().filter_map(|record| record.node.as_deref()).collect();
    nodes.dedup();
    let mut subjects: Vec<&str> = group.iter().map(|record| record.subject.as_str()).collect();
    subjects.dedup();
    let what = sentence(worst, group.len() > 1, subjects.len() == 1);
    let badge = Badge::from(worst.verdict);
    Action {
        badge,
        who: who(shown, &nodes),
        what: text(&what),
        to: worst.case.as_deref().map_or(String::new(), |case| shown.place(case)),
        filter: shown.filter_of(nodes.iter().copied(), badge.class()),
    }
}

/// The nodes with their role, where they have one.
fn who(shown: &Shown<'_>, nodes: &[&str]) -> String {
    let names = match nodes {
        [] => return "the run".to_owned(),
        [one] => text(one),
        many => text(&set_of(many, LONGEST_SET)),
    };
    let roles = shown.roles_of(nodes[0]);
    let is_shared = nodes.iter().all(|node| shown.roles_of(node) == roles);
    if is_fleet(shown.document) && is_shared && !roles.is_empty() {
        format!("{names} ({roles})")
    } else {
        names
    }
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
    let measured = measured(record).map(|measured| format!("{}{of}", grouped(&measured)));
    let reason = record.reason.as_deref().map(|reason| cut(reason, LONGEST_REASON));
    let waiver = record.waiver.as_ref().map(|waiver| format!(" Waived: {waiver}.")).unwrap_or_default();
    let margin = |percent: f64| whole_share(percent.abs());
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
            if percent < 0.0 { "which it misses by" } else { "which it keeps by" },
            margin(percent)
        ),
        (_, _, _) => format!("{name} is to be looked at; {} is wanted", record.bound),
    };
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let stop = if (said.clone() + &reason).ends_with('.') { "" } else { "." };
    format!("{said}{reason}{stop}{waiver}")
}

/// Of a run without a profile, what did not work.
fn of_cases(shown: &Shown<'_>) -> Vec<Action> {
    let is_open = |case: &&CaseRecord| matches!(case.outcome, Outcome::Failed | Outcome::Unmeasured);
    let mut cases: Vec<&CaseRecord> = shown.document.results.iter().filter(is_open).collect();
    cases.sort_by_key(|case| case.outcome);
    // Once a file system hangs, it hangs in every case after the first.
    let said = |case: &&CaseRecord| (case.outcome, case.bench.clone(), case.reason.clone());
    groups(cases, said).iter().map(|group| of_same_end(shown, group)).collect()
}

/// Cases of one benchmark that ended in the same way.
fn of_same_end(shown: &Shown<'_>, group: &[&CaseRecord]) -> Action {
    let first = group[0];
    let nodes: BTreeSet<&str> = group.iter().flat_map(|case| &case.nodes).map(String::as_str).collect();
    let nodes: Vec<&str> = nodes.into_iter().collect();
    let badge = Badge::from(first.outcome);
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
        badge,
        who: who(shown, &nodes),
        what: text(&format!("{which} {what}: {reason}")),
        to: shown.place(first.case.as_str()),
        filter: shown.filter_of(nodes, badge.class()),
    }
}

/// What was found to be wrong.
fn of_findings(shown: &Shown<'_>) -> Vec<Action> {
    let found = found(shown.document).into_iter();
    let problems = found.filter(|found| found.finding.severity == Severity::Problem);
    let action = |found: Found<'_>| {
        let (finding, badge) = (found.finding, found.badge());
        let nodes: Vec<&str> = finding.node.as_deref().into_iter().collect();
        Action {
            badge,
            who: who(shown, &nodes),
            what: text(&format!("{}: {}", finding.kind, cut(&finding.text, LONGEST_REASON))),
            to: found.cases.first().map_or(String::new(), |case| shown.place(case)),
            filter: shown.filter_of(nodes.iter().copied(), badge.class()),
        }
    };
    problems.map(action).collect()
}
