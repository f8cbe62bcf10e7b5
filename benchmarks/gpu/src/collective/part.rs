//! A rank: joins the others, and repeats operations in turns that rank 0 orders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use seatrial_bench::turns::{RunOrder, each_turn, lead};
use seatrial_bench::{Offer, Part, Prepared, Running, Sink, Stop, pin, pin_to};
use seatrial_model::{
    Case, Cause, Fact, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample,
};
use seatrial_sys::affinity;
use seatrial_sys::clock::now_ns;
use seatrial_sys::gpu::nccl::{self, GpuCommunicator, Nccl, NcclElements, NcclType, RendezvousId};
use seatrial_sys::gpu::nvml::Nvml;
use seatrial_sys::gpu::{DeviceMemory, Event, GpuError, GpuFault, Span};
use serde_json::{Value, json};

use super::item::ItemType;
use super::kernel::Contents;
use super::log::{LogFile, NcclLog};
use super::operation::Operation;
use super::plan::{RANKS, sizes_of};
use super::steer;
use crate::watch::GpuReadings;
use crate::{Checks, Device, Watches, address_of};

/// Operations of one run at most.
const MOST: u64 = 2000;

/// Operations of a run of nccl-tests, after one that is not timed (its options -n 20 and -w 1).
const LIKE_NCCL_TESTS: [u64; 2] = [1, 20];

/// Operations that are timed one by one at most, and the time that they may take.
const ITERATIONS: u64 = 20;
const ITERATIONS_SPAN: Nanos = Nanos::millis(250);

/// From this size on the time of an operation tells that of a larger one.
const LARGE: u64 = 1 << 20;

/// Each size gets about eight turns in the measuring time. A run of several operations of the largest sizes fits in a turn where
/// few sizes share the time: the ranks do not begin a run at one moment, which takes about 0.2 ms of it.
fn turn_of(measure: Nanos, sizes: usize) -> Nanos {
    let share = measure.get() / (8 * sizes.max(1) as u64);
    Nanos(share.clamp(Nanos::millis(2).get(), Nanos::millis(250).get()))
}

/// What rank 0 offers: NCCL's id as hexadecimal digits; nothing by the others.
fn offer_of(id: Option<RendezvousId>) -> String {
    id.map(|id| id.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect()).unwrap_or_default()
}

fn id_of(text: &str) -> Option<RendezvousId> {
    let bytes: Option<Vec<u8>> =
        (0..text.len() / 2).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()).collect();
    Some(RendezvousId::from_bytes(bytes?.try_into().ok()?))
}

/// The part of `case` at `place`, with driver and NCCL in one file for tests.
pub fn part(case: &Case, place: &PartPlacement, library: Option<PathBuf>) -> Part {
    Part::new(case, place, move |case, place| {
        let cpu = place.cpu(0);
        let cpus = affinity::allowed()
            .map_err(|error| Reason::new(Cause::Denied, format!("reading the permitted CPUs: {error}")))?;
        cpu.map_or(Ok(()), pin)?;
        let rank = Ready::new(case, place, library.as_deref())?;
        let id = match place.index {
            0 => Some(rank.nccl.rendezvous().map_err(rank.refused("making the rendezvous"))?),
            _ => None,
        };
        Ok(Prepared::new(place, offer_of(id), move |offers| {
            let (text, _): (String, _) = Offer::of_part(offers, 0)?;
            let missing = || Reason::new(Cause::Protocol, "rank 0 offers no id of NCCL");
            let id = id_of(&text).ok_or_else(missing)?;
            // The threads of NCCL that drive network cards must not share the CPU of this rank.
            cpu.map_or(Ok(()), |_| pin_to(&cpus))?;
            let rank = rank.join(id)?;
            cpu.map_or(Ok(()), pin)?;
            Ok(rank)
        })?
        .with_peers(vec![0]))
    })
}

/// A rank that has its GPU and its memory.
struct Ready {
    rank: usize,
    ranks: usize,
    operation: Operation,
    sizes: Vec<u64>,
    element: ItemType,
    is_waited_for: bool,
    is_like_nccl_tests: bool,
    turn: Nanos,
    /// The measuring time of a trial.
    trial: Nanos,
    out: Arc<DeviceMemory>,
    /// The same memory as `out` for operations in place.
    into: Arc<DeviceMemory>,
    is_in_place: bool,
    /// Two elements in which rank 0 tells what comes next.
    word: Arc<DeviceMemory>,
    contents: Contents,
    events: [Event; 2],
    about: Value,
    nvml: Result<Nvml, String>,
    nccl: Arc<Nccl>,
    /// The variables of the library that were set before this part set its own.
    variables: BTreeMap<String, String>,
    /// None where the user has the log.
    log: Option<LogFile>,
    /// What the log told when the warm-up was over.
    told: Option<NcclLog>,
    device: Device,
}

impl Ready {
    fn new(case: &Case, place: &PartPlacement, library: Option<&Path>) -> Result<Self, Reason> {
        let missing = |what: &str| Reason::new(Cause::Protocol, format!("the case names no {what}"));
        let rank = place.index as usize;
        let address = address_of(case)?.into_iter().nth(rank).ok_or_else(|| missing("GPU"))?;
        let (operation, ranks) = (Operation::of(&case.params)?, case.planned.count(RANKS)? as usize);
        let sizes = sizes_of(case)?;
        let driver = Device::driver(library)?;
        let device = Device::at(&driver, &address)?;
        let variables: BTreeMap<String, String> =
            std::env::vars().filter(|(name, _)| name.starts_with("NCCL_")).collect();
        let nccl = open(&case.params, library)?;
        let steering = steer::variables(&case.params, &nccl.version().unwrap_or_default());
        let log = match library {
            Some(imitation) => Some(LogFile::of_imitation(imitation)),
            None => {
                steering.iter().for_each(|(name, value)| nccl::set(name, value.as_ref()));
                LogFile::of_process().filter(|file| nccl.log_to(&file.path()))
            }
        };
        let element = ItemType::of(&case.params)?;
        let counts: Vec<_> =
            sizes.iter().map(|size| operation.counts(*size, ranks, element.bytes())).collect();
        let most = |of: fn(&super::operation::Counts) -> usize| {
            counts.iter().map(of).max().unwrap_or(0) * element.bytes() as usize
        };
        let (out, into) = (most(|counts| counts.out), most(|counts| counts.into));
        let is_in_place = case.params.flag("in_place")?;
        device.require(if is_in_place { out.max(into) } else { out + into } as u64)?;
        let out = device.take(if is_in_place { out.max(into) } else { out })?;
        let into = if is_in_place { Arc::clone(&out) } else { device.take(into)? };
        let mut about = device.evidence(&driver);
        about["nccl"] = json!(nccl.version().ok());
        about["nccl_path"] = json!(nccl.path());
        about["rank"] = json!(rank);
        let event = || Event::new(&device.gpu).map_err(device.refused("making an event"));
        Ok(Self {
            rank,
            ranks,
            operation,
            is_waited_for: case.params.text("pace")? == "one",
            turn: turn_of(case.budget.measure, sizes.len()),
            trial: case.budget.measure,
            sizes,
            out,
            into,
            is_in_place,
            word: device.take(8)?,
            contents: Contents::load(&device, element, element.modulus(ranks)?)
                .map_err(device.refused("translating the kernels"))?,
            element,
            is_like_nccl_tests: steer::is_like_nccl_tests(&case.params),
            events: [event()?, event()?],
            about,
            nvml: Device::nvml(library),
            nccl,
            variables: variables
                .into_iter()
                .chain(steering.into_iter().map(|(name, value)| (name.to_owned(), value)))
                .collect(),
            log,
            told: None,
            device,
        })
    }

    fn refused(&self, what: &str) -> impl Fn(GpuError) -> Reason + use<> {
        let at = format!("rank {} ({})", self.rank, self.device.address);
        let what = what.to_owned();
        move |error| {
            let (cause, advice) = match (error.fault(), &error) {
                (GpuFault::NotSupported, _) => {
                    (Cause::Missing, "install a newer one, or name its file with -p library=")
                }
                (GpuFault::OutOfMemory, _) => {
                    (Cause::NoSpace, "another process may use the memory; see nvidia-smi")
                }
                (_, GpuError::Refused { code: nccl::INVALID_USAGE, .. }) => {
                    (Cause::Contradiction, "two ranks may have the same GPU: name each host once (-w)")
                }
                _ => (Cause::IoError, "NCCL_DEBUG=INFO tells more"),
            };
            Reason::new(cause, format!("{at}: {what}: {error}; {advice}"))
        }
    }

    /// What a rank sends at a size, and where it receives.
    fn elements(&self, size: u64) -> (NcclElements<'_>, NcclElements<'_>) {
        let counts = self.operation.counts(size, self.ranks, self.element.bytes());
        let (from, to) = if self.is_in_place { self.operation.in_place(counts, self.rank) } else { (0, 0) };
        let (kind, bytes) = (self.element.nccl(), self.element.bytes() as usize);
        let at = |memory, first: usize, count| NcclElements {
            at: Span::Device(memory, first * bytes),
            count,
            kind,
        };
        (at(&self.out, from, counts.out), at(&self.into, to, counts.into))
    }

    fn join(self, id: RendezvousId) -> Result<Rank, Reason> {
        let begun = Instant::now();
        let joined = self.nccl.join(&self.device.gpu, id, (self.rank, self.ranks));
        let communicator = joined.map_err(self.refused("joining the other ranks"))?;
        let init = begun.elapsed().as_secs_f64();
        Ok(Rank {
            communicator,
            checks: Checks::default(),
            wrong: BTreeMap::new(),
            took: BTreeMap::new(),
            init,
            ready: self,
        })
    }
}

/// NCCL's library: the one of the parameter, or the first that is found.
pub(super) fn open(params: &Params, library: Option<&Path>) -> Result<Arc<Nccl>, Reason> {
    let named = params.text("library").unwrap_or("auto");
    let opened = Nccl::open(library.or((named != "auto").then(|| Path::new(named))));
    opened.map_err(|error| {
        let text = format!("NCCL: {error}; install it or name its file with -p library=");
        Reason::new(Cause::Missing, text)
    })
}

struct Rank {
    // Dropped first: before its device.
    communicator: GpuCommunicator,
    checks: Checks,
    /// Wrong elements by size.
    wrong: BTreeMap<u64, u64>,
    /// The shortest time of an operation so far, in nanoseconds, by size.
    took: BTreeMap<u64, u64>,
    /// Seconds until all had joined.
    init: f64,
    ready: Ready,
}

/// A run of operations as this rank saw it.
#[derive(Clone, Copy)]
struct Run {
    start: Nanos,
    took: Nanos,
    count: u64,
}

impl Rank {
    /// The word of rank 0; waits for all ranks that come before it in the order of the library.
    fn agree(&self, own: [u8; 8]) -> Result<[u8; 8], GpuError> {
        let Ready { device, word, rank, .. } = &self.ready;
        let at = Span::Device(word, 0);
        if *rank == 0 {
            device.stream.copy_in(at, &own)?;
        }
        let words = NcclElements { at, count: 2, kind: NcclType::Int32 };
        self.communicator.broadcast(&device.stream, words, words)?;
        let mut told = [0; 8];
        device.stream.copy_out(&mut told, at)?;
        Ok(told)
    }

    fn order(&self, own: RunOrder) -> Result<RunOrder, Reason> {
        let told = self.agree(own.to_bytes()).map_err(self.ready.refused("telling what comes next"))?;
        Ok(RunOrder::from_bytes(told))
    }

    /// Queues one operation.
    fn queue(&self, size: u64) -> Result<(), GpuError> {
        let (from, to) = self.ready.elements(size);
        let Ready { operation, device, .. } = &self.ready;
        let (of, stream) = (&self.communicator, &device.stream);
        match operation {
            Operation::AllReduce => of.all_reduce(stream, to, from),
            Operation::AllGather => of.all_gather(stream, to, from),
            Operation::ReduceScatter => of.reduce_scatter(stream, to, from),
            Operation::AllToAll => of.all_to_all(stream, to, from),
            Operation::Broadcast => of.broadcast(stream, to, from),
            Operation::Reduce => of.reduce(stream, to, from),
            Operation::SendReceive => of.send_receive(stream, to, from),
        }
    }

    /// So many operations, timed on the device's clock, or each on the host's.
    fn operations(&self, size: u64, count: u64) -> Result<Run, Reason> {
        let run = || {
            let (stream, [before, after]) = (&self.ready.device.stream, &self.ready.events);
            let start = Nanos(now_ns());
            if self.ready.is_waited_for {
                for _ in 0..count {
                    self.queue(size)?;
                    stream.finish()?;
                }
                return Ok(Run { start, took: Nanos(now_ns()).since(start), count });
            }
            before.record(stream)?;
            (0..count).try_for_each(|_| self.queue(size))?;
            after.record(stream)?;
            stream.finish()?;
            // nccl-tests takes the time of the host.
            let took = match self.ready.is_like_nccl_tests {
                true => Nanos(now_ns()).since(start),
                false => Nanos(before.until_ns(after)?.round() as u64),
            };
            Ok(Run { start, took, count })
        };
        run().map_err(self.ready.refused("in a collective operation"))
    }

    /// Whether an operation of this size would take longer than a trial, by the time of a smaller one that is not short.
    fn is_too_long(&self, size: u64) -> bool {
        let smaller = self.took.range(LARGE.min(size)..size).next_back();
        let expected = |(before, ns): (&u64, &u64)| u128::from(*ns) * u128::from(size) / u128::from(*before);
        smaller.map(expected).is_some_and(|ns| ns > u128::from(self.ready.trial.get()))
    }

    /// The runs of a turn, as rank 0 orders them; `keep` gets those that are samples. Returns whether there was any.
    fn runs(&mut self, size: u64, mut keep: impl FnMut(Run)) -> Result<bool, Reason> {
        let mut last: Option<Run> = None;
        let mut shortest = u64::MAX;
        let mut run = |this: &Self, order: RunOrder| {
            if let Some(run) = last.take().filter(|_| order.keep) {
                keep(run);
            }
            if order.count == 0 {
                return Ok(0);
            }
            let run = this.operations(size, order.count)?;
            shortest = shortest.min(run.took.get() / order.count);
            last = Some(run);
            Ok(run.took.get())
        };
        if self.ready.rank > 0 {
            loop {
                let order = self.order(RunOrder { count: 0, keep: false })?;
                run(self, order)?;
                if order.count == 0 {
                    break;
                }
            }
        } else {
            let mut lead_run = |order: RunOrder| run(self, self.order(order)?);
            let end = if self.is_too_long(size) {
                RunOrder { count: 0, keep: false }
            } else if self.ready.is_like_nccl_tests {
                for count in LIKE_NCCL_TESTS {
                    lead_run(RunOrder { count, keep: false })?;
                }
                RunOrder { count: 0, keep: true }
            } else {
                lead(self.ready.turn, MOST, &mut lead_run)?
            };
            lead_run(end)?;
        }
        if shortest == u64::MAX {
            return Ok(false);
        }
        let took = self.took.entry(size).or_insert(shortest);
        *took = shortest.min(*took);
        Ok(true)
    }

    /// Fills what is sent and poisons what is received.
    fn prepare(&self, size: u64) -> Result<(), Reason> {
        let Ready { contents, device, rank, .. } = &self.ready;
        let (from, to) = self.ready.elements(size);
        contents.prepare(device, from, to, *rank).map_err(self.ready.refused("preparing an operation"))
    }

    /// A turn of a size: fills, runs, checks.
    fn turn(&mut self, size: u64, slice: u64, samples: &mut Vec<Sample>) -> Result<(), Reason> {
        let (rank, ranks) = (self.ready.rank, self.ready.ranks);
        self.prepare(size)?;
        let has_run = self.runs(size, |run| {
            let at = Params::from([
                ("rank", (rank as u64).into()),
                ("size", size.into()),
                ("slice", slice.into()),
            ]);
            let span = (run.start, run.start.plus(run.took));
            samples.push(Sample::new(RUNS, at, span, Quantity::count(run.count)));
        })?;
        if !has_run {
            return Ok(());
        }
        if self.ready.is_in_place {
            // Sums of sums: what is checked is one operation of its own.
            self.prepare(size)?;
            self.operations(size, 1)?;
        }
        let Ready { operation, element, contents, device, .. } = &self.ready;
        let counts = operation.counts(size, ranks, element.bytes());
        if let Some(received) = operation.received(counts, rank, ranks) {
            let refused = self.ready.refused("checking what was received");
            let (_, to) = self.ready.elements(size);
            let wrong = contents.wrong(device, to, received, ranks).map_err(refused)?;
            let address = &device.address;
            let bytes = element.bytes() * counts.into as u64;
            let count = wrong.map_or(0, |wrong| wrong.count);
            *self.wrong.entry(size).or_default() += count;
            self.checks.note(bytes, count, || {
                let first = wrong.map_or(0, |wrong| wrong.first);
                format!("rank {rank} (GPU {address}), size {size} B: element {first} is the first wrong one")
            });
        }
        Ok(())
    }

    /// Times each of some operations of the largest size, one after the other; none where one takes long.
    fn iterations(&self, samples: &mut Vec<Sample>) -> Result<(), Reason> {
        let Some((size, ns)) = self.took.last_key_value() else { return Ok(()) };
        let fit = (ITERATIONS_SPAN.get() / (*ns).max(1)).min(ITERATIONS);
        let RunOrder { count, .. } = self.order(RunOrder { count: fit, keep: false })?;
        if count == 0 {
            return Ok(());
        }
        self.prepare(*size)?;
        let times = self.each(*size, count).map_err(self.ready.refused("in a collective operation"))?;
        let start = Nanos(now_ns());
        samples.extend(times.into_iter().zip(0_u64..).map(|(took, iteration)| {
            let at = Params::from([
                ("rank", (self.ready.rank as u64).into()),
                ("size", (*size).into()),
                ("iteration", iteration.into()),
            ]);
            Sample::new(EACH, at, (start, start.plus(took)), Quantity::count(1))
        }));
        Ok(())
    }

    /// The time of each operation: on the device's clock, or on the host's where each is waited for.
    fn each(&self, size: u64, count: u64) -> Result<Vec<Nanos>, GpuError> {
        let Device { gpu, stream, .. } = &self.ready.device;
        if self.ready.is_waited_for {
            let once = |_| {
                let start = Nanos(now_ns());
                self.queue(size)?;
                stream.finish()?;
                Ok(Nanos(now_ns()).since(start))
            };
            return (0..count).map(once).collect();
        }
        let mut events = vec![Event::new(gpu)?];
        events[0].record(stream)?;
        for _ in 0..count {
            self.queue(size)?;
            let event = Event::new(gpu)?;
            event.record(stream)?;
            events.push(event);
        }
        stream.finish()?;
        let between = |pair: &[Event]| Ok(Nanos(pair[0].until_ns(&pair[1])?.round() as u64));
        events.windows(2).map(between).collect()
    }
}

/// Channels of samples: operations of a run, and one operation.
pub const RUNS: &str = "operations";
pub const EACH: &str = "operation";

/// Names of evidence: wrong elements by size, seconds until all ranks had joined, and the variables that steer the library.
pub const WRONG: &str = "wrong";
pub const INIT: &str = "init_s";
pub const VARIABLES: &str = "variables";

impl Running for Rank {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::Measure && self.ready.told.is_none() {
            self.ready.told = self.ready.log.as_ref().and_then(LogFile::read);
            if self.ready.log.is_some() {
                self.ready.nccl.stop_log();
            }
        }
        let addresses = [self.ready.device.address.clone()];
        let nvml = std::mem::replace(&mut self.ready.nvml, Err(String::new()));
        let mut watches = Watches::begin(&nvml, &addresses);
        let mut samples = Vec::new();
        let sizes = self.ready.sizes.clone();
        let this = std::cell::RefCell::new(&mut *self);
        let mut turns = |once: bool, first: u64| {
            each_turn(
                |word| {
                    let told = this.borrow().agree(*word);
                    *word = told.map_err(this.borrow().ready.refused("telling what comes next"))?;
                    Ok(())
                },
                stop,
                sizes.len(),
                once,
                |number, slice| {
                    watches.take_reading();
                    let size = *sizes.get(number).ok_or_else(|| {
                        Reason::new(
                            Cause::CorruptData,
                            format!("rank 0 ordered size {number}, which does not exist"),
                        )
                    })?;
                    this.borrow_mut().turn(size, first + slice, &mut samples)
                },
            )
        };
        // Each size has a turn, however slow the machine: the warm-up's log tells what was chosen for it, and the measurement
        // has a number of it.
        let ran = turns(true, 0).and_then(|()| turns(false, sizes.len() as u64));
        let ran = match ran {
            Ok(()) if phase == Phase::Measure => self.iterations(&mut samples),
            ran => ran,
        };
        let readings = watches.end();
        self.ready.nvml = nvml;
        if phase == Phase::Measure {
            samples.into_iter().for_each(|sample| out.sample(sample));
            out.evidence(GpuReadings::NAME, json!(readings));
            out.evidence("gpu", self.ready.about.clone());
            out.evidence(INIT, json!(self.init));
            out.evidence(WRONG, json!(self.wrong));
            out.evidence(VARIABLES, json!(self.ready.variables));
            if let Some(told) = &self.ready.told {
                out.evidence(NcclLog::NAME, json!(told));
            }
        }
        ran
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(match (self.checks.integrity(), self.ready.operation) {
            // The others of a reduction receive nothing.
            (Integrity::Unverified { .. }, Operation::Reduce) if self.ready.rank > 0 => {
                Integrity::Verified { checked: 0 }
            }
            (found, _) => found,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_its_offer() {
        let id = RendezvousId::from_bytes(std::array::from_fn(|at| at as u8));
        assert_eq!(id_of(&offer_of(Some(id))), Some(id));
        assert_eq!(id_of(&offer_of(None)), None);
        assert_eq!(id_of("zz"), None);
    }
}
