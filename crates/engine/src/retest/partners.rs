//! Chooses other partners, the best first.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Outcome, Site, Subject};

use super::{Sides, is_pair};
use crate::guarded::replanned;

type Question = (String, String);

/// The nodes that are measured in pairs, and what is known of them.
pub(super) struct Partners {
    /// In the order of the plan.
    players: HashMap<Question, Vec<String>>,
    /// Planned pairs, in the order of the case.
    pairs: HashSet<(Question, String, String)>,
    /// Nodes that completed a pair.
    proven: BTreeSet<String>,
    gone: BTreeSet<String>,
    /// How often a node stands in for another.
    taken: BTreeMap<String, usize>,
}

/// The remaining nodes for a node that lost its partner.
pub(super) struct Left<'a> {
    /// Nodes that it is not planned with, the best first.
    pub fresh: Vec<&'a str>,
    pub is_with_others: bool,
}

impl Partners {
    pub fn new(planned: &[Case], done: &[CaseRecord], site: &Site, gone: &BTreeSet<String>) -> Self {
        let mut players: HashMap<Question, Vec<String>> = HashMap::new();
        let mut seen = HashSet::new();
        let mut pairs = HashSet::new();
        for case in planned {
            let question = (case.group.clone(), case.bench.clone());
            if let [one, other] = case.nodes.as_slice() {
                pairs.insert((question.clone(), one.clone(), other.clone()));
            }
            for node in &case.nodes {
                if seen.insert((question.clone(), node.clone())) {
                    players.entry(question.clone()).or_default().push(node.clone());
                }
            }
        }
        let here: HashSet<&str> = site.nodes.iter().map(|node| node.name.as_str()).collect();
        let mut gone = gone.clone();
        gone.extend(done.iter().flat_map(|record| record.lost.iter().cloned()));
        gone.extend(players.values().flatten().filter(|node| !here.contains(node.as_str())).cloned());
        let good = done.iter().filter(|record| record.outcome == Outcome::Measured && is_pair(&record.nodes));
        let proven = good.flat_map(|record| record.nodes.iter().cloned()).collect();
        Self { players, pairs, proven, gone, taken: BTreeMap::new() }
    }

    /// Candidates for the other end of `lost` when the node at `stays` keeps its own: nodes that completed a pair
    /// first, of these the least used, then the nearest behind it.
    pub fn for_end(&self, lost: &CaseRecord, stays: usize, sides: Sides) -> Left<'_> {
        let question = (lost.group.clone(), lost.bench.clone());
        let own = &lost.nodes[stays];
        let players = self.players.get(&question).map_or(&[][..], Vec::as_slice);
        let place = players.iter().position(|node| node == own).unwrap_or(0);
        let is_planned = |node: &String| {
            let has = |one: &String, other: &String| {
                self.pairs.contains(&(question.clone(), one.clone(), other.clone()))
            };
            // Where both nodes are tested, their order does not matter.
            has(own, node) || (sides == Sides::Both && has(node, own))
        };
        let left = players.iter().enumerate().filter(|(_, node)| *node != own && !self.gone.contains(*node));
        let (planned, fresh): (Vec<_>, Vec<_>) = left.partition(|(_, node)| is_planned(node));
        let rank = |(at, node): (usize, &'_ String)| {
            let behind = (at + players.len() - place) % players.len();
            (!self.proven.contains(node), self.taken.get(node).copied().unwrap_or(0), behind)
        };
        let mut fresh = fresh;
        fresh.sort_by_key(|(at, node)| rank((*at, node)));
        let fresh = fresh.into_iter().map(|(_, node)| node.as_str()).collect();
        Left { fresh, is_with_others: !planned.is_empty() }
    }

    pub fn takes_part(&mut self, node: &str) {
        *self.taken.entry(node.to_owned()).or_default() += 1;
    }
}

/// The position of the only node of a pair that satisfies `is`.
pub(super) fn end_of(record: &CaseRecord, is: impl Fn(&String) -> bool) -> Option<usize> {
    match record.nodes.as_slice() {
        [one, other] => match (is(one), is(other)) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        },
        _ => None,
    }
}

/// The same as [`with_partner`], in place of a case that lost its partner.
pub(super) fn again(
    registry: Registry,
    site: &Site,
    lost: &CaseRecord,
    stays: usize,
    partner: &str,
) -> Option<Case> {
    let mut case = with_partner(registry, site, lost, stays, partner)?;
    case.retry_of = Some(lost.case.clone());
    Some(case)
}

/// The case of the question of `lost`, with `partner` in place of the node that is not at `stays`; `None` when the
/// benchmark has no such case for these two.
pub(super) fn with_partner(
    registry: Registry,
    site: &Site,
    lost: &CaseRecord,
    stays: usize,
    partner: &str,
) -> Option<Case> {
    let own = lost.nodes[stays].as_str();
    let (one, other) = if stays == 0 { (own, partner) } else { (partner, own) };
    let pair = site.of([one, other])?;
    let cases = replanned(registry, &lost.bench, &lost.group, &lost.params, &pair)?;
    // Of several ports or devices the one with the name of the lost case's.
    let wanted = without_nodes(&lost.subject, &lost.nodes);
    // The port of a case that was never planned is unknown.
    let fits = |case: &Case| wanted == "->" || without_nodes(&case.subject, &case.nodes) == wanted;
    cases.into_iter().find(fits)
}

/// A subject without the names of nodes: `n1/eth0->n2/eth0` is `/eth0->/eth0`, and `n1->n2` is `->`.
fn without_nodes(subject: &Subject, nodes: &[String]) -> String {
    let end = |end: &str| {
        let (node, rest) = end.split_at(end.find('/').unwrap_or(end.len()));
        if nodes.iter().any(|known| known == node) { rest.to_owned() } else { end.to_owned() }
    };
    subject.as_str().split("->").map(end).collect::<Vec<_>>().join("->")
}
