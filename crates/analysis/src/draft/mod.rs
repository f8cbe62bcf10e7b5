//! Drafts a site's profile from its own good runs: the tests as measured, bounds from the spread of the fleet.

mod bound;
mod classes;
#[cfg(test)]
mod tests;
mod trial;

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::profile::{Absence, Bounds, Criterion, Missed, Profile, Role, Statistic, Test};
use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{About, Better, Outcome, Params, Site};

pub use bound::{FLOOR_PERCENT, MADS, Spread};

#[derive(Clone, Debug)]
pub struct DraftRun<'a> {
    pub id: &'a str,
    pub results: &'a [CaseRecord],
    pub site: &'a Site,
    /// The tests of the run's profile, or those of its command line.
    pub tests: Vec<Test>,
    pub roles: BTreeMap<String, Role>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    pub profile: Profile,
    /// Per role that was derived from the nodes: the properties that its nodes share.
    pub classes: BTreeMap<String, String>,
    /// Per criterion: the numbers that its bound was derived from.
    pub spreads: BTreeMap<String, Spread>,
    /// What was left out, and why; each once.
    pub left_out: Vec<String>,
}

/// Drafts a profile from `runs`; the first run decides what is measured. `abouts` lists all benchmarks. With
/// `all_metrics` every metric that has a good direction gets a bound, without it only the first metric of each
/// benchmark.
///
/// A bound is [`Spread::bound`] over all cases that measured the same: over nodes, subjects and runs. Every criterion
/// is then tried on every run; a criterion that a measured case does not pass is left out.
pub fn draft(runs: &[DraftRun<'_>], abouts: &[&'static About], all_metrics: bool) -> Draft {
    let mut draft = Draft::default();
    let Some(first) = runs.first() else { return draft };
    draft.profile.roles.clone_from(&first.roles);
    let groups = classes::assigned(first, runs, &mut draft);
    for group in &groups {
        let Some(about) = abouts.iter().find(|about| about.id == group.test.bench) else {
            draft.leave_out(format!(
                "test {}: this version has no benchmark {}",
                group.from, group.test.bench
            ));
            continue;
        };
        let cases = group.cases(runs, &mut draft);
        if cases.is_empty() {
            draft.leave_out(format!("test {}: no case of it was measured", group.test.id));
            continue;
        }
        if cases.iter().any(|(_, case)| case.origin.is_concurrent()) {
            draft.leave_out(format!(
                "test {}: its pairs share links on purpose, so the rate of each depends on the others",
                group.test.id
            ));
            continue;
        }
        let before = draft.profile.criteria.len();
        draft.bound(&group.test, about, &cases, all_metrics);
        if draft.profile.criteria.len() > before {
            draft.profile.tests.push(group.test.clone());
        }
    }
    trial::keep_what_passes(&mut draft, runs, &groups);
    draft
}

struct Group {
    test: Test,
    /// The test of the runs that its cases were measured for.
    from: String,
    /// The nodes of its cases; `None` for all nodes, when there is one class.
    nodes: Option<BTreeSet<String>>,
}

impl Group {
    fn has(&self, case: &CaseRecord) -> bool {
        let is_here = |node: &String| self.nodes.as_ref().is_none_or(|nodes| nodes.contains(node));
        case.group == self.from && case.bench == self.test.bench && case.nodes.iter().all(is_here)
    }

    /// Its measured cases with their runs. A case that was not measured is reported: its run was not a good one.
    fn cases<'a>(&self, runs: &'a [DraftRun<'a>], draft: &mut Draft) -> Vec<(&'a str, &'a CaseRecord)> {
        let mut cases = Vec::new();
        for run in runs {
            for case in run.results.iter().filter(|case| self.has(case)) {
                match case.outcome {
                    Outcome::Measured if !case.origin.is_added() => cases.push((run.id, case)),
                    Outcome::Failed | Outcome::Unmeasured => draft.leave_out(format!(
                        "{} of run {}: {}",
                        case.case,
                        run.id,
                        case.reason.as_deref().unwrap_or("it has no numbers")
                    )),
                    Outcome::Measured | Outcome::Skipped => {}
                }
            }
        }
        cases
    }
}

impl Draft {
    fn leave_out(&mut self, what: String) {
        if !self.left_out.contains(&what) {
            self.left_out.push(what);
        }
    }

    fn bound(&mut self, test: &Test, about: &About, cases: &[(&str, &CaseRecord)], all_metrics: bool) {
        let varying = varying(cases);
        let mut by_params: Vec<(Params, Vec<(&str, &CaseRecord)>)> = Vec::new();
        for (run, case) in cases {
            let key: Params = case
                .params
                .iter()
                .filter(|(name, _)| varying.contains(*name))
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect();
            match by_params.iter_mut().find(|(known, _)| *known == key) {
                Some((_, cases)) => cases.push((run, case)),
                None => by_params.push((key, vec![(run, case)])),
            }
        }
        let bounded: Vec<&str> = about
            .metrics
            .iter()
            .filter(|spec| spec.better != Better::None)
            .map(|spec| spec.name)
            .take(if all_metrics { usize::MAX } else { 1 })
            .collect();
        let rest: Vec<&str> =
            about.metrics.iter().map(|spec| spec.name).filter(|name| !bounded.contains(name)).collect();
        if !rest.is_empty() {
            let why = if all_metrics {
                "neither more nor less is better"
            } else {
                "not the first metric; --all-metrics bounds every metric that has a good direction"
            };
            self.leave_out(format!("{}: {}: {why}", about.id, rest.join(", ")));
        }
        let series: Vec<&str> = about.series.iter().map(|spec| spec.name).collect();
        if !series.is_empty() {
            self.leave_out(format!(
                "{}: the series {}: each place of a series needs its own bound",
                about.id,
                series.join(", ")
            ));
        }
        for (params, cases) in &by_params {
            for metric in &bounded {
                self.criterion(test, metric, params, cases);
            }
        }
    }

    fn criterion(&mut self, test: &Test, metric: &str, params: &Params, cases: &[(&str, &CaseRecord)]) {
        let id = Criterion::derived_id(&test.id, metric, Statistic::Median, params, &Params::default());
        let found: Vec<(&CaseRecord, &MetricRecord)> =
            cases.iter().filter_map(|(_, case)| Some((*case, case.metrics.get(metric)?))).collect();
        let spread = match Spread::of(&found) {
            Ok(spread) => spread,
            Err(why) => return self.leave_out(format!("{id}: {why}")),
        };
        let bar = match spread.bound() {
            Ok(bar) => bar,
            Err(why) => return self.leave_out(format!("{id}: {why}")),
        };
        let bounds = if spread.better == Better::Lower { Bounds::AtMost(bar) } else { Bounds::AtLeast(bar) };
        self.spreads.insert(id.clone(), spread);
        self.profile.criteria.push(Criterion {
            id,
            test: test.id.clone(),
            metric: metric.to_owned(),
            cases: params.clone(),
            at: Params::default(),
            of: Statistic::Median,
            bounds,
            without_limit: Absence::default(),
            missed: Missed::default(),
        });
    }
}

fn varying(cases: &[(&str, &CaseRecord)]) -> BTreeSet<String> {
    let Some((_, first)) = cases.first() else { return BTreeSet::new() };
    let differs = |name: &str| cases.iter().any(|(_, case)| case.params.get(name) != first.params.get(name));
    first.params.iter().map(|(name, _)| name).filter(|name| differs(name)).map(str::to_owned).collect()
}
