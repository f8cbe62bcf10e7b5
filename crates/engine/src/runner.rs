//! The event loop: studies in, agents driven, records out.

mod co_run;
mod liveness;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};

use seatrial_bench::Registry;
use seatrial_cluster::{Fleet, FleetEvent, NodeIndex, Report};
use seatrial_model::profile::fold;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Cause, Event, Finding, Nanos, Reason, Site};

use crate::budget::TimeBudget;
use crate::host;
use crate::round::{BetweenTrials, Round};
use crate::schedule::{QueuedCase, Schedule};
use crate::study::{Next, Study};
use crate::trial::{Action, Deadlines};

/// The longest wait where no deadline is nearer. Whoever cancels nudges the fleet, so that nothing has to be looked for while the
/// workers measure, perhaps on the processor that a look would take.
const LONGEST_WAIT: Nanos = Nanos::secs(3600);

/// Where events go: journal, progress. An error stops the run, since results would be lost.
pub type Watch<'a> = dyn FnMut(&Event) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + 'a;

/// Drives a fleet through studies.
pub struct Runner<'a> {
    pub registry: Registry,
    /// The nodes, as planned with.
    pub site: &'a Site,
    pub fleet: &'a mut dyn Fleet,
    pub watch: &'a mut Watch<'a>,
    /// Raised to stop the run; [`Fleet::nudge`] has it seen at once.
    pub cancel: &'a AtomicBool,
    pub deadlines: Deadlines,
    /// Whether nodes that run on one kernel are measured side by side all the same.
    pub share_hosts: bool,
    /// Asked right before a case starts whether it is to be left out, given all records so far.
    pub leave_out: &'a LeaveOut<'a>,
    /// The time for trials that are repeated or added.
    pub budget: TimeBudget<'a>,
}

/// Why a case is not to be tried after all, if so; see [`LoadSweeps::leave_out`](crate::LoadSweeps::leave_out).
pub type LeaveOut<'a> = dyn Fn(&Case, &[CaseRecord]) -> Option<Reason> + 'a;

/// Every case is tried.
pub fn try_all(_: &Case, _: &[CaseRecord]) -> Option<Reason> {
    None
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finished {
    /// Records in the order the cases ended.
    pub records: Vec<CaseRecord>,
    /// Conclusions of the study.
    pub findings: Vec<Finding>,
    /// Whether it was stopped before its end.
    pub cancelled: bool,
}

/// Why a run stopped without finishing.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An event could not be kept.
    #[error("the run stopped because its results could not be kept")]
    Watch(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Runner<'_> {
    /// Runs `study` to its end, or until cancelled. `done` holds records of an earlier, interrupted run.
    ///
    /// # Errors
    /// [`RunError`] when an event could not be kept; workers are killed before it returns.
    pub fn run(&mut self, study: &mut dyn Study, done: Vec<CaseRecord>) -> Result<Finished, RunError> {
        done.iter().for_each(|record| self.budget.note(record));
        let mut finished = Finished { records: done, ..Finished::default() };
        let hosts = if self.share_hosts { self.nodes().collect() } else { host::of(self.fleet.agents()) };
        if let Some(text) = host::words(self.fleet.agents(), &hosts) {
            self.tell(&Event::Note { case: None, text })?;
        }
        let mut round = Round::on(hosts);
        while !self.is_cancelled() {
            for node in round.lost.keys() {
                study.lost(&self.fleet.agents()[node.0].node);
            }
            match study.next(&finished.records) {
                Next::Done(findings) => {
                    finished.findings = findings;
                    return Ok(finished);
                }
                Next::Round(cases) => self.round(&mut round, cases, &mut finished)?,
                Next::Settled(records) => {
                    for record in records {
                        self.keep(record, &mut finished)?;
                    }
                }
            }
        }
        finished.cancelled = true;
        Ok(finished)
    }

    fn round(
        &mut self,
        round: &mut Round,
        cases: Vec<Case>,
        finished: &mut Finished,
    ) -> Result<(), RunError> {
        let estimate = cases.iter().fold(Nanos(0), |sum, case| sum.plus(case.estimate()));
        self.tell(&Event::RoundPlanned { cases: cases.clone(), estimate })?;
        if let Some(text) = retries(&cases) {
            self.tell(&Event::Note { case: None, text })?;
        }
        let by_name: HashMap<&str, NodeIndex> = self
            .fleet
            .agents()
            .iter()
            .enumerate()
            .map(|(at, hello)| (hello.node.as_str(), NodeIndex(at)))
            .collect();
        let mut placed = Vec::new();
        let mut homeless = Vec::new();
        for case in cases {
            let nodes: Option<Vec<_>> =
                case.places.iter().map(|at| by_name.get(at.node.as_str()).copied()).collect();
            match nodes {
                Some(nodes) if !nodes.is_empty() => {
                    placed.push(QueuedCase { case, nodes });
                }
                _ => homeless.push(without_agent(&case, |node| by_name.contains_key(node))),
            }
        }
        for record in homeless {
            self.keep(record, finished)?;
        }
        round.schedule = Schedule::new(co_run::waiting(placed, round));
        for (node, reason) in round.lost.clone() {
            self.give_up(round, node, &reason, finished)?;
        }
        for host in round.schedule.hosts() {
            self.start_on(round, host, finished)?;
        }
        let mut outcome = Ok(());
        while !round.active.is_empty() {
            if let Err(error) = self.step(round, finished) {
                // Workers are still to be killed and waited for, so the loop goes on to its end.
                round.broken = true;
                outcome = outcome.and(Err(error));
            }
        }
        for member in round.schedule.drain().into_iter().flat_map(|waiting| waiting.members) {
            // A stopped run leaves them to the one that goes on with it.
            if outcome.is_ok() && !self.is_stopping(round) {
                let text = "its turn never came, which is a defect of this program";
                let record = CaseRecord::without_numbers(&member.case, &Reason::new(Cause::NotTried, text));
                self.keep(record, finished)?;
            }
        }
        outcome
    }

    /// Waits for one notice or deadline and does what follows from it.
    fn step(&mut self, round: &mut Round, finished: &mut Finished) -> Result<(), RunError> {
        let now = self.fleet.now();
        if self.is_stopping(round) {
            self.cancel_all(round, now)?;
        }
        let until = round.next_deadline().unwrap_or(now.plus(LONGEST_WAIT)).min(now.plus(LONGEST_WAIT));
        let notice = self.fleet.next(until);
        let now = self.fleet.now();
        let answer = match notice {
            FleetEvent::From(_, Report::Said { worker, message }) => {
                round.with(worker, |active| active.trial.said(&active.case, worker, message, now))
            }
            FleetEvent::From(_, Report::Ended { worker, end }) => {
                round.with(worker, |active| active.trial.ended(&active.case, worker, end, now))
            }
            FleetEvent::From(_, Report::Hello(_) | Report::Pong { .. }) | FleetEvent::Quiet => None,
            FleetEvent::Lost(node, why) => {
                self.lose(round, node, why, None, now, finished)?;
                None
            }
            FleetEvent::Recalled(node, why) => {
                let reason = Reason::new(Cause::Interrupted, why.clone());
                self.lose(round, node, why, Some(&reason), now, finished)?;
                None
            }
        };
        if let Some((key, actions)) = answer {
            self.settle(round, key, actions, now, finished)?;
        }
        // Deadlines hold also while agents never cease to say something.
        self.tick(round, now, finished)
    }

    /// Looks at every case whose deadline passed.
    fn tick(&mut self, round: &mut Round, now: Nanos, finished: &mut Finished) -> Result<(), RunError> {
        while let Some(key) = round.overdue(now) {
            let actions = match round.active.get_mut(&key) {
                Some(active) => active.trial.tick(&active.case, now),
                None => continue,
            };
            self.settle(round, key, actions, now, finished)?;
        }
        Ok(())
    }

    /// A node is gone. Where it was wanted back its cases are `interrupted`; else the loss speaks against it.
    fn lose(
        &mut self,
        round: &mut Round,
        node: NodeIndex,
        why: String,
        interrupted: Option<&Reason>,
        now: Nanos,
        finished: &mut Finished,
    ) -> Result<(), RunError> {
        let before = interrupted.cloned().unwrap_or_else(|| {
            let name = &self.fleet.agents()[node.0].node;
            Reason::new(Cause::NeverReached, format!("the agent of {name} was lost before this case: {why}"))
        });
        if interrupted.is_some() && !round.lost.values().any(|known| *known == before) {
            self.tell(&Event::Note { case: None, text: why.clone() })?;
        }
        self.give_up(round, node, &before, finished)?;
        self.give_up_rested(round, node, &why, interrupted, finished)?;
        let keys: Vec<_> = round
            .active
            .iter()
            .filter(|(_, active)| active.nodes.contains(&node))
            .map(|(key, _)| *key)
            .collect();
        for key in keys {
            if let Some(active) = round.active.get_mut(&key) {
                let mut actions = interrupted
                    .map_or_else(Vec::new, |reason| active.trial.cancel(&active.case, reason, now));
                actions.extend(active.trial.lost(&active.case, node, &why, now));
                self.settle(round, key, actions, now, finished)?;
            }
        }
        round.lost.insert(node, before);
        Ok(())
    }

    /// Records the waiting cases of a lost node.
    fn give_up(
        &mut self,
        round: &mut Round,
        node: NodeIndex,
        reason: &Reason,
        finished: &mut Finished,
    ) -> Result<(), RunError> {
        for member in round.schedule.give_up(node) {
            let name = self.fleet.agents()[node.0].node.clone();
            let record = CaseRecord { lost: vec![name], ..CaseRecord::without_numbers(&member.case, reason) };
            self.keep(record, finished)?;
        }
        Ok(())
    }

    fn cancel_all(&mut self, round: &mut Round, now: Nanos) -> Result<(), RunError> {
        let reason = Reason::new(Cause::Interrupted, "the run was stopped during this case");
        let keys: Vec<_> = round.active.keys().copied().collect();
        for key in keys {
            if let Some(active) = round.active.get_mut(&key) {
                let actions = active.trial.cancel(&active.case, &reason, now);
                // Workers that do not end are waited for no longer than that.
                if !actions.is_empty() {
                    round.deadlines.push(Reverse((active.trial.deadline(), key)));
                }
                self.act(round, key, actions)?;
            }
        }
        Ok(())
    }

    /// Carries out `actions` of the case `key`, and goes on with it when its trial is over.
    fn settle(
        &mut self,
        round: &mut Round,
        key: u64,
        actions: Vec<Action>,
        now: Nanos,
        finished: &mut Finished,
    ) -> Result<(), RunError> {
        self.act(round, key, actions)?;
        let Some(active) = round.active.get(&key) else { return Ok(()) };
        let co_run = active.co_run;
        if !active.trial.is_over() {
            round.deadlines.push(Reverse((active.trial.deadline(), key)));
            return self.advance(round, co_run, now, finished);
        }
        let Some(mut active) = round.active.remove(&key) else { return Ok(()) };
        for worker in active.trial.workers() {
            round.owners.remove(&worker);
        }
        let end = active.trial.end();
        if let Some(check) = active.check.take() {
            return self.liveness_checked(round, key, check, active, end, now, finished);
        }
        self.tell(&Event::TrialEnded {
            case: active.case.id.clone(),
            trial: active.trial_number(),
            parts: end.parts.clone(),
        })?;
        if let Some(co_run) = round.co_runs.get_mut(&co_run) {
            co_run.running.remove(&key);
        }
        // What was stopped is not kept in the results: a resumed run measures it anew.
        if !self.is_stopping(round) {
            match &end.reason {
                Some(reason) => {
                    let record = active.failed(&reason.clone(), end, now);
                    self.keep(record, finished)?;
                }
                None => {
                    let between_trials = BetweenTrials { key, active, end };
                    round.co_runs.entry(co_run).or_default().between_trials.push(between_trials);
                }
            }
        }
        self.advance(round, co_run, now, finished)
    }

    fn act(&mut self, round: &Round, key: u64, actions: Vec<Action>) -> Result<(), RunError> {
        for action in actions {
            match action {
                Action::Send(node, command) => self.fleet.send(node, command),
                Action::Entered(phase) => {
                    if let Some(active) = round.active.get(&key).filter(|active| active.check.is_none()) {
                        let (case, trial) = (active.case.id.clone(), active.trial_number());
                        self.tell(&Event::PhaseEntered { case, trial, phase })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, record: CaseRecord, finished: &mut Finished) -> Result<(), RunError> {
        self.budget.note(&record);
        finished.records.push(record.clone());
        self.tell(&Event::CaseEnded { record: Box::new(record) })
    }

    fn tell(&mut self, event: &Event) -> Result<(), RunError> {
        (self.watch)(event).map_err(RunError::Watch)
    }

    fn nodes(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        (0..self.fleet.agents().len()).map(NodeIndex)
    }

    fn is_stopping(&self, round: &Round) -> bool {
        round.broken || self.is_cancelled()
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Retries that are told one by one; of more only the number is.
const MOST_TOLD: usize = 4;

/// What a person is told of the cases of a round that stand in for others, or look again at a node.
fn retries(cases: &[Case]) -> Option<String> {
    let again: Vec<&Case> = cases.iter().filter(|case| case.retry_of.is_some()).collect();
    let words = |case: &&Case| {
        let lost = case.retry_of.as_ref().map_or("", |lost| lost.as_str());
        format!("{lost} lost its partner and is measured again as {}", case.id)
    };
    let suspects: BTreeSet<&str> = cases.iter().filter_map(|case| case.origin.suspect.as_deref()).collect();
    if !suspects.is_empty() {
        let suspects: Vec<&str> = suspects.into_iter().collect();
        let verb = if suspects.len() == 1 { "was slow and is" } else { "were slow and are" };
        return Some(format!("{} {verb} measured again with partners that were good", fold(&suspects)));
    }
    let searched: BTreeSet<&str> =
        cases.iter().filter_map(|case| case.origin.load_sweep.as_deref()).collect();
    if !searched.is_empty() {
        let axes: Vec<&str> = searched.into_iter().collect();
        return Some(format!("some failed: looking for the highest {} that works", axes.join(" and ")));
    }
    match again.as_slice() {
        [] => None,
        few if few.len() <= MOST_TOLD => Some(few.iter().map(words).collect::<Vec<_>>().join("; ")),
        many => Some(format!("{} cases lost their partners and are measured again with others", many.len())),
    }
}

/// The record of a case on a node that has no agent.
fn without_agent(case: &Case, has_agent: impl Fn(&str) -> bool) -> CaseRecord {
    let is_missing =
        |node: &&String| case.places.iter().any(|place| place.node == **node) && !has_agent(node);
    let lost: Vec<String> = case.nodes.iter().filter(is_missing).cloned().collect();
    let text = match lost.as_slice() {
        [] => "no agent runs on a node of this case".to_owned(),
        lost => format!("no agent runs on {}", lost.join(", ")),
    };
    let reason = Reason::new(Cause::NeverReached, text);
    CaseRecord { lost, ..CaseRecord::without_numbers(case, &reason) }
}

#[cfg(test)]
mod tests;
