//! Measures groups of nodes after a case over all nodes, to find what holds that case back.

use std::collections::BTreeSet;

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, CaseId, Origin, Site};

use crate::guarded::replanned;
use crate::placement::with_step;
use crate::study::{More, Rule};

/// Groups to measure next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedGroups {
    /// The case over all nodes.
    pub whole: CaseId,
    /// Names of nodes: groups of a step are measured at the same time, steps in turn.
    pub steps: Vec<Vec<Vec<String>>>,
}

/// Runs the groups that `find` wants, until it wants none. `find` has no other input than the records, so that a resumed
/// run continues where it was stopped.
pub struct Bisect<'a> {
    registry: Registry,
    site: &'a Site,
    find: &'a dyn Fn(&[CaseRecord]) -> Vec<WantedGroups>,
}

impl<'a> Bisect<'a> {
    pub fn new(
        registry: Registry,
        site: &'a Site,
        find: &'a dyn Fn(&[CaseRecord]) -> Vec<WantedGroups>,
    ) -> Self {
        Self { registry, site, find }
    }

    /// The case of `whole` over `nodes`; `None` when the benchmark has no such case.
    fn case(&self, whole: &CaseRecord, nodes: &[String], step: u64) -> Option<Case> {
        let site = self.site.of(nodes)?;
        let mut cases = replanned(self.registry, &whole.bench, &whole.group, &whole.params, &site)?;
        let at = cases.iter().position(|case| case.subject == whole.subject).unwrap_or(0);
        let mut case = (at < cases.len()).then(|| cases.swap_remove(at))?;
        case.origin = Origin { step: Some(step), ..whole.origin.clone() };
        case.id = with_step(case.id, &case.origin);
        Some(case)
    }
}

impl Rule for Bisect<'_> {
    fn more(&mut self, done: &[CaseRecord], _: &BTreeSet<String>) -> More {
        // Most runs have no such case, and the records of a thousand nodes are many.
        if done.iter().all(|record| record.origin.isolates_by.is_none()) {
            return More::default();
        }
        let mut cases = Vec::new();
        for WantedGroups { whole, steps } in (self.find)(done) {
            let Some(whole) = done.iter().find(|record| record.case == whole) else { continue };
            let own = done.iter().filter(|record| record.group == whole.group && record.bench == whole.bench);
            let last = own.filter_map(|record| record.origin.step).max().unwrap_or(0);
            for (step, groups) in (last + 1..).zip(&steps) {
                cases.extend(groups.iter().filter_map(|nodes| self.case(whole, nodes, step)));
            }
        }
        cases.into()
    }
}

#[cfg(test)]
mod tests;
