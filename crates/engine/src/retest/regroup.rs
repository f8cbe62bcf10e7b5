//! Measures a group again without the nodes that it lost.

use std::collections::{BTreeSet, HashSet};

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, CaseId, Cause, Site};

use crate::guarded::replanned;
use crate::study::{More, Rule};

/// Runs every case of more than two nodes that lost some once more, on those that are left. The second case is not
/// repeated: a third could lose a node in the same way.
pub struct Regroup<'a> {
    registry: Registry,
    site: &'a Site,
    made: HashSet<CaseId>,
}

impl<'a> Regroup<'a> {
    pub fn new(registry: Registry, site: &'a Site) -> Self {
        Self { registry, site, made: HashSet::new() }
    }

    fn with_the_living(&self, lost: &CaseRecord, gone: &BTreeSet<String>) -> Option<Case> {
        let own: HashSet<&str> = lost.nodes.iter().map(String::as_str).collect();
        let lives =
            |name: &String| own.contains(name.as_str()) && !gone.contains(name) && !lost.lost.contains(name);
        let nodes = self.site.nodes.iter().filter(|node| lives(&node.name)).cloned().collect();
        let cases = replanned(self.registry, &lost.bench, &lost.group, &lost.params, &Site { nodes })?;
        let mut case = cases.into_iter().next()?;
        case.origin = lost.origin.clone();
        case.retry_of = Some(lost.case.clone());
        Some(case)
    }
}

impl Rule for Regroup<'_> {
    fn more(&mut self, done: &[CaseRecord], gone: &BTreeSet<String>) -> More {
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
            .filter_map(|record| self.with_the_living(record, gone))
            .collect();
        self.made.extend(cases.iter().filter_map(|case| case.retry_of.clone()));
        cases.into()
    }
}

fn is_of_group(record: &CaseRecord) -> bool {
    record.nodes.len() > 2
}
