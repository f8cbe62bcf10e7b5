//! Measures slow nodes again, with partners that were not slow.
//!
//! A slow pair does not tell which node is slow. Random pairs in a few rounds narrow it down, since most partners of
//! a sound node are sound; the remaining nodes are suspects. With two partners that were good in the rounds, a
//! suspect is slow again or its partners were the cause.

use std::collections::{BTreeSet, HashSet};

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, CaseId, Site};

use super::partners::{Partners, with_partner};
use super::{Sides, is_pair};
use crate::study::{More, Rule};

/// Partners that a suspect is measured with again. One could have become slow meanwhile; a third adds little.
const PARTNERS: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub node: String,
    /// The case to repeat with other partners.
    pub case: CaseId,
}

/// Runs the suspects again, each with two partners that were good and that it was not measured with before.
pub struct Suspects<'a> {
    registry: Registry,
    site: &'a Site,
    find: &'a dyn Fn(&[CaseRecord]) -> Vec<Suspect>,
    planned: Vec<Case>,
}

impl<'a> Suspects<'a> {
    /// A rule for the pairs among `planned`, all cases of the run, including those of an earlier, interrupted part.
    /// `find` returns the suspects from the records of the rounds alone, independent of the order of records.
    pub fn new(
        planned: &[Case],
        registry: Registry,
        site: &'a Site,
        find: &'a dyn Fn(&[CaseRecord]) -> Vec<Suspect>,
    ) -> Self {
        // Repeats of an interrupted part of the run are found by the same rule a second time.
        let of_rounds = |case: &&Case| is_pair(&case.nodes) && case.origin.suspect.is_none();
        let planned = planned.iter().filter(of_rounds).cloned().collect();
        Self { registry, site, find, planned }
    }
}

impl Rule for Suspects<'_> {
    fn more(&mut self, done: &[CaseRecord], gone: &BTreeSet<String>) -> More {
        let is_again = |record: &CaseRecord| record.origin.suspect.is_some();
        let rounds: Vec<CaseRecord> = done.iter().filter(|record| !is_again(record)).cloned().collect();
        let suspects = (self.find)(&rounds);
        if suspects.is_empty() {
            return More::default();
        }
        // A suspect is no good partner, nor is a node that was lost when it was to be measured again.
        let mut away = gone.clone();
        away.extend(suspects.iter().map(|suspect| suspect.node.clone()));
        away.extend(done.iter().flat_map(|record| record.lost.iter().cloned()));
        let mut partners = Partners::new(&self.planned, &rounds, self.site, &away);
        let mut ids: HashSet<CaseId> = done.iter().map(|record| record.case.clone()).collect();
        let mut cases = Vec::new();
        for Suspect { node, case } in suspects {
            let like = rounds.iter().find(|record| record.case == case);
            let place = like.and_then(|like| like.nodes.iter().position(|other| *other == node));
            let (Some(like), Some(stays), false) = (like, place, gone.contains(&node)) else { continue };
            let chosen: Vec<Case> = partners
                .for_end(like, stays, Sides::Both)
                .fresh
                .into_iter()
                .filter_map(|partner| with_partner(self.registry, self.site, like, stays, partner))
                .take(PARTNERS)
                .collect();
            for mut case in chosen {
                partners.takes_part(&case.nodes[1 - stays]);
                case.origin.suspect = Some(node.clone());
                if ids.insert(case.id.clone()) {
                    cases.push(case);
                }
            }
        }
        cases.into()
    }
}

#[cfg(test)]
mod tests;
