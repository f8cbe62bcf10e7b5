//! A case that runs: its trials so far, and what is decided after each.
//!
//! Cases that are measured at the same time (a gang) make as many trials as the one of them that needs most, and repeat
//! one that was disturbed for any: the trials of all are then the same moments.

use seatrial_bench::Benchmark;
use seatrial_cluster::{NodeIndex, Offset, WorkerId};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Budget, Case, Cause, Measures, Nanos, PartRecord, Reason, Site};
use seatrial_stats::{Stop, StopRule};
use serde_json::{Value, json};

use crate::probes;
use crate::quarantine::Look;
use crate::summarise;
use crate::together::Began;
use crate::trial::{Action, Deadlines, Trial, TrialEnd};

/// Disturbed trials of a case that are repeated.
pub const MOST_REPEATS: u32 = Case::MOST_REPEATS;

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
    /// What it runs with: a number that all of them have.
    pub gang: u64,
    /// How many cases began to measure with this one, itself included, where that is its point.
    pub company: Option<u32>,
    /// The same of the trials that count.
    companies: Vec<u32>,
    /// The case that is to run, where this one only looks whether its subject answers.
    pub look: Option<Look>,
    bench: &'static dyn Benchmark,
    parts: Vec<PartRecord>,
    number: u32,
    counted: u32,
    disturbed: Vec<String>,
    repeated: u32,
    started: Nanos,
    /// What the trials so far come to, when they are enough to come to something.
    measures: Option<Measures>,
}

/// What is known after a trial.
pub enum After {
    /// More trials are needed.
    More,
    /// These were enough.
    Enough,
    /// The case is over without numbers.
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
            gang: 0,
            company: None,
            companies: Vec::new(),
            look: None,
            bench,
            parts: Vec::new(),
            number: 0,
            counted: 0,
            disturbed: Vec::new(),
            repeated: 0,
            started: now,
            measures: None,
        };
        (active, actions)
    }

    /// The number of the trial that runs.
    pub fn trial_number(&self) -> u32 {
        self.number
    }

    /// The record of a case that ended with its trial.
    pub fn failed(&self, reason: &Reason, end: TrialEnd, now: Nanos) -> CaseRecord {
        let mut record = self.without_numbers(reason, &end.parts, now.since(self.started).as_secs());
        record.lost = end.lost;
        record
    }

    /// The record of the case that is not to run since `look`, taken before it, hung.
    pub fn looked_in_vain(&self, look: &Look, end: &TrialEnd, now: Nanos) -> CaseRecord {
        let mut record = look.hung();
        record.seconds = now.since(self.started).as_secs();
        tell_parts(&mut record, &end.parts);
        record
    }

    /// Counts a trial that came to its end, unless it is to be repeated because of the `disturbance`.
    pub fn after(&mut self, end: TrialEnd, disturbance: Option<&str>, now: Nanos) -> After {
        if let Some(why) = disturbance {
            self.disturbed.push(format!("trial {}: {why}", self.number));
        }
        if disturbance.is_some() && self.repeated < MOST_REPEATS {
            self.repeated += 1;
        } else {
            self.parts.extend(end.parts);
            self.companies.extend(self.company);
            self.counted += 1;
        }
        if self.counted < self.case.budget.trials {
            return After::More;
        }
        match self.bench.reduce(&self.case, &self.parts) {
            Err(reason) => {
                let seconds = now.since(self.started).as_secs();
                After::Over(Box::new(self.without_numbers(&reason, &[], seconds)))
            }
            Ok(measures) => {
                let is_enough = self.is_enough(&measures);
                self.measures = Some(measures);
                if is_enough { After::Enough } else { After::More }
            }
        }
    }

    /// Starts the next trial.
    pub fn again(&mut self, first: WorkerId, now: Nanos, deadlines: Deadlines) -> Vec<Action> {
        self.number += 1;
        let (trial, actions) =
            Trial::start(&self.case, self.number, first, &self.nodes, &self.clocks, now, deadlines);
        self.trial = trial;
        actions
    }

    /// When the parts of its trials began.
    pub fn began(&self) -> Began {
        Began::of(&self.parts, &self.clocks)
    }

    /// The record of a case whose trials are enough. `together` is how far apart all cases of its gang began.
    pub fn over(&mut self, now: Nanos, site: &Site, together: Option<&Value>) -> CaseRecord {
        let seconds = now.since(self.started).as_secs();
        let Some(measures) = self.measures.take() else {
            let reason = Reason::new(Cause::TooShort, "no trial of it came to its end");
            return self.without_numbers(&reason, &[], seconds);
        };
        let mut record = self.with_numbers(measures, seconds, site);
        if !self.companies.is_empty() {
            let mut evidence = json!({ "cases": self.companies });
            if let (Some(Value::Object(skew)), Value::Object(all)) = (together, &mut evidence) {
                all.extend(skew.clone());
            }
            record.evidence.insert("together".to_owned(), evidence);
        }
        record
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
                if let Some(skew) = self.began().skew() {
                    record.evidence.insert("start".to_owned(), skew);
                }
                let seen = probes::over_trials(&self.parts);
                if !seen.is_empty() {
                    record.evidence.insert("probes".to_owned(), probes::document(&seen));
                }
                tell_disturbed(&mut record, &self.disturbed);
                record
            }
            Err(reason) => self.without_numbers(&reason, &[], seconds),
        }
    }

    fn without_numbers(&self, reason: &Reason, parts: &[PartRecord], seconds: f64) -> CaseRecord {
        let mut record = CaseRecord::without_numbers(&self.case, reason);
        record.seconds = seconds;
        record.evidence.insert("trials_completed".to_owned(), self.counted.into());
        tell_parts(&mut record, parts);
        record
    }
}

/// Notes what each part and its agent know.
fn tell_parts(record: &mut CaseRecord, parts: &[PartRecord]) {
    for part in parts.iter().filter(|part| !part.evidence.is_empty()) {
        record.evidence.insert(format!("{} {}", part.part, part.index), json!(part.evidence));
    }
}

/// Notes which trials were disturbed by what, and how many of them, the first ones, were repeated.
pub fn tell_disturbed(record: &mut CaseRecord, disturbed: &[String]) {
    if !disturbed.is_empty() {
        let repeated = disturbed.len().min(MOST_REPEATS as usize);
        record.evidence.insert("disturbed_trials".to_owned(), disturbed.into());
        record.evidence.insert("repeated_trials".to_owned(), repeated.into());
    }
}
