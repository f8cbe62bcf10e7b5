//! Searches the highest load that works.

use std::collections::BTreeSet;

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Outcome, Site};

use super::{LoadSweep, LoadSweeps};
use crate::guarded::replanned;
use crate::study::{More, Rule};

/// The remaining gap between working and failing load, as a share of the working load.
const GAP: f64 = 0.1;

/// Largest number of loads tried per load sweep: each may hang.
const MOST_TRIES: usize = 8;

/// Bisects every load sweep with a failed load between the highest working load and the lowest failed load above it,
/// until they differ by a tenth.
pub struct BackOff<'a> {
    sweeps: &'a LoadSweeps,
    registry: Registry,
    site: &'a Site,
}

impl<'a> BackOff<'a> {
    /// A rule for the `sweeps` of the whole plan, including that of an earlier, interrupted part of the run.
    pub fn new(sweeps: &'a LoadSweeps, registry: Registry, site: &'a Site) -> Self {
        Self { sweeps, registry, site }
    }

    /// The case of `sweep` with this load; `None` where a node of it is gone or the benchmark has no such case.
    fn case(&self, sweep: &LoadSweep, load: u64, gone: &BTreeSet<String>) -> Option<Case> {
        let like = &sweep.like;
        if like.nodes.iter().any(|node| gone.contains(node)) {
            return None;
        }
        let mut params = like.params.clone();
        params.set(sweep.axis, load);
        let site = self.site.of(&like.nodes)?;
        let cases = replanned(self.registry, &like.bench, &like.group, &params, &site)?;
        let mut case = cases.into_iter().find(|case| case.subject == like.subject)?;
        case.origin.load_sweep = Some(sweep.axis.to_owned());
        Some(case)
    }
}

impl Rule for BackOff<'_> {
    fn more(&mut self, done: &[CaseRecord], gone: &BTreeSet<String>) -> More {
        // Most sweeps have no failure, and the records of a thousand nodes are many.
        if done.iter().all(|record| record.outcome != Outcome::Failed) {
            return More::default();
        }
        let mut of: Vec<Vec<(u64, &CaseRecord)>> = vec![Vec::new(); self.sweeps.sweeps.len()];
        for record in done {
            if let Some((at, load)) = self.sweeps.place_of(record) {
                of[at].push((load, record));
            }
        }
        let each = self.sweeps.sweeps.iter().zip(&of);
        let case =
            |(sweep, records): (&LoadSweep, &Vec<_>)| self.case(sweep, next(records, sweep.least)?, gone);
        each.filter_map(case).collect::<Vec<_>>().into()
    }
}

/// The load to try next; `None` when the gap is narrow, or when an outcome says nothing about the load.
fn next(records: &[(u64, &CaseRecord)], least: u64) -> Option<u64> {
    let with =
        |outcome| records.iter().filter(move |(_, record)| record.outcome == outcome).map(|(load, _)| *load);
    // No load below the least is known to work.
    let works = with(Outcome::Measured).max().unwrap_or(least.saturating_sub(1));
    let fails = with(Outcome::Failed).filter(|load| *load > works).min()?;
    let tried = records.iter().filter(|(_, record)| record.origin.load_sweep.is_some()).count();
    let gap = fails - works;
    if gap <= 1 || gap as f64 <= GAP * works as f64 || tried >= MOST_TRIES {
        return None;
    }
    let middle = works + gap / 2;
    // This load could not be measured; another load would not be measured either.
    records.iter().all(|(load, _)| *load != middle).then_some(middle)
}
