//! Agents on their way: started a few at a time, heard one by one, until all are here or given up.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant};

use super::link::{Heard, Link, Preamble};
use super::linked::LinkedFleet;
use crate::fleet::{LaunchError, Missing};
use crate::message::{Hello, PROTOCOL, Report};

/// Reports that wait to be taken by the fleet, of all agents together. Beyond that, agents wait.
const WAITING: usize = 64;

/// Agents that are started but have not said hello, at most: a client such as ssh takes tens of milliseconds of CPU
/// time to come up, and a thousand at once would all come up late.
const ON_THE_WAY: usize = 64;

/// An agent to be started.
pub(super) struct Start {
    /// The node's name.
    pub(super) node: String,
    /// What starts its agent.
    pub(super) command: Command,
    /// What comes before the frames.
    pub(super) preamble: Option<Preamble>,
}

/// Agents on their way.
pub(super) struct Gathering {
    build: String,
    within: Duration,
    hear: SyncSender<Heard>,
    heard: Receiver<Heard>,
    guests: Vec<Guest>,
    missing: Vec<Missing>,
    /// Whether the agents are to stand in the order of their names instead of the order they were started in.
    by_name: bool,
}

/// One agent.
struct Guest {
    node: String,
    link: Link,
    deadline: Instant,
    hello: Option<Hello>,
    given_up: bool,
}

impl Gathering {
    /// Nobody yet. Agents of another build than `build` are refused; each has `within` to say hello.
    pub(super) fn new(build: &str, within: Duration) -> Self {
        let (hear, heard) = mpsc::sync_channel(WAITING);
        Self {
            build: build.to_owned(),
            within,
            hear,
            heard,
            guests: Vec::new(),
            missing: Vec::new(),
            by_name: false,
        }
    }

    /// Starts agents, a number of them at a time, and waits until each has said hello or was given up.
    pub(super) fn start_all(&mut self, starts: Vec<Start>) {
        let mut waiting: VecDeque<Start> = starts.into();
        loop {
            while self.on_the_way().count() < ON_THE_WAY
                && let Some(start) = waiting.pop_front()
            {
                self.start(start);
            }
            if self.on_the_way().next().is_none() {
                return;
            }
            self.step(None);
        }
    }

    /// Takes in an agent that came by itself. Its name is what it says in its hello.
    pub(super) fn adopt(&mut self, from: &str, stream: TcpStream) {
        match Link::adopt(self.guests.len(), stream, self.hear.clone()) {
            Ok(link) => self.seat(from.to_owned(), link),
            Err(error) => {
                let why = format!("serving its connection: {error}");
                self.miss(LaunchError::Start { node: from.to_owned(), why });
            }
        }
    }

    /// Waits until everybody who is on the way has said hello or was given up, at most for `limit`.
    pub(super) fn wait(&mut self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while self.on_the_way().next().is_some() {
            self.step(Some(deadline));
            if Instant::now() >= deadline {
                return;
            }
        }
    }

    /// Has the agents stand in the order of their names: those that come by themselves come in any order.
    pub(super) fn sort_by_name(&mut self) {
        self.by_name = true;
    }

    /// Notes a node of which no agent came.
    pub(super) fn miss(&mut self, why: LaunchError) {
        self.missing.push(Missing { node: why.node().to_owned(), why });
    }

    /// Agents that are here.
    pub(super) fn arrived(&self) -> usize {
        self.guests.iter().filter(|guest| guest.hello.is_some()).count()
    }

    /// Names of those who are here.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.guests.iter().filter_map(|guest| Some(guest.hello.as_ref()?.node.as_str()))
    }

    /// The fleet of those who are here.
    ///
    /// # Errors
    /// When nobody is; the agents are gone then.
    pub(super) fn finish(mut self) -> Result<LinkedFleet, LaunchError> {
        if self.arrived() == 0 {
            let count = self.missing.len();
            return Err(match self.missing.pop() {
                Some(Missing { why, .. }) if count == 1 => why,
                Some(Missing { why, .. }) => LaunchError::Nobody { count, last: Box::new(why) },
                None => LaunchError::Nobody {
                    count: 0,
                    last: Box::new(LaunchError::NoHello {
                        node: "any node".to_owned(),
                        why: "none was asked".to_owned(),
                    }),
                },
            });
        }
        let mut agent_of = vec![None; self.guests.len()];
        let seats = self.guests.into_iter().enumerate();
        let mut here: Vec<_> =
            seats.filter_map(|(at, guest)| guest.hello.map(|hello| (at, hello, guest.link))).collect();
        if self.by_name {
            here.sort_by_cached_key(|(_, hello, _)| natural(&hello.node));
        }
        let mut agents = Vec::new();
        let mut links = Vec::new();
        for (at, hello, link) in here {
            agent_of[at] = Some(links.len());
            agents.push(hello);
            links.push(link);
        }
        Ok(LinkedFleet::new(agents, links, agent_of, self.missing, self.heard, self.hear))
    }

    fn on_the_way(&self) -> impl Iterator<Item = &Guest> {
        self.guests.iter().filter(|guest| guest.hello.is_none() && !guest.given_up)
    }

    fn start(&mut self, mut start: Start) {
        match Link::start(self.guests.len(), &mut start.command, start.preamble, self.hear.clone()) {
            Ok(link) => self.seat(start.node, link),
            Err(why) => self.miss(LaunchError::Start { node: start.node, why }),
        }
    }

    fn seat(&mut self, node: String, link: Link) {
        let deadline = Instant::now() + self.within;
        self.guests.push(Guest { node, link, deadline, hello: None, given_up: false });
    }

    /// Waits for the next word, or for the first whose time is up, or until `limit`.
    fn step(&mut self, limit: Option<Instant>) {
        let Some(first) = self.on_the_way().map(|guest| guest.deadline).chain(limit).min() else { return };
        let now = Instant::now();
        if let Ok(heard) = self.heard.recv_timeout(first.saturating_duration_since(now)) {
            return self.hear(heard);
        }
        let now = Instant::now();
        for at in 0..self.guests.len() {
            let late = &self.guests[at];
            if late.hello.is_none() && !late.given_up && late.deadline <= now {
                let why = format!("it said nothing for {} s", self.within.as_secs_f64());
                self.give_up(at, &why);
            }
        }
    }

    fn hear(&mut self, Heard { link: at, said }: Heard) {
        match said {
            Ok(Report::Hello(hello)) if self.guests[at].hello.is_none() => {
                match same_build(&hello, &self.build, &self.guests[at].node) {
                    Ok(()) => self.guests[at].hello = Some(*hello),
                    Err(why) => {
                        self.guests[at].given_up = true;
                        let _ = self.guests[at].link.obituary("");
                        self.miss(why);
                    }
                }
            }
            // An agent that came and went before the others were here.
            Err(why) if self.guests[at].hello.is_some() => {
                self.guests[at].hello = None;
                self.give_up(at, &why);
            }
            Ok(other) => self.give_up(at, &format!("its first message is {other:?}")),
            Err(why) => self.give_up(at, &why),
        }
    }

    fn give_up(&mut self, at: usize, why: &str) {
        let guest = &mut self.guests[at];
        if !std::mem::replace(&mut guest.given_up, true) {
            let why = guest.link.obituary(why);
            let node = guest.node.clone();
            self.miss(LaunchError::NoHello { node, why });
        }
    }
}

/// A name as people sort it: `n2` before `n10`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0_u64)];
    for c in name.chars() {
        let last = parts.len() - 1;
        match c.to_digit(10) {
            Some(digit) => parts[last].1 = parts[last].1.saturating_mul(10).saturating_add(digit.into()),
            None if parts[last].1 == 0 => parts[last].0.push(c),
            None => parts.push((c.to_string(), 0)),
        }
    }
    parts
}

fn same_build(hello: &Hello, build: &str, node: &str) -> Result<(), LaunchError> {
    if hello.protocol == PROTOCOL && hello.build == build {
        return Ok(());
    }
    let theirs = format!("{} (protocol {})", hello.build, hello.protocol);
    let ours = format!("{build} (protocol {PROTOCOL})");
    Err(LaunchError::Build { node: node.to_owned(), theirs, ours })
}

#[cfg(test)]
mod tests {
    use super::natural;

    #[test]
    fn names_sort_as_people_count() {
        let mut names = vec!["n10", "n2", "head", "r1n3", "r1n20"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["head", "n2", "n10", "r1n3", "r1n20"]);
    }
}
