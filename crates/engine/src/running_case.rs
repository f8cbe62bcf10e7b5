//! A running case: its trials so far, and their numbers.
//!
//! Cases that are measured at the same time (a co-run group) make as many trials as the case that needs most, and
//! repeat a trial that was disturbed for any of them: the trials of all cover the same time.

use std::cell::OnceCell;

use seatrial_bench::Benchmark;
use seatrial_cluster::{NodeIndex, Offset, WorkerId};
use seatrial_model::record::{CaseRecord, NotMade};
use seatrial_model::{
    Budget, Case, Cause, CompletedTrials, DisturbedTrial, DisturbedTrials, Fact, Measures, Nanos, PartRecord,
    Reason, RepeatedTrials, Site,
};
use seatrial_stats::{Stop, StopRule};
use serde_json::{Value, json};

use crate::guarded::guarded;
use crate::liveness::LivenessCheck;
use crate::probes;
use crate::schedule::QueuedCase;
use crate::summarise;
use crate::together::Began;
use crate::trial::{Action, Deadlines, Trial, TrialEnd};

/// Largest number of disturbed trials of a case that are repeated; further ones count, and the record says so.
pub const MOST_REPEATS: u32 = Case::MOST_REPEATS;

/// The next trial that a case would make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// A trial of the plan.
    Planned,
    /// In place of a disturbed trial.
    Repeat,
    /// For a narrower interval.
    Precision,
}

pub struct RunningCase {
    pub case: Case,
    pub nodes: Vec<NodeIndex>,
    clocks: Vec<Option<Offset>>,
    pub trial: Trial,
    /// The end of its trial, while other cases of its group still run theirs.
    completed: Option<TrialEnd>,
    /// How many cases began to measure with this one, itself included, if they run at the same time on purpose.
    pub concurrent_cases: Option<u32>,
    /// The same for the trials that count, by trial.
    concurrent_counts: Vec<(u32, u32)>,
    /// The liveness check that runs in place of its first trial.
    pub check: Option<LivenessCheck>,
    pub bench: &'static Benchmark,
    parts: Vec<PartRecord>,
    number: u32,
    counted: u32,
    /// The trials that were disturbed, and by what. The first of them were repeated.
    disturbed: Vec<DisturbedTrial>,
    repeated: u32,
    not_made: Option<NotMade>,
    started: Nanos,
    /// The numbers of the trials that count, computed on demand.
    measures: OnceCell<Result<Measures, Reason>>,
}

impl RunningCase {
    /// Starts the first trial, or the liveness check before it.
    pub fn start(
        bench: &'static Benchmark,
        queued: QueuedCase,
        check: Option<LivenessCheck>,
        clocks: Vec<Option<Offset>>,
        first: WorkerId,
        now: Nanos,
        deadlines: Deadlines,
    ) -> (Self, Vec<Action>) {
        let QueuedCase { case, nodes } = queued;
        let case = check.as_ref().map_or(case, LivenessCheck::sent);
        let (trial, actions) = Trial::start(&case, 0, first, &nodes, &clocks, now, deadlines);
        let running = Self {
            case,
            nodes,
            clocks,
            trial,
            completed: None,
            concurrent_cases: None,
            concurrent_counts: Vec::new(),
            check,
            bench,
            parts: Vec::new(),
            number: 0,
            counted: 0,
            disturbed: Vec::new(),
            repeated: 0,
            not_made: None,
            started: now,
            measures: OnceCell::new(),
        };
        (running, actions)
    }

    pub fn trial_number(&self) -> u32 {
        self.number
    }

    /// Takes in the end of its trial; returns the record of the case when the trial failed. Whether a complete trial
    /// counts is known when all trials of the group are complete.
    pub fn end_trial(&mut self, end: TrialEnd, now: Nanos) -> Option<CaseRecord> {
        match end.reason.clone() {
            Some(reason) => Some(self.failed(&reason, end, now)),
            None => {
                self.completed = Some(end);
                None
            }
        }
    }

    fn failed(&self, reason: &Reason, end: TrialEnd, now: Nanos) -> CaseRecord {
        let record = self.without_numbers(reason, &end.parts, self.seconds(now));
        CaseRecord { lost: end.lost, ..record }
    }

    /// The record of the case that does not run since its liveness `check` hung.
    pub fn still_hung(&self, check: &LivenessCheck, end: &TrialEnd, now: Nanos) -> CaseRecord {
        let mut record = check.hung();
        record.seconds = self.seconds(now);
        tell_parts(&mut record, &end.parts);
        record
    }

    pub fn is_between_trials(&self) -> bool {
        self.completed.is_some()
    }

    pub fn lost_between_trials(&mut self, node: &str, reason: &Reason, now: Nanos) -> Option<CaseRecord> {
        let end = self.completed.take()?;
        Some(self.failed(reason, TrialEnd { lost: vec![node.to_owned()], ..end }, now))
    }

    /// Of the complete trial that is not counted yet.
    pub fn completed_parts(&self) -> &[PartRecord] {
        self.completed.as_ref().map_or(&[], |end| &end.parts)
    }

    /// Counts the complete trial, and records its `disturbance`.
    pub fn count(&mut self, disturbance: Option<&str>) {
        let Some(end) = self.completed.take() else { return };
        self.disturbed
            .extend(disturbance.map(|why| DisturbedTrial { trial: self.number, why: why.to_owned() }));
        self.parts.extend(end.parts);
        self.concurrent_counts.extend(self.concurrent_cases.map(|count| (self.number, count)));
        self.counted += 1;
        self.measures.take();
    }

    pub fn wants(&self, further: Further) -> bool {
        let is_planned = self.counted < self.case.budget.trials;
        match further {
            Further::Planned => is_planned,
            Further::Repeat => {
                !is_planned && self.repeated < MOST_REPEATS && self.disturbed.len() > self.repeated as usize
            }
            Further::Precision => {
                !is_planned && self.measures().as_ref().is_ok_and(|measures| !self.is_enough(measures))
            }
        }
    }

    pub fn goes_without(&mut self, further: Further, told: impl FnOnce(NotMade) -> NotMade) {
        let mut not_made = self.not_made.unwrap_or_default();
        match further {
            Further::Planned => not_made.planned = self.case.budget.trials - self.counted,
            Further::Repeat => {
                let disturbed = u32::try_from(self.disturbed.len()).unwrap_or(MOST_REPEATS);
                not_made.repeats = disturbed.min(MOST_REPEATS) - self.repeated;
            }
            Further::Precision => not_made.precision = true,
        }
        self.not_made = Some(told(not_made));
    }

    /// Leaves the first disturbed trial that counts out of the numbers: another is made in its place.
    pub fn leave_out_disturbed(&mut self) {
        let Some(DisturbedTrial { trial: number, .. }) = self.disturbed.get(self.repeated as usize) else {
            return;
        };
        self.parts.retain(|part| part.trial != *number);
        self.concurrent_counts.retain(|(trial, _)| trial != number);
        self.repeated += 1;
        self.counted -= 1;
        self.measures.take();
    }

    pub fn repeated(&self) -> u32 {
        self.repeated
    }

    pub fn seconds(&self, now: Nanos) -> f64 {
        now.since(self.started).as_secs()
    }

    /// The seconds that another trial takes: as planned, or as long as the trials so far if they took longer.
    pub fn trial_seconds(&self, now: Nanos) -> f64 {
        (self.seconds(now) / f64::from(self.number + 1)).max(self.case.trial_estimate().as_secs())
    }

    pub fn so_far(&self, site: &Site) -> Option<CaseRecord> {
        let measures = self.measures().as_ref().ok()?;
        guarded(&self.case.bench, "deriving its limits", || {
            summarise::record(self.bench, &self.case, measures.clone(), site)
        })
        .ok()
    }

    fn measures(&self) -> &Result<Measures, Reason> {
        self.measures.get_or_init(|| {
            guarded(&self.case.bench, "making numbers of its samples", || {
                self.bench.reduce(&self.case, &self.parts)
            })
        })
    }

    pub fn again(&mut self, first: WorkerId, now: Nanos, deadlines: Deadlines) -> Vec<Action> {
        self.number += 1;
        let (trial, actions) =
            Trial::start(&self.case, self.number, first, &self.nodes, &self.clocks, now, deadlines);
        self.trial = trial;
        actions
    }

    pub fn began(&self) -> Began {
        Began::of(&self.parts, &self.clocks)
    }

    /// The record of a case whose trials are over. `together` is the time between the starts of all cases of its
    /// group.
    pub fn over(&mut self, now: Nanos, site: &Site, together: Option<&Value>) -> CaseRecord {
        let seconds = self.seconds(now);
        self.measures();
        let mut record = match self.measures.take() {
            Some(Ok(measures)) => self.with_numbers(measures, seconds, site),
            Some(Err(reason)) => return self.without_numbers(&reason, &[], seconds),
            None => {
                let reason = Reason::new(Cause::TooShort, "none of its trials completed");
                return self.without_numbers(&reason, &[], seconds);
            }
        };
        if !self.concurrent_counts.is_empty() {
            let concurrent_counts: Vec<u32> =
                self.concurrent_counts.iter().map(|(_, count)| *count).collect();
            let mut evidence = json!({ "cases": concurrent_counts });
            if let (Some(Value::Object(skew)), Value::Object(all)) = (together, &mut evidence) {
                all.extend(skew.clone());
            }
            record.evidence.insert("together".to_owned(), evidence);
        }
        record
    }

    /// Whether the headline, the first metric there is, is precise enough or the trials are used up.
    fn is_enough(&self, measures: &Measures) -> bool {
        let Budget { trials, max_trials, precision_percent, .. } = self.case.budget;
        let mut metrics = self.bench.about.metrics.iter();
        let headline = metrics.find_map(|metric| measures.metrics.get(metric.name));
        let rule = StopRule {
            target_half_width: precision_percent / 100.0,
            min_trials: trials as usize,
            max_trials: max_trials as usize,
        };
        let stop = headline.and_then(|values| rule.decide(&values.trials).ok());
        self.counted >= max_trials || matches!(stop, Some(Stop::Converged { .. } | Stop::Exhausted { .. }))
    }

    fn with_numbers(&self, measures: Measures, seconds: f64, site: &Site) -> CaseRecord {
        let record = guarded(&self.case.bench, "deriving its limits", || {
            summarise::record(self.bench, &self.case, measures, site)
        });
        match record {
            Ok(mut record) => {
                record.seconds = seconds;
                if let Some(skew) = self.began().skew() {
                    record.evidence.insert("start".to_owned(), skew);
                }
                let seen = probes::over_trials(&self.parts);
                if !seen.0.is_empty() {
                    seen.put(&mut record.evidence);
                }
                tell_disturbed(&mut record, self.disturbed.clone(), self.repeated);
                if let Some(not_made) = &self.not_made {
                    not_made.put(&mut record.evidence);
                }
                record
            }
            Err(reason) => self.without_numbers(&reason, &[], seconds),
        }
    }

    fn without_numbers(&self, reason: &Reason, parts: &[PartRecord], seconds: f64) -> CaseRecord {
        let mut record = CaseRecord::without_numbers(&self.case, reason);
        record.seconds = seconds;
        CompletedTrials(self.counted).put(&mut record.evidence);
        tell_parts(&mut record, parts);
        record
    }
}

fn tell_parts(record: &mut CaseRecord, parts: &[PartRecord]) {
    for part in parts.iter().filter(|part| !part.evidence.is_empty()) {
        record.evidence.insert(format!("{} {}", part.part, part.index), json!(part.evidence));
    }
}

/// Records which trials were disturbed by what, and how many of them, the first ones, were `repeated`.
pub fn tell_disturbed(record: &mut CaseRecord, disturbed: Vec<DisturbedTrial>, repeated: u32) {
    if !disturbed.is_empty() {
        DisturbedTrials(disturbed).put(&mut record.evidence);
        RepeatedTrials(repeated).put(&mut record.evidence);
    }
}
