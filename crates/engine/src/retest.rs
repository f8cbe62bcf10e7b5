//! Measures a node again with another partner.
//!
//! A case of two nodes says little about the remaining node when the other is lost. So a case that lost its partner
//! is planned once more, with a node that is known to work. The same choice of partners serves for suspects: a node
//! that is slow or fails with two good partners is bad itself.

mod partners;
mod regroup;
mod suspects;

use std::collections::{BTreeSet, HashMap, HashSet};

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, CaseId, Cause, Reason, Site};

use crate::placement;
use crate::study::{More, Rule};
use partners::{Partners, again, end_of};

pub use regroup::Regroup;
pub use suspects::{Suspect, Suspects};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    Both,
    /// The first node; the second is a partner, which is never judged.
    First,
}

/// Runs every case that lost its partner once more, with another partner. A stand-in case is not repeated when it loses
/// its partner too: no third node is put at risk. Nothing is repeated where every remaining partner is planned anyway,
/// as in all pairs.
pub struct Retest<'a> {
    registry: Registry,
    site: &'a Site,
    sides: &'a dyn Fn(&str) -> Sides,
    planned: Vec<Case>,
}

impl<'a> Retest<'a> {
    /// A rule for the pairs among `planned`, all cases of the run, including those of an earlier, interrupted part.
    /// `sides` tells what is tested in the cases of a group.
    pub fn new(
        planned: &[Case],
        registry: Registry,
        site: &'a Site,
        sides: &'a dyn Fn(&str) -> Sides,
    ) -> Self {
        let planned = planned.iter().filter(|case| is_pair(&case.nodes)).cloned().collect();
        Self { registry, site, sides, planned }
    }

    /// Stand-in cases for lost cases, and records of nodes without another partner.
    fn again(&self, done: &[CaseRecord], gone: &BTreeSet<String>) -> More {
        let answered: HashSet<&CaseId> = self
            .planned
            .iter()
            .filter_map(|case| case.retry_of.as_ref())
            .chain(done.iter().filter_map(|record| record.retry_of.as_ref()))
            .collect();
        let mut open: Vec<(&CaseRecord, usize)> = Vec::new();
        let places: HashMap<&CaseId, usize> =
            self.planned.iter().enumerate().map(|(at, case)| (&case.id, at)).collect();
        for record in done.iter().filter(|record| is_pair(&record.nodes) && !record.lost.is_empty()) {
            // An interrupted case speaks against no node, and is measured when the run is resumed.
            if answered.contains(&record.case) || record.cause == Some(Cause::Interrupted) {
                continue;
            }
            let place = places.get(&record.case).copied();
            open.extend(place.or_else(|| is_unplanned(record).then_some(usize::MAX)).map(|at| (record, at)));
        }
        // In the order of the plan, whichever ended first.
        open.sort_by_key(|(_, at)| *at);
        if open.is_empty() {
            return More::default();
        }
        let mut partners = Partners::new(&self.planned, done, self.site, gone);
        let More { mut cases, mut settled } = More::default();
        let mut made_ids = HashSet::new();
        for (record, place) in open {
            let Some(stays) = end_of(record, |node| !record.lost.contains(node)) else { continue };
            let sides = (self.sides)(&record.group);
            if stays == 1 && sides == Sides::First {
                continue;
            }
            if record.origin.is_concurrent() {
                settled.push(self.nobody(
                    record,
                    stays,
                    "alone it would not share links as its pattern intends",
                ));
                continue;
            }
            if record.retry_of.is_some() {
                settled.push(self.nobody(
                    record,
                    stays,
                    "that was its second partner, so no third one is tried",
                ));
                continue;
            }
            let left = partners.for_end(record, stays, sides);
            let made =
                left.fresh.iter().find_map(|node| again(self.registry, self.site, record, stays, node));
            match made {
                Some(case) if !places.contains_key(&case.id) && made_ids.insert(case.id.clone()) => {
                    partners.takes_part(&case.nodes[1 - stays]);
                    cases.push(case);
                }
                // The node has cases of its own with the remaining nodes.
                _ if left.is_with_others || made.is_some() => {}
                // The case that was never planned is enough for a pair that is tested together.
                _ if place == usize::MAX && sides == Sides::Both => {}
                _ => settled.push(self.nobody(record, stays, "no other partner is left")),
            }
        }
        More { cases, settled }
    }

    /// The record of the node that remains of `lost`, for which there is no other partner.
    fn nobody(&self, lost: &CaseRecord, stays: usize, why: &str) -> CaseRecord {
        let nodes = vec![lost.nodes[stays].clone()];
        let about = self.registry.find(&lost.bench).map(|bench| bench.about);
        let id = about.map_or_else(
            || lost.case.clone(),
            |about| {
                let id = CaseId::new(about, &lost.group, &nodes, &lost.subject, &lost.params);
                placement::with_step(id, &lost.origin)
            },
        );
        let reason = Reason::new(
            Cause::PartnerLost,
            format!(
                "{} failed in {}, the partner of {}, and {why}",
                lost.lost.join(", "),
                lost.case,
                nodes[0]
            ),
        );
        CaseRecord {
            case: id,
            nodes,
            lost: Vec::new(),
            retry_of: Some(lost.case.clone()),
            outcome: reason.cause.outcome(),
            cause: Some(reason.cause),
            reason: Some(reason.text),
            evidence: Default::default(),
            findings: Vec::new(),
            seconds: 0.0,
            ..lost.clone()
        }
    }
}

impl Rule for Retest<'_> {
    fn more(&mut self, done: &[CaseRecord], gone: &BTreeSet<String>) -> More {
        let more = self.again(done, gone);
        self.planned.extend(more.cases.iter().cloned());
        more
    }
}

/// Whether a case was never planned, since one of its nodes could not be reached. Other rules handle their own
/// cases.
fn is_unplanned(record: &CaseRecord) -> bool {
    record.cause == Some(Cause::NeverReached)
        && record.origin.suspect.is_none()
        && record.origin.load_sweep.is_none()
}

fn is_pair(nodes: &[String]) -> bool {
    matches!(nodes, [one, other] if one != other)
}

#[cfg(test)]
mod tests;
