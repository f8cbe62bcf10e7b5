//! Findings of bisections: the node, link or boundary that holds groups back, or that none was found.

use seatrial_model::profile::fold;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Better, Finding, Remedy, Severity, Subject, Unit};

use super::Rule;
use super::address;
use super::bisection::{Bisection, bisections};
use super::confidence;
use crate::bisect::{FEWEST_NODES, Fault, Group, Isolation, Next, Place};
use crate::number::{in_unit, quantity, significant};

pub(super) const BOUNDARY: Rule = Rule {
    kind: "slow-boundary",
    doc: "Groups with nodes on both sides of a boundary are slow, and groups of one side are not.",
    find: |records| {
        of_places(records, "slow-boundary", |place| !is_link(place) && !is_node(place), check_uplinks)
    },
};

pub(super) const NOTHING: Rule = Rule {
    kind: "no-slow-part",
    doc: "A bisection compared groups of nodes, and names no node or boundary.",
    find: nothing,
};

const COMPARE: Remedy = Remedy::new(
    Actor::Administrator,
    "keep it out of jobs, and run the benchmarks of one node and `seatrial settings` on it and on a sound node",
);

/// Single nodes, as findings of `kind`.
pub(super) fn nodes(records: &[CaseRecord], kind: &str) -> Vec<Finding> {
    of_places(records, kind, is_node, |_, _| COMPARE)
}

/// Pairs of nodes, as findings of `kind`.
pub(super) fn links(records: &[CaseRecord], kind: &str) -> Vec<Finding> {
    of_places(records, kind, is_link, check_path)
}

fn is_node(place: &Place) -> bool {
    matches!(place, Place::Node(_))
}

fn is_link(place: &Place) -> bool {
    matches!(place, Place::Between(one, other) if one.len() == 1 && other.len() == 1)
}

/// A node of each side of a place, the first by name, with the cases that measured them.
fn ends<'a>(bisection: &Bisection<'a>, place: &Place) -> (Vec<&'a CaseRecord>, &'a str, &'a str) {
    let all = || 0..bisection.nodes.len();
    let (one, other) = match place {
        Place::Node(at) => (Some(*at), all().find(|other| other != at)),
        Place::Around(inside) => (inside.first().copied(), all().find(|at| !inside.contains(at))),
        Place::Between(one, other) => (one.first().copied(), other.first().copied()),
    };
    let name = |at: Option<usize>| at.and_then(|at| bisection.nodes.get(at)).copied().unwrap_or_default();
    (bisection.cases.iter().map(|(case, _)| *case).collect(), name(one), name(other))
}

fn check_path(bisection: &Bisection<'_>, place: &Place) -> Remedy {
    let (cases, from, to) = ends(bisection, place);
    address::check_path_between(&cases, from, to)
}

fn check_uplinks(bisection: &Bisection<'_>, place: &Place) -> Remedy {
    let (cases, from, to) = ends(bisection, place);
    address::check_uplinks(&cases, from, to)
}

fn of_places(
    records: &[CaseRecord],
    kind: &str,
    is_wanted: impl Fn(&Place) -> bool,
    remedy: impl Fn(&Bisection<'_>, &Place) -> Remedy,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for bisection in bisections(records) {
        let Next::Done(Isolation { faults, .. }) = &bisection.next else { continue };
        let faults = faults.iter().filter(|fault| is_wanted(&fault.place));
        found.extend(
            faults
                .map(|fault| finding(&bisection, fault, kind).with_remedy(remedy(&bisection, &fault.place))),
        );
    }
    found
}

fn finding(bisection: &Bisection<'_>, fault: &Fault, kind: &str) -> Finding {
    let (words, subject, node) = match &fault.place {
        Place::Node(at) => {
            let node = bisection.nodes[*at];
            (format!("{node} holds its groups back"), Subject::node(), Some(node.to_owned()))
        }
        Place::Around(inside) => {
            let inside = folded(bisection, inside);
            let words =
                format!("between {inside} and other nodes is a slow boundary, {inside} alone is not slow");
            (words, subject(&inside, "others"), None)
        }
        Place::Between(one, other) => {
            let (one, other) = (folded(bisection, one), folded(bisection, other));
            let what = if is_link(&fault.place) { "slow link" } else { "slow boundary" };
            let words = format!("between {one} and {other} is a {what}, each side alone is not slow");
            (words, subject(&one, &other), None)
        }
    };
    let (metric, unit, better) = measure(bisection);
    let rate = |log: f64| in_unit(if better == Better::Lower { (-log).exp() } else { log.exp() }, unit);
    let percent = |deficit: f64| {
        let log = if better == Better::Lower { deficit } else { -deficit };
        100.0 * log.exp_m1()
    };
    let side = if better == Better::Lower { "above" } else { "below" };
    let size = fault.slow.first().map_or(0, Vec::len);
    let text = format!(
        "{words}: {metric} {} in {} groups of {size} nodes with the fault, {} % {side} {} in {} sound groups of {size}; \
         the scatter from group to group is {} %",
        rate(fault.level - fault.deficit),
        fault.slow.len(),
        significant(percent(fault.deficit).abs()),
        rate(fault.level),
        fault.sound,
        significant(100.0 * fault.noise),
    );
    let (one, other) = (percent(fault.deficit - fault.half_width), percent(fault.deficit + fault.half_width));
    let is_of_node = node.is_some();
    let found = Finding {
        case: Some(bisection.whole.case.to_string()),
        node,
        value: quantity(percent(fault.deficit), Unit::Percent),
        ci95: Some((one.min(other), one.max(other))),
        evidence: evidence(bisection, |group| fault.slow.contains(group)),
        ..Finding::new(kind, Severity::Problem, subject, text)
    };
    if !is_of_node {
        return found;
    }
    let margin = fault.deficit / fault.half_width.max(f64::MIN_POSITIVE);
    confidence::with(
        found,
        confidence::of_margin(margin),
        "the noise of all nodes is the cause",
        &[bisection.whole],
    )
}

/// Group, metric, and the ids of the cases of the groups that count.
fn evidence(bisection: &Bisection<'_>, counts: impl Fn(&Group) -> bool) -> Vec<String> {
    let own =
        bisection.cases.iter().filter(|(_, group)| counts(group)).map(|(case, _)| case.case.to_string());
    [bisection.whole.group.clone(), bisection.metric.to_owned()].into_iter().chain(own).collect()
}

fn folded(bisection: &Bisection<'_>, group: &Group) -> String {
    fold(&group.iter().map(|at| bisection.nodes[*at]).collect::<Vec<_>>())
}

fn subject(one: &str, other: &str) -> Subject {
    let Ok(subject) = format!("{one}->{other}").parse();
    subject
}

fn measure<'a>(bisection: &Bisection<'a>) -> (&'a str, Unit, Better) {
    let name = bisection.metric;
    let metric = bisection.cases.iter().find_map(|(case, _)| case.metrics.get(name));
    metric.map_or((name, Unit::Ratio, Better::None), |metric| (name, metric.unit, metric.better))
}

fn nothing(records: &[CaseRecord]) -> Vec<Finding> {
    bisections(records).iter().filter_map(of_nothing).collect()
}

fn of_nothing(bisection: &Bisection<'_>) -> Option<Finding> {
    let Next::Done(found) = &bisection.next else { return None };
    if !found.faults.is_empty() || bisection.nodes.len() < FEWEST_NODES {
        return None;
    }
    let count = bisection.cases.len().saturating_sub(1);
    let half = bisection.nodes.len() / 2;
    let (severity, text) = match (&found.stopped_at, found.whole_deficit) {
        (Some(group), _) => {
            let group = folded(bisection, group);
            let text =
                format!("the search ended early and names no node or boundary: {group} was not measured");
            (Severity::Info, text)
        }
        (None, Some(deficit)) => {
            let text = format!(
                "all {} nodes together are {} % slower than groups of {half}, and no group of {half} is: either the load \
                 of all nodes is the cause or the number of nodes",
                bisection.nodes.len(),
                significant(-100.0 * (-deficit).exp_m1())
            );
            (Severity::Warning, text)
        }
        (None, None) => {
            let text = format!(
                "{count} groups of up to {half} nodes differ in {} by no more than noise explains; {} % more would have \
                 been seen",
                bisection.metric,
                significant(100.0 * found.least),
            );
            (Severity::Info, text)
        }
    };
    let finding = Finding::new(NOTHING.kind, severity, Subject::node(), text);
    Some(Finding {
        case: Some(bisection.whole.case.to_string()),
        evidence: evidence(bisection, |_| true),
        ..finding
    })
}

#[cfg(test)]
mod tests;
