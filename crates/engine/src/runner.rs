//! Runs studies on a fleet: cases in, records out.

mod event_loop;
mod groups;
mod host_settings;
mod notes;

use std::sync::atomic::AtomicBool;

use seatrial_bench::Registry;
use seatrial_cluster::Fleet;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, Event, Reason, Site};

use crate::budget::{NothingJudged, TimeBudget};
use crate::study::Study;
use crate::trial::Deadlines;

/// Receives events: journal, progress. An error stops the run, since results would be lost.
pub type Watch<'a> = dyn FnMut(Event) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + 'a;

pub struct Runner<'a> {
    pub registry: Registry,
    /// The nodes, as planned with.
    pub site: &'a Site,
    pub fleet: &'a mut dyn Fleet,
    pub watch: &'a mut Watch<'a>,
    /// Set to stop the run; [`Fleet::nudge`] makes the run notice at once.
    pub cancel: &'a AtomicBool,
    pub deadlines: Deadlines,
    /// Whether nodes on one kernel are measured side by side all the same.
    pub share_hosts: bool,
    /// Whether no probe is read.
    pub no_probes: bool,
    /// Called right before a case starts, with all records so far: whether the case is left out.
    pub leave_out: &'a LeaveOut<'a>,
    pub budget: TimeBudget<'a>,
    /// Id of the journals of nodes whose settings a study changes.
    pub settings_id: &'a str,
}

/// Why a case is left out, if so; see [`LoadSweeps::leave_out`](crate::LoadSweeps::leave_out).
pub type LeaveOut<'a> = dyn Fn(&Case, &[CaseRecord]) -> Option<Reason> + 'a;

static NEVER: AtomicBool = AtomicBool::new(false);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finished {
    /// In the order in which the cases ended.
    pub records: Vec<CaseRecord>,
    pub cancelled: bool,
    /// Settings of hosts that could not be taken back: where, why, and what to type.
    pub not_restored: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the run stopped because its results could not be kept")]
    Watch(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl<'a> Runner<'a> {
    /// A runner that tries every case, has no promised time, and is not stopped.
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
            no_probes: false,
            leave_out: &|_, _| None,
            budget: TimeBudget::new(&[], None, &NothingJudged),
            settings_id: "",
        }
    }

    /// Runs `study` to its end, or until cancelled. `done` holds records of an earlier, interrupted run. On an error
    /// workers are killed before it returns.
    pub fn run(&mut self, study: Study<'_>, done: Vec<CaseRecord>) -> Result<Finished, RunError> {
        event_loop::EventLoop::new(self, done).run(study)
    }
}

#[cfg(test)]
mod tests;
