//! The study that searches the highest load that works.

use std::collections::BTreeSet;

use seatrial_bench::Registry;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Finding, Outcome, Site, SiteNode};

use super::{LoadSweep, LoadSweeps};
use crate::guarded;
use crate::study::{Next, Study};

/// The remaining gap between working and failing load, as a share of the working load.
const GAP: f64 = 0.1;

/// Largest number of loads tried per load sweep: each may hang.
const MOST_TRIES: usize = 8;

/// Runs another study, and then bisects every load sweep with a failed load between the highest working load and the
/// lowest failed load above it, until they differ by a tenth.
pub struct BackOff<'a, S> {
    inner: S,
    sweeps: &'a LoadSweeps,
    registry: Registry,
    site: &'a Site,
    gone: BTreeSet<String>,
    findings: Vec<Finding>,
}

impl<'a, S: Study> BackOff<'a, S> {
    /// A study over the `sweeps` of the whole plan, including that of an earlier, interrupted part of the run.
    pub fn new(inner: S, sweeps: &'a LoadSweeps, registry: Registry, site: &'a Site) -> Self {
        Self { inner, sweeps, registry, site, gone: BTreeSet::new(), findings: Vec::new() }
    }

    fn tries(&self, done: &[CaseRecord]) -> Vec<Case> {
        // Most sweeps have no failure, and the records of a thousand nodes are many.
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

    /// The case of `sweep` with this load; `None` where a node of it is gone or the benchmark has no such case.
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
