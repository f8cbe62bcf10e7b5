//! The study that looks for the highest load that works.

use std::collections::BTreeSet;

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Finding, Outcome, Site, SiteNode};

use super::{LoadSweep, LoadSweeps};
use crate::guarded;
use crate::study::{Next, Study};

/// The gap that is left between what works and what fails, as a share of what works.
const GAP: f64 = 0.1;

/// Loads tried on one load sweep at most: each may be a hang.
const MOST_TRIES: usize = 8;

/// What another study wants, and then on every load sweep on which a load failed the highest that works: the middle between
/// the highest that worked and the lowest that failed above it, again and again, until they are a tenth apart.
pub struct BackOff<'a, S> {
    inner: S,
    sweeps: &'a LoadSweeps,
    registry: Registry,
    site: &'a Site,
    gone: BTreeSet<String>,
    findings: Vec<Finding>,
}

impl<'a, S: Study> BackOff<'a, S> {
    /// Watches over the `load sweeps` of the plan, all of it, also that of an earlier, interrupted part of the run.
    pub fn new(inner: S, sweeps: &'a LoadSweeps, registry: Registry, site: &'a Site) -> Self {
        Self { inner, sweeps, registry, site, gone: BTreeSet::new(), findings: Vec::new() }
    }

    fn tries(&self, done: &[CaseRecord]) -> Vec<Case> {
        // Most sweeps fail nowhere, and those of a thousand nodes are long.
        if done.iter().all(|record| record.outcome != Outcome::Failed) {
            return Vec::new();
        }
        let mut of: Vec<Vec<(u64, &CaseRecord)>> = vec![Vec::new(); self.sweeps.sweeps.len()];
        for record in done {
            if let Some((at, load)) = self.sweeps.place_of(record) {
                of[at].push((load, record));
            }
        }
        let each = self.sweeps.sweeps.iter().zip(&of);
        each.filter_map(|(sweep, records)| self.case(sweep, next(records, sweep.least)?)).collect()
    }

    /// The case of `sweep` with this load; none where a node of it is gone or the benchmark has no such case.
    fn case(&self, sweep: &LoadSweep, load: u64) -> Option<Case> {
        let like = &sweep.like;
        let node = |name: &String| -> Option<SiteNode> {
            let here = self.site.nodes.iter().find(|node| node.name == *name);
            here.filter(|_| !self.gone.contains(name)).cloned()
        };
        let site = Site { nodes: like.nodes.iter().map(node).collect::<Option<_>>()? };
        let bench = self.registry.find(&like.bench)?;
        let mut params = like.params.clone();
        params.set(sweep.axis, load);
        let mut cases = guarded::planned(bench, &params, &site).ok()?;
        let at = cases.iter().position(|case| case.subject == like.subject)?;
        let mut case = cases.swap_remove(at).in_group(bench.about, &like.group);
        case.origin.load_sweep = Some(sweep.axis.to_owned());
        Some(case)
    }
}

/// The load to try next after these; none when the gap is narrow, or when an outcome says nothing about the load.
fn next(records: &[(u64, &CaseRecord)], least: u64) -> Option<u64> {
    let with =
        |outcome| records.iter().filter(move |(_, record)| record.outcome == outcome).map(|(load, _)| *load);
    // Nothing is known to work below the least.
    let works = with(Outcome::Measured).max().unwrap_or(least.saturating_sub(1));
    let fails = with(Outcome::Failed).filter(|load| *load > works).min()?;
    let tried = records.iter().filter(|(_, record)| record.origin.load_sweep.is_some()).count();
    let gap = fails - works;
    if gap <= 1 || gap as f64 <= GAP * works as f64 || tried >= MOST_TRIES {
        return None;
    }
    let middle = works + gap / 2;
    // It was tried and could not be measured; another value would fare no better.
    records.iter().all(|(load, _)| *load != middle).then_some(middle)
}

impl<S: Study> Study for BackOff<'_, S> {
    fn next(&mut self, done: &[CaseRecord]) -> Next {
        match self.inner.next(done) {
            Next::Done(findings) => self.findings.extend(findings),
            other => return other,
        }
        let cases = self.tries(done);
        if cases.is_empty() { Next::Done(std::mem::take(&mut self.findings)) } else { Next::Round(cases) }
    }

    fn lost(&mut self, node: &str) {
        self.gone.insert(node.to_owned());
        self.inner.lost(node);
    }
}
