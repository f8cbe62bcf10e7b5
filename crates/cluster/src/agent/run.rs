//! Main function and event loop of the agent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::builder::TypedValueParser;
use clap::{Args, value_parser};
use rustix::process::Signal;
use seatrial_model::machine::{Machine, Remark};
use seatrial_model::setting::SettingReading;
use seatrial_model::{Case, Evidence};
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::FdStore;
use seatrial_sys::{lifetime, process};
use signal_hook::consts::SIGTERM;

use super::event::Event;
use super::group::sweep;
use super::leftovers::{LONGEST, SOON};
use super::reports::Reports;
use super::settings::{self, TimerPids};
use super::spawn::{self, Handle};
use super::stdio;
use super::supervise::{Ask, GRACE, PATIENCE};
use crate::clock_offset::ClockReadings;
use crate::frame::FrameReader;
use crate::launch::{dial_back, relay_main};
use crate::message::{Command, EndKind, Hello, PROTOCOL, Report, ToWorker, WorkerEnd, WorkerId};
use crate::own_program::wrapper;

/// Command-line options of an agent.
#[derive(Clone, Debug, Default, Args)]
pub struct AgentOptions {
    /// Read the inventory below this folder instead of /
    #[arg(long, value_name = "DIR")]
    pub sysroot: Option<PathBuf>,
    /// Name of the node [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// Connect to the controller that the ticket on standard input names
    #[arg(long)]
    pub meet: bool,
    /// Only confirm that this binary has this build id, and give its file, a copy, that name
    #[arg(long, value_name = "ID")]
    pub keep: Option<String>,
    /// Exit when the controller has sent nothing for this many seconds [default: only when the connection ends]
    #[arg(long, value_name = "SECONDS", value_parser = value_parser!(u32).range(1..).map(|it| Duration::from_secs(it.into())))]
    pub silence: Option<Duration>,
    /// Relay to agents on other nodes, which the controller names
    #[arg(long)]
    pub relay: bool,
    /// [`build_id`](crate::build_id) of the binary, if it was confirmed already [default: computed]
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    pub build: String,
}

/// Serves a controller on standard input and output until `Quit` or the end of the connection; then kills all
/// workers. At worst a process in uninterruptible sleep stays, with SIGKILL pending.
///
/// Call it first and on the main thread: workers die with the thread that calls it, and it takes over the standard
/// streams.
pub fn agent_main(options: &AgentOptions) -> ExitCode {
    // Ctrl-C is for the controller; workers inherit this.
    let ignored = lifetime::ignore(Signal::INT);
    if options.relay {
        return relay(options);
    }
    // Orphans of workers are reparented to this process: init of a container may not reap them.
    let adopted = process::reap_orphans();
    for errno in [ignored, adopted].into_iter().filter_map(Result::err) {
        tracing::warn!("the agent cannot set up its process: {errno}");
    }
    let _ = process::name_thread("seatrial-agent");
    let streams = match streams(options) {
        Ok(streams) => streams,
        Err(why) => {
            tracing::error!("an agent cannot serve: {why}");
            return ExitCode::FAILURE;
        }
    };
    let (events, inbox) = mpsc::channel();
    let terminated = Arc::new(AtomicBool::new(false));
    if let Err(error) = leave_at_sigterm(events.clone(), &terminated) {
        tracing::warn!("the agent cannot set up its process: {error}");
    }
    let reports = Reports::new(streams.reports, events.clone());
    let (options, silence, root) = (options.clone(), options.silence, root_of(options));
    let (first, answers) = (reports.clone(), reports.clone());
    let listener = events.clone();
    let seen = Arc::new(Seen::new());
    let to_see = Arc::clone(&seen);
    let started = thread::Builder::new()
        .name("listen".to_owned())
        .spawn(move || listen(streams.commands, &answers, &listener))
        .and_then(|_| {
            thread::Builder::new().name("hello".to_owned()).spawn(move || hello(&options, &first, &to_see))
        });
    if let Err(error) = started {
        tracing::error!("an agent cannot start its threads: {error}");
        return ExitCode::FAILURE;
    }
    // Without the store, every worker creates its files anew.
    let fd_store = FdStore::new()
        .map(Arc::new)
        .map_err(|error| tracing::warn!("cannot create the store for file descriptors: {error}"))
        .ok();
    let agent = Agent {
        root,
        seen,
        timers: TimerPids::default(),
        reports,
        events,
        workers: BTreeMap::new(),
        abandoned: BTreeMap::new(),
        silence,
        fd_store,
        group: String::new(),
        terminated,
    };
    agent.serve(&inbox)
}

/// SIGTERM, by which Slurm ends a step, counts as the end of the connection, so that files of workers are removed.
/// The signal handler sets the flag before any other thread continues.
fn leave_at_sigterm(events: Sender<Event>, terminated: &Arc<AtomicBool>) -> std::io::Result<()> {
    signal_hook::flag::register(SIGTERM, Arc::clone(terminated))?;
    let (mut read, write) = UnixStream::pair()?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while read.read(&mut [0]).is_ok_and(|bytes| bytes > 0) {
            let _ = events.send(Event::Closed("SIGTERM".to_owned()));
        }
    })?;
    signal_hook::low_level::pipe::register(SIGTERM, write).map(drop)
}

fn relay(options: &AgentOptions) -> ExitCode {
    match streams(options) {
        Ok(streams) => relay_main(&options.build, options.silence, streams.commands, streams.reports),
        Err(why) => {
            tracing::error!("a relay cannot serve: {why}");
            ExitCode::FAILURE
        }
    }
}

fn streams(options: &AgentOptions) -> Result<stdio::Streams, String> {
    let taken = |error: std::io::Error| format!("taking the standard streams: {error}");
    if !options.meet {
        return stdio::claim().map_err(taken);
    }
    // First the address at which srun says it can be reached.
    let first = std::env::var("SLURM_LAUNCH_NODE_IPADDR").ok().and_then(|address| address.parse().ok());
    let met = dial_back(std::io::stdin().lock(), first);
    stdio::Streams::over(met?).map_err(taken)
}

fn root_of(options: &AgentOptions) -> SysRoot {
    options.sysroot.as_ref().map_or_else(SysRoot::live, SysRoot::at)
}

/// What the agent told of its node when it said hello.
type Seen = OnceLock<(Machine, Vec<SettingReading>)>;

/// Reads the inventory on a thread of its own, since a broken driver may answer late or never.
fn hello(options: &AgentOptions, reports: &Reports, seen: &Seen) {
    let root = root_of(options);
    let mut machine = seatrial_inventory::read(&root);
    if let Some(words) = wrapper() {
        let text = format!("measured in processes that `{}` starts", words.to_string_lossy().trim());
        machine.remarks.push(Remark { subject: "process".to_owned(), text });
    }
    let settings = seatrial_settings::read_all(&root, &machine);
    let _ = seen.set((machine.clone(), settings.clone()));
    let node = options
        .node
        .clone()
        .or_else(|| machine.hostname.known().cloned())
        .unwrap_or_else(|| "localhost".to_owned());
    let hello = Hello { protocol: PROTOCOL, build: options.build.clone(), node, machine, settings };
    if let Err(error) = reports.send(&Report::Hello(Box::new(hello))) {
        tracing::error!("the inventory does not fit into a message: {error}");
    }
}

fn listen(commands: File, reports: &Reports, events: &Sender<Event>) {
    let mut frames = FrameReader::new(commands);
    loop {
        let event = match frames.read::<Command>() {
            // Here, since the main loop must not block on a report. Pings come before the first worker starts.
            Ok(Some(Command::Ping { round })) => {
                let ClockReadings { clock, time_of_day } = ClockReadings::now();
                let _ = reports.send(&Report::Pong { round, clock, time_of_day });
                continue;
            }
            Ok(Some(command)) => Event::Command(Box::new(command)),
            Ok(None) => Event::Closed("it closed the pipe".to_owned()),
            Err(error) => Event::Closed(error.to_string()),
        };
        let last = matches!(event, Event::Closed(_));
        if events.send(event).is_err() || last {
            return;
        }
    }
}

/// How long after SIGTERM to a worker the same signal may reach this process: Slurm signals the processes of a step one
/// after the other.
const SIGNALS_APART: Duration = Duration::from_millis(500);

/// Whether a worker ended because its whole step was ended.
fn is_end_of_step(end: &WorkerEnd, terminated: &AtomicBool) -> bool {
    let was_asked = end.evidence.contains_key(WorkerEnd::WHEN_KILLED);
    let by_sigterm = matches!(end.how, EndKind::Signalled { signal: SIGTERM, .. });
    let deadline = Instant::now() + SIGNALS_APART;
    while by_sigterm && !was_asked && !terminated.load(Ordering::Acquire) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    terminated.load(Ordering::Acquire)
}

struct Agent {
    /// Where settings are changed.
    root: SysRoot,
    seen: Arc<Seen>,
    timers: TimerPids,
    reports: Reports,
    events: Sender<Event>,
    workers: BTreeMap<WorkerId, Handle>,
    /// Processes that survived SIGKILL so far.
    abandoned: BTreeMap<WorkerId, u32>,
    silence: Option<Duration>,
    /// Where workers leave files for later workers of their group.
    fd_store: Option<Arc<FdStore>>,
    group: String,
    /// This process got SIGTERM, and most likely its workers too: their ends say nothing about the node.
    terminated: Arc<AtomicBool>,
}

impl Agent {
    fn serve(mut self, inbox: &Receiver<Event>) -> ExitCode {
        let mut heard = Instant::now();
        loop {
            let event = match self.silence {
                Some(silence) => {
                    inbox.recv_timeout((heard + silence).saturating_duration_since(Instant::now()))
                }
                None => inbox.recv().map_err(RecvTimeoutError::from),
            };
            if matches!(event, Ok(Event::Command(_))) {
                heard = Instant::now();
            }
            match event {
                Ok(Event::Command(command)) => match *command {
                    Command::Spawn { worker, case, place, trial } => self.spawn(worker, case, place, trial),
                    Command::Tell { worker, message } => self.tell(worker, message),
                    Command::Kill { worker } => self.ask(worker, Ask::Kill),
                    Command::Settings { order } => {
                        let (root, reports) = (self.root.clone(), self.reports.clone());
                        settings::carry_out(root, reports, order, Arc::clone(&self.timers));
                    }
                    Command::ReadCounters => self.read_counters(),
                    // Pings are answered where they are read; any message is a sign of life.
                    Command::Ping { .. } | Command::Alive => {}
                    Command::Quit => return self.leave(inbox, Ask::Kill),
                },
                Ok(Event::Gone { worker, abandoned }) => self.forget(worker, abandoned),
                Ok(Event::Closed(why)) => {
                    tracing::debug!("the controller is gone: {why}");
                    return self.leave(inbox, Ask::KillNow);
                }
                Err(RecvTimeoutError::Timeout) => {
                    tracing::debug!("the controller has sent nothing for {:?}", self.silence);
                    return self.leave(inbox, Ask::KillNow);
                }
                // Impossible while this loop holds a sender.
                Err(RecvTimeoutError::Disconnected) => return self.leave(inbox, Ask::KillNow),
            }
        }
    }

    /// On a thread, since a driver may take long.
    fn read_counters(&self) {
        let (root, reports, seen) = (self.root.clone(), self.reports.clone(), Arc::clone(&self.seen));
        let read = move || {
            let Some((machine, settings)) = seen.get() else { return };
            let readings = seatrial_settings::read_counters(&root, machine, settings);
            if let Err(error) = reports.send(&Report::Counters { readings }) {
                tracing::error!("the counters do not fit into a message: {error}");
            }
        };
        if let Err(error) = thread::Builder::new().name("counters".to_owned()).spawn(read) {
            tracing::error!("cannot start a thread to read counters: {error}");
        }
    }

    fn spawn(&mut self, worker: WorkerId, case: Box<Case>, place: u32, trial: u32) {
        if self.workers.contains_key(&worker) {
            tracing::error!("the controller asked to start {worker} twice");
            return;
        }
        self.enter(&case.group);
        let (reports, events) = (self.reports.clone(), self.events.clone());
        match spawn::start(worker, &reports, self.fd_store.as_deref()) {
            Ok((handle, supervised)) => {
                // The worker waits for its first message.
                let _ = handle.tell.send(ToWorker::Task { case, place, trial });
                let terminated = Arc::clone(&self.terminated);
                let supervise = move || {
                    let (end, after) = supervised.supervise();
                    if !is_end_of_step(&end, &terminated) {
                        report_end(&reports, worker, end);
                    }
                    let removal = after.unwrap_or_else(|left| {
                        let _ = events.send(Event::Gone { worker, abandoned: true });
                        left.reap()
                    });
                    removal.finish();
                    let _ = events.send(Event::Gone { worker, abandoned: false });
                };
                self.workers.insert(worker, handle);
                self.on_thread(worker, supervise);
            }
            Err(why) => {
                let end = WorkerEnd {
                    how: EndKind::NotStarted { why },
                    output: String::new(),
                    evidence: Evidence::new(),
                };
                self.on_thread(worker, move || report_end(&reports, worker, end));
            }
        }
    }

    /// Removes what a group left on the store when another begins; on a thread, since a file system may block.
    fn enter(&mut self, group: &str) {
        if self.group == group {
            return;
        }
        if let Some(fd_store) = self.fd_store.clone().filter(|_| !self.group.is_empty()) {
            let clear = move || fd_store.clear();
            if let Err(error) = thread::Builder::new().name("fd_store".to_owned()).spawn(clear) {
                tracing::warn!("cannot remove the files of a group: {error}");
            }
        }
        group.clone_into(&mut self.group);
    }

    /// Runs `work` on a thread, since its report may block on the controller.
    fn on_thread(&self, worker: WorkerId, work: impl FnOnce() + Send + 'static) {
        if let Err(error) = thread::Builder::new().name(format!("supervise {}", worker.0)).spawn(work) {
            // Without a supervisor a worker could hang unnoticed; an agent without threads is of no use.
            let _ = self
                .events
                .send(Event::Closed(format!("cannot start a thread to supervise {worker}: {error}")));
        }
    }

    fn tell(&self, worker: WorkerId, message: ToWorker) {
        if let Some(handle) = self.workers.get(&worker) {
            let _ = handle.tell.send(message);
        }
    }

    fn ask(&self, worker: WorkerId, ask: Ask) {
        if let Some(handle) = self.workers.get(&worker) {
            let _ = handle.ask.send(ask);
        }
    }

    fn forget(&mut self, worker: WorkerId, abandoned: bool) {
        let gone = self.workers.remove(&worker);
        match gone.filter(|_| abandoned) {
            Some(handle) => drop(self.abandoned.insert(worker, handle.pid)),
            None => drop(self.abandoned.remove(&worker)),
        }
        if self.workers.is_empty() {
            self.sweep();
        }
    }

    /// Only while no worker runs: orphans of a running worker may be part of its test.
    fn sweep(&self) {
        let timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
        let ours: BTreeSet<u32> = self.abandoned.values().copied().chain(timers.iter().copied()).collect();
        sweep(&ours);
    }

    /// Kills all workers and waits a bounded time for their end.
    fn leave(mut self, inbox: &Receiver<Event>, ask: Ask) -> ExitCode {
        self.ask_all(ask);
        // A controller that is still connected waits no longer than this.
        let removing = if ask == Ask::Kill { SOON } else { LONGEST };
        let deadline = Instant::now() + GRACE + PATIENCE + Duration::from_secs(1) + removing;
        while !self.workers.is_empty() {
            match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Event::Gone { worker, abandoned }) => self.forget(worker, abandoned),
                Ok(Event::Closed(_)) => self.ask_all(Ask::KillNow),
                Ok(Event::Command(_)) => {}
                Err(_) => break,
            }
        }
        self.sweep();
        ExitCode::SUCCESS
    }

    fn ask_all(&self, ask: Ask) {
        for handle in self.workers.values() {
            let _ = handle.ask.send(ask);
        }
    }
}

fn report_end(reports: &Reports, worker: WorkerId, end: WorkerEnd) {
    if let Err(error) = reports.send(&Report::Ended { worker, end }) {
        tracing::error!("the end of {worker} does not fit into a message: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(signal: i32, evidence: Evidence) -> WorkerEnd {
        let how = EndKind::Signalled { signal, name: String::new() };
        WorkerEnd { how, output: String::new(), evidence }
    }

    #[test]
    fn a_worker_that_got_sigterm_a_moment_before_its_agent_was_ended_with_its_step() {
        let terminated = Arc::new(AtomicBool::new(false));
        let late = Arc::clone(&terminated);
        let signal = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            late.store(true, Ordering::Release);
        });
        assert!(is_end_of_step(&by(SIGTERM, Evidence::new()), &terminated));
        signal.join().expect("the signal");
    }

    #[test]
    fn a_worker_that_was_asked_to_end_or_crashed_is_told_at_once() {
        let terminated = AtomicBool::new(false);
        let asked = Evidence::from([(WorkerEnd::WHEN_KILLED.to_owned(), serde_json::Value::Null)]);
        let begun = Instant::now();
        assert!(!is_end_of_step(&by(SIGTERM, asked), &terminated));
        assert!(!is_end_of_step(&by(libc::SIGSEGV, Evidence::new()), &terminated));
        assert!(begun.elapsed() < SIGNALS_APART);
        assert!(!is_end_of_step(&by(SIGTERM, Evidence::new()), &terminated));
    }
}
