//! A running job: its launcher, its ranks and their answers.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use seatrial_bench::Stop;
use seatrial_model::{Cause, Integrity, Nanos, Phase, Reason, Sample};
use seatrial_sys::root::SysRoot;
use serde::Serialize;
use serde_json::Value;

use super::events::{Event, RankLink, listen};
use super::launcher::Launcher;
use super::process::{Caller, Started};
use super::wire::{FromRank, ToRank};

/// Between two looks at the launcher and at the end of the phase.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Time of the ranks beyond the end of a phase; the supervisor gives the worker 10 s.
const BEYOND: Duration = Duration::from_secs(8);

/// After a rank failed: time in which the launcher tells why and other ranks end.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// What a job runs.
#[derive(Clone, Debug)]
pub struct JobSpec {
    pub launcher: Launcher,
    pub library: PathBuf,
    pub ranks: usize,
    /// The benchmark, and what its program in the ranks needs to know.
    pub bench: &'static str,
    pub config: Value,
    /// The CPU of each rank; empty where ranks are not pinned.
    pub cpus: Vec<u32>,
    /// Time until all ranks have joined, and again until all data is checked and all ranks have left.
    pub patience: Duration,
}

/// How the record tells a rank.
#[derive(Clone, Debug, Serialize)]
pub struct RankFacts {
    pub rank: usize,
    pub cpu: Option<u32>,
}

/// A job whose ranks have joined each other.
pub struct Job {
    started: Started,
    ranks: Vec<RankLink>,
    callers: Vec<Caller>,
    events: mpsc::Receiver<Event>,
    patience: Duration,
    pub facts: Vec<RankFacts>,
    /// Variables of an outer job that the ranks do not get.
    pub scrubbed: Vec<String>,
}

impl Job {
    /// Starts the ranks and waits until all have joined.
    pub fn start(spec: &JobSpec) -> Result<Self, Reason> {
        let (command, scrubbed) = spec.launcher.command(spec.ranks);
        let path = spec.launcher.path.display();
        let started = Started::start(command)
            .map_err(|error| Reason::new(Cause::Launcher, format!("cannot start {path}: {error}")))?;
        let (report, events) = mpsc::channel();
        let mut job = Self {
            started,
            ranks: Vec::new(),
            callers: Vec::new(),
            events,
            patience: spec.patience,
            facts: Vec::new(),
            scrubbed,
        };
        let until = Instant::now() + spec.patience;
        while job.ranks.len() < spec.ranks {
            let called = job.started.accept(until);
            let called = called.map_err(|error| Reason::new(Cause::Launcher, error.to_string()))?;
            let Some((stream, caller)) = called else { return Err(job.not_all_started(spec, until)) };
            let link = listen(stream, job.ranks.len(), report.clone())
                .map_err(|error| Reason::new(Cause::Launcher, format!("cannot listen to a rank: {error}")))?;
            job.ranks.push(link);
            job.callers.push(caller);
        }
        job.join(spec, until)?;
        Ok(job)
    }

    fn not_all_started(&mut self, spec: &JobSpec, until: Instant) -> Reason {
        let path = spec.launcher.path.display();
        let (count, of) = (self.ranks.len(), spec.ranks);
        let text = if Instant::now() < until {
            format!("{path} ended before all ranks had started: {count} of {of} did")
        } else {
            format!("{path} started {count} of {of} ranks within {} s", spec.patience.as_secs())
        };
        let cause = if Instant::now() < until { Cause::IoError } else { Cause::Hang };
        self.with_words(Reason::new(cause, text))
    }

    /// Lets the ranks load the library and call MPI_Init.
    fn join(&mut self, spec: &JobSpec, until: Instant) -> Result<(), Reason> {
        let hello = |message| match message {
            FromRank::Hello { rank } => Some(rank),
            _ => None,
        };
        let numbers = self.answers("starting", until, hello)?;
        for (link, number) in self.ranks.iter_mut().zip(numbers) {
            link.number = number;
        }
        let own = SysRoot::live().text("/proc/self/comm").unwrap_or_default();
        self.tell(&ToRank::Start {
            process: own.trim_end().to_owned(),
            library: spec.library.clone(),
            bench: spec.bench.to_owned(),
            config: spec.config.clone(),
            ranks: spec.ranks,
            cpus: spec.cpus.clone(),
        });
        let joined = self.answers("in MPI_Init", until, |message| match message {
            FromRank::Started { rank, size, cpu } => Some((rank, size, cpu)),
            _ => None,
        })?;
        if let Some((_, size, _)) = joined.iter().find(|(_, size, _)| *size != spec.ranks) {
            let text = format!(
                "{} started {} ranks, but a rank sees a job of {size}: launcher and library are not of one installation \
                 (library {}, launcher: {}); set -p launcher= to the mpiexec of the library",
                spec.launcher.path.display(),
                spec.ranks,
                spec.library.display(),
                spec.launcher.version
            );
            return Err(self.with_words(Reason::new(Cause::IoError, text)));
        }
        for (link, (rank, _, cpu)) in self.ranks.iter_mut().zip(joined) {
            link.number = Some(rank);
            self.facts.push(RankFacts { rank, cpu });
        }
        self.facts.sort_by_key(|facts| facts.rank);
        Ok(())
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
        Ok(samples.into_iter().flatten().collect())
    }

    /// Lets all ranks check their data and leave the job.
    pub fn verify(&mut self) -> Result<Integrity, Reason> {
        let until = Instant::now() + self.patience;
        self.tell(&ToRank::Verify);
        let found = self.answers("checking data", until, |message| match message {
            FromRank::Verified { integrity } => Some(integrity),
            _ => None,
        })?;
        self.tell(&ToRank::Finish);
        self.answers("in MPI_Finalize", until, |message| {
            matches!(message, FromRank::Finished).then_some(())
        })?;
        if !self.started.ended(until) {
            let text = "all ranks left, but the launcher did not end".to_owned();
            return Err(self.with_words(Reason::new(Cause::Hang, text)));
        }
        Ok(Integrity::of_all(found))
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
                    return Err(self.failed(link, &reason, doing));
                }
                Ok(Event::Message(link, message)) => {
                    answers[link] = pick(message).or(answers[link].take());
                }
                // Who answered may leave, such as after MPI_Finalize.
                Ok(Event::Closed(link)) if answers[link].is_some() => {}
                Ok(Event::Closed(link)) => return Err(self.lost(link, doing)),
                Err(_) if Instant::now() < until => {}
                Err(_) => {
                    let missing = answers.iter().zip(&self.ranks).filter(|(answer, _)| answer.is_none());
                    let missing: Vec<String> = missing.map(|(_, link)| link.name()).collect();
                    let text = format!("{} hung while {doing}", missing.join(", "));
                    return Err(self.with_words(Reason::new(Cause::Hang, text)));
                }
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// A rank said what failed. Where another rank ended meanwhile, its end is the cause.
    fn failed(&mut self, link: usize, reason: &Reason, doing: &str) -> Reason {
        let until = Instant::now() + LAST_WORDS / 10;
        while let Ok(event) = self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if let Event::Closed(other) = event
                && other != link
            {
                return self.lost(other, doing);
            }
        }
        let text = format!("{} failed while {doing}: {}", self.ranks[link].name(), reason.text);
        self.with_words(Reason::new(reason.cause, text))
    }

    fn lost(&mut self, link: usize, doing: &str) -> Reason {
        let text = format!("{} of {} ended while {doing}", self.ranks[link].name(), self.ranks.len());
        self.with_words(Reason::new(Cause::Crash, text))
    }

    /// Ends the job, and adds what launcher and library printed to `reason`.
    fn with_words(&mut self, reason: Reason) -> Reason {
        if reason.cause != Cause::Hang {
            self.started.ended(Instant::now() + LAST_WORDS);
        }
        self.end();
        let text = match self.words() {
            Some(words) => format!("{}; launcher and library printed: {words}", reason.text),
            None => reason.text,
        };
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
