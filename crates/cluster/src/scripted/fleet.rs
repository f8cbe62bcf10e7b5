//! A fleet of simulated agents, whose clock moves only in waits.

use std::collections::BTreeMap;

use seatrial_model::{Case, Cause, Evidence, Nanos, PartPlacement, Phase, Reason, SiteNode};

use super::fault::Fault;
use super::script::Script;
use super::worker::{Act, Worker};
use crate::fleet::{Fleet, FleetEvent, NodeIndex};
use crate::message::{Command, EndKind, FromWorker, Hello, PROTOCOL, Report, WorkerEnd, WorkerId};

type Author = Box<dyn Fn(&Case, &PartPlacement, u32) -> Script>;

/// Simulated agents. A function of case, place and trial makes the messages of their workers; no real time passes,
/// and the same commands give the same events in the same order.
pub struct ScriptedFleet {
    agents: Vec<Hello>,
    lost: Vec<bool>,
    author: Author,
    workers: BTreeMap<WorkerId, Worker>,
    /// By time, then by insertion.
    agenda: BTreeMap<(Nanos, u64), Entry>,
    planned: u64,
    now: Nanos,
}

enum Entry {
    Says(WorkerId, FromWorker),
    EndsPhase(WorkerId, u32),
    Ends(WorkerId, NodeIndex, WorkerEnd),
    Loses(NodeIndex, String),
    Recalls(NodeIndex, String),
}

impl ScriptedFleet {
    /// One agent per node; `author` writes the script of every worker.
    pub fn new(
        nodes: Vec<SiteNode>,
        author: impl Fn(&Case, &PartPlacement, u32) -> Script + 'static,
    ) -> Self {
        let hello = |SiteNode { name, machine, settings, .. }| Hello {
            protocol: PROTOCOL,
            build: "scripted".to_owned(),
            node: name,
            machine,
            settings,
        };
        let agents: Vec<Hello> = nodes.into_iter().map(hello).collect();
        Self {
            lost: vec![false; agents.len()],
            agents,
            author: Box::new(author),
            workers: BTreeMap::new(),
            agenda: BTreeMap::new(),
            planned: 0,
            now: Nanos(0),
        }
    }

    fn plan(&mut self, at: Nanos, entry: Entry) {
        self.agenda.insert((at, self.planned), entry);
        self.planned += 1;
    }

    fn plan_acts(&mut self, id: WorkerId, node: NodeIndex, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Say(message) => self.plan(self.now, Entry::Says(id, message)),
                Act::EndPhase { at, turn } => self.plan(at, Entry::EndsPhase(id, turn)),
                Act::End { at, end } => self.plan(at, Entry::Ends(id, node, end)),
                Act::LoseNode(why) => self.plan(self.now, Entry::Loses(node, why)),
                Act::EndJob(why) => {
                    for node in (0..self.agents.len()).map(NodeIndex) {
                        self.plan(self.now, Entry::Recalls(node, why.clone()));
                    }
                }
            }
        }
    }

    fn spawn(&mut self, node: NodeIndex, id: WorkerId, case: &Case, place: u32, trial: u32) {
        let Some(place) = case.place(place) else {
            let how = EndKind::NotStarted { why: format!("{} has no place {place}", case.id) };
            let end = WorkerEnd { how, output: String::new(), evidence: Evidence::new() };
            return self.plan(self.now, Entry::Ends(id, node, end));
        };
        let mut script = (self.author)(case, place, trial);
        if self.agents[node.0].node != place.node {
            // The scheduler sent the part to the wrong node; a real worker would bind memory of another node.
            let text = format!("the part for {} was started on {}", place.node, self.agents[node.0].node);
            let reason = Reason::new(Cause::Protocol, text);
            script.fault = Some(Fault::Fails { phase: Phase::Prepare, reason });
        }
        let (worker, acts) = Worker::start(node, place.clone(), script, self.now);
        self.workers.insert(id, worker);
        self.plan_acts(id, node, acts);
    }

    /// The event of an entry, if worker and node still exist.
    fn play(&mut self, entry: Entry) -> Option<FleetEvent> {
        match entry {
            Entry::Says(id, message) => {
                let node = self.workers.get(&id)?.node;
                Some(FleetEvent::From(node, Report::Said { worker: id, message }))
            }
            Entry::EndsPhase(id, turn) => {
                let worker = self.workers.get_mut(&id)?;
                let node = worker.node;
                let acts = worker.end_phase(turn).into_iter().map(Act::Say).collect();
                self.plan_acts(id, node, acts);
                None
            }
            Entry::Ends(id, node, end) => {
                // A crash and a kill may both be planned: the first takes effect.
                let known =
                    self.workers.remove(&id).is_some() || matches!(end.how, EndKind::NotStarted { .. });
                let heard = known && !self.lost[node.0];
                heard.then_some(FleetEvent::From(node, Report::Ended { worker: id, end }))
            }
            Entry::Loses(node, why) => self.lose(node).then_some(FleetEvent::Lost(node, why)),
            Entry::Recalls(node, why) => self.lose(node).then_some(FleetEvent::Recalled(node, why)),
        }
    }

    /// Marks the node as lost; returns whether it was there.
    fn lose(&mut self, node: NodeIndex) -> bool {
        self.workers.retain(|_, worker| worker.node != node);
        !std::mem::replace(&mut self.lost[node.0], true)
    }
}

impl Fleet for ScriptedFleet {
    fn agents(&self) -> &[Hello] {
        &self.agents
    }

    fn is_gone(&self, node: NodeIndex) -> bool {
        self.lost.get(node.0).is_none_or(|lost| *lost)
    }

    fn send(&mut self, node: NodeIndex, command: Command) {
        if self.is_gone(node) {
            return;
        }
        let now = self.now;
        let (id, acts) = match command {
            Command::Spawn { worker, case, place, trial } => {
                return self.spawn(node, worker, &case, place, trial);
            }
            // Simulated nodes share one clock, and have no settings that could be changed.
            Command::Ping { .. } | Command::Alive | Command::ReadCounters | Command::Settings { .. } => {
                return;
            }
            Command::Quit => return self.workers.retain(|_, worker| worker.node != node),
            Command::Tell { worker: id, message } => match self.workers.get_mut(&id) {
                Some(worker) if worker.node == node => (id, worker.hear(message, now)),
                _ => return,
            },
            Command::Kill { worker: id } => match self.workers.get(&id) {
                Some(worker) if worker.node == node => (id, vec![worker.kill(now)]),
                _ => return,
            },
        };
        self.plan_acts(id, node, acts);
    }

    fn next(&mut self, deadline: Nanos) -> FleetEvent {
        while let Some(entry) =
            self.agenda.first_entry().filter(|entry| entry.key().0 <= deadline.max(self.now))
        {
            let ((at, _), entry) = entry.remove_entry();
            self.now = self.now.max(at);
            if let Some(notice) = self.play(entry) {
                return notice;
            }
        }
        self.now = self.now.max(deadline);
        FleetEvent::Quiet
    }

    fn now(&self) -> Nanos {
        self.now
    }
}

#[cfg(test)]
mod tests;
