//! Agents on their way: started a few at a time, heard one by one, until all are here or given up.

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

/// Reports that wait to be taken by the fleet, of all agents together. Beyond that, agents wait.
const WAITING: usize = 64;

/// Agents that are started but have not said hello, at most: a client such as ssh takes tens of milliseconds of CPU
/// time to come up, and a thousand at once would all come up late.
const ON_THE_WAY: usize = 64;

/// An agent to be started.
pub(super) struct Start {
    pub(super) node: String,
    /// What starts its agent.
    pub(super) opening: Opening,
    /// What starts it with a fresh copy of the binary.
    pub(super) renewed: Option<Opening>,
}

/// What starts a process that talks.
pub(super) struct Opening {
    pub(super) command: Command,
    /// How its stream begins.
    pub(super) manner: Manner,
    /// What becomes of the copy of the binary, until the first frame.
    pub(super) copying: Arc<Copying>,
}

impl Start {
    /// A command that needs no more.
    pub(super) fn of(node: String, command: Command) -> Self {
        let opening = Opening { command, manner: Manner::default(), copying: Arc::default() };
        Self { node, opening, renewed: None }
    }
}

/// Agents on their way.
pub(super) struct AgentStartup {
    build: String,
    within: Duration,
    hear: SyncSender<Heard>,
    heard: Receiver<Heard>,
    pending: Vec<PendingAgent>,
    /// To be started once more, with a fresh copy of the binary.
    renewals: VecDeque<Start>,
    missing: Vec<Missing>,
    /// Nodes that a gateway did not reach, which somebody else may.
    unreached: Vec<(String, LaunchError)>,
    order: Order,
}

/// How agents stand in the fleet.
enum Order {
    Started,
    Names,
    /// By the position of their names.
    Positions(HashMap<String, usize>),
}

struct PendingAgent {
    node: String,
    link: Link,
    deadline: Instant,
    hello: Option<Hello>,
    given_up: bool,
    /// What is left to try when the binary turns out not to be ours.
    renewed: Option<Opening>,
    copying: Arc<Copying>,
    /// More time, once the gateway is there.
    more: Option<Duration>,
}

impl PendingAgent {
    /// When something of the binary moved last, on the way to it, or to its gateway or a node behind that.
    fn moved(&self) -> Option<Instant> {
        self.copying.moved().max(self.link.gateway().and_then(|(gateway, _)| gateway.copying().moved()))
    }

    /// Why it is not waited for any longer, when nothing came of it for so long.
    fn complaint(&self, quiet: Duration) -> String {
        let of_gateway = || self.link.gateway().and_then(|(gateway, _)| gateway.copying().complaint(quiet));
        let nothing = || format!("it said nothing for {} s", quiet.as_secs_f64());
        self.copying.complaint(quiet).or_else(of_gateway).unwrap_or_else(nothing)
    }
}

/// Who came, and who did not.
pub(super) struct Gathered {
    pub(super) here: Vec<Here>,
    pub(super) missing: Vec<Missing>,
    pub(super) heard: Receiver<Heard>,
    /// Kept so that the channel stays open when nobody is left.
    pub(super) hear: SyncSender<Heard>,
}

/// An agent that came.
pub(super) struct Here {
    /// Its link's number in what is heard.
    pub(super) at: usize,
    /// The node as it was asked for.
    pub(super) node: String,
    pub(super) hello: Hello,
    pub(super) link: Link,
}

impl AgentStartup {
    /// Nobody yet. Agents of another build than `build` are refused; each has `within` to say hello.
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

    /// Starts agents, a number of them at a time, and waits until each has said hello or was given up.
    pub(super) fn start_all(&mut self, starts: Vec<Start>) {
        let mut waiting: VecDeque<Start> = starts.into();
        loop {
            // Who is behind a gateway costs nothing here.
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

    /// Starts a relay; agents are then awaited from all of its share.
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

    /// Nodes that no gateway reached, with the reasons.
    pub(super) fn take_unreached(&mut self) -> Vec<(String, LaunchError)> {
        std::mem::take(&mut self.unreached)
    }

    /// Takes in an agent that came by itself. Its name is what it says in its hello.
    pub(super) fn adopt(&mut self, from: &str, stream: TcpStream) {
        match Link::adopt(self.pending.len(), stream, self.hear.clone()) {
            Ok(link) => self.admit(from.to_owned(), link, None, Arc::default()),
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
        self.order = Order::Names;
    }

    /// Has the agents stand as `nodes` do.
    pub(super) fn stand_as(&mut self, nodes: &[String]) {
        self.order = Order::Positions(nodes.iter().cloned().zip(0..).collect());
    }

    /// Notes a node of which no agent came.
    pub(super) fn miss(&mut self, why: LaunchError) {
        self.missing.push(Missing { node: why.node().to_owned(), why });
    }

    /// Agents that are here.
    pub(super) fn arrived(&self) -> usize {
        self.pending.iter().filter(|pending| pending.hello.is_some()).count()
    }

    /// Those who are here: what they were known by before they said hello, and their names.
    pub(super) fn present(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pending
            .iter()
            .filter_map(|pending| Some((pending.node.as_str(), pending.hello.as_ref()?.node.as_str())))
    }

    /// How many are known not to come.
    pub(super) fn missed(&self) -> usize {
        self.missing.len()
    }

    /// The fleet of those who are here.
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

    /// Waits for the next word, or for the first whose time is up, or until `limit`.
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
            // A copy under way has time as long as it moves, and who was sent one begins when it is there.
            if let Some(later) = late.moved().map(|at| at + self.within).filter(|later| *later > now) {
                late.deadline = later;
                // Each time that its time would have been up: all others wait with us.
                tracing::warn!("waiting for {}, to which the binary is still being copied", late.node);
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
                                "its agent calls itself {}, as that of {twin} does: give each node a host name of its own",
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
            // An agent that came and went before the others were here.
            Err(loss) if self.pending[at].hello.is_some() => {
                self.pending[at].hello = None;
                self.give_up(at, &loss.text());
            }
            Ok(other) => self.give_up(at, &format!("its first message is {other:?}")),
            Err(Loss::Stream(why) | Loss::Gateway(why)) => self.fall_silent(at, &why),
            Err(Loss::NeverCame(why)) => self.fail(at, why),
        }
    }

    /// What the agent of this name that is here already was known by. Nodes are told apart by their names alone.
    fn twin(&self, name: &str) -> Option<String> {
        self.present().find(|(_, here)| *here == name).map(|(known_by, _)| known_by.to_owned())
    }

    /// Notes that a stream ended without a hello. What a spoilt copy of the binary does is not known before, so one
    /// that was there already is replaced, once.
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

    /// Notes why an agent did not come, unless there is something left to try.
    fn fail(&mut self, at: usize, why: LaunchError) {
        let pending = &mut self.pending[at];
        if std::mem::replace(&mut pending.given_up, true) {
            return;
        }
        // One that said hello and then something else is not here any more.
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

/// Says that a copy of the binary turned out not to be ours: that of another build, or one that does not even start.
pub(super) fn tell_renewal(node: &str, why: &LaunchError) {
    let why = match why {
        LaunchError::Build { theirs, ours, .. } => format!("it is build {theirs}, this is {ours}"),
        other => other.to_string(),
    };
    tracing::warn!("the copy of the binary on {node} is sent anew: {why}");
}

/// Compares builds with their protocols.
///
/// # Errors
/// [`LaunchError::Build`] when they differ.
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

    /// Waits for one agent that never says hello, for `within` without a sign; `sends` is what its stream begins with.
    /// Returns why it did not come.
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
        // A machine that is busy may give the sender no CPU for as long as the shorter ones last.
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
        // The thread that copies may not get to run for a while.
        let withins = [within, 10 * within, 100 * within];
        let told = |wanted: &str, copy: fn(&Copying) -> Result<(), String>| {
            let mut all = withins.into_iter().map(|within| awaited(within, copy));
            assert!(all.any(|told| told.contains(wanted)), "{wanted}");
        };
        told("7 of 9 B were taken, and nothing moved for", |copying| {
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

    /// Agents that came by themselves, each from an address of its own, and said this.
    fn adopted(reports: &[Report]) -> AgentStartup {
        let mut gathering = AgentStartup::new("1.0+abc", Duration::from_secs(120));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        for (report, number) in reports.iter().zip(1..) {
            let mut stream = TcpStream::connect(listener.local_addr().expect("told")).expect("connects");
            let frame = crate::frame::encode(report).expect("fits");
            std::io::Write::write_all(&mut stream, &frame).expect("written");
            gathering.adopt(&format!("10.0.0.{number}"), listener.accept().expect("accepts").0);
            // One after the other, so that it is known which of them is the second.
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
        assert!(why.contains("calls itself localhost, as that of 10.0.0.1 does"), "{why}");
    }

    #[test]
    fn an_agent_that_says_something_else_after_its_hello_is_missing_and_not_here() {
        let mut gathering = adopted(&[hello("n1"), hello("n2")]);
        assert_eq!(gathering.arrived(), 2);
        let pong = Report::Pong { round: 1, clock: seatrial_model::Nanos(1) };
        gathering.hear(Heard { link: 0, said: Ok(pong) });
        // Before anything is heard of its link, which is cut.
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
