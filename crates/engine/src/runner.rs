//! Runs studies on a fleet: cases in, records out.

mod event_loop;
mod groups;
mod notes;

use std::sync::atomic::AtomicBool;

use seatrial_bench::Registry;
use seatrial_cluster::Fleet;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Event, Finding, Reason, Site};

use crate::budget::{NothingJudged, TimeBudget};
use crate::study::Study;
use crate::trial::Deadlines;

/// Where events go: journal, progress. An error stops the run, since results would be lost.
pub type Watch<'a> = dyn FnMut(Event) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + 'a;

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

/// What nobody stops.
static NEVER: AtomicBool = AtomicBool::new(false);

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

impl<'a> Runner<'a> {
    /// One that tries every case, has no time promised to anybody, and is not stopped.
    pub fn new(
        registry: Registry,
        site: &'a Site,
        fleet: &'a mut dyn Fleet,
        watch: &'a mut Watch<'a>,
    ) -> Self {
        Self {
            registry,
            site,
            fleet,
            watch,
            cancel: &NEVER,
            deadlines: Deadlines::default(),
            share_hosts: false,
            leave_out: &|_, _| None,
            budget: TimeBudget::new(&[], None, &NothingJudged),
        }
    }

    /// Runs `study` to its end, or until cancelled. `done` holds records of an earlier, interrupted run.
    ///
    /// # Errors
    /// [`RunError`] when an event could not be kept; workers are killed before it returns.
    pub fn run(&mut self, study: &mut dyn Study, done: Vec<CaseRecord>) -> Result<Finished, RunError> {
        event_loop::EventLoop::new(self, done).run(study)
    }
}

#[cfg(test)]
mod tests;
