//! Measures a group again without the nodes that it lost.

use std::collections::{BTreeSet, HashSet};

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, CaseId, Cause, Finding, Site};

use crate::study::{Next, Study};

/// Runs another study, and then every case of more than two nodes that lost some once more, on those that are left. The
/// second case is not repeated: a third could lose a node in the same way.
pub struct Regroup<'a, S> {
    inner: S,
    registry: Registry,
    site: &'a Site,
    gone: BTreeSet<String>,
    made: HashSet<CaseId>,
    findings: Vec<Finding>,
}

impl<'a, S: Study> Regroup<'a, S> {
    pub fn new(inner: S, registry: Registry, site: &'a Site) -> Self {
        Self { inner, registry, site, gone: BTreeSet::new(), made: HashSet::new(), findings: Vec::new() }
    }

    fn again(&mut self, done: &[CaseRecord]) -> Vec<Case> {
        self.made.extend(done.iter().filter_map(|record| record.retry_of.clone()));
        let lost_nodes = done.iter().filter(|record| is_of_group(record) && !record.lost.is_empty());
        // Of cases that run at the same time on purpose the others went on; an interrupted case is resumed.
        let open = lost_nodes.filter(|record| {
            record.origin.step.is_none()
                && record.retry_of.is_none()
                && record.cause != Some(Cause::Interrupted)
        });
        let cases: Vec<Case> = open
            .filter(|record| !self.made.contains(&record.case))
            .filter_map(|record| self.with_the_living(record))
            .collect();
        self.made.extend(cases.iter().filter_map(|case| case.retry_of.clone()));
        cases
    }

    fn with_the_living(&self, lost: &CaseRecord) -> Option<Case> {
        let bench = self.registry.find(&lost.bench)?;
        let own: HashSet<&str> = lost.nodes.iter().map(String::as_str).collect();
        let lives = |name: &String| {
            own.contains(name.as_str()) && !self.gone.contains(name) && !lost.lost.contains(name)
        };
        let nodes = self.site.nodes.iter().filter(|node| lives(&node.name)).cloned().collect();
        let case = crate::guarded::planned(bench, &lost.params, &Site { nodes }).ok()?.into_iter().next()?;
        let mut case = case.in_group(bench.about, &lost.group);
        case.origin = lost.origin.clone();
        case.retry_of = Some(lost.case.clone());
        Some(case)
    }
}

fn is_of_group(record: &CaseRecord) -> bool {
    record.nodes.len() > 2
}

impl<S: Study> Study for Regroup<'_, S> {
    fn next(&mut self, done: &[CaseRecord]) -> Next {
        match self.inner.next(done) {
            Next::Done(findings) => self.findings = findings,
            other => return other,
        }
        match self.again(done) {
            cases if cases.is_empty() => Next::Done(std::mem::take(&mut self.findings)),
            cases => Next::Round(cases),
        }
    }

    fn lost(&mut self, node: &str) {
        self.gone.insert(node.to_owned());
        self.inner.lost(node);
    }
}
