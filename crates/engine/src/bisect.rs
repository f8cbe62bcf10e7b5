//! Measures groups of nodes after a case over all nodes, to find what holds that case back.

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, CaseId, Finding, Origin, Site};

use crate::guarded;
use crate::placement::with_step;
use crate::study::{Next, Study};

/// Groups to measure next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedGroups {
    /// The case over all nodes.
    pub whole: CaseId,
    /// Names of nodes: groups of a step are measured at the same time, steps in turn.
    pub steps: Vec<Vec<Vec<String>>>,
}

/// Runs another study, and then the groups that `find` wants, until it wants none. `find` has no other input than the
/// records, so that a resumed run continues where it was stopped.
pub struct Bisect<'a, S> {
    inner: S,
    registry: Registry,
    site: &'a Site,
    find: &'a dyn Fn(&[CaseRecord]) -> Vec<WantedGroups>,
    findings: Vec<Finding>,
}

impl<'a, S: Study> Bisect<'a, S> {
    pub fn new(
        inner: S,
        registry: Registry,
        site: &'a Site,
        find: &'a dyn Fn(&[CaseRecord]) -> Vec<WantedGroups>,
    ) -> Self {
        Self { inner, registry, site, find, findings: Vec::new() }
    }

    fn groups(&self, done: &[CaseRecord]) -> Vec<Case> {
        // Most runs have no such case, and the records of a thousand nodes are many.
        if done.iter().all(|record| record.origin.isolates_by.is_none()) {
            return Vec::new();
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
        cases
    }

    /// The case of `whole` over `nodes`; `None` when the benchmark has no such case.
    fn case(&self, whole: &CaseRecord, nodes: &[String], step: u64) -> Option<Case> {
        let bench = self.registry.find(&whole.bench)?;
        let node = |name: &String| self.site.nodes.iter().find(|node| node.name == *name).cloned();
        let site = Site { nodes: nodes.iter().map(node).collect::<Option<_>>()? };
        let mut cases = guarded::planned(bench, &whole.params, &site).ok()?;
        let at = cases.iter().position(|case| case.subject == whole.subject).unwrap_or(0);
        let mut case = (at < cases.len()).then(|| cases.swap_remove(at))?.in_group(bench.about, &whole.group);
        case.origin = Origin { step: Some(step), ..whole.origin.clone() };
        case.id = with_step(case.id, &case.origin);
        Some(case)
    }
}

impl<S: Study> Study for Bisect<'_, S> {
    fn next(&mut self, done: &[CaseRecord]) -> Next {
        match self.inner.next(done) {
            Next::Done(findings) => self.findings.extend(findings),
            other => return other,
        }
        let cases = self.groups(done);
        if cases.is_empty() { Next::Done(std::mem::take(&mut self.findings)) } else { Next::Round(cases) }
    }

    fn lost(&mut self, node: &str) {
        self.inner.lost(node);
    }
}

#[cfg(test)]
mod tests;
