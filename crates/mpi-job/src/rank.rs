//! The process of a rank: takes orders from the worker, and dies with the worker.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use seatrial_bench::{Stop, pin};
use seatrial_model::{Cause, Integrity, Nanos, Params, Phase, Quantity, Reason, Sample};
use seatrial_sys::clock::now_ns;
use seatrial_sys::lifetime::die_with_group;
use seatrial_sys::mpi::{Communicator, Mpi, MpiError, ThreadLevel};
use seatrial_sys::process::name_thread;
use serde_json::Value;

use super::SOCKET;
use super::clock_offset::ClockOffset;
use super::library::{open_first, version_in};
use super::process::call_worker;
use super::wire::{FromRank, ToRank, messages, send};

/// What the launchers call the number of a rank.
const RANK_VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];

/// A moment in the life of a rank, at which a test may disturb it.
#[doc(hidden)]
pub enum Moment<'a> {
    /// Before MPI_Init, with the rank as the launcher says it.
    Joining(Option<usize>),
    Running(usize, Phase, &'a Mpi),
    Verifying(usize),
    Leaving(usize),
    /// The memory that this rank sends.
    Filled(usize, &'a mut [u8]),
    /// The same of elements.
    FilledElements(usize, &'a mut [f32]),
    /// The same of elements that one-sided operations add or find.
    FilledWords(usize, &'a mut [i64]),
}

/// What a test does at a moment.
#[doc(hidden)]
pub type Hook = fn(Moment<'_>);

/// The benchmark's share in a rank.
pub trait Program {
    /// Runs until rank 0 finds `stop` over; samples of this rank.
    fn run(&mut self, phase: Phase, stop: &Stop) -> Result<Vec<Sample>, Reason>;

    fn verify(&mut self) -> Result<Integrity, Reason>;
}

/// An error of the library speaks against the system under test.
pub fn refused(error: MpiError) -> Reason {
    let cause = match error {
        MpiError::Library(_) | MpiError::Missing { .. } => Cause::Missing,
        MpiError::Refused { .. } => Cause::IoError,
        MpiError::TooLong { .. } => Cause::Contradiction,
    };
    Reason::new(cause, error.to_string())
}

/// Replaces the word of a rank by that of rank 0, when all ranks have come: a broadcast alone does not hold rank 0 back, which
/// would be turns ahead of ranks that wait for a core.
pub fn agree(world: &Communicator<'_>, word: &mut [u8; 8]) -> Result<(), Reason> {
    world.broadcast(word, 0).map_err(refused)?;
    world.barrier().map_err(refused)
}

/// Memory for so many elements of messages; an error with the remedy where the system has no room.
pub fn allocate<T: Clone>(count: usize, value: T, remedy: &str) -> Result<Vec<T>, Reason> {
    seatrial_bench::require_room((count * size_of::<T>()) as u64, "the messages of a rank take", remedy)?;
    Ok(vec![value; count])
}

/// Makes the program of a benchmark from its order, in the job of a communicator.
pub type ProgramStart = for<'a> fn(&Value, RankJob<'a>) -> Result<Box<dyn Program + 'a>, Reason>;

/// The id of a benchmark, and what its ranks run.
pub type RankProgram = (&'static str, ProgramStart);

/// What a program in a rank gets of the job.
#[derive(Clone, Copy)]
pub struct RankJob<'a> {
    pub world: &'a Communicator<'a>,
    /// Whether the clocks of ranks differ, since they are on several nodes.
    pub several_nodes: bool,
    pub times: StartTimes,
    pub hook: Hook,
}

/// The channel of samples of the time in MPI_Finalize.
pub const FINALIZE: &str = "finalize";

/// When a process became a rank: spans of its clock.
#[derive(Clone, Copy, Debug)]
pub struct StartTimes {
    /// From the start of its process until all others had called and the worker had told what to load.
    pub waiting: (Nanos, Nanos),
    /// Loading of the library.
    pub load: (Nanos, Nanos),
    /// MPI_Init_thread.
    pub init: (Nanos, Nanos),
}

/// A sample of the span of one step of this rank.
pub fn step(channel: &str, rank: usize, span: (Nanos, Nanos)) -> Sample {
    Sample::new(channel, Params::from([("rank", (rank as u64).into())]), span, Quantity::count(1))
}

fn now() -> Nanos {
    Nanos(now_ns())
}

/// Runs a rank to its end. `programs` are the benchmarks that have ranks, by id; `hook` does nothing but in tests.
pub fn serve_worker(programs: &[RankProgram], hook: Hook) -> ExitCode {
    let begun = now();
    let stream = match call_worker(SOCKET) {
        Ok(stream) => stream,
        Err(error) => {
            // No worker to tell.
            #[expect(clippy::print_stderr, reason = "somebody typed a command that a benchmark starts")]
            {
                eprintln!("seatrial: cannot reach the worker of the benchmark: {error}");
            }
            return ExitCode::from(2);
        }
    };
    let rank = RANK_VARIABLES.iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
    let served = (|| {
        let orders = Orders::listen(&stream)?;
        tell(&stream, &FromRank::Hello { rank })?;
        serve(&stream, &orders, programs, RankCaller { rank, begun, hook })
    })();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            let _ = send(&stream, &FromRank::Failed { reason });
            // The worker ends the job when it has read this; ended by itself this rank would hide the reason.
            loop {
                thread::park();
            }
        }
    }
}

fn tell(stream: &UnixStream, message: &FromRank) -> Result<(), Reason> {
    send(stream, message)
        .map_err(|error| Reason::new(Cause::Protocol, format!("cannot answer the worker: {error}")))
}

/// Orders of the worker, read by a thread of their own: the rank's thread may be in a call of the library.
struct Orders {
    inbox: Receiver<ToRank>,
    /// The phase that runs.
    stop: Arc<Mutex<Option<Stop>>>,
}

impl Orders {
    fn listen(stream: &UnixStream) -> Result<Self, Reason> {
        let failed = |error: std::io::Error| Reason::new(Cause::Launcher, error.to_string());
        let incoming = stream.try_clone().map_err(failed)?;
        let (pass_on, inbox) = mpsc::channel();
        let stop: Arc<Mutex<Option<Stop>>> = Arc::default();
        let running = Arc::clone(&stop);
        let listen = move || {
            for order in messages::<ToRank>(incoming) {
                let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
                match &order {
                    ToRank::Run { span, .. } => *running = Some(Stop::after((*span).into())),
                    ToRank::Stop => {
                        running.iter().for_each(Stop::raise);
                        continue;
                    }
                    _ => {}
                }
                drop(running);
                if pass_on.send(order).is_err() {
                    break;
                }
            }
            // The worker is gone, or wants the job to end. The exit handlers of a library may hang.
            die_with_group()
        };
        thread::Builder::new().name("orders".to_owned()).spawn(listen).map_err(failed)?;
        Ok(Self { inbox, stop })
    }

    fn next(&self) -> Result<ToRank, Reason> {
        self.inbox.recv().map_err(|_| Reason::new(Cause::Protocol, "the worker is gone"))
    }

    fn running(&self) -> Result<Stop, Reason> {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner).clone();
        stop.ok_or_else(|| Reason::new(Cause::Protocol, "no phase was ordered"))
    }
}

/// A process that called the worker.
#[derive(Clone, Copy)]
struct RankCaller {
    /// As the launcher's environment has it, where it does.
    rank: Option<usize>,
    begun: Nanos,
    hook: Hook,
}

fn serve(
    stream: &UnixStream,
    orders: &Orders,
    programs: &[RankProgram],
    caller: RankCaller,
) -> Result<(), Reason> {
    let first = orders.next()?;
    let ordered = now();
    match first {
        ToRank::Look { candidates } => {
            let (loaded, refused) = open_first(&candidates);
            tell(stream, &FromRank::Looked { loaded, refused })
        }
        ToRank::Start {
            process,
            library,
            version,
            bench,
            config,
            ranks,
            cpus,
            several_nodes,
            thread_level,
        } => {
            // The probe of the machine's load takes processes of the worker's name for ours.
            let _ = name_thread(&process);
            let thread_level = ThreadLevel::of(&thread_level).ok_or_else(|| {
                Reason::new(Cause::Protocol, format!("thread_level={thread_level} does not exist"))
            })?;
            let start = RankStart { caller, ordered, ranks, cpus, several_nodes, thread_level };
            let program = programs.iter().find(|(id, _)| *id == bench).map(|(_, program)| *program);
            let program = program.ok_or_else(|| {
                Reason::new(Cause::Protocol, format!("this build has no program of ranks for {bench}"))
            })?;
            start.join(stream, orders, (&library, &version), program, &config)
        }
        order => Err(Reason::new(Cause::Protocol, format!("the first order is {order:?}"))),
    }
}

struct RankStart {
    caller: RankCaller,
    /// When the order to start came.
    ordered: Nanos,
    /// Of the whole job.
    ranks: usize,
    cpus: Vec<Option<u32>>,
    several_nodes: bool,
    thread_level: ThreadLevel,
}

impl RankStart {
    fn join(
        self,
        stream: &UnixStream,
        orders: &Orders,
        (library, version): (&Path, &str),
        program: ProgramStart,
        config: &Value,
    ) -> Result<(), Reason> {
        // Before MPI_Init, so that the library's memory and threads are where the rank is.
        let RankCaller { rank: told, begun, hook } = self.caller;
        let known = self.pin(told)?;
        hook(Moment::Joining(told));
        let before = now();
        let mpi = Mpi::open(library).map_err(refused)?;
        let loaded = now();
        let here = version_in(&mpi.says().map_err(refused)?);
        if here != version {
            let text = format!(
                "{} is {here} there, and {version} where the job was started: all nodes need the same library; name one \
                 that they have with library=",
                library.display()
            );
            return Err(Reason::new(Cause::Missing, text));
        }
        let begun_init = now();
        let world = Communicator::start(&mpi, self.thread_level).map_err(refused)?;
        let times =
            StartTimes { waiting: (begun, self.ordered), load: (before, loaded), init: (begun_init, now()) };
        let (rank, size) = (world.rank(), world.size());
        let cpu = if told == Some(rank) { known } else { self.pin(Some(rank))? };
        if size != self.ranks {
            // The worker ends the job.
            tell(stream, &FromRank::Started { rank, size, cpu })?;
            return orders.next().map(|_| ());
        }
        let job = RankJob { world: &world, several_nodes: self.several_nodes, times, hook };
        let mut program = program(config, job)?;
        tell(stream, &FromRank::Started { rank, size, cpu })?;
        let mut clock = ClockOffset::default();
        loop {
            match orders.next()? {
                ToRank::Run { phase, .. } => {
                    hook(Moment::Running(rank, phase, &mpi));
                    clock = ClockOffset::measure(&world, self.several_nodes).map_err(refused)?;
                    let mut samples = program.run(phase, &orders.running()?)?;
                    samples.iter_mut().for_each(|sample| clock.apply(sample));
                    tell(stream, &FromRank::Ran { samples })?;
                }
                ToRank::Verify => {
                    hook(Moment::Verifying(rank));
                    let integrity = program.verify()?;
                    tell(stream, &FromRank::Verified { integrity })?;
                }
                ToRank::Finish => {
                    hook(Moment::Leaving(rank));
                    drop(program);
                    let before = now();
                    mpi.finish().map_err(refused)?;
                    let mut left = step(FINALIZE, rank, (before, now()));
                    clock.apply(&mut left);
                    return tell(stream, &FromRank::Finished { left });
                }
                order => {
                    return Err(Reason::new(
                        Cause::Protocol,
                        format!("{order:?} does not fit a rank that runs"),
                    ));
                }
            }
        }
    }

    fn pin(&self, rank: Option<usize>) -> Result<Option<u32>, Reason> {
        let cpu = rank.and_then(|rank| self.cpus.get(rank).copied().flatten());
        cpu.map(pin).transpose()?;
        Ok(cpu)
    }
}
