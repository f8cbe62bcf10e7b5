//! A fleet of agents behind streams.

use std::collections::{BTreeSet, VecDeque};
use std::process::ChildStdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use seatrial_model::Nanos;
use seatrial_sys::clock;

use super::link::{Heard, Link, Loss};
use super::process::Process;
use super::words::decisive;
use crate::clock_offset::{ClockReadings, Offset, Offsets};
use crate::fleet::{Fleet, FleetEvent, Missing, NodeIndex, Nudge};
use crate::message::{Command, Hello, Report, WorkerId};

/// Time for agents to exit: longer than their workers may take to die and their files to be removed.
const LEAVING: Duration = Duration::from_secs(10);

/// How long the last output of a step is reused. All agents of a job end together, and each read may block for a
/// moment.
const STEP_WORDS: Duration = Duration::from_secs(1);

pub(super) struct LinkedFleet {
    agents: Vec<Hello>,
    links: Vec<Link>,
    /// Agent index of each link; `None` where no agent came.
    agent_of: Vec<Option<usize>>,
    missing: Vec<Missing>,
    lost: Vec<bool>,
    offsets: Offsets,
    heard: Receiver<Heard>,
    /// Keeps the channel open, so that waits still block when every agent is gone; and wakes the waiting thread.
    hear: SyncSender<Heard>,
    nudged: Arc<AtomicBool>,
    early: VecDeque<FleetEvent>,
    workers: Vec<BTreeSet<WorkerId>>,
    /// The program that started all agents together, such as srun.
    step: Option<(Process, ChildStdin)>,
    /// Whether this output of the step means that the job was ended by decision.
    recalls: fn(&str) -> bool,
    /// Time and result of the last read of the step's output.
    step_said: Option<(Instant, String)>,
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
        let count = agents.len();
        let lost = vec![false; count];
        let offsets = Offsets::new(agents.len());
        let mut fleet = Self {
            agents,
            links,
            agent_of,
            missing,
            lost,
            offsets,
            heard,
            hear,
            nudged: Arc::default(),
            early: VecDeque::new(),
            workers: vec![BTreeSet::new(); count],
            step: None,
            recalls: |_| false,
            step_said: None,
        };
        if fleet.agents.len() > 1 {
            fleet.compare_clocks();
        }
        fleet
    }

    /// Keeps the program that started the agents. `recalls`: whether its output means an end by decision.
    pub(super) fn carried_by(mut self, step: Process, stdin: ChildStdin, recalls: fn(&str) -> bool) -> Self {
        self.step = Some((step, stdin));
        self.recalls = recalls;
        self
    }

    /// Pings all agents at once, several times; see [`Offsets`].
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
                let here = ClockReadings::now();
                let Some(at) = self.agent_of.get(heard.link).copied().flatten() else { continue };
                match heard.said {
                    Ok(Report::Pong { round, clock, time_of_day }) => {
                        self.offsets.answered(at, round, ClockReadings { clock, time_of_day }, here);
                    }
                    Ok(_) => {}
                    Err(loss) => {
                        self.offsets.gone(at);
                        self.lost[at] = true;
                        let why = self.links[at].exit_report(&loss.text());
                        self.early.push_back(FleetEvent::Lost(NodeIndex(at), why));
                    }
                }
            }
        }
    }

    fn notice(&mut self, Heard { link, said }: Heard) -> Option<FleetEvent> {
        let at = self.agent_of.get(link).copied().flatten()?;
        if self.lost[at] {
            return None;
        }
        let why = match said {
            Ok(Report::Hello(_)) => "the agent said hello twice".to_owned(),
            Ok(Report::Pong { .. }) => return None,
            Ok(report) => {
                if let Report::Ended { worker, .. } = &report {
                    self.workers[at].remove(worker);
                }
                return Some(FleetEvent::From(NodeIndex(at), report));
            }
            Err(Loss::Gateway(why)) => return self.lose_share(at, &why),
            Err(loss) => loss.text(),
        };
        self.lost[at] = true;
        let (why, words) = (self.links[at].exit_report(&why), self.words_of_step());
        Some(match words {
            Some(words) if (self.recalls)(&words) => {
                let cause = decisive(&words).unwrap_or_default();
                FleetEvent::Recalled(NodeIndex(at), format!("the job was ended: {cause}"))
            }
            Some(words) => {
                let cause = decisive(&words).map(|line| format!("; what started it says: {line}"));
                FleetEvent::Lost(NodeIndex(at), why + &cause.unwrap_or_default())
            }
            None => FleetEvent::Lost(NodeIndex(at), why),
        })
    }

    /// A lost gateway loses its share. Nodes without workers are reported first: on the first loss the scheduler
    /// might otherwise start a case on another lost node, and blame that node.
    fn lose_share(&mut self, at: usize, why: &str) -> Option<FleetEvent> {
        let gateway = self.links[at].gateway().map(|(gateway, _)| std::ptr::from_ref(gateway));
        let is_behind =
            |link: &Link| link.gateway().map(|(gateway, _)| std::ptr::from_ref(gateway)) == gateway;
        let behind = self.links.iter().enumerate().filter(|(_, link)| is_behind(link)).map(|(node, _)| node);
        let mut share: Vec<usize> = behind.filter(|node| !self.lost[*node]).collect();
        share.sort_by_key(|node| !self.workers[*node].is_empty());
        for node in share {
            self.lost[node] = true;
            self.early.push_back(FleetEvent::Lost(NodeIndex(node), why.to_owned()));
        }
        self.early.pop_front()
    }

    /// Output of the program that carries all agents: only this output reports a cancelled job or a time limit.
    fn words_of_step(&mut self) -> Option<String> {
        let (step, _) = self.step.as_ref()?;
        if self.step_said.as_ref().is_none_or(|(at, _)| at.elapsed() > STEP_WORDS) {
            self.step_said = Some((Instant::now(), step.said()));
        }
        let (_, words) = self.step_said.as_ref()?;
        (!words.is_empty()).then(|| words.clone())
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

    fn time_of_day_offset(&self, node: NodeIndex) -> Option<Offset> {
        self.offsets.of_time_of_day(node.0)
    }

    fn is_gone(&self, node: NodeIndex) -> bool {
        self.lost.get(node.0).is_none_or(|lost| *lost)
    }

    fn send(&mut self, node: NodeIndex, command: Command) {
        if let (Command::Spawn { worker, .. }, Some(workers)) = (&command, self.workers.get_mut(node.0)) {
            workers.insert(*worker);
        }
        if let Some(link) = self.links.get(node.0) {
            link.send(command);
        }
    }

    fn next(&mut self, deadline: Nanos) -> FleetEvent {
        if let Some(notice) = self.early.pop_front() {
            return notice;
        }
        let mut is_first = true;
        loop {
            if self.nudged.swap(false, Ordering::Acquire) {
                return FleetEvent::Quiet;
            }
            let left = deadline.since(self.now());
            // Reports without an event must not delay the deadline.
            if left == Nanos(0) && !is_first {
                return FleetEvent::Quiet;
            }
            is_first = false;
            let Ok(heard) = self.heard.recv_timeout(left.into()) else { return FleetEvent::Quiet };
            if let Some(notice) = self.notice(heard) {
                return notice;
            }
        }
    }

    fn nudge(&self) -> Nudge {
        let (nudged, hear) = (Arc::clone(&self.nudged), self.hear.clone());
        Arc::new(move || {
            nudged.store(true, Ordering::Release);
            // A full channel wakes the waiting thread too.
            let _ = hear.try_send(Heard::nothing());
        })
    }

    fn now(&self) -> Nanos {
        Nanos(clock::now_ns())
    }
}

impl Drop for LinkedFleet {
    /// Asks all agents to exit and waits a bounded time; dropping the links kills the rest.
    fn drop(&mut self) {
        self.links.iter_mut().for_each(Link::quit);
        let deadline = Instant::now() + LEAVING;
        while !self.links.iter_mut().all(Link::has_ended) && Instant::now() < deadline {
            // Discards last reports, on which agents would block.
            let _ = self.heard.recv_timeout(Duration::from_millis(2));
        }
        if let Some((mut step, stdin)) = self.step.take() {
            step.end(stdin);
        }
    }
}
