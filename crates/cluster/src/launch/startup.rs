//! Starts agents, a few at a time, and waits until each has said hello or failed.

use std::collections::{HashMap, VecDeque};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant};

use super::copying::Copying;
use super::link::{Heard, Link, Loss, Manner};
use super::linked::LinkedFleet;
use super::relay::{Gateway, RelayStart};
use super::words::never_came;
use crate::fleet::{LaunchError, Missing};
use crate::message::{Hello, PROTOCOL, Report};

/// Most reports of all agents in the queue; beyond, agents block.
const WAITING: usize = 64;

/// Most started agents without hello: ssh clients take CPU time to start, and a thousand would all be late.
const ON_THE_WAY: usize = 64;

pub(super) struct Start {
    pub(super) node: String,
    pub(super) opening: Opening,
    /// How to start the agent with a fresh copy of the binary.
    pub(super) renewed: Option<Opening>,
}

pub(super) struct Opening {
    pub(super) command: Command,
    pub(super) manner: Manner,
    /// Progress of the copy of the binary, until the first frame.
    pub(super) copying: Arc<Copying>,
}

impl Start {
    pub(super) fn of(node: String, command: Command) -> Self {
        let opening = Opening { command, manner: Manner::default(), copying: Arc::default() };
        Self { node, opening, renewed: None }
    }
}

pub(super) struct AgentStartup {
    build: String,
    within: Duration,
    hear: SyncSender<Heard>,
    heard: Receiver<Heard>,
    pending: Vec<PendingAgent>,
    /// Agents to start again with a fresh copy of the binary.
    renewals: VecDeque<Start>,
    missing: Vec<Missing>,
    /// Nodes that a gateway did not reach.
    unreached: Vec<(String, LaunchError)>,
    order: Order,
}

enum Order {
    Started,
    Names,
    Positions(HashMap<String, usize>),
}

struct PendingAgent {
    node: String,
    link: Link,
    deadline: Instant,
    hello: Option<Hello>,
    given_up: bool,
    /// What to try when the remote binary turns out to be another build.
    renewed: Option<Opening>,
    copying: Arc<Copying>,
    /// Additional time, once the gateway is reached.
    more: Option<Duration>,
}

impl PendingAgent {
    /// Last progress of a copy of the binary, to the node, its gateway or a node behind that.
    fn moved(&self) -> Option<Instant> {
        self.copying.moved().max(self.link.gateway().and_then(|(gateway, _)| gateway.copying().moved()))
    }

    /// The error after so much silence.
    fn complaint(&self, quiet: Duration) -> String {
        let of_gateway = || self.link.gateway().and_then(|(gateway, _)| gateway.copying().complaint(quiet));
        let nothing = || format!("it said nothing for {} s", quiet.as_secs_f64());
        self.copying.complaint(quiet).or_else(of_gateway).unwrap_or_else(nothing)
    }
}

pub(super) struct Gathered {
    pub(super) here: Vec<Here>,
    pub(super) missing: Vec<Missing>,
    pub(super) heard: Receiver<Heard>,
    /// Kept so that the channel stays open when no agent is left.
    pub(super) hear: SyncSender<Heard>,
}

pub(super) struct Here {
    /// Number of its link.
    pub(super) at: usize,
    pub(super) node: String,
    pub(super) hello: Hello,
    pub(super) link: Link,
}

impl AgentStartup {
    /// Agents of another build than `build` are refused; each has `within` to say hello.
    pub(super) fn new(build: &str, within: Duration) -> Self {
        let (hear, heard) = mpsc::sync_channel(WAITING);
        Self {
            build: build.to_owned(),
            within,
            hear,
            heard,
            pending: Vec::new(),
            renewals: VecDeque::new(),
            missing: Vec::new(),
            unreached: Vec::new(),
            order: Order::Started,
        }
    }

    /// Starts agents, a number of them at a time, and waits until each has said hello or failed.
    pub(super) fn start_all(&mut self, starts: Vec<Start>) {
        let mut waiting: VecDeque<Start> = starts.into();
        loop {
            // Agents behind a gateway cost nothing here.
            while self.on_the_way().filter(|pending| pending.link.gateway().is_none()).count() < ON_THE_WAY
                && let Some(start) = self.renewals.pop_front().or_else(|| waiting.pop_front())
            {
                self.start(start);
            }
            if self.on_the_way().next().is_none() {
                return;
            }
            self.step(None);
        }
    }

    /// Starts a relay and awaits the agents of its whole share.
    pub(super) fn start_relay(&mut self, start: RelayStart) {
        let nodes: Vec<String> = start.share.children.iter().map(|child| child.node.clone()).collect();
        match Gateway::start(start, &self.build, self.pending.len(), self.hear.clone()) {
            Ok(gateway) => {
                let gateway = Arc::new(gateway);
                // A relay starts as many at a time as we do, and may have to send each a fresh copy.
                let turns = u32::try_from(nodes.len().div_ceil(ON_THE_WAY)).unwrap_or(u32::MAX);
                let more = self.within.saturating_mul(turns.saturating_add(1));
                for (node, child) in nodes.into_iter().zip(0..) {
                    self.admit(node, Link::relayed(Arc::clone(&gateway), child), None, Arc::default());
                    if let Some(pending) = self.pending.last_mut() {
                        pending.more = Some(more);
                    }
                }
            }
            Err(error) => {
                for node in nodes {
                    let why = format!("starting a thread that serves its gateway: {error}");
                    self.unreached.push((node.clone(), LaunchError::Start { node, why }));
                }
            }
        }
    }

    pub(super) fn take_unreached(&mut self) -> Vec<(String, LaunchError)> {
        std::mem::take(&mut self.unreached)
    }

    /// Accepts an agent that connected back; its hello contains its name.
    pub(super) fn adopt(&mut self, from: &str, stream: TcpStream) {
        match Link::adopt(self.pending.len(), stream, self.hear.clone()) {
            Ok(link) => self.admit(from.to_owned(), link, None, Arc::default()),
            Err(error) => {
                let why = format!("serving its connection: {error}");
                self.miss(LaunchError::Start { node: from.to_owned(), why });
            }
        }
    }

    /// Waits, at most `limit`, until all started agents have said hello or failed.
    pub(super) fn wait(&mut self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while self.on_the_way().next().is_some() {
            self.step(Some(deadline));
            if Instant::now() >= deadline {
                return;
            }
        }
    }

    pub(super) fn sort_by_name(&mut self) {
        self.order = Order::Names;
    }

    pub(super) fn stand_as(&mut self, nodes: &[String]) {
        self.order = Order::Positions(nodes.iter().cloned().zip(0..).collect());
    }

    pub(super) fn miss(&mut self, why: LaunchError) {
        self.missing.push(Missing { node: why.node().to_owned(), why });
    }

    pub(super) fn arrived(&self) -> usize {
        self.pending.iter().filter(|pending| pending.hello.is_some()).count()
    }

    /// Agents that said hello: the address or name before, and the name in the hello.
    pub(super) fn present(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pending
            .iter()
            .filter_map(|pending| Some((pending.node.as_str(), pending.hello.as_ref()?.node.as_str())))
    }

    /// Nodes that will have no agent.
    pub(super) fn missed(&self) -> impl Iterator<Item = &str> {
        self.missing.iter().map(|missing| missing.node.as_str())
    }

    /// Agents that connected, and nodes that will have none.
    pub(super) fn connected(&self) -> usize {
        self.on_the_way().count() + self.arrived() + self.missing.len()
    }

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
                        why: "no node was requested".to_owned(),
                    }),
                },
            });
        }
        let mut agent_of = vec![None; self.pending.len()];
        let Gathered { here, missing, heard, hear } = self.part();
        let mut agents = Vec::new();
        let mut links = Vec::new();
        for Here { at, hello, link, .. } in here {
            agent_of[at] = Some(links.len());
            agents.push(hello);
            links.push(link);
        }
        Ok(LinkedFleet::new(agents, links, agent_of, missing, heard, hear))
    }

    pub(super) fn part(self) -> Gathered {
        let pending = self.pending.into_iter().enumerate();
        let mut here: Vec<Here> = pending
            .filter_map(|(at, PendingAgent { node, link, hello, .. })| {
                Some(Here { at, node, hello: hello?, link })
            })
            .collect();
        match &self.order {
            Order::Started => {}
            Order::Names => here.sort_by_cached_key(|agent| natural(&agent.hello.node)),
            Order::Positions(of) => here.sort_by_key(|agent| of.get(&agent.node).copied()),
        }
        Gathered { here, missing: self.missing, heard: self.heard, hear: self.hear }
    }

    fn on_the_way(&self) -> impl Iterator<Item = &PendingAgent> {
        self.pending.iter().filter(|pending| pending.hello.is_none() && !pending.given_up)
    }

    fn start(&mut self, start: Start) {
        let Start { node, opening: Opening { mut command, manner, copying }, renewed } = start;
        match Link::start(self.pending.len(), &mut command, manner, self.hear.clone()) {
            Ok(link) => self.admit(node, link, renewed, copying),
            Err(why) => self.miss(LaunchError::Start { node, why }),
        }
    }

    fn admit(&mut self, node: String, link: Link, renewed: Option<Opening>, copying: Arc<Copying>) {
        let deadline = Instant::now() + self.within;
        let pending =
            PendingAgent { node, link, deadline, hello: None, given_up: false, renewed, copying, more: None };
        self.pending.push(pending);
    }

    fn step(&mut self, limit: Option<Instant>) {
        let Some(first) = self.on_the_way().map(|pending| pending.deadline).chain(limit).min() else {
            return;
        };
        let now = Instant::now();
        if let Ok(heard) = self.heard.recv_timeout(first.saturating_duration_since(now)) {
            return self.hear(heard);
        }
        let now = Instant::now();
        for at in 0..self.pending.len() {
            let late = &mut self.pending[at];
            if late.hello.is_some() || late.given_up || late.deadline > now {
                continue;
            }
            // A copy has time as long as it makes progress; the time for the hello begins after it.
            if let Some(later) = late.moved().map(|at| at + self.within).filter(|later| *later > now) {
                late.deadline = later;
                // Once per deadline, since all others wait too.
                tracing::warn!("waiting for {}: the binary is still being copied", late.node);
                continue;
            }
            let is_underway = late.link.gateway().is_some_and(|(gateway, _)| gateway.is_ready());
            if let Some(more) = late.more.take_if(|_| is_underway) {
                late.deadline = now + more;
                continue;
            }
            let why = late.complaint(self.within);
            self.give_up(at, &why);
        }
    }

    fn hear(&mut self, Heard { link: at, said }: Heard) {
        match said {
            Ok(Report::Hello(hello)) if self.pending[at].hello.is_none() => {
                let (theirs, ours) =
                    ((hello.build.as_str(), hello.protocol), (self.build.as_str(), PROTOCOL));
                match same_build(theirs, ours, &self.pending[at].node) {
                    Ok(()) if !self.pending[at].given_up => match self.twin(&hello.node) {
                        None => self.pending[at].hello = Some(*hello),
                        Some(twin) => {
                            let _ = self.pending[at].link.exit_report("");
                            let node = self.pending[at].node.clone();
                            let why = format!(
                                "its agent reports the host name {}, as the agent of {twin} does: give each node its own host name",
                                hello.node
                            );
                            self.fail(at, LaunchError::NoHello { node, why });
                        }
                    },
                    Ok(()) => {}
                    Err(why) => {
                        let _ = self.pending[at].link.exit_report("");
                        self.fail(at, why);
                    }
                }
            }
            // The agent started and ended before the others were ready.
            Err(loss) if self.pending[at].hello.is_some() => {
                self.pending[at].hello = None;
                self.give_up(at, &loss.text());
            }
            Ok(other) => self.give_up(at, &format!("its first message is {other:?}")),
            Err(Loss::Stream(why) | Loss::Gateway(why)) => self.fall_silent(at, &why),
            Err(Loss::NeverCame(why)) => self.fail(at, why),
        }
    }

    /// The first address of another agent with this name. Nodes are distinguished by name only.
    fn twin(&self, name: &str) -> Option<String> {
        self.present().find(|(_, here)| *here == name).map(|(known_by, _)| known_by.to_owned())
    }

    /// Records a stream that ended without hello. A copy from the cache may be corrupt, and is replaced, once.
    fn fall_silent(&mut self, at: usize, why: &str) {
        let pending = &mut self.pending[at];
        if !pending.given_up {
            let why = pending.link.exit_report(why);
            let node = pending.node.clone();
            self.fail(at, never_came(node, why));
        }
    }

    fn give_up(&mut self, at: usize, why: &str) {
        self.pending[at].renewed = None;
        self.fall_silent(at, why);
    }

    /// Records why an agent did not start, unless another attempt is left.
    fn fail(&mut self, at: usize, why: LaunchError) {
        let pending = &mut self.pending[at];
        if std::mem::replace(&mut pending.given_up, true) {
            return;
        }
        // An agent that sends something else after hello is lost.
        pending.hello = None;
        let node = pending.node.clone();
        if let Some(opening) = pending.renewed.take_if(|_| pending.copying.was_there()) {
            tell_renewal(&node, &why);
            self.renewals.push_back(Start { node, opening, renewed: None });
        } else if pending.link.gateway().is_some_and(|(gateway, child)| child > 0 || gateway.is_ready()) {
            self.unreached.push((node, why));
        } else {
            self.miss(why);
        }
    }
}

/// Sort key: `n2` before `n10`.
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

/// Logs that a copy of the binary on the node was of another build, or did not start.
pub(super) fn tell_renewal(node: &str, why: &LaunchError) {
    let why = match why {
        LaunchError::Build { theirs, ours, .. } => format!("it is build {theirs}, this is {ours}"),
        other => other.to_string(),
    };
    tracing::warn!("copying the binary to {node} again: {why}");
}

pub(super) fn same_build(theirs: (&str, u32), ours: (&str, u32), node: &str) -> Result<(), LaunchError> {
    if theirs == ours {
        return Ok(());
    }
    let [theirs, ours] = [theirs, ours].map(|(build, protocol)| format!("{build} (protocol {protocol})"));
    Err(LaunchError::Build { node: node.to_owned(), theirs, ours })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits for one agent that never says hello, `within` after the last sign; its stream begins with `sends`.
    /// Returns the error.
    fn awaited(
        within: Duration,
        sends: impl FnOnce(&Copying) -> Result<(), String> + Send + 'static,
    ) -> String {
        let mut command = Command::new("sleep");
        command.arg("3600");
        let mut start = Start::of("n1".to_owned(), command);
        let copying = Arc::clone(&start.opening.copying);
        start.opening.manner.preamble = Some(Box::new(move |_, _| sends(&copying)));
        let mut gathering = AgentStartup::new("1.0+abc", within);
        gathering.start_all(vec![start]);
        let missing = gathering.part().missing;
        assert_eq!(missing.len(), 1);
        missing[0].why.to_string()
    }

    #[test]
    fn a_copy_has_time_as_long_as_it_moves_and_the_agent_from_its_end() {
        // On a busy machine the sender may get no CPU for the shorter times.
        let told = [200, 1_000, 5_000].map(Duration::from_millis).into_iter().find_map(|within| {
            let why = awaited(within, move |copying| {
                for piece in 0..10 {
                    copying.sent(piece, 10);
                    std::thread::sleep(within / 5);
                }
                copying.arrived();
                std::thread::sleep(within / 2);
                Err("that was all".to_owned())
            });
            why.contains("that was all").then_some(why)
        });
        assert!(told.is_some(), "given up while the copy moved");
    }

    #[test]
    fn a_copy_that_stands_still_is_given_up_and_so_is_an_agent_that_says_nothing_behind_it() {
        let within = Duration::from_millis(100);
        // The thread that copies may get no CPU for a while.
        let withins = [within, 10 * within, 100 * within];
        let told = |wanted: &str, copy: fn(&Copying) -> Result<(), String>| {
            let mut all = withins.into_iter().map(|within| awaited(within, copy));
            assert!(all.any(|told| told.contains(wanted)), "{wanted}");
        };
        told("after 7 of 9 B", |copying| {
            copying.sent(7, 9);
            std::thread::sleep(Duration::from_secs(3600));
            Ok(())
        });
        told("it said nothing for", |copying| {
            copying.sent(9, 9);
            copying.arrived();
            Ok(())
        });
    }

    /// Agents that connected, each from its own address, with these reports.
    fn adopted(reports: &[Report]) -> AgentStartup {
        let mut gathering = AgentStartup::new("1.0+abc", Duration::from_secs(120));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        for (report, number) in reports.iter().zip(1..) {
            let mut stream = TcpStream::connect(listener.local_addr().expect("told")).expect("connects");
            let frame = crate::frame::encode(report).expect("fits");
            std::io::Write::write_all(&mut stream, &frame).expect("written");
            gathering.adopt(&format!("10.0.0.{number}"), listener.accept().expect("accepts").0);
            // One after the other, so that their order is known.
            while gathering.on_the_way().next().is_some() {
                gathering.step(None);
            }
            // Open as long as the test runs: the end of a stream is a loss.
            std::mem::forget(stream);
        }
        gathering
    }

    fn hello(node: &str) -> Report {
        Report::Hello(Box::new(Hello {
            protocol: PROTOCOL,
            build: "1.0+abc".to_owned(),
            node: node.to_owned(),
            machine: Default::default(),
            settings: Vec::new(),
        }))
    }

    #[test]
    fn of_two_agents_of_one_name_the_second_is_refused_and_both_addresses_are_told() {
        let found = adopted(&[hello("localhost"), hello("localhost"), hello("n3")]).part();
        let here: Vec<&str> = found.here.iter().map(|agent| agent.hello.node.as_str()).collect();
        assert_eq!(here, ["localhost", "n3"]);
        let [missing] = found.missing.as_slice() else { panic!("{:?}", found.missing) };
        assert_eq!(missing.node, "10.0.0.2");
        let why = missing.why.to_string();
        assert!(why.contains("reports the host name localhost, as the agent of 10.0.0.1 does"), "{why}");
    }

    #[test]
    fn an_agent_that_says_something_else_after_its_hello_is_missing_and_not_here() {
        let mut gathering = adopted(&[hello("n1"), hello("n2")]);
        assert_eq!(gathering.arrived(), 2);
        let pong =
            Report::Pong { round: 1, clock: seatrial_model::Nanos(1), time_of_day: seatrial_model::Nanos(1) };
        gathering.hear(Heard { link: 0, said: Ok(pong) });
        // Before its link, which is cut, is read.
        let found = gathering.part();
        let here: Vec<&str> = found.here.iter().map(|agent| agent.hello.node.as_str()).collect();
        assert_eq!(here, ["n2"]);
        assert_eq!(
            found.missing.iter().map(|missing| missing.node.as_str()).collect::<Vec<_>>(),
            ["10.0.0.1"]
        );
    }

    #[test]
    fn names_sort_as_people_count() {
        let mut names = vec!["n10", "n2", "head", "r1n3", "r1n20"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["head", "n2", "n10", "r1n3", "r1n20"]);
    }
}
