//! The worker: its threads do all I/O, so that the worker itself never hangs and can always report.

use std::path::Path;
use std::sync::Arc;

use rustix::rand::{GetRandomFlags, getrandom};
use seatrial_model::{
    Binding, Budget, Bytes, Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason,
    Sample,
};
use seatrial_sys::clock;
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::{Device, FdStore, Hiding, Purpose, polls};
use serde_json::json;

use super::evidence::{self, Account};
use super::files::Source;
use super::fixture::{self, Found};
use super::job::JobSpec;
use super::made::Made;
use super::rounds::Round;
use super::steady::SteadyState;
use super::team::{IoTeam, Prepared, Ran, flushes};
use super::work::Checked;
use crate::many;
use seatrial_bench::group::PARTS;
use seatrial_bench::{Running, Sink, Stop};

/// Time that a phase may exceed its limit before pending requests count as hanging. Shorter than the supervisor's
/// grace, so that the worker can report what hangs.
const PATIENCE: Nanos = Nanos::secs(8);

/// Phases with a limit of their own: how long before that limit the worker reports a hang.
const EARLIER: Nanos = Nanos::secs(2);

const SLICE: Nanos = Nanos::millis(20);

/// Approximate number of slices of all threads in a phase.
const SLICES: u64 = 4000;

/// Most time and bytes for reading back, per thread.
const READ_BACK: Nanos = Nanos::secs(1);
const READ_BACK_BYTES: u64 = 64 << 20;

pub struct IoWorker {
    job: Arc<JobSpec>,
    budget: Budget,
    team: IoTeam,
    made: Made,
    prepared: Vec<Prepared>,
    /// Files for later trials; `None` outside an agent.
    fd_store: Option<&'static FdStore>,
    covered: u64,
}

pub struct IoWorkerSpec {
    pub job: Arc<JobSpec>,
    pub bindings: Vec<Binding>,
    pub budget: Budget,
}

impl IoWorkerSpec {
    pub fn of(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let mut job = JobSpec::of(&case.params)?;
        if many::is_of_many(case) {
            // A part has its own place only.
            job.layout = job.layout.on_node(u64::from(place.index), case.planned.count(PARTS)?);
        }
        let job = Arc::new(job);
        Ok(Self { job, bindings: place.bindings.clone(), budget: case.budget })
    }

    /// Starts the threads, with files from `source`. Their data are derived from `run`, and their first `covered`
    /// bytes are filled already. Fails when the system has not answered by `deadline`.
    pub fn set_up(self, source: Source, run: u64, covered: u64, deadline: Nanos) -> Result<IoWorker, Reason> {
        let Self { job, bindings, budget } = self;
        let team = IoTeam::start(&job, &bindings, run)?;
        let made = team.make(source, deadline)?;
        let polled = job.direct && polls(&SysRoot::live(), made.device).unwrap_or(false);
        let prepared = team.prepare(&made.files, covered, polled, deadline)?;
        Ok(IoWorker { job, budget, team, made, prepared, fd_store: None, covered })
    }
}

/// Before a phase of `limit` that begins now is over.
fn deadline(limit: Nanos) -> Nanos {
    Nanos(clock::now_ns()).plus(limit.since(EARLIER).max(Nanos(limit.get() / 2)))
}

/// A worker of a case of many nodes before it knows the folder of all.
pub enum Unconnected {
    WithOwnFiles(Box<IoWorker>),
    /// One whose file is in the folder of all.
    WithoutFile(IoWorkerSpec),
}

impl Unconnected {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let spec = IoWorkerSpec::of(case, place)?;
        if spec.job.is_of_many_nodes() {
            return Ok(Self::WithoutFile(spec));
        }
        IoWorker::prepare(case, place).map(|worker| Self::WithOwnFiles(Box::new(worker)))
    }

    /// With its own files, or with the file in `theirs`.
    pub fn open(self, theirs: &Path) -> Result<IoWorker, Reason> {
        match self {
            Self::WithOwnFiles(worker) => Ok(*worker),
            Self::WithoutFile(spec) => {
                many::require_seen(theirs, "files=interleaved")?;
                let deadline = deadline(spec.budget.connect);
                spec.set_up(Source::OfAll(theirs.to_owned()), random()?, 0, deadline)
            }
        }
    }
}

impl IoWorker {
    /// The worker of `case` at `place`, with files made or found.
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        Self::prepare_with(FdStore::lent(Purpose::Files), case, place)
    }

    pub(super) fn prepare_with(
        fd_store: Option<&'static FdStore>,
        case: &Case,
        place: &PartPlacement,
    ) -> Result<Self, Reason> {
        let spec = IoWorkerSpec::of(case, place)?;
        let directory = case.planned.text("directory")?;
        let (job, deadline) = (Arc::clone(&spec.job), deadline(spec.budget.prepare));
        let found = fd_store.and_then(|fd_store| fixture::take(fd_store, &job, directory));
        let covered = found.as_ref().map_or(0, Found::covered);
        let run = found.as_ref().map_or_else(random, |found| Ok(found.run()))?;
        let source = match found {
            Some(found) => Source::Found(directory.to_owned(), found),
            None => Source::New(directory.to_owned()),
        };
        let worker = spec.set_up(source, run, covered, deadline)?;
        if let Some(fd_store) = fd_store.filter(|_| covered < job.file_bytes()) {
            fixture::leave(fd_store, &job, directory, run, covered, &worker.made);
        }
        Ok(Self { fd_store, ..worker })
    }

    /// Warms up, or measures one round and emits its samples; returns bytes per second.
    fn one(&self, device: Device, warm_up: bool, stop: &Stop, out: &mut dyn Sink) -> Result<f64, Reason> {
        let before = Account::now(device);
        let start = Nanos(clock::now_ns());
        let (time, most) = match (warm_up, self.job.once) {
            (true, _) => (self.budget.warm_up, self.budget.warm_up),
            (false, false) if self.job.rounds > 1 => (self.job.time, self.job.time),
            (false, false) => (self.job.time, self.budget.measure),
            (false, true) => (self.budget.measure, self.budget.measure),
        };
        let ran = self.team.run(
            stop,
            start.plus(time),
            self.slice(),
            // A flush between two rounds would interrupt the steady load.
            !warm_up && flushes(&self.job) && self.job.rounds == 1,
            start.plus(most).plus(PATIENCE),
        )?;
        if warm_up {
            return Ok(0.0);
        }
        let after = Account::now(device);
        let moved = ran.iter().flat_map(|one| &one.tally.slices).map(|slice| slice.read + slice.written);
        let moved: u64 = moved.sum();
        if self.job.once && moved < self.job.total_bytes() {
            let text = format!(
                "only {} of {} were moved within {most}; lower size=",
                Bytes(moved).rounded(),
                Bytes(self.job.total_bytes()).rounded()
            );
            return Err(Reason::new(Cause::TooShort, text));
        }
        let took = Nanos(clock::now_ns()).since(start).as_secs();
        self.tell(&ran, [&before, &after], start, out);
        Ok(moved as f64 / took)
    }

    fn slice(&self) -> Nanos {
        Nanos(self.job.time.get() * self.job.threads as u64 / SLICES).max(SLICE)
    }

    fn tell(&self, ran: &[Ran], accounts: [&Account; 2], start: Nanos, out: &mut dyn Sink) {
        let (mut read, mut written, mut requests) = (0, 0, 0);
        for one in ran {
            let at = Params::from([("thread", (one.thread as u64).into())]);
            for slice in &one.tally.slices {
                for (channel, amount) in [("read", slice.read), ("written", slice.written)] {
                    let span = (slice.start, slice.end);
                    out.sample(Sample::new(channel, at.clone(), span, Quantity::bytes(amount)));
                }
                read += slice.read;
                written += slice.written;
            }
            requests += one.tally.requests;
        }
        let [before, after] = accounts;
        let threads: Vec<_> = ran
            .iter()
            .map(|one| {
                json!({
                    "thread": one.thread,
                    "stopped_ns": one.tally.stopped.since(start).get(),
                    "flush_ns": one.flush.map(Nanos::get),
                    "passes": one.tally.passes,
                    "second_pass_ns": one.tally.second.filter(|at| *at > start).map(|at| at.since(start).get()),
                })
            })
            .collect();
        out.evidence("start_ns", json!(start.get()));
        out.evidence("threads", json!(threads));
        out.evidence("requests", json!(requests));
        out.evidence("bytes", json!({ "read": read, "written": written }));
        out.evidence("cpu_ns", json!(after.cpu_since(before).get()));
        out.evidence("moved", after.moved_since(before, read, written));
        out.evidence("latencies", evidence::latencies(ran));
        out.evidence("engine", evidence::engine(&self.prepared));
        out.evidence("cache", evidence::cache(&self.prepared, &self.job));
        out.evidence("files", evidence::files(&self.made, &self.job));
        out.evidence("throttle", evidence::throttled(&self.made));
        // Files that a peer wrote are not shared.
        if self.made.hiding != Hiding::Named && self.fd_store.is_some() && fixture::shares(&self.job) {
            out.evidence("fixture", json!(fixture::word(self.covered, &self.job)));
        }
    }
}

impl Running for IoWorker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let warm_up = phase == Phase::WarmUp;
        // work=once must not run before the clock starts, and buffered I/O would fill the cache.
        if warm_up && (self.job.once || !self.job.direct) {
            return Ok(());
        }
        let device = self.made.device;
        if warm_up || self.job.rounds == 1 {
            return self.one(device, warm_up, stop, out).map(drop);
        }
        let (mut rates, mut all) = (Vec::new(), Vec::new());
        while (rates.len() as u64) < self.job.rounds && !stop.is_over() {
            let mut round = Round::new(rates.len() as u64, out);
            rates.push(self.one(device, false, stop, &mut round)?);
            all.push(serde_json::Value::Object(round.facts));
            if SteadyState::of(&rates).is_over(rates.len()) {
                break;
            }
        }
        if let Some(last) = all.last().and_then(serde_json::Value::as_object) {
            last.iter().for_each(|(name, value)| out.evidence(name, value.clone()));
        }
        out.evidence("rounds", all.into());
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let most = (READ_BACK_BYTES / self.job.block as u64).max(1);
        let until = Nanos(clock::now_ns()).plus(READ_BACK);
        let all = self.team.read_back(most, until, deadline(self.budget.prepare))?;
        let integrity = integrity(&all);
        if let Some(fd_store) = self.fd_store.filter(|_| matches!(integrity, Integrity::Corrupt { .. })) {
            // The next trial must write its own files, whether or not these stay wrong.
            fd_store.clear();
        }
        Ok(integrity)
    }
}

/// A random key for the data of a run.
pub fn random() -> Result<u64, Reason> {
    let mut run = [0_u8; 8];
    let _ = getrandom(&mut run, GetRandomFlags::empty()).map_err(|errno| {
        Reason::new(Cause::Missing, format!("the kernel gives no random number: {errno}"))
    })?;
    Ok(u64::from_ne_bytes(run))
}

pub(super) fn integrity(all: &[Checked]) -> Integrity {
    let sum = |field: fn(&Checked) -> u64| all.iter().map(field).sum::<u64>();
    let wrong = sum(|checked| checked.wrong);
    match all.iter().find_map(|checked| checked.first.as_ref()) {
        Some(first) => Integrity::Corrupt {
            wrong,
            of: sum(|checked| checked.blocks),
            first: format!("the first wrong block: {first}"),
        },
        None if sum(|checked| checked.bytes) == 0 => {
            Integrity::Unverified { why: "no written block could be read back".to_owned() }
        }
        None => Integrity::Verified { checked: sum(|checked| checked.bytes) },
    }
}
