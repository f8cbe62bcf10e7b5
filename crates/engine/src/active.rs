//! A case that runs: its trials so far, and what is decided after each.

use seatrial_bench::Benchmark;
use seatrial_cluster::{NodeIndex, Offset, WorkerId};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Budget, Case, Measures, Nanos, PartRecord, Reason, Site};
use seatrial_stats::{Stop, StopRule};

use crate::disturbance::disturbance;
use crate::probes;
use crate::summarise;
use crate::together;
use crate::trial::{Action, Deadlines, Trial, TrialEnd};

/// Disturbed trials of a case that are repeated; later ones count, and the record says so.
const MOST_REPEATS: u32 = 2;

/// A case that runs.
pub struct Active {
    /// The case.
    pub case: Case,
    /// The node of each place.
    pub nodes: Vec<NodeIndex>,
    /// The clock of each place's node.
    clocks: Vec<Option<Offset>>,
    /// The trial that runs.
    pub trial: Trial,
    bench: &'static dyn Benchmark,
    parts: Vec<PartRecord>,
    number: u32,
    counted: u32,
    disturbed: Vec<String>,
    repeated: u32,
    started: Nanos,
}

/// What comes after a trial.
pub enum After {
    /// Another trial; do these first.
    Again(Vec<Action>),
    /// The case is over.
    Over(Box<CaseRecord>),
}

impl Active {
    /// Starts the first trial.
    pub fn start(
        bench: &'static dyn Benchmark,
        case: Case,
        nodes: Vec<NodeIndex>,
        clocks: Vec<Option<Offset>>,
        first: WorkerId,
        now: Nanos,
        deadlines: Deadlines,
    ) -> (Self, Vec<Action>) {
        let (trial, actions) = Trial::start(&case, 0, first, &nodes, &clocks, now, deadlines);
        let active = Self {
            case,
            nodes,
            clocks,
            trial,
            bench,
            parts: Vec::new(),
            number: 0,
            counted: 0,
            disturbed: Vec::new(),
            repeated: 0,
            started: now,
        };
        (active, actions)
    }

    /// The number of the trial that runs.
    pub fn trial_number(&self) -> u32 {
        self.number
    }

    /// Decides after the trial's `end`.
    pub fn after(
        &mut self,
        end: TrialEnd,
        first: WorkerId,
        now: Nanos,
        deadlines: Deadlines,
        site: &Site,
    ) -> After {
        let seconds = now.since(self.started).as_secs();
        if let Some(reason) = end.reason {
            let mut record = self.without_numbers(&reason, &end.parts, seconds);
            record.lost = end.lost;
            return After::Over(Box::new(record));
        }
        let disturbance = disturbance(&end.parts);
        if let Some(why) = &disturbance {
            self.disturbed.push(format!("trial {}: {why}", self.number));
        }
        if disturbance.is_some() && self.repeated < MOST_REPEATS {
            self.repeated += 1;
        } else {
            self.parts.extend(end.parts);
            self.counted += 1;
        }
        if self.counted >= self.case.budget.trials {
            match self.bench.reduce(&self.case, &self.parts) {
                Err(reason) => return After::Over(Box::new(self.without_numbers(&reason, &[], seconds))),
                Ok(measures) if self.is_enough(&measures) => {
                    return After::Over(Box::new(self.with_numbers(measures, seconds, site)));
                }
                Ok(_) => {}
            }
        }
        self.number += 1;
        let (trial, actions) =
            Trial::start(&self.case, self.number, first, &self.nodes, &self.clocks, now, deadlines);
        self.trial = trial;
        After::Again(actions)
    }

    /// Whether the headline, the first metric there is, is known precisely enough or the trials are used up.
    fn is_enough(&self, measures: &Measures) -> bool {
        let Budget { trials, max_trials, precision_percent, .. } = self.case.budget;
        let mut metrics = self.bench.about().metrics.iter();
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
        match summarise::record(self.bench, &self.case, measures, site) {
            Ok(mut record) => {
                record.seconds = seconds;
                if let Some(skew) = together::skew(&self.parts, &self.clocks) {
                    record.evidence.insert("start".to_owned(), skew);
                }
                let seen = probes::over_trials(&self.parts);
                if !seen.is_empty() {
                    record.evidence.insert("probes".to_owned(), probes::document(&seen));
                }
                if !self.disturbed.is_empty() {
                    record.evidence.insert("disturbed_trials".to_owned(), self.disturbed.clone().into());
                    record.evidence.insert("repeated_trials".to_owned(), self.repeated.into());
                }
                record
            }
            Err(reason) => self.without_numbers(&reason, &[], seconds),
        }
    }

    fn without_numbers(&self, reason: &Reason, parts: &[PartRecord], seconds: f64) -> CaseRecord {
        let mut record = CaseRecord::without_numbers(&self.case, reason);
        record.seconds = seconds;
        record.evidence.insert("trials_completed".to_owned(), self.counted.into());
        for part in parts.iter().filter(|part| !part.evidence.is_empty()) {
            record.evidence.insert(format!("{} {}", part.part, part.index), serde_json::json!(part.evidence));
        }
        record
    }
}
