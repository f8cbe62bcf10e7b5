//! Where the time of a run went, from its events: what each node did beyond the plan. No clock, no terminal.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use seatrial_model::record::{AddedTime, CaseRecord, DelayCause, RunTime};
use seatrial_model::{Budget, Case, CaseId, Event, Fact, Nanos, Phase, RepeatedTrials};

#[derive(Debug, Default)]
pub struct TimeAccount {
    /// Estimated time of the first round; `None` before.
    planned: Option<Nanos>,
    open: HashMap<CaseId, OpenCase>,
    nodes: BTreeMap<String, NodeAccount>,
}

/// A planned case without a record.
#[derive(Debug)]
struct OpenCase {
    nodes: BTreeSet<String>,
    budget: Budget,
    /// Whether the case was planned before the run began.
    is_first: bool,
    trials: Vec<TrialTime>,
    /// The phase of the running trial, with the instant at which it was entered.
    phase: Option<(Phase, Nanos)>,
}

/// Time of one trial.
#[derive(Clone, Copy, Debug, Default)]
struct TrialTime {
    /// In the phases that warm up and measure.
    measuring: Nanos,
    /// In all others.
    preparing: Nanos,
}

impl TrialTime {
    fn all(self) -> Nanos {
        self.measuring.plus(self.preparing)
    }
}

/// What one node did.
#[derive(Debug, Default)]
struct NodeAccount {
    busy: Nanos,
    /// Time and number by cause.
    added: BTreeMap<DelayCause, (Nanos, u32)>,
}

impl NodeAccount {
    fn add(&mut self, cause: DelayCause, time: Nanos, count: u32) {
        let sum = self.added.entry(cause).or_default();
        *sum = (sum.0.plus(time), sum.1 + count);
    }
}

impl TimeAccount {
    /// Records an event at `now`, since the start of the run.
    pub fn note(&mut self, event: &Event, now: Nanos) {
        match event {
            Event::RoundPlanned { cases, estimate } => {
                let is_first = self.planned.is_none();
                self.planned.get_or_insert(*estimate);
                self.open.extend(cases.iter().map(|case| (case.id.clone(), OpenCase::of(case, is_first))));
            }
            Event::PhaseEntered { case, phase, .. } => {
                if let Some(open) = self.open.get_mut(case) {
                    open.leave_phase(now);
                    // Preparing is the first phase of a trial.
                    if *phase == Phase::Prepare {
                        open.trials.push(TrialTime::default());
                    }
                    open.phase = Some((*phase, now));
                }
            }
            Event::TrialEnded { case, .. } => {
                if let Some(open) = self.open.get_mut(case) {
                    open.leave_phase(now);
                }
            }
            Event::CaseEnded { record } => self.end(record),
            Event::CaseStarted { .. } | Event::Note { .. } => {}
        }
    }

    fn end(&mut self, record: &CaseRecord) {
        let Some(open) = self.open.remove(&record.case) else { return };
        let repeats = RepeatedTrials::of(&record.evidence).unwrap_or_default().0;
        let added = open.added(repeats);
        for node in &open.nodes {
            let account = self.nodes.entry(node.clone()).or_default();
            account.busy = account.busy.plus(sum(&open.trials, TrialTime::all));
            for AddedTime { cause, time, count } in &added {
                account.add(*cause, *time, *count);
            }
        }
    }

    /// The account of a run that took `took`, on the node that was busy longest.
    pub fn close(self, took: Nanos) -> RunTime {
        let busiest = self.nodes.into_values().max_by_key(|account| account.busy).unwrap_or_default();
        let mut account = busiest;
        account.add(DelayCause::BetweenCases, took.since(account.busy), 0);
        let row = |(cause, (time, count))| AddedTime { cause, time, count };
        let mut added: Vec<AddedTime> = account.added.into_iter().map(row).collect();
        added.retain(|added| added.time > Nanos(0));
        added.sort_by_key(|added| std::cmp::Reverse(added.time));
        RunTime { planned: self.planned.unwrap_or_default(), added }
    }
}

impl OpenCase {
    fn of(case: &Case, is_first: bool) -> Self {
        let nodes = case.nodes.iter().cloned().collect();
        Self { nodes, budget: case.budget, is_first, trials: Vec::new(), phase: None }
    }

    fn leave_phase(&mut self, now: Nanos) {
        let (Some((phase, since)), Some(trial)) = (self.phase.take(), self.trials.last_mut()) else { return };
        let sum = match phase {
            Phase::WarmUp | Phase::Measure => &mut trial.measuring,
            Phase::Prepare | Phase::Connect | Phase::Verify => &mut trial.preparing,
        };
        *sum = sum.plus(now.since(since));
    }

    /// The time beyond the plan, by cause; `repeats` trials were repeated.
    fn added(&self, repeats: u32) -> Vec<AddedTime> {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        if !self.is_first {
            let time = sum(&self.trials, TrialTime::all);
            return vec![AddedTime { cause: DelayCause::Cases, time, count: 1 }];
        }
        let more = &self.trials[self.trials.len().min(self.budget.trials as usize)..];
        let repeats = repeats.min(count(more.len()));
        let (repeated, precise) = more.split_at(repeats as usize);
        let Budget { warm_up, measure, slack, overhead, .. } = self.budget;
        let measuring = warm_up.plus(measure.since(slack));
        let times = |one: Nanos, trials: &[TrialTime]| Nanos(one.get().saturating_mul(trials.len() as u64));
        // A further trial costs what it was estimated at; what any trial took beyond is in the other two causes.
        let further =
            |trials: &[TrialTime]| sum(trials, TrialTime::all).min(times(measuring.plus(overhead), trials));
        let beyond = |of: fn(TrialTime) -> Nanos, one| sum(&self.trials, of).since(times(one, &self.trials));
        let row = |cause, time, count| AddedTime { cause, time, count };
        vec![
            row(DelayCause::Repeats, further(repeated), repeats),
            row(DelayCause::Precision, further(precise), count(precise.len())),
            row(DelayCause::Preparing, beyond(|trial| trial.preparing, overhead), 0),
            row(DelayCause::Measuring, beyond(|trial| trial.measuring, measuring), 0),
        ]
    }
}

fn sum(trials: &[TrialTime], of: impl Fn(TrialTime) -> Nanos) -> Nanos {
    trials.iter().fold(Nanos(0), |sum, trial| sum.plus(of(*trial)))
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Cause, Reason};

    use super::*;
    use crate::fixture::case;

    #[derive(Default)]
    struct Played {
        account: TimeAccount,
        now: Nanos,
    }

    impl Played {
        fn plan(&mut self, cases: &[Case]) {
            let estimate = cases[0].estimate();
            self.account.note(&Event::RoundPlanned { cases: cases.to_vec(), estimate }, self.now);
        }

        /// A trial whose phases take these times.
        fn trial(&mut self, case: &Case, trial: u32, phases: [(Phase, Nanos); 3]) {
            for (phase, time) in phases {
                let case = case.id.clone();
                self.account.note(&Event::PhaseEntered { case, trial, phase }, self.now);
                self.now = self.now.plus(time);
            }
            self.account
                .note(&Event::TrialEnded { case: case.id.clone(), trial, parts: Vec::new() }, self.now);
        }

        fn end(&mut self, case: &Case, repeated: u32) {
            let mut record = CaseRecord::without_numbers(case, &Reason::new(Cause::NotTried, ""));
            RepeatedTrials(repeated).put(&mut record.evidence);
            self.account.note(&Event::CaseEnded { record: Box::new(record) }, self.now);
        }

        fn close(self) -> (u64, Vec<(DelayCause, u64, u32)>) {
            let time = self.account.close(self.now);
            let millis = |time: Nanos| time.get() / 1_000_000;
            let row = |added: &AddedTime| (added.cause, millis(added.time), added.count);
            (millis(time.planned), time.added.iter().map(row).collect())
        }
    }

    const AS_PLANNED: [(Phase, Nanos); 3] = [
        (Phase::Prepare, Nanos::millis(60)),
        (Phase::Measure, Nanos::secs(1)),
        (Phase::Verify, Nanos::millis(40)),
    ];

    #[test]
    fn a_run_as_planned_has_nothing_added() {
        let (case, mut played) = (case("a", "n1"), Played::default());
        played.plan(std::slice::from_ref(&case));
        (0..2).for_each(|trial| played.trial(&case, trial, AS_PLANNED));
        played.end(&case, 0);
        assert_eq!(played.close(), (2200, Vec::new()));
    }

    #[test]
    fn each_cause_has_its_own_time() {
        let (first, later, mut played) = (case("a", "n1"), case("b", "n1"), Played::default());
        played.now = Nanos::millis(250);
        played.plan(std::slice::from_ref(&first));
        let slow = [
            (Phase::Prepare, Nanos::secs(3)),
            (Phase::Measure, Nanos::millis(1500)),
            (Phase::Verify, Nanos::millis(40)),
        ];
        played.trial(&first, 0, slow);
        (1..5).for_each(|trial| played.trial(&first, trial, AS_PLANNED));
        played.end(&first, 1);
        played.plan(std::slice::from_ref(&later));
        played.trial(&later, 0, AS_PLANNED);
        played.end(&later, 0);
        let (planned, added) = played.close();
        assert_eq!(planned, 2200);
        assert_eq!(
            added,
            [
                (DelayCause::Preparing, 2940, 0),
                (DelayCause::Precision, 2200, 2),
                (DelayCause::Repeats, 1100, 1),
                (DelayCause::Cases, 1100, 1),
                (DelayCause::Measuring, 500, 0),
                (DelayCause::BetweenCases, 250, 0),
            ]
        );
    }

    #[test]
    fn nodes_that_are_measured_side_by_side_are_not_added_up() {
        let cases = [case("a", "n1"), case("a", "n2")];
        let mut played = Played::default();
        played.plan(&cases);
        for trial in 0..2 {
            let start = played.now;
            played.trial(&cases[0], trial, AS_PLANNED);
            played.now = start;
            let slow = [AS_PLANNED[0], (Phase::Measure, Nanos::secs(2)), AS_PLANNED[2]];
            played.trial(&cases[1], trial, slow);
        }
        cases.iter().for_each(|case| played.end(case, 0));
        assert_eq!(played.close(), (2200, vec![(DelayCause::Measuring, 2000, 0)]));
    }

    #[test]
    fn a_trial_that_failed_is_no_reason_for_a_subtraction() {
        let (case, mut played) = (case("a", "n1"), Played::default());
        played.plan(std::slice::from_ref(&case));
        let hung = [(Phase::Prepare, Nanos::secs(60)), (Phase::Connect, Nanos(0)), (Phase::Verify, Nanos(0))];
        played.trial(&case, 0, hung);
        played.end(&case, 0);
        assert_eq!(played.close(), (2200, vec![(DelayCause::Preparing, 59_900, 0)]));
    }
}
