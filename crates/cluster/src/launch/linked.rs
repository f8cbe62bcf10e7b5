//! A fleet of agents at the other end of streams.

use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use seatrial_model::Nanos;
use seatrial_sys::clock;

use super::link::{Heard, Link};
use super::process::Process;
use crate::clock_offset::{Offset, Offsets};
use crate::fleet::{Fleet, Missing, NodeIndex, Notice};
use crate::message::{Command, Hello, Report};

/// How long agents may take to leave: longer than their workers may take to die.
const LEAVING: Duration = Duration::from_secs(5);

/// How long a step that carried the agents may take to end once they are gone.
const STEP_ENDING: Duration = Duration::from_secs(5);

/// Agents at the other end of streams.
pub(super) struct LinkedFleet {
    agents: Vec<Hello>,
    links: Vec<Link>,
    /// The agent of each link that was ever started; none where no agent came of it.
    agent_of: Vec<Option<usize>>,
    missing: Vec<Missing>,
    lost: Vec<bool>,
    offsets: Offsets,
    heard: Receiver<Heard>,
    /// Kept so that the channel stays open, and a wait stays a wait, when every agent is gone.
    _hear: SyncSender<Heard>,
    /// Losses that nobody has asked for yet.
    early: Vec<Notice>,
    /// What started all agents together and carries them, such as srun.
    step: Option<(Process, ChildStdin)>,
}

impl LinkedFleet {
    pub(super) fn new(
        agents: Vec<Hello>,
        links: Vec<Link>,
        agent_of: Vec<Option<usize>>,
        missing: Vec<Missing>,
        heard: Receiver<Heard>,
        hear: SyncSender<Heard>,
    ) -> Self {
        let lost = vec![false; agents.len()];
        let offsets = Offsets::new(agents.len());
        let mut fleet = Self {
            agents,
            links,
            agent_of,
            missing,
            lost,
            offsets,
            heard,
            _hear: hear,
            early: Vec::new(),
            step: None,
        };
        if fleet.agents.len() > 1 {
            fleet.compare_clocks();
        }
        fleet
    }

    /// Has the fleet hold what started its agents.
    pub(super) fn carried_by(mut self, step: Process, stdin: ChildStdin) -> Self {
        self.step = Some((step, stdin));
        self
    }

    /// Asks every agent for its clock a number of times, all agents at once; see [`Offsets`].
    fn compare_clocks(&mut self) {
        let deadline = Instant::now() + Offsets::WITHIN;
        for round in 0..Offsets::ROUNDS {
            for (at, link) in self.links.iter().enumerate() {
                self.offsets.asked(at, round, clock::now_ns());
                link.send(Command::Ping { round });
            }
            while self.offsets.is_waiting(round) {
                let left = deadline.saturating_duration_since(Instant::now());
                let Ok(heard) = self.heard.recv_timeout(left) else { return };
                let arrived = clock::now_ns();
                let Some(at) = self.agent_of.get(heard.link).copied().flatten() else { continue };
                match heard.said {
                    Ok(Report::Pong { round, clock }) => {
                        self.offsets.answered(at, round, clock.get(), arrived);
                    }
                    Ok(_) => {}
                    Err(why) => {
                        self.offsets.gone(at);
                        self.lost[at] = true;
                        let why = self.links[at].obituary(&why);
                        self.early.push(Notice::Lost(NodeIndex(at), why));
                    }
                }
            }
        }
    }

    /// What is to be passed on; nothing of an agent that was lost before.
    fn notice(&mut self, Heard { link, said }: Heard) -> Option<Notice> {
        let at = self.agent_of.get(link).copied().flatten()?;
        if self.lost[at] {
            return None;
        }
        let why = match said {
            Ok(Report::Hello(_)) => "the agent introduced itself twice".to_owned(),
            Ok(Report::Pong { .. }) => return None,
            Ok(report) => return Some(Notice::From(NodeIndex(at), report)),
            Err(why) => why,
        };
        self.lost[at] = true;
        Some(Notice::Lost(NodeIndex(at), self.links[at].obituary(&why)))
    }
}

impl Fleet for LinkedFleet {
    fn agents(&self) -> &[Hello] {
        &self.agents
    }

    fn missing(&self) -> &[Missing] {
        &self.missing
    }

    fn offset(&self, node: NodeIndex) -> Option<Offset> {
        self.offsets.of(node.0)
    }

    fn send(&mut self, node: NodeIndex, command: Command) {
        if let Some(link) = self.links.get(node.0) {
            link.send(command);
        }
    }

    fn next(&mut self, deadline: Nanos) -> Notice {
        if let Some(notice) = self.early.pop() {
            return notice;
        }
        loop {
            let left = deadline.since(self.now());
            let Ok(heard) = self.heard.recv_timeout(left.into()) else { return Notice::Quiet };
            if let Some(notice) = self.notice(heard) {
                return notice;
            }
        }
    }

    fn now(&self) -> Nanos {
        Nanos(clock::now_ns())
    }
}

impl Drop for LinkedFleet {
    /// Asks all agents to leave and waits a bounded time; whoever stays is killed, by dropping the links.
    fn drop(&mut self) {
        self.links.iter_mut().for_each(Link::quit);
        let deadline = Instant::now() + LEAVING;
        while !self.links.iter_mut().all(Link::has_ended) && Instant::now() < deadline {
            // Their last reports are taken and dropped, or the agents would wait to get rid of them.
            let _ = self.heard.recv_timeout(Duration::from_millis(2));
        }
        if let Some((step, _)) = &mut self.step
            && step.ended_within(STEP_ENDING).is_none()
        {
            step.terminate();
            let _ = step.ended_within(STEP_ENDING);
        }
    }
}
