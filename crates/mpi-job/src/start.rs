//! A running job: its launcher, its ranks and their answers.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use seatrial_bench::Stop;
use seatrial_model::{Cause, Integrity, Nanos, Phase, Reason, Sample};
use seatrial_sys::clock::now_ns;
use seatrial_sys::root::SysRoot;
use serde::Serialize;
use serde_json::Value;
use socket2::Socket;

use super::SHELL_SOCKET;
use super::ends::RankEnds;
use super::environment::network_variables;
use super::events::{Event, RankLink, listen};
use super::hosts::JobHosts;
use super::launcher::Launcher;
use super::library::LibraryFacts;
use super::links::{HostLink, RemoteShells, end_phase, is_gone};
use super::process::{CallListener, Caller, Started};
use super::wire::{FromRank, ToRank};

/// Between two looks at the launcher and at the end of the phase.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Time of the ranks beyond the end of a phase; the supervisor gives the worker 10 s.
const BEYOND: Duration = Duration::from_secs(8);

/// After a rank ended: time of the launcher to tell why and to end, on a busy machine too.
const LAST_WORDS: Duration = Duration::from_secs(6);

/// After a rank failed and lives: time in which another rank may turn out to have ended, whose end is the cause.
const OTHER_END: Duration = Duration::from_secs(3);

/// What a job runs.
#[derive(Clone, Debug)]
pub struct JobSpec {
    pub launcher: Launcher,
    pub library: LibraryFacts,
    /// Of all nodes together, as many on each.
    pub ranks: usize,
    pub hosts: JobHosts,
    /// The benchmark, and what its program in the ranks needs to know.
    pub bench: &'static str,
    pub config: Value,
    /// What the ranks ask MPI_Init_thread for.
    pub thread_level: String,
    /// The CPU of each rank; none where it is not pinned.
    pub cpus: Vec<Option<u32>>,
    /// Time until all ranks have joined, and again until all data is checked and all ranks have left.
    pub patience: Duration,
}

/// How the record tells a rank.
#[derive(Clone, Debug, Serialize)]
pub struct RankFacts {
    pub rank: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    pub cpu: Option<u32>,
}

/// A job whose ranks have joined each other.
pub struct Job {
    started: Started,
    ranks: Vec<RankLink>,
    callers: Vec<Caller>,
    ends: RankEnds,
    events: mpsc::Receiver<Event>,
    patience: Duration,
    hosts: JobHosts,
    /// The connections to the parts on the other nodes that tell them of the ends of phases.
    phases: Vec<TcpStream>,
    _shells: RemoteShells,
    pub facts: Vec<RankFacts>,
    /// Variables of an outer job that the ranks do not get.
    pub scrubbed: Vec<String>,
    /// Variables that keep the library on the network that is measured.
    pub network: BTreeMap<&'static str, String>,
    /// When the launcher was started.
    begun: Nanos,
}

/// How a job ended.
#[derive(Clone, Debug)]
pub struct JobEnd {
    /// Of each rank the sample of its time in MPI_Finalize.
    pub left: Vec<Sample>,
    /// From the start of the launcher to its end.
    pub launcher: (Nanos, Nanos),
}

/// Why a job did not start.
enum StartError {
    /// The ranks did not find each other, each took itself for a job of its own.
    Apart(String),
    Other(Reason),
}

impl From<Reason> for StartError {
    fn from(reason: Reason) -> Self {
        Self::Other(reason)
    }
}

impl JobSpec {
    /// The reason where a launcher starts ranks that do not fit it: with the launcher that belongs to the library.
    fn wrong_launcher(&self, observed: &str) -> Reason {
        let (launcher, library) = (&self.launcher, &self.library);
        let advice = match Launcher::of(library, None) {
            Ok(own) => format!("set -p launcher={}, which belongs to the library", own.path.display()),
            Err(_) => "set -p launcher= to the mpiexec of the library's installation".to_owned(),
        };
        let text = format!(
            "launcher and library are not of one installation (launcher {}: {}; library {}: {}); {advice}; observed: \
             {observed}",
            launcher.path.display(),
            launcher.version,
            library.path.display(),
            library.version
        );
        Reason::new(Cause::Launcher, text)
    }
}

impl Job {
    /// Starts the ranks and waits until all have joined. `links` are the other nodes.
    pub fn start(spec: &JobSpec, links: Vec<HostLink>) -> Result<Self, Reason> {
        Self::joined(spec, links).map_err(|error| match error {
            StartError::Apart(observed) => spec.wrong_launcher(&observed),
            StartError::Other(reason) if !spec.launcher.fits(&spec.library) => {
                spec.wrong_launcher(&reason.text)
            }
            StartError::Other(reason) => reason,
        })
    }

    fn joined(spec: &JobSpec, links: Vec<HostLink>) -> Result<Self, StartError> {
        let lost = |error: std::io::Error| {
            Reason::new(Cause::PartnerLost, format!("the part of another node told nothing: {error}"))
        };
        let calls = links.iter().map(HostLink::call).collect::<Result<Vec<_>, _>>().map_err(lost)?;
        let (mut command, scrubbed) = spec.launcher.command(spec.ranks, &spec.hosts, &calls);
        let network = network_variables(&spec.hosts);
        command.envs(&network);
        let path = spec.launcher.path.display();
        let refused =
            |error: std::io::Error| Reason::new(Cause::Launcher, format!("cannot listen to a rank: {error}"));
        let calls = Arc::new(CallListener::open().map_err(refused)?);
        let shells = CallListener::open().map_err(refused)?;
        shells.tell_as(SHELL_SOCKET, &mut command);
        let (mut commands, mut phases, mut remote) = (Vec::new(), Vec::new(), Vec::new());
        for (link, node) in links.into_iter().zip(1..) {
            commands.push(link.commands);
            phases.push(link.phases);
            remote.extend(link.ranks.into_iter().map(|rank| (rank, node)));
        }
        let shells = RemoteShells::serve(shells, Arc::clone(&calls), &spec.hosts, commands)?;
        let begun = Nanos(now_ns());
        let started = Started::start_at(calls, command)
            .map_err(|error| Reason::new(Cause::Launcher, format!("cannot start {path}: {error}")))?;
        let (report, events) = mpsc::channel();
        let mut job = Self {
            started,
            ranks: Vec::new(),
            callers: Vec::new(),
            ends: RankEnds::new().map_err(refused)?,
            events,
            patience: spec.patience,
            hosts: spec.hosts.clone(),
            phases,
            _shells: shells,
            facts: Vec::new(),
            scrubbed,
            network,
            begun,
        };
        let until = Instant::now() + spec.patience;
        let own = spec.ranks - remote.len();
        while job.ranks.len() < own {
            let called = job.started.accept(until).map_err(refused)?;
            let Some((stream, caller)) = called else {
                let count = job.ranks.len();
                return Err(job.not_all_started(spec, count, until).into());
            };
            job.add(stream.into(), 0, &report).map_err(refused)?;
            job.callers.push(caller);
        }
        for (stream, node) in remote {
            job.add(stream, node, &report).map_err(refused)?;
        }
        job.join(spec, until)?;
        Ok(job)
    }

    fn add(&mut self, stream: Socket, node: usize, report: &mpsc::Sender<Event>) -> std::io::Result<()> {
        self.ends.watch(&stream)?;
        self.ranks.push(listen(stream, self.ranks.len(), node, report.clone())?);
        Ok(())
    }

    fn not_all_started(&mut self, spec: &JobSpec, count: usize, until: Instant) -> Reason {
        let path = spec.launcher.path.display();
        let of = spec.ranks;
        let text = if Instant::now() < until {
            format!("{path} ended before all ranks had started: {count} of {of} did")
        } else {
            format!("{path} started {count} of {of} ranks within {} s", spec.patience.as_secs())
        };
        self.with_words(Reason::new(Cause::Launcher, text))
    }

    /// Lets the ranks load the library and call MPI_Init.
    fn join(&mut self, spec: &JobSpec, until: Instant) -> Result<(), StartError> {
        let numbers = self.hello(spec, until)?;
        for (link, number) in self.ranks.iter_mut().zip(numbers) {
            link.number = number;
        }
        let own = SysRoot::live().text("/proc/self/comm").unwrap_or_default();
        self.tell(&ToRank::Start {
            process: own.trim_end().to_owned(),
            library: spec.library.path.clone(),
            version: spec.library.version.clone(),
            bench: spec.bench.to_owned(),
            config: spec.config.clone(),
            ranks: spec.ranks,
            cpus: spec.cpus.clone(),
            several_nodes: spec.hosts.are_several(),
            thread_level: spec.thread_level.clone(),
        });
        let joined = self.answers("in MPI_Init", until, |message| match message {
            FromRank::Started { rank, size, cpu } => Some((rank, size, cpu)),
            _ => None,
        })?;
        let of_launcher = |job: &mut Self, text: String| job.with_words(Reason::new(Cause::Launcher, text));
        if let Some((_, size, _)) = joined.iter().find(|(_, size, _)| *size != spec.ranks) {
            let text = format!(
                "{} started {} ranks, but a rank sees a job of {size}",
                spec.launcher.path.display(),
                spec.ranks
            );
            return Err(StartError::Apart(of_launcher(self, text).text));
        }
        let of_node = spec.ranks / spec.hosts.names.len().max(1);
        for (at, (rank, _, cpu)) in joined.into_iter().enumerate() {
            let node = self.ranks[at].node;
            if rank / of_node != node {
                let text = format!(
                    "{} started rank {rank}{}, not{}: ranks {} to {} belong there",
                    spec.launcher.path.display(),
                    self.hosts.on(node),
                    self.hosts.on(rank / of_node),
                    node * of_node,
                    (node + 1) * of_node - 1,
                );
                return Err(of_launcher(self, text).into());
            }
            self.ranks[at].number = Some(rank);
            let name = self.hosts.are_several().then(|| self.hosts.names[node].clone());
            self.facts.push(RankFacts { rank, node: name, cpu });
        }
        self.facts.sort_by_key(|facts| facts.rank);
        Ok(())
    }

    /// Waits until all ranks have called, those of other nodes too; their numbers where the launcher tells them.
    fn hello(&mut self, spec: &JobSpec, until: Instant) -> Result<Vec<Option<usize>>, Reason> {
        let mut called: Vec<Option<Option<usize>>> = self.ranks.iter().map(|_| None).collect();
        while called.iter().any(Option::is_none) {
            let event = self.events.recv_timeout(POLL_INTERVAL);
            match event {
                Ok(Event::Message(link, FromRank::Hello { rank })) => called[link] = Some(rank),
                Ok(Event::Message(link, FromRank::Failed { reason })) => {
                    return Err(self.failed(link, &called, &reason, "starting"));
                }
                Ok(Event::Message(..)) => {}
                Ok(Event::Closed(link)) => return Err(self.lost(link, &called, "starting")),
                Err(_) if Instant::now() < until && !self.started.is_over() => {}
                Err(_) => {
                    let count = called.iter().flatten().count();
                    return Err(self.not_all_started(spec, count, until));
                }
            }
        }
        Ok(called.into_iter().flatten().collect())
    }

    /// Runs a phase in all ranks; their samples.
    pub fn run(&mut self, phase: Phase, stop: &Stop) -> Result<Vec<Sample>, Reason> {
        let span = stop.left();
        let until = Instant::now() + span + BEYOND;
        self.tell(&ToRank::Run { phase, span: Nanos(span.as_nanos() as u64) });
        let doing = if phase == Phase::Measure { "measuring" } else { "warming up" };
        let mut told = false;
        let ran = |message| match message {
            FromRank::Ran { samples } => Some(samples),
            _ => None,
        };
        let samples = self.answers_while(doing, until, ran, |job| {
            if !told && stop.is_over() {
                told = true;
                job.tell(&ToRank::Stop);
            }
        })?;
        end_phase(&self.phases);
        Ok(samples.into_iter().flatten().collect())
    }

    /// Lets all ranks check their data.
    pub fn verify(&mut self) -> Result<Integrity, Reason> {
        let until = Instant::now() + self.patience;
        self.tell(&ToRank::Verify);
        let found = self.answers("checking data", until, |message| match message {
            FromRank::Verified { integrity } => Some(integrity),
            _ => None,
        })?;
        Ok(Integrity::of_all(found))
    }

    /// Lets all ranks leave the job, within `patience`.
    pub fn finish(&mut self, patience: Duration) -> Result<JobEnd, Reason> {
        let until = Instant::now() + patience;
        self.tell(&ToRank::Finish);
        let left = self.answers("in MPI_Finalize", until, |message| match message {
            FromRank::Finished { left } => Some(left),
            _ => None,
        })?;
        if !self.started.ended(until) {
            let text = "all ranks left, but the launcher did not end".to_owned();
            return Err(self.with_words(Reason::new(Cause::Hang, text)));
        }
        let end = self.started.over_since.unwrap_or_else(|| Nanos(now_ns()));
        Ok(JobEnd { left, launcher: (self.begun, end) })
    }

    /// What launcher and ranks printed.
    pub fn words(&self) -> Option<String> {
        self.started.output.words()
    }

    fn tell(&self, order: &ToRank) {
        for rank in &self.ranks {
            rank.tell(order);
        }
    }

    fn answers<T>(
        &mut self,
        doing: &str,
        until: Instant,
        pick: impl Fn(FromRank) -> Option<T>,
    ) -> Result<Vec<T>, Reason> {
        self.answers_while(doing, until, pick, |_| ())
    }

    /// Waits for one answer of each rank, in the order of the connections; `turn` is called now and then.
    fn answers_while<T>(
        &mut self,
        doing: &str,
        until: Instant,
        pick: impl Fn(FromRank) -> Option<T>,
        mut turn: impl FnMut(&Self),
    ) -> Result<Vec<T>, Reason> {
        let mut answers: Vec<Option<T>> = self.ranks.iter().map(|_| None).collect();
        while answers.iter().any(Option::is_none) {
            turn(self);
            match self.events.recv_timeout(POLL_INTERVAL) {
                Ok(Event::Message(link, FromRank::Failed { reason })) => {
                    return Err(self.failed(link, &answers, &reason, doing));
                }
                Ok(Event::Message(link, message)) => {
                    answers[link] = pick(message).or(answers[link].take());
                }
                // Who answered may leave, such as after MPI_Finalize.
                Ok(Event::Closed(link)) if answers[link].is_some() => {}
                Ok(Event::Closed(link)) => return Err(self.lost(link, &answers, doing)),
                Err(_) if Instant::now() < until => {}
                Err(_) => {
                    let missing = answers.iter().zip(&self.ranks).filter(|(answer, _)| answer.is_none());
                    let missing: Vec<String> = missing.map(|(_, link)| self.name(link)).collect();
                    let text = format!("{} hung while {doing}", missing.join(", "));
                    return Err(self.with_words(Reason::new(Cause::Hang, text)));
                }
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// A rank said what failed. Where another rank ended meanwhile, its end is the cause.
    fn failed<T>(&mut self, link: usize, answers: &[Option<T>], reason: &Reason, doing: &str) -> Reason {
        let until = Instant::now() + OTHER_END;
        while let Ok(event) = self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if let Event::Closed(other) = event
                && other != link
            {
                return self.lost(other, answers, doing);
            }
        }
        let text = format!("{} failed while {doing}: {}", self.name(&self.ranks[link]), reason.text);
        self.with_words(Reason::new(reason.cause, text))
    }

    /// A rank ended, of those that the answers are not of. Launchers end the others then, whose ends may be heard of first.
    fn lost<T>(&mut self, link: usize, answers: &[Option<T>], doing: &str) -> Reason {
        let order = self.ends.in_order();
        let first = order.into_iter().find(|place| answers.get(*place).is_some_and(Option::is_none));
        let rank = first.unwrap_or(link);
        self.started.ended(Instant::now() + LAST_WORDS);
        let rank = &self.ranks[rank];
        let (name, on) = (rank.name(), self.hosts.on(rank.node));
        let phases = rank.node.checked_sub(1).and_then(|other| self.phases.get(other));
        let reason = if phases.is_some_and(is_gone) {
            let text = format!("the connection to the part{on}, which has {name}, closed while {doing}");
            Reason::new(Cause::PartnerLost, text)
        } else {
            let text = format!("{name} of {}{on} ended while {doing}", self.ranks.len());
            Reason::new(Cause::Crash, text)
        };
        self.with_words(reason)
    }

    fn name(&self, rank: &RankLink) -> String {
        format!("{}{}", rank.name(), self.hosts.on(rank.node))
    }

    /// Ends the job, and adds what launcher and library printed to `reason`.
    fn with_words(&mut self, reason: Reason) -> Reason {
        if self.started.is_over() {
            self.started.ended(Instant::now() + LAST_WORDS);
        }
        // Hydra may lose what a rank printed when it called MPI_Abort; the code of the call is left.
        let status = self.started.exit_code().filter(|code| *code != 0);
        self.end();
        let mut text = reason.text;
        if let Some(code) = status {
            text.push_str(&format!("; the launcher ended with exit code {code}"));
        }
        if let Some(words) = self.words() {
            text.push_str(&format!("; launcher and library printed: {words}"));
        }
        Reason::new(reason.cause, text)
    }

    fn end(&mut self) {
        // Ranks die with their connection.
        for rank in self.ranks.drain(..) {
            rank.hang_up();
        }
        self.started.kill(&self.callers);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.end();
    }
}
