//! State of a run from its events: no clock, no terminal.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, CaseId, Event, Nanos, Outcome, Phase};

const LAST: usize = 3;

#[derive(Clone, Debug)]
struct Planned {
    estimate: Nanos,
    trials: u32,
    nodes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// Start, since the start of the run.
    pub since: Duration,
    pub trial: u32,
    pub trials: u32,
    /// Phase of the parts; `None` before the first.
    pub phase: Option<Phase>,
    pub estimate: Duration,
    pub nodes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub measured: usize,
    pub failed: usize,
    pub unmeasured: usize,
    pub skipped: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Landed {
    pub case: CaseId,
    pub outcome: Outcome,
    /// The number, or why there is none.
    pub text: String,
}

#[derive(Debug, Default)]
pub struct Live {
    planned: HashMap<CaseId, Planned>,
    /// Sum of the estimates of open cases, in nanoseconds.
    estimated: u64,
    /// By case, for a stable order.
    pub running: BTreeMap<CaseId, Running>,
    /// Cases of all rounds so far.
    pub total: usize,
    pub done: usize,
    pub counts: Counts,
    /// The last results, newest first.
    pub last: VecDeque<Landed>,
}

impl Live {
    /// Records an event at `now`, since the start of the run; `headline` describes a measured case.
    pub fn note(&mut self, event: &Event, now: Duration, headline: impl Fn(&CaseRecord) -> String) {
        match event {
            Event::RoundPlanned { cases, .. } => self.plan(cases),
            Event::CaseStarted { case } => {
                let planned = self.planned.get(case);
                let running = Running {
                    since: now,
                    trial: 0,
                    trials: planned.map_or(1, |planned| planned.trials),
                    phase: None,
                    estimate: Duration::from_nanos(planned.map_or(0, |planned| planned.estimate.get())),
                    nodes: planned.map(|planned| planned.nodes.clone()).unwrap_or_default(),
                };
                self.running.insert(case.clone(), running);
            }
            Event::PhaseEntered { case, trial, phase } => {
                if let Some(running) = self.running.get_mut(case) {
                    (running.trial, running.phase) = (*trial, Some(*phase));
                }
            }
            Event::CaseEnded { record } => self.end(record, headline),
            Event::TrialEnded { .. } | Event::Note { .. } => {}
        }
    }

    fn plan(&mut self, cases: &[Case]) {
        self.total += cases.len();
        for case in cases {
            let estimate = case.estimate();
            self.estimated = self.estimated.saturating_add(estimate.get());
            let planned = Planned { estimate, trials: case.budget.trials, nodes: case.nodes.clone() };
            self.planned.insert(case.id.clone(), planned);
        }
    }

    fn end(&mut self, record: &CaseRecord, headline: impl Fn(&CaseRecord) -> String) {
        self.running.remove(&record.case);
        match self.planned.remove(&record.case) {
            Some(planned) => self.estimated = self.estimated.saturating_sub(planned.estimate.get()),
            // Settled before anything was planned: still counts as a case.
            None => self.total += 1,
        }
        self.done += 1;
        match record.outcome {
            Outcome::Measured => self.counts.measured += 1,
            Outcome::Failed => self.counts.failed += 1,
            Outcome::Unmeasured => self.counts.unmeasured += 1,
            Outcome::Skipped => self.counts.skipped += 1,
        }
        let text = match record.outcome {
            Outcome::Measured => headline(record),
            _ => record.reason.clone().unwrap_or_else(|| "no numbers".to_owned()),
        };
        self.last.push_front(Landed { case: record.case.clone(), outcome: record.outcome, text });
        self.last.truncate(LAST);
    }

    pub fn waiting(&self) -> usize {
        self.total.saturating_sub(self.done + self.running.len())
    }

    /// Time left: the estimates of open cases, scaled by how long finished cases took compared with theirs.
    pub fn left(&self, now: Duration) -> Duration {
        let estimated = Duration::from_nanos(self.estimated);
        let Some(each) = u32::try_from(self.done).ok().and_then(|done| now.checked_div(done)) else {
            return estimated;
        };
        let by_pace = each * u32::try_from(self.total.saturating_sub(self.done)).unwrap_or(u32::MAX);
        (by_pace + estimated) / 2
    }
}
