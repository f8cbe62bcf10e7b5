//! A rank: joins the others, and repeats operations in turns that rank 0 orders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use seatrial_bench::turns::{RunOrder, each_turn, lead, turn_span};
use seatrial_bench::{Offer, Part, Prepared, Running, Sink, Stop, pin};
use seatrial_model::{
    Case, Cause, Fact, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample,
};
use seatrial_sys::clock::now_ns;
use seatrial_sys::gpu::nccl::{Floats, GpuCommunicator, Nccl, RendezvousId};
use seatrial_sys::gpu::nvml::Nvml;
use seatrial_sys::gpu::{DeviceMemory, Event, GpuError, Span};
use serde_json::{Value, json};

use super::kernel::Contents;
use super::operation::Operation;
use super::plan::{RANKS, sizes_of};
use crate::watch::GpuReadings;
use crate::{Checks, Device, Watches, address_of};

/// Operations of one run at most.
const MOST: u64 = 2000;

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
        if let Some(binding) = place.bindings.first() {
            pin(binding.cpu)?;
        }
        let rank = Ready::new(case, place, library.as_deref())?;
        let id = match place.index {
            0 => Some(rank.nccl.rendezvous().map_err(rank.refused("making the rendezvous"))?),
            _ => None,
        };
        Ok(Prepared::new(place, offer_of(id), move |offers| {
            let (text, _): (String, _) = Offer::of_part(offers, 0)?;
            let missing = || Reason::new(Cause::Protocol, "rank 0 offers no id of NCCL");
            rank.join(id_of(&text).ok_or_else(missing)?)
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
    is_waited_for: bool,
    turn: Nanos,
    out: Arc<DeviceMemory>,
    into: Arc<DeviceMemory>,
    /// Two elements in which rank 0 tells what comes next.
    word: Arc<DeviceMemory>,
    contents: Contents,
    events: [Event; 2],
    about: Value,
    nvml: Result<Nvml, String>,
    nccl: Arc<Nccl>,
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
        let nccl = open(&case.params, library)?;
        let counts: Vec<_> = sizes.iter().map(|size| operation.counts(*size, ranks)).collect();
        let most = |of: fn(&super::operation::Counts) -> usize| counts.iter().map(of).max().unwrap_or(0);
        let (out, into) = (4 * most(|counts| counts.out), 4 * most(|counts| counts.into));
        device.require((out + into) as u64)?;
        let mut about = device.evidence(&driver);
        about["nccl"] = json!(nccl.version().ok());
        about["rank"] = json!(rank);
        let event = || Event::new(&device.gpu).map_err(device.refused("making an event"));
        Ok(Self {
            rank,
            ranks,
            operation,
            is_waited_for: case.params.text("pace")? == "one",
            turn: turn_span(case.budget.measure, sizes.len()),
            sizes,
            out: device.take(out)?,
            into: device.take(into)?,
            word: device.take(8)?,
            contents: Contents::load(&device).map_err(device.refused("translating the kernels"))?,
            events: [event()?, event()?],
            about,
            nvml: Device::nvml(library),
            nccl,
            device,
        })
    }

    fn refused(&self, what: &str) -> impl Fn(GpuError) -> Reason + use<> {
        let at = format!("rank {} ({})", self.rank, self.device.address);
        let what = what.to_owned();
        move |error| Reason::new(Cause::IoError, format!("{at}: {what}: {error}; NCCL_DEBUG=INFO tells more"))
    }

    fn join(self, id: RendezvousId) -> Result<Rank, Reason> {
        let begun = Instant::now();
        let joined = self.nccl.join(&self.device.gpu, id, (self.rank, self.ranks));
        let communicator = joined.map_err(self.refused("joining the other ranks"))?;
        let init = begun.elapsed().as_secs_f64();
        Ok(Rank { communicator, checks: Checks::default(), init, ready: self })
    }
}

/// NCCL's library: the one of the parameter, or that of the dynamic linker.
pub(super) fn open(params: &Params, library: Option<&Path>) -> Result<Arc<Nccl>, Reason> {
    let named = params.text("library").unwrap_or("auto");
    let opened = match (library, named) {
        (Some(path), _) => Nccl::open_at(path),
        (None, "auto") => Nccl::open(),
        (None, path) => Nccl::open_at(Path::new(path)),
    };
    opened.map_err(|error| {
        let text = format!("NCCL: {error}; install it or name its file with -p library=");
        Reason::new(Cause::Missing, text)
    })
}

struct Rank {
    // Dropped first: before its device.
    communicator: GpuCommunicator,
    checks: Checks,
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
        let words = Floats { at, count: 2 };
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
        let Ready { operation, ranks, out, into, device, .. } = &self.ready;
        let counts = operation.counts(size, *ranks);
        let from = Floats { at: Span::Device(out, 0), count: counts.out };
        let to = Floats { at: Span::Device(into, 0), count: counts.into };
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
            Ok(Run { start, took: Nanos(before.until_ns(after)?.round() as u64), count })
        };
        run().map_err(self.ready.refused("in a collective operation"))
    }

    /// A turn of a size: fills, runs, checks.
    fn turn(&mut self, size: u64, slice: u64, samples: &mut Vec<Sample>) -> Result<(), Reason> {
        let Ready { operation, rank, ranks, out, into, contents, device, turn, .. } = &self.ready;
        let (rank, ranks, counts) = (*rank, *ranks, operation.counts(size, *ranks));
        let refused = self.ready.refused("preparing an operation");
        contents.prepare(device, (out, counts.out), (into, counts.into), rank).map_err(refused)?;
        let mut last: Option<Run> = None;
        let mut keep = |order: RunOrder, last: &mut Option<Run>| {
            let Some(run) = last.take().filter(|_| order.keep) else { return };
            let at = Params::from([
                ("rank", (rank as u64).into()),
                ("size", size.into()),
                ("slice", slice.into()),
            ]);
            let span = (run.start, run.start.plus(run.took));
            samples.push(Sample::new(RUNS, at, span, Quantity::count(run.count)));
        };
        if rank == 0 {
            let end = lead(*turn, MOST, |order| {
                let order = self.order(order)?;
                keep(order, &mut last);
                let run = self.operations(size, order.count)?;
                last = Some(run);
                Ok(run.took.get())
            })?;
            keep(self.order(end)?, &mut last);
        } else {
            loop {
                let order = self.order(RunOrder { count: 0, keep: false })?;
                keep(order, &mut last);
                if order.count == 0 {
                    break;
                }
                last = Some(self.operations(size, order.count)?);
            }
        }
        if let Some(received) = operation.received(counts, rank, ranks) {
            let refused = self.ready.refused("checking what was received");
            let wrong = contents.wrong(device, (into, counts.into), received, ranks).map_err(refused)?;
            let address = &device.address;
            self.checks.note(4 * counts.into as u64, wrong.map_or(0, |wrong| wrong.count), || {
                let first = wrong.map_or(0, |wrong| wrong.first);
                format!("rank {rank} (GPU {address}), size {size} B: element {first} is the first wrong one")
            });
        }
        Ok(())
    }
}

/// The channel of samples: operations of a run.
pub const RUNS: &str = "operations";

/// Names of evidence: seconds until all ranks had joined, and the variables that steer the library.
pub const INIT: &str = "init_s";
pub const VARIABLES: &str = "variables";

impl Running for Rank {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let addresses = [self.ready.device.address.clone()];
        let nvml = std::mem::replace(&mut self.ready.nvml, Err(String::new()));
        let mut watches = Watches::begin(&nvml, &addresses);
        let mut samples = Vec::new();
        let sizes = self.ready.sizes.clone();
        let rank = &mut *self;
        let this = std::cell::RefCell::new(rank);
        let ran = each_turn(
            |word| {
                let told = this.borrow().agree(*word);
                *word = told.map_err(this.borrow().ready.refused("telling what comes next"))?;
                Ok(())
            },
            stop,
            sizes.len(),
            false,
            |number, slice| {
                watches.take_reading();
                let size = *sizes.get(number).ok_or_else(|| {
                    Reason::new(
                        Cause::CorruptData,
                        format!("rank 0 ordered size {number}, which does not exist"),
                    )
                })?;
                this.borrow_mut().turn(size, slice, &mut samples)
            },
        );
        let readings = watches.end();
        self.ready.nvml = nvml;
        if phase == Phase::Measure {
            samples.into_iter().for_each(|sample| out.sample(sample));
            out.evidence(GpuReadings::NAME, json!(readings));
            out.evidence("gpu", self.ready.about.clone());
            out.evidence(INIT, json!(self.init));
            let ours = std::env::vars().filter(|(name, _)| name.starts_with("NCCL_"));
            out.evidence(VARIABLES, json!(ours.collect::<BTreeMap<_, _>>()));
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
