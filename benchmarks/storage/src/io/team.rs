//! The threads of a case; the thread that directs them does no I/O itself.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, fdatasync, open};
use seatrial_model::{Binding, Cause, Nanos, Reason};
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
use super::watch::{Doing, Watch, describe};
use super::work::{Checked, IoQueue, Tally, Tools, slots};
use seatrial_bench::directory::{When, error};
use seatrial_bench::payload::Payload;
use seatrial_bench::{Gate, Held, Stop, ThreadSpec, ThreadTeam};
use seatrial_stats::mix;

/// Open descriptors per thread: the file as made, its own copy, the engine's copy and the ring; two more while the
/// file is filled.
const FILES_A_THREAD: u64 = 6;

#[derive(Clone, Debug)]
pub struct Prepared {
    pub engine: &'static str,
    pub setup: Option<Setup>,
    pub refused: Option<String>,
    pub depth: usize,
    /// Bytes of its file in the page cache before the clock starts, and the call that reported them; or the error.
    pub resident: Result<(u64, &'static str), String>,
}

#[derive(Clone, Debug)]
pub struct Ran {
    pub thread: usize,
    pub tally: Tally,
    pub flush: Option<Nanos>,
}

struct Shared {
    job: Arc<JobSpec>,
    payload: Arc<Payload>,
    key: u64,
    /// Raised when a thread failed, so that the others stop.
    failed: AtomicBool,
}

pub struct IoTeam {
    threads: ThreadTeam<'static, Thread>,
    watches: Vec<Arc<Watch>>,
    shared: Arc<Shared>,
}

impl IoTeam {
    /// Starts one thread per part of the job, pinned to the bindings in turn, or not pinned without bindings. `run`
    /// is the key of the data.
    pub fn start(job: &Arc<JobSpec>, bindings: &[Binding], run: u64) -> Result<Self, Reason> {
        allow_files(job.threads as u64);
        let most = slots(job.depth_with(true));
        let mut payload = Payload::new(run, job.compressible).verified_by(job.verification);
        if job.direct {
            payload = payload.for_buffers((most * job.block) as u64);
        }
        let payload = Arc::new(payload);
        let shared =
            Arc::new(Shared { job: Arc::clone(job), payload, key: mix(run), failed: AtomicBool::new(false) });
        let watches: Vec<_> =
            (0..job.threads).map(|number| Watch::new(number, job.file_of(number), most)).collect();
        let threads = watches.iter().enumerate().map(|(number, watch)| {
            let binding = bindings.get(number % bindings.len().max(1)).copied();
            let (shared, watch) = (Arc::clone(&shared), Arc::clone(watch));
            let make = move || {
                watch.here();
                Ok(Thread { number, binding, shared, watch, queue: None })
            };
            (ThreadSpec::new(format!("io{number}"), binding.map(|binding| binding.cpu)), make)
        });
        let threads = ThreadTeam::start(threads, "-p threads=")?;
        Ok(Self { threads, watches, shared })
    }

    /// Has the first thread make the files. Fails when no answer comes before `deadline`.
    pub fn make(&self, source: Source, deadline: Nanos) -> Result<Made, Reason> {
        let source = Mutex::new(Some(source));
        let made = self.tell(1, deadline, move |thread| {
            thread.watch.doing(Doing::Making);
            taken(&source).map(|source| make(&thread.shared.job, source)).transpose()
        })?;
        made.into_iter().flatten().next().ok_or_else(|| Reason::new(Cause::Protocol, "no files were made"))
    }

    /// Gives every thread its file, and has the thread set up its engine and fill its part if it is to be read. The
    /// first `covered` bytes of each file are filled already.
    pub fn prepare(
        &self,
        files: &[OwnedFd],
        covered: u64,
        polled: bool,
        deadline: Nanos,
    ) -> Result<Vec<Prepared>, Reason> {
        let own = |number| {
            let file = self.shared.job.file_of(number);
            let file = files[file].try_clone().map_err(|error| {
                Reason::new(Cause::Denied, format!("cannot share a file with thread {number}: {error}"))
            })?;
            Ok(Mutex::new(Some(file)))
        };
        let files = (0..self.threads.len()).map(own).collect::<Result<Vec<_>, Reason>>()?;
        let said = self.tell(files.len(), deadline, move |thread| {
            taken(&files[thread.number]).map(|file| thread.prepare(file, covered, polled)).transpose()
        })?;
        Ok(said.into_iter().flatten().collect())
    }

    /// Runs all threads until `until` or `stop`; with `flush`, each then flushes its file.
    pub fn run(
        &self,
        stop: &Stop,
        until: Nanos,
        span: Nanos,
        flush: bool,
        deadline: Nanos,
    ) -> Result<Vec<Ran>, Reason> {
        let (gate, stop) = (Gate::new(self.threads.len()), stop.clone());
        self.tell(self.threads.len(), deadline, move |thread| {
            gate.pass();
            thread.run(&stop, until, span, flush)
        })
    }

    /// Has every thread read back at most `most` blocks until `until`; returns the results of all checks so far.
    pub fn read_back(&self, most: u64, until: Nanos, deadline: Nanos) -> Result<Vec<Checked>, Reason> {
        self.tell(self.threads.len(), deadline, move |thread| thread.read_back(most, until))
    }

    /// Gives `task` to the first `count` threads. A missing answer is reported as a hang, with the requests in
    /// flight.
    fn tell<T: Send + 'static>(
        &self,
        count: usize,
        deadline: Nanos,
        task: impl Fn(&mut Thread) -> Result<T, Reason> + Send + Sync + 'static,
    ) -> Result<Vec<T>, Reason> {
        let answers = self.threads.begin(0..count, move |_, thread| {
            let said = task(thread);
            thread.watch.doing(Doing::Nothing);
            said
        });
        let left = Duration::from_nanos(deadline.get().saturating_sub(clock::now_ns()));
        answers.collect(left).map_err(|error| {
            self.shared.failed.store(true, Ordering::Relaxed);
            match error.cause {
                Cause::Hang => Reason::new(Cause::Hang, describe(&self.watches)),
                _ => error,
            }
        })
    }
}

fn taken<T>(of: &Mutex<Option<T>>) -> Option<T> {
    of.lock().unwrap_or_else(PoisonError::into_inner).take()
}

struct Thread {
    number: usize,
    binding: Option<Binding>,
    shared: Arc<Shared>,
    watch: Arc<Watch>,
    queue: Option<IoQueue>,
}

impl Thread {
    fn queue(&mut self) -> Result<&mut IoQueue, Reason> {
        self.queue
            .as_mut()
            .ok_or_else(|| Reason::new(Cause::Protocol, "told to work before it was told to prepare"))
    }

    fn prepare(&mut self, file: OwnedFd, covered: u64, polled: bool) -> Result<Prepared, Reason> {
        let job = Arc::clone(&self.shared.job);
        let (first, mut refused) = ring(&job, polled)?;
        let depth = job.depth_with(first.is_some());
        let (mut engine, mut word, mut setup) = self.engine(&job, &file, first, depth)?;
        let mut answers = || {
            // Visible to the director, in case no answer ever comes.
            self.watch.begins(0, false, 0, Nanos(clock::now_ns()));
            let takes = takes_polled(&mut *engine, job.block);
            self.watch.ends(0);
            takes
        };
        if word == "polled" && job.engine == Wanted::Auto && !answers() {
            refused = Some("the device has poll queues, but the file system does not use them".to_owned());
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

    fn lay_out(&self, queue: &mut IoQueue, covered: u64) -> Result<(), Reason> {
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
    ) -> Result<(Box<dyn Engine>, &'static str, Option<Setup>), Reason> {
        let file = file
            .try_clone()
            .map_err(|error| Reason::new(Cause::Denied, format!("cannot open a file again: {error}")))?;
        // Ignored: a file system that refuses is measured with access times.
        let _ = without_access_times(&file);
        let bytes = Buffers::needed(job.block, slots(depth));
        let memory = self.binding.and_then(|binding| binding.memory);
        let held = Held::take(bytes, &[Pages::Transparent, Pages::Base], memory).map_err(|error| {
            Reason::new(
                Cause::NoSpace,
                format!("cannot allocate memory for the blocks: {error}; lower depth= or block="),
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

    fn run(&mut self, stop: &Stop, until: Nanos, span: Nanos, flush: bool) -> Result<Ran, Reason> {
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

    fn read_back(&mut self, most: u64, until: Nanos) -> Result<Checked, Reason> {
        let watch = Arc::clone(&self.watch);
        let (direct, writes) = (self.shared.job.direct, self.shared.job.operation.writes());
        let queue = self.queue()?;
        if writes {
            if !direct {
                // The check must read the storage, not the page cache.
                watch.doing(Doing::Forgetting);
                forget(queue.file()).map_err(|errno| error(When::Using, "flushing a file", errno))?;
                watch.doing(Doing::Nothing);
            }
            queue.read_back(most, &|now| now >= until)?;
        }
        Ok(queue.checked().clone())
    }
}

/// Opens the file again without O_DSYNC, for filling it: with small blocks, O_DSYNC would take hours, and one final
/// flush does as well. `None` if the file cannot be opened again.
fn undurable(job: &JobSpec, file: &OwnedFd) -> Option<OwnedFd> {
    let waits = job.flushed == Flushed::Each && job.operation.writes();
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    waits.then(|| open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()).flatten()
}

/// Raises this process's soft limit on open files towards its hard limit: the default of 1024 is too low for hundreds
/// of threads. A limit that stays too low fails later, when files are opened.
fn allow_files(threads: u64) {
    let needed = threads * FILES_A_THREAD + 64;
    let limit = rlimit(Resource::OpenFiles);
    if limit.soft.is_some_and(|soft| soft < needed) {
        let _ = set_soft_limit(Resource::OpenFiles, Some(limit.hard.map_or(needed, |hard| hard.min(needed))));
    }
}

fn ring(job: &JobSpec, polled: bool) -> Result<(Option<Ring>, Option<String>), Reason> {
    let slots = slots(job.depth_with(true));
    let refuse = |word: &str, errno| {
        let text = format!("{word} is refused: {errno}; see kernel.io_uring_disabled, or use engine=sync");
        let cause = if errno == seatrial_sys::Errno::NOSYS { Cause::Missing } else { Cause::Denied };
        Reason::new(cause, text)
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
        // A depth of 1, given or by default, works without a ring.
        Err(errno) if job.engine == Wanted::Auto && job.depth.is_none_or(|depth| depth == 1) => {
            Ok((None, Some(format!("io_uring is refused: {errno}"))))
        }
        Err(errno) => Err(refuse("io_uring", errno)),
    }
}

/// Whether a polled request completes: a file system may not pass polled requests on.
fn takes_polled(engine: &mut dyn Engine, bytes: usize) -> bool {
    let mut done = Vec::new();
    engine.queue(Request { slot: 0, file: 0, operation: Operation::Read, offset: 0, bytes });
    engine.wait(1, &mut done).is_ok() && done.iter().all(|one| one.result.is_ok())
}

pub fn flushes(job: &JobSpec) -> bool {
    job.operation.writes() && job.flushed == Flushed::End
}
