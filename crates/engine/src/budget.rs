//! The time that a run may take: what decides whether a disturbed trial is repeated and whether trials are added.
//!
//! A run may have promised a time for each node. Then a trial beyond those of the plan is made only while the time that was
//! spent, the time of all cases still to come and the trial together stay within that time; and what nobody judges makes
//! fewer trials than planned once the plan alone does not fit any more. Without such a promise only repeats of disturbed
//! trials are counted: together they may take as long as the plan.
//!
//! Where a verdict depends on the trial it may take all that is left. Elsewhere one trial of each judged case still to come
//! is kept back. Everything follows from the records and the time of the running case, so that a run that is gone on with
//! decides as if it had never stopped.

use std::collections::{BTreeSet, HashMap};

use seatrial_model::record::{CaseRecord, NotMade};
use seatrial_model::{Case, CaseId, Fact, Nanos, RepeatedTrials, Site};

use crate::further::Further;
use crate::running_case::RunningCase;

/// Seconds by which sums of seconds may be wrong.
const ROUNDING: f64 = 1e-3;

/// What a verdict says of a case as it was measured so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    NotJudged,
    /// Every criterion is met, with the whole interval.
    Met,
    /// A criterion is missed, nearly missed, or cannot be told.
    Open,
}

/// What is judged; the engine does not know profiles.
pub trait Demand {
    /// Whether a criterion is there for the case.
    fn is_judged(&self, case: &Case) -> bool;

    /// How the criteria of the case stand with these numbers.
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

/// The time of a run, on every node.
pub struct TimeBudget<'a> {
    promised: Option<Nanos>,
    demand: &'a dyn Demand,
    /// The planned cases that have no record.
    left: HashMap<CaseId, Planned>,
    nodes: HashMap<String, NodeTime>,
}

struct Planned {
    nodes: Vec<String>,
    seconds: f64,
    /// What is kept back for it while others ask.
    reserve: f64,
}

/// The seconds of a node.
#[derive(Clone, Copy, Default)]
struct NodeTime {
    /// Of the whole plan.
    planned: f64,
    /// Of the cases that have a record.
    spent: f64,
    repeats: f64,
    /// Of the planned cases that have none.
    left: f64,
    reserve: f64,
}

impl<'a> TimeBudget<'a> {
    /// The time of a run of all `planned` cases, which is to take no longer than `promised` on any node.
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

    /// Counts the time of a case that ended.
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

    /// Whether `cases`, which run at the same time and are between two trials, make another: one of them wants it, and there is
    /// time for it. They note what they go without.
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

    /// Whether there is time for a `further` trial of `cases`.
    fn allows(&self, further: Further, cases: &[&mut RunningCase], site: &Site, now: Nanos) -> bool {
        if self.promised.is_none() && further != Further::Repeat {
            return true;
        }
        let asking = cases.iter().filter(|case| case.wants(further));
        // The one that depends most on more trials.
        let standing = asking.map(|case| self.standing(case, site)).max().unwrap_or(Standing::NotJudged);
        match further {
            // What is judged makes all trials of the plan.
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

    /// Whether every node of `cases` has time for one more trial of them, with what `is_kept_back` for others or without.
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

    /// What `not_made` of a case on `nodes` is to say of the time that there was.
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
