//! The threads, each with its requests; whoever gives them orders never touches the storage itself.

use std::os::fd::{AsRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, fdatasync, open};
use seatrial_model::{Binding, Cause, Nanos};
use seatrial_sys::clock;
use seatrial_sys::memory::Pages;
use seatrial_sys::process::{Resource, limit as rlimit, set_soft_limit};
use seatrial_sys::storage::{
    Buffers, Engine, Operation, Request, Ring, Setup, Sync as Plain, Uring, forget, resident,
    without_access_times,
};

use super::files::{Source, make};
use super::job::{Flushed, JobSpec, Wanted};
use super::made::Made;
use super::outcome::{When, error};
use super::watch::{Doing, Watch, describe};
use super::work::{Checked, IoQueue, Tally, Tools, slots};
use seatrial_bench::payload::Payload;
use seatrial_bench::{Error, Stop};
use seatrial_bench::{Gate, Held, pin};
use seatrial_stats::mix;

/// Descriptors that a thread has open: its file as it was made, its own, that of its engine, and its ring; and for a
/// time two more, to lay it out by.
const FILES_A_THREAD: u64 = 6;

/// What a thread is told to do.
enum Order {
    Make { source: Source },
    Prepare { file: OwnedFd, covered: u64, polled: bool },
    Run { stop: Stop, until: Nanos, gate: Arc<Gate>, span: Nanos, flush: bool },
    ReadBack { most: u64, until: Nanos },
}

/// What a thread answers.
pub enum Said {
    Made(Box<Made>),
    Prepared(Prepared),
    /// A phase is over.
    Ran(Box<Ran>),
    /// Everything it has read so far.
    Checked(Checked),
}

/// How a thread was set up.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub engine: &'static str,
    pub setup: Option<Setup>,
    /// Why it is not the engine that was preferred.
    pub refused: Option<String>,
    /// Requests it keeps under way.
    pub depth: usize,
    /// What of its file the page cache holds before the clock starts: bytes and the call that told, or the answer.
    pub resident: Result<(u64, &'static str), String>,
}

/// What a thread did.
#[derive(Clone, Debug)]
pub struct Ran {
    pub thread: usize,
    pub tally: Tally,
    /// How long the flush behind them took.
    pub flush: Option<Nanos>,
}

/// What all threads share.
struct Shared {
    job: Arc<JobSpec>,
    payload: Arc<Payload>,
    key: u64,
    /// Raised when one of them failed: the others need not go on.
    failed: AtomicBool,
}

/// Threads, to be told what to do. They are not waited for when this goes: one may be stuck for ever.
pub struct IoTeam {
    orders: Vec<Sender<Order>>,
    answers: Receiver<Result<Said, Error>>,
    watches: Vec<Arc<Watch>>,
    shared: Arc<Shared>,
}

impl IoTeam {
    /// Starts a thread for each part of the job, pinned to the bindings in turn; without bindings nobody is pinned.
    /// `run` is a number that no other run has.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(job: &Arc<JobSpec>, bindings: &[Binding], run: u64) -> Result<Self, Error> {
        allow_files(job.threads as u64);
        let payload = Arc::new(Payload::new(run, job.compressible));
        let shared =
            Arc::new(Shared { job: Arc::clone(job), payload, key: mix(run), failed: AtomicBool::new(false) });
        let (answer, answers) = channel();
        let mut team = Self { orders: Vec::new(), answers, watches: Vec::new(), shared };
        let most = slots(job.depth_with(true));
        for number in 0..job.threads {
            let (order, orders) = channel();
            let watch = Watch::new(number, job.place_of(number).0, most);
            let binding = bindings.get(number % bindings.len().max(1)).copied();
            let (shared, seen) = (Arc::clone(&team.shared), Arc::clone(&watch));
            let answer = answer.clone();
            std::thread::Builder::new()
                .name(format!("io{number}"))
                .spawn(move || {
                    // Made here, since a ring belongs to the thread that makes it.
                    let thread = Thread { number, binding, shared, watch: seen, queue: None };
                    thread.serve(&orders, &answer);
                })
                .map_err(|error| {
                    Error::new(Cause::Denied, format!("cannot start thread {number}: {error}"))
                })?;
            team.orders.push(order);
            team.watches.push(watch);
        }
        Ok(team)
    }

    /// Has the first thread make the files.
    ///
    /// # Errors
    /// What it met, or that it does not come back before `deadline`.
    pub fn make(&self, source: Source, deadline: Nanos) -> Result<Made, Error> {
        self.tell(0, Order::Make { source })?;
        match self.hear(1, deadline)?.pop() {
            Some(Said::Made(made)) => Ok(*made),
            _ => Err(Error::new(Cause::Protocol, "no files were made")),
        }
    }

    /// Gives every thread its file, has it set up and the part laid out where it is to be read. The first `covered`
    /// bytes of each file are laid out already.
    ///
    /// # Errors
    /// As [`Self::make`].
    pub fn prepare(
        &self,
        files: &[OwnedFd],
        covered: u64,
        polled: bool,
        deadline: Nanos,
    ) -> Result<Vec<Prepared>, Error> {
        for number in 0..self.orders.len() {
            let (file, _) = self.shared.job.place_of(number);
            let file = files[file].try_clone().map_err(|error| {
                Error::new(Cause::Denied, format!("cannot share a file with thread {number}: {error}"))
            })?;
            self.tell(number, Order::Prepare { file, covered, polled })?;
        }
        let said = self.hear(self.orders.len(), deadline)?;
        Ok(said
            .into_iter()
            .filter_map(|said| if let Said::Prepared(one) = said { Some(one) } else { None })
            .collect())
    }

    /// Has all threads work together until `until` or until `stop` says so; `flush` has each flush its file then.
    ///
    /// # Errors
    /// As [`Self::make`].
    pub fn run(
        &self,
        stop: &Stop,
        until: Nanos,
        span: Nanos,
        flush: bool,
        deadline: Nanos,
    ) -> Result<Vec<Ran>, Error> {
        let gate = Arc::new(Gate::new(self.orders.len()));
        for number in 0..self.orders.len() {
            let gate = Arc::clone(&gate);
            self.tell(number, Order::Run { stop: stop.clone(), until, gate, span, flush })?;
        }
        let said = self.hear(self.orders.len(), deadline)?;
        let mut all: Vec<Ran> = said
            .into_iter()
            .filter_map(|said| if let Said::Ran(one) = said { Some(*one) } else { None })
            .collect();
        all.sort_unstable_by_key(|ran| ran.thread);
        Ok(all)
    }

    /// Has every thread read `most` blocks back, as far as it comes before `until`; what all checks so far found.
    ///
    /// # Errors
    /// As [`Self::make`].
    pub fn read_back(&self, most: u64, until: Nanos, deadline: Nanos) -> Result<Vec<Checked>, Error> {
        for number in 0..self.orders.len() {
            self.tell(number, Order::ReadBack { most, until })?;
        }
        let said = self.hear(self.orders.len(), deadline)?;
        Ok(said
            .into_iter()
            .filter_map(|said| if let Said::Checked(one) = said { Some(one) } else { None })
            .collect())
    }

    fn tell(&self, thread: usize, order: Order) -> Result<(), Error> {
        let gone = || Error::new(Cause::Crash, format!("thread {thread} is gone"));
        self.orders.get(thread).ok_or_else(gone)?.send(order).map_err(|_| gone())
    }

    /// Waits for `count` answers. One that never comes is a result, with what is under way as its evidence.
    fn hear(&self, count: usize, deadline: Nanos) -> Result<Vec<Said>, Error> {
        let (mut all, mut first) = (Vec::with_capacity(count), None);
        for _ in 0..count {
            let left = Duration::from_nanos(deadline.get().saturating_sub(clock::now_ns()));
            match self.answers.recv_timeout(left) {
                Ok(Ok(said)) => all.push(said),
                Ok(Err(error)) => {
                    self.shared.failed.store(true, Ordering::Relaxed);
                    first.get_or_insert(error);
                }
                // What failed before is the better reason.
                Err(_) if first.is_some() => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.shared.failed.store(true, Ordering::Relaxed);
                    return Err(Error::new(Cause::Hang, describe(&self.watches)));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::new(Cause::Crash, "all threads are gone"));
                }
            }
        }
        first.map_or(Ok(all), Err)
    }
}

struct Thread {
    number: usize,
    binding: Option<Binding>,
    shared: Arc<Shared>,
    watch: Arc<Watch>,
    queue: Option<IoQueue>,
}

impl Thread {
    fn serve(mut self, orders: &Receiver<Order>, answer: &Sender<Result<Said, Error>>) {
        self.watch.here();
        let mut pinned = self.binding.map_or(Ok(()), |binding| pin(binding.cpu));
        while let Ok(order) = orders.recv() {
            let said = match std::mem::replace(&mut pinned, Ok(())) {
                // A thread that dies silently would look like one that hangs.
                Ok(()) => catch_unwind(AssertUnwindSafe(|| self.obey(order))).unwrap_or_else(|_| {
                    Err(Error::new(Cause::Crash, format!("thread {} panicked", self.number)))
                }),
                Err(error) => Err(error),
            };
            self.watch.doing(Doing::Nothing);
            if answer.send(said).is_err() {
                return;
            }
        }
    }

    fn obey(&mut self, order: Order) -> Result<Said, Error> {
        match order {
            Order::Make { source } => {
                self.watch.doing(Doing::Making);
                Ok(Said::Made(Box::new(make(&self.shared.job, source)?)))
            }
            Order::Prepare { file, covered, polled } => {
                self.prepare(file, covered, polled).map(Said::Prepared)
            }
            Order::Run { stop, until, gate, span, flush } => {
                gate.pass();
                self.run(&stop, until, span, flush).map(|ran| Said::Ran(Box::new(ran)))
            }
            Order::ReadBack { most, until } => self.read_back(most, until).map(Said::Checked),
        }
    }

    fn queue(&mut self) -> Result<&mut IoQueue, Error> {
        self.queue
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to work before it was told to prepare"))
    }

    fn prepare(&mut self, file: OwnedFd, covered: u64, polled: bool) -> Result<Prepared, Error> {
        let job = Arc::clone(&self.shared.job);
        let (first, mut refused) = ring(&job, polled)?;
        let depth = job.depth_with(first.is_some());
        let (mut engine, mut word, mut setup) = self.engine(&job, &file, first, depth)?;
        let mut answers = || {
            // Seen by others, for the case that no answer ever comes.
            self.watch.begins(0, false, 0, Nanos(clock::now_ns()));
            let takes = takes_polled(&mut *engine, job.block);
            self.watch.ends(0);
            takes
        };
        if word == "polled" && job.engine == Wanted::Auto && !answers() {
            refused = Some("the device has queues to poll, the file system does not use them".to_owned());
            (engine, word, setup) = self.engine(&job, &file, ring(&job, false)?.0, depth)?;
        }
        let key = mix(self.shared.key ^ self.number as u64);
        let quick = undurable(&job, &file).filter(|_| job.is_laid_out());
        let is_laid_out = quick.is_some();
        if let Some(quick) = quick {
            let (engine, ..) = self.engine(&job, &quick, None, 1)?;
            self.lay_out(&mut IoQueue::new(self.tools(quick, engine, 1), key), covered)?;
        }
        let mut queue = IoQueue::new(self.tools(file, engine, depth), key);
        if job.is_laid_out() {
            if !is_laid_out {
                self.lay_out(&mut queue, covered)?;
            }
            self.watch.doing(Doing::Forgetting);
            forget(queue.file())
                .map_err(|errno| error(When::Making, "emptying the page cache of a new file", errno))?;
        }
        let told = resident(queue.file(), job.file_bytes());
        let resident = told.map(|told| (told.bytes, told.method)).map_err(|errno| errno.to_string());
        self.queue = Some(queue);
        Ok(Prepared { engine: word, setup, refused, depth, resident })
    }

    fn tools(&self, file: OwnedFd, engine: Box<dyn Engine>, depth: usize) -> Tools {
        Tools {
            job: Arc::clone(&self.shared.job),
            payload: Arc::clone(&self.shared.payload),
            watch: Arc::clone(&self.watch),
            number: self.number,
            file,
            engine,
            depth,
        }
    }

    fn lay_out(&self, queue: &mut IoQueue, covered: u64) -> Result<(), Error> {
        let laid = self.shared.job.laid_out_of(self.number, covered);
        queue.lay_out(laid, &|_| self.shared.failed.load(Ordering::Relaxed))
    }

    #[expect(clippy::type_complexity, reason = "the three parts of one thing, taken apart at once")]
    fn engine(
        &self,
        job: &JobSpec,
        file: &OwnedFd,
        ring: Option<Ring>,
        depth: usize,
    ) -> Result<(Box<dyn Engine>, &'static str, Option<Setup>), Error> {
        let file = file
            .try_clone()
            .map_err(|error| Error::new(Cause::Denied, format!("cannot open a file again: {error}")))?;
        // Where that is refused, a file system that keeps these times is measured with them.
        let _ = without_access_times(&file);
        let bytes = Buffers::needed(job.block, slots(depth));
        let memory = self.binding.and_then(|binding| binding.memory);
        let held = Held::take(bytes, &[Pages::Transparent, Pages::Base], memory).map_err(|error| {
            Error::new(
                Cause::NoSpace,
                format!("cannot take memory for the blocks: {error}; lower depth= or block="),
            )
        })?;
        let buffers = Buffers::new(held.map, job.block);
        Ok(match ring {
            Some(ring) => {
                let engine = Uring::new(ring, vec![file], buffers);
                let setup = engine.setup().clone();
                (Box::new(engine), if setup.polled { "polled" } else { "io_uring" }, Some(setup))
            }
            None => (Box::new(Plain::new(vec![file], buffers)), "sync", None),
        })
    }

    fn run(&mut self, stop: &Stop, until: Nanos, span: Nanos, flush: bool) -> Result<Ran, Error> {
        let (thread, shared, watch) = (self.number, Arc::clone(&self.shared), Arc::clone(&self.watch));
        let over = |now: Nanos| now >= until || stop.is_over() || shared.failed.load(Ordering::Relaxed);
        let queue = self.queue()?;
        let tally = queue.work(&over, span)?;
        let mut flushed = None;
        if flush {
            let start = clock::now_ns();
            watch.doing(Doing::Flushing);
            fdatasync(queue.file()).map_err(|errno| error(When::Using, "flushing a file", errno))?;
            flushed = Some(Nanos(clock::now_ns() - start));
        }
        Ok(Ran { thread, tally, flush: flushed })
    }

    fn read_back(&mut self, most: u64, until: Nanos) -> Result<Checked, Error> {
        let watch = Arc::clone(&self.watch);
        let (direct, writes) = (self.shared.job.direct, self.shared.job.operation.writes());
        let queue = self.queue()?;
        if writes {
            if !direct {
                // Otherwise the cache would be checked instead of the storage.
                watch.doing(Doing::Forgetting);
                forget(queue.file()).map_err(|errno| error(When::Using, "flushing a file", errno))?;
                watch.doing(Doing::Nothing);
            }
            queue.read_back(most, &|now| now >= until)?;
        }
        Ok(queue.checked().clone())
    }
}

/// The file once more, where its own descriptor waits for the medium with every write: small blocks would be laid out
/// for hours that way. One flush behind all of them does as well. None where it cannot be opened again.
fn undurable(job: &JobSpec, file: &OwnedFd) -> Option<OwnedFd> {
    let waits = job.flushed == Flushed::Each && job.operation.writes();
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    waits.then(|| open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()).flatten()
}

/// Raises our own limit on open files as far as it may be: the usual 1024 is too few for some hundreds of threads. What
/// it does not allow is refused later, where the files are opened.
fn allow_files(threads: u64) {
    let needed = threads * FILES_A_THREAD + 64;
    let limit = rlimit(Resource::OpenFiles);
    if limit.soft.is_some_and(|soft| soft < needed) {
        let _ = set_soft_limit(Resource::OpenFiles, Some(limit.hard.map_or(needed, |hard| hard.min(needed))));
    }
}

/// The ring that the job asks for, or none and why where it makes do without.
fn ring(job: &JobSpec, polled: bool) -> Result<(Option<Ring>, Option<String>), Error> {
    let slots = slots(job.depth_with(true));
    let refuse = |word: &str, errno| {
        let text = format!("{word} is refused: {errno}; see kernel.io_uring_disabled, or use engine=sync");
        let cause = if errno == seatrial_sys::Errno::NOSYS { Cause::Missing } else { Cause::Denied };
        Error::new(cause, text)
    };
    match job.engine {
        Wanted::Sync => return Ok((None, None)),
        Wanted::Polled => {
            let ring = Ring::new(slots, true).map_err(|errno| refuse("engine=polled", errno))?;
            return Ok((Some(ring), None));
        }
        Wanted::Uring | Wanted::Auto => {}
    }
    if polled
        && job.engine == Wanted::Auto
        && let Ok(ring) = Ring::new(slots, true)
    {
        return Ok((Some(ring), None));
    }
    match Ring::new(slots, false) {
        Ok(ring) => Ok((Some(ring), None)),
        // One at a time is what was asked for, or nobody said.
        Err(errno) if job.engine == Wanted::Auto && job.depth.is_none_or(|depth| depth == 1) => {
            Ok((None, Some(format!("io_uring is refused: {errno}"))))
        }
        Err(errno) => Err(refuse("io_uring", errno)),
    }
}

/// Whether a request that is polled for goes through: a file system may not pass them on.
fn takes_polled(engine: &mut dyn Engine, bytes: usize) -> bool {
    let mut done = Vec::new();
    engine.queue(Request { slot: 0, file: 0, operation: Operation::Read, offset: 0, bytes });
    engine.wait(1, &mut done).is_ok() && done.iter().all(|one| one.result.is_ok())
}

/// Whether a phase of the job ends with a flush.
pub fn flushes(job: &JobSpec) -> bool {
    job.operation.writes() && job.flushed == Flushed::End
}
