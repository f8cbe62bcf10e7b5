//! A fleet of agents that are child processes of the controller, or behind one such as ssh.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant};

use seatrial_model::Nanos;

use super::link::{Heard, Link};
use crate::fleet::{Fleet, LaunchError, NodeIndex, Notice};
use crate::message::{Command, Hello, PROTOCOL, Report};

/// Reports that wait to be taken by [`Fleet::next`], of all agents together. Beyond that, agents wait.
const WAITING: usize = 64;

/// How long agents may take to leave: longer than their workers may take to die.
const LEAVING: Duration = Duration::from_secs(5);

/// Agents at the other end of pipes.
pub(super) struct LinkedFleet {
    agents: Vec<Hello>,
    links: Vec<Link>,
    lost: Vec<bool>,
    heard: Receiver<Heard>,
    /// Kept so that the channel stays open, and a wait stays a wait, when every agent is gone.
    _hear: SyncSender<Heard>,
    started: Instant,
}

impl LinkedFleet {
    /// Starts one agent a label and waits until all have said hello.
    ///
    /// # Errors
    /// See [`LaunchError`]. Agents that did start are gone by then.
    pub(super) fn launch(
        commands: Vec<(String, std::process::Command)>,
        build: &str,
        within: Duration,
    ) -> Result<Self, LaunchError> {
        let started = Instant::now();
        let (hear, heard) = mpsc::sync_channel(WAITING);
        let mut links = Vec::with_capacity(commands.len());
        let mut labels = Vec::with_capacity(commands.len());
        for (index, (label, mut command)) in commands.into_iter().enumerate() {
            links.push(Link::start(NodeIndex(index), &label, &mut command, hear.clone())?);
            labels.push(label);
        }
        let mut hellos: Vec<Option<Hello>> = labels.iter().map(|_| None).collect();
        while let Some(missing) = hellos.iter().position(Option::is_none) {
            let left = within.saturating_sub(started.elapsed());
            let Ok(Heard { node: NodeIndex(index), said }) = heard.recv_timeout(left) else {
                let why = links[missing].obituary(&format!("it said nothing for {} s", within.as_secs_f64()));
                return Err(LaunchError::NoHello { node: labels.swap_remove(missing), why });
            };
            let node = labels[index].clone();
            match said {
                Ok(Report::Hello(hello)) => hellos[index] = Some(same_build(*hello, build, node)?),
                Ok(other) => {
                    let why = links[index].obituary(&format!("its first message is {other:?}"));
                    return Err(LaunchError::NoHello { node, why });
                }
                Err(why) => {
                    let why = links[index].obituary(&why);
                    return Err(LaunchError::NoHello { node, why });
                }
            }
        }
        let agents: Vec<Hello> = hellos.into_iter().flatten().collect();
        let lost = vec![false; agents.len()];
        Ok(Self { agents, links, lost, heard, _hear: hear, started })
    }

    /// What is to be passed on; nothing of an agent that was lost before.
    fn notice(&mut self, Heard { node, said }: Heard) -> Option<Notice> {
        if self.lost[node.0] {
            return None;
        }
        let why = match said {
            Ok(Report::Hello(_)) => "the agent introduced itself twice".to_owned(),
            Ok(report) => return Some(Notice::From(node, report)),
            Err(why) => why,
        };
        self.lost[node.0] = true;
        Some(Notice::Lost(node, self.links[node.0].obituary(&why)))
    }
}

fn same_build(hello: Hello, build: &str, node: String) -> Result<Hello, LaunchError> {
    if hello.protocol == PROTOCOL && hello.build == build {
        return Ok(hello);
    }
    let theirs = format!("{} (protocol {})", hello.build, hello.protocol);
    Err(LaunchError::Build { node, theirs, ours: format!("{build} (protocol {PROTOCOL})") })
}

impl Fleet for LinkedFleet {
    fn agents(&self) -> &[Hello] {
        &self.agents
    }

    fn send(&mut self, node: NodeIndex, command: Command) {
        if let Some(link) = self.links.get(node.0) {
            link.send(command);
        }
    }

    fn next(&mut self, deadline: Nanos) -> Notice {
        loop {
            let left = deadline.since(self.now());
            let Ok(heard) = self.heard.recv_timeout(left.into()) else { return Notice::Quiet };
            if let Some(notice) = self.notice(heard) {
                return notice;
            }
        }
    }

    fn now(&self) -> Nanos {
        self.started.elapsed().into()
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
    }
}
