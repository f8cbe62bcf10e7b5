//! What the event loop holds while a round runs.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use seatrial_cluster::{NodeIndex, WorkerId};
use seatrial_model::{Nanos, Reason};

use crate::running_case::RunningCase;
use crate::schedule::Schedule;
use crate::trial::{Action, TrialEnd};

/// What the loop holds while a round runs.
#[derive(Default)]
pub struct Round {
    pub schedule: Schedule,
    pub active: HashMap<u64, RunningCase>,
    /// What was started as one, by number.
    pub co_runs: HashMap<u64, CoRun>,
    pub owners: HashMap<WorkerId, u64>,
    pub deadlines: BinaryHeap<Reverse<(Nanos, u64)>>,
    pub lost: HashMap<NodeIndex, Reason>,
    /// The host of each node.
    pub hosts: Vec<NodeIndex>,
    keys: u64,
    workers: u64,
    /// Whether an event could not be kept: only the killing goes on.
    pub broken: bool,
}

/// Cases that were started as one; most often it is a single case.
#[derive(Default)]
pub struct CoRun {
    /// The keys of those whose trial runs.
    pub running: BTreeSet<u64>,
    /// Those whose trial came to its end while others still run.
    pub between_trials: Vec<BetweenTrials>,
    /// The hosts of all of them, taken until the last one is over.
    pub hosts: Vec<NodeIndex>,
    /// Whether their trials are to be measured at one moment.
    pub at_once: bool,
}

/// A case between two trials.
pub struct BetweenTrials {
    pub key: u64,
    pub active: RunningCase,
    pub end: TrialEnd,
}

impl Round {
    /// Nothing runs yet on nodes of these hosts.
    pub fn on(hosts: Vec<NodeIndex>) -> Self {
        Self { hosts, ..Self::default() }
    }

    /// The hosts of `nodes`, each once.
    pub fn hosts_of(&self, nodes: &[NodeIndex]) -> Vec<NodeIndex> {
        let mut hosts: Vec<_> =
            nodes.iter().map(|node| self.hosts.get(node.0).copied().unwrap_or(*node)).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }

    /// A name for a case, or several, that begin.
    pub fn new_key(&mut self) -> u64 {
        self.keys += 1;
        self.keys
    }

    /// Whether all trials that run in `co_run` wait to be let into their next phase, and are to be let in as one.
    pub fn is_held(&self, co_run: u64) -> bool {
        let Some(co_run) = self.co_runs.get(&co_run) else { return false };
        let is_held = |key: &u64| self.active.get(key).is_some_and(|active| active.trial.held().is_some());
        co_run.at_once && !co_run.running.is_empty() && co_run.running.iter().all(is_held)
    }

    /// Takes out the cases between two trials that have a place on `node`.
    pub fn rested_on(&mut self, node: NodeIndex) -> Vec<BetweenTrials> {
        let mut numbers: Vec<u64> = self.co_runs.keys().copied().collect();
        numbers.sort_unstable();
        let mut found = Vec::new();
        for number in numbers {
            let co_run = self.co_runs.get_mut(&number).into_iter();
            found.extend(co_run.flat_map(|co_run| {
                co_run
                    .between_trials
                    .extract_if(.., |between_trials| between_trials.active.nodes.contains(&node))
            }));
        }
        found
    }

    pub fn new_workers(&mut self, count: usize) -> WorkerId {
        let first = WorkerId(self.workers);
        self.workers += count as u64;
        first
    }

    pub fn own(&mut self, first: WorkerId, count: usize, key: u64) {
        for id in first.0..first.0 + count as u64 {
            self.owners.insert(WorkerId(id), key);
        }
    }

    /// Does something with the case that owns `worker`; a late word of a worker that nobody owns is dropped.
    pub fn with(
        &mut self,
        worker: WorkerId,
        act: impl FnOnce(&mut RunningCase) -> Vec<Action>,
    ) -> Option<(u64, Vec<Action>)> {
        let key = *self.owners.get(&worker)?;
        self.active.get_mut(&key).map(|active| (key, act(active)))
    }

    pub fn next_deadline(&self) -> Option<Nanos> {
        self.deadlines.peek().map(|Reverse((at, _))| *at)
    }

    /// A case whose deadline has passed; entries that were overtaken by a later deadline fall out here.
    pub fn overdue(&mut self, now: Nanos) -> Option<u64> {
        while let Some(Reverse((at, key))) = self.deadlines.peek().copied() {
            if at > now {
                return None;
            }
            self.deadlines.pop();
            if self.active.get(&key).is_some_and(|active| active.trial.deadline() <= now) {
                return Some(key);
            }
        }
        None
    }
}
