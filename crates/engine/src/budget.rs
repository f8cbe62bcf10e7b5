//! The time budget of a run: decides whether a disturbed trial is repeated and whether trials are added.
//!
//! A run may have promised a time for each node. Then trials beyond the plan are made only while the time spent, the
//! time of all remaining cases and the trial together stay within that time; and cases that are not judged make fewer
//! trials than planned once the plan alone exceeds it. Without a promise only repeats of disturbed trials are
//! limited: together they may take as long as the plan.
//!
//! A trial that a verdict depends on may use all remaining time. For any other, one trial of each remaining judged
//! case is reserved. All decisions follow from the records and the time of the running case, so that a resumed run
//! decides the same.

use std::collections::{BTreeSet, HashMap};

use seatrial_model::record::{CaseRecord, NotMade};
use seatrial_model::{Case, CaseId, Fact, Nanos, RepeatedTrials, Site};

use crate::running_case::{Further, RunningCase};

/// Tolerance of sums of seconds.
const ROUNDING: f64 = 1e-3;

/// How the criteria of a case stand after its trials so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    NotJudged,
    /// Every criterion is met, with the whole interval.
    Met,
    /// A criterion is missed, nearly missed, or undecidable.
    Open,
}

/// Which cases are judged; the engine does not know profiles.
pub trait Demand {
    fn is_judged(&self, case: &Case) -> bool;

    fn standing(&self, record: &CaseRecord) -> Standing;
}

pub struct NothingJudged;

impl Demand for NothingJudged {
    fn is_judged(&self, _case: &Case) -> bool {
        false
    }

    fn standing(&self, _record: &CaseRecord) -> Standing {
        Standing::NotJudged
    }
}

pub struct TimeBudget<'a> {
    promised: Option<Nanos>,
    demand: &'a dyn Demand,
    /// The planned cases without a record.
    left: HashMap<CaseId, Planned>,
    nodes: HashMap<String, NodeTime>,
}

struct Planned {
    nodes: Vec<String>,
    seconds: f64,
    reserve: f64,
}

/// Seconds of a node.
#[derive(Clone, Copy, Default)]
struct NodeTime {
    /// Of the whole plan.
    planned: f64,
    /// Of the cases with a record.
    spent: f64,
    repeats: f64,
    /// Of the planned cases without a record.
    left: f64,
    reserve: f64,
}

impl<'a> TimeBudget<'a> {
    /// The budget of a run of all `planned` cases that takes no longer than `promised` on any node.
    pub fn new(planned: &[Case], promised: Option<Nanos>, demand: &'a dyn Demand) -> Self {
        let mut budget = Self { promised, demand, left: HashMap::new(), nodes: HashMap::new() };
        for case in planned {
            let seconds = case.estimate().as_secs();
            let reserve = if demand.is_judged(case) { case.trial_estimate().as_secs() } else { 0.0 };
            let nodes: Vec<String> = distinct(&case.nodes).map(str::to_owned).collect();
            for node in &nodes {
                let time = budget.nodes.entry(node.clone()).or_default();
                time.planned += seconds;
                time.left += seconds;
                time.reserve += reserve;
            }
            budget.left.insert(case.id.clone(), Planned { nodes, seconds, reserve });
        }
        budget
    }

    pub(crate) fn note(&mut self, record: &CaseRecord) {
        if let Some(Planned { nodes, seconds, reserve }) = self.left.remove(&record.case) {
            for node in nodes {
                let time = self.nodes.entry(node).or_default();
                time.left -= seconds;
                time.reserve -= reserve;
            }
        }
        let repeated = f64::from(RepeatedTrials::of(&record.evidence).unwrap_or_default().0);
        let counted = record.metrics.values().map(|metric| metric.trials).max().unwrap_or(0) as f64;
        for node in distinct(&record.nodes) {
            let time = self.nodes.entry(node.to_owned()).or_default();
            time.spent += record.seconds;
            if repeated > 0.0 {
                time.repeats += record.seconds * repeated / (repeated + counted);
            }
        }
    }

    /// Whether `cases`, which run at the same time and are between two trials, make another trial: one of them wants
    /// it, and there is time. They record which trials they go without.
    pub(crate) fn another_trial(&self, cases: &mut [&mut RunningCase], site: &Site, now: Nanos) -> bool {
        for further in [Further::Planned, Further::Repeat, Further::Precision] {
            if !cases.iter().any(|case| case.wants(further)) {
                continue;
            }
            if self.allows(further, cases, site, now) {
                if further == Further::Repeat {
                    cases.iter_mut().for_each(|case| case.leave_out_disturbed());
                }
                return true;
            }
            for case in cases.iter_mut().filter(|case| case.wants(further)) {
                let nodes = case.case.nodes.clone();
                case.goes_without(further, |not_made| self.told(not_made, &nodes));
            }
        }
        false
    }

    fn allows(&self, further: Further, cases: &[&mut RunningCase], site: &Site, now: Nanos) -> bool {
        if self.promised.is_none() && further != Further::Repeat {
            return true;
        }
        let asking = cases.iter().filter(|case| case.wants(further));
        // The case that depends most on more trials.
        let standing = asking.map(|case| self.standing(case, site)).max().unwrap_or(Standing::NotJudged);
        match further {
            // Judged cases make all trials of the plan.
            Further::Planned if standing != Standing::NotJudged => true,
            Further::Planned => self.has_room(false, cases, now),
            Further::Repeat | Further::Precision => self.has_room(standing != Standing::Open, cases, now),
        }
    }

    /// How the criteria of a case stand with its trials so far.
    fn standing(&self, case: &RunningCase, site: &Site) -> Standing {
        if !self.demand.is_judged(&case.case) {
            return Standing::NotJudged;
        }
        // Without a number there is no verdict yet.
        case.so_far(site).map_or(Standing::Open, |record| self.demand.standing(&record))
    }

    /// Whether every node of `cases` has time for one more trial, with or without what `is_kept_back` for others.
    fn has_room(&self, is_kept_back: bool, cases: &[&mut RunningCase], now: Nanos) -> bool {
        let nodes: BTreeSet<&str> = cases.iter().flat_map(|case| distinct(&case.case.nodes)).collect();
        nodes.into_iter().all(|node| {
            let here = || {
                let cases = cases.iter().map(|case| &**case);
                cases.filter(|case| case.case.nodes.iter().any(|name| name == node))
            };
            let time = self.nodes.get(node).copied().unwrap_or_default();
            let own = || here().filter_map(|case| self.left.get(&case.case.id));
            let longest = |seconds: fn(&RunningCase, Nanos) -> f64| {
                here().map(|case| seconds(case, now)).fold(0.0, f64::max)
            };
            let trial = longest(RunningCase::trial_seconds);
            let others: f64 = time.reserve - own().map(|case| case.reserve).sum::<f64>();
            let reserve = if is_kept_back { others } else { 0.0 };
            match self.promised {
                Some(promised) => {
                    let left = time.left - own().map(|case| case.seconds).sum::<f64>();
                    time.spent + longest(RunningCase::seconds) + trial + left + reserve
                        <= promised.as_secs() + ROUNDING
                }
                None => {
                    let repeats = here().map(RunningCase::repeated).max().unwrap_or(0) + 1;
                    time.repeats + trial * f64::from(repeats) + reserve <= time.planned.max(trial) + ROUNDING
                }
            }
        })
    }

    /// `not_made` with the time that the case on `nodes` had.
    fn told(&self, not_made: NotMade, nodes: &[String]) -> NotMade {
        let planned = || nodes.iter().filter_map(|node| self.nodes.get(node)).map(|time| time.planned);
        let seconds = self.promised.map_or_else(|| planned().fold(0.0, f64::max), Nanos::as_secs);
        NotMade { seconds, is_whole_run: self.promised.is_some(), ..not_made }
    }
}

fn distinct(nodes: &[String]) -> impl Iterator<Item = &str> {
    let nodes: BTreeSet<&str> = nodes.iter().map(String::as_str).collect();
    nodes.into_iter()
}
