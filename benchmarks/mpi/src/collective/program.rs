//! What a rank does in the phases: rank 0 says how many calls follow, all ranks make them, and each result is checked.

use seatrial_bench::Stop;
use seatrial_bench::turns::{RunOrder, each_turn, lead};
use seatrial_model::{Cause, Integrity, Nanos, Phase, Reason, Sample};
use seatrial_mpi_job::agree;
use seatrial_mpi_job::{Hook, Moment, Program, RankJob, allocate, refused};
use seatrial_sys::clock::now_ns;
use seatrial_sys::mpi::Reduction;
use serde::Deserialize;
use serde_json::Value;

use super::config::{Buffers, Collective, CollectiveConfig, ELEMENT, ROOT, osu_iterations};
use super::contents::{POISON, Place, check_barriers};
use super::kernel::{CollectiveRank, Computation, MOST_CALLS};
use super::samples::CallRun;
use crate::comparison::Comparison;

/// The program of a rank.
pub fn start<'a>(config: &Value, job: RankJob<'a>) -> Result<Box<dyn Program + 'a>, Reason> {
    Ok(Box::new(CollectiveProgram::new(config, job)?))
}

struct CollectiveProgram<'a> {
    config: CollectiveConfig,
    caller: CollectiveRank<'a>,
    found: Comparison,
    several_nodes: bool,
    hook: Hook,
}

/// A size that has its turn.
#[derive(Clone, Copy, Debug)]
struct Turn {
    size: u64,
    slice: u64,
    buffers: Buffers,
}

impl<'a> CollectiveProgram<'a> {
    fn new(config: &Value, job: RankJob<'a>) -> Result<Self, Reason> {
        let RankJob { world, several_nodes, hook, .. } = job;
        let config = CollectiveConfig::deserialize(config).map_err(|error| {
            Reason::new(Cause::Protocol, format!("cannot parse the order of a rank: {error}"))
        })?;
        let largest = config.sizes.iter().copied().max().unwrap_or(0);
        let most = config.op.buffers((largest / ELEMENT) as usize, world.size(), world.rank());
        let memory = |elements: usize| allocate(elements, POISON, "lower -p size= or -p ranks=");
        let caller = CollectiveRank {
            world,
            op: config.op,
            non_blocking: config.non_blocking,
            computation: Computation::calibrated(),
            out: memory(most.out)?,
            into: memory(most.into)?,
            times: Vec::new(),
        };
        Ok(Self { config, caller, found: Comparison::default(), several_nodes, hook })
    }

    fn turn(&mut self, number: usize, slice: u64, samples: &mut Vec<Sample>) -> Result<(), Reason> {
        let size = *self.config.sizes.get(number).ok_or_else(|| {
            Reason::new(Cause::CorruptData, format!("rank 0 ordered size {number}, which does not exist"))
        })?;
        let (rank, ranks) = (self.caller.world.rank(), self.caller.world.size());
        let buffers = self.config.op.buffers((size / ELEMENT) as usize, ranks, rank);
        let turn = Turn { size, slice, buffers };
        let place = Place { op: self.config.op, rank, ranks, round: slice };
        self.fill(place, buffers);
        if self.config.osu {
            self.like_osu(turn, samples)?;
        } else if rank == ROOT {
            self.lead(turn, samples)?;
        } else {
            self.follow(turn, samples)?;
        }
        let into = &self.caller.into[..buffers.into];
        place.check(into, (size / ELEMENT) as usize, &mut self.found);
        Ok(())
    }

    /// New contents, so that what an earlier turn left counts for nothing.
    fn fill(&mut self, place: Place, buffers: Buffers) {
        self.caller.into[..buffers.into].fill(POISON);
        let sends_from_into = place.op == Collective::Bcast && place.rank == ROOT;
        let sent = if sends_from_into {
            &mut self.caller.into[..buffers.into]
        } else {
            &mut self.caller.out[..buffers.out]
        };
        place.fill(sent);
        (self.hook)(Moment::FilledElements(place.rank, sent));
    }

    /// The iterations of an OSU benchmark.
    fn like_osu(&mut self, turn: Turn, samples: &mut Vec<Sample>) -> Result<(), Reason> {
        let (warm_up, count) = osu_iterations(turn.size);
        let rank = self.caller.world.rank();
        let tell = |count, keep| RunOrder { count, keep };
        let mut run = None;
        for (count, keep) in [(warm_up, false), (count, false), (0, true)] {
            let (order, base_ns) = self.order(tell(count, keep))?;
            keep_run(order, &mut run, rank, turn, samples);
            if order.count > 0 {
                run = Some(self.calls(turn, order.count, base_ns)?);
            }
        }
        Ok(())
    }

    /// A turn of rank 0: calls until the time is over.
    fn lead(&mut self, turn: Turn, samples: &mut Vec<Sample>) -> Result<(), Reason> {
        let (span, rank) = (self.config.slice, self.caller.world.rank());
        let mut last = None;
        let end = lead(span, MOST_CALLS, |order| {
            let (order, base_ns) = self.order(order)?;
            keep_run(order, &mut last, rank, turn, samples);
            let run = self.calls(turn, order.count, base_ns)?;
            last = Some(run);
            Ok(run.span().get())
        })?;
        let (end, _) = self.order(end)?;
        keep_run(end, &mut last, rank, turn, samples);
        Ok(())
    }

    /// A turn of another rank: does what rank 0 tells, and keeps the samples that rank 0 keeps.
    fn follow(&mut self, turn: Turn, samples: &mut Vec<Sample>) -> Result<(), Reason> {
        let rank = self.caller.world.rank();
        let mut last = None;
        loop {
            let (order, base_ns) = self.order(RunOrder { count: 0, keep: false })?;
            keep_run(order, &mut last, rank, turn, samples);
            if order.count == 0 {
                return Ok(());
            }
            last = Some(self.calls(turn, order.count, base_ns)?);
        }
    }

    /// The order of rank 0, whose own is `order`, and when rank 0 gave it.
    fn order(&self, order: RunOrder) -> Result<(RunOrder, u64), Reason> {
        let mut words = [order.to_bytes(), now_ns().to_le_bytes()];
        self.caller.world.broadcast(words.as_flattened_mut(), ROOT).map_err(refused)?;
        Ok((RunOrder::from_bytes(words[0]), u64::from_le_bytes(words[1])))
    }

    fn calls(&mut self, turn: Turn, count: u64, base_ns: u64) -> Result<CallRun, Reason> {
        let start = now_ns();
        let time_ns = self.caller.run(turn.buffers, count).map_err(refused)?;
        let end = now_ns();
        // From here on the clock of these calls does not run.
        let (world, rank) = (self.caller.world, self.caller.world.rank());
        let since_base = |at: usize| {
            let times = self.caller.times.iter();
            times.map(|time| time[at].saturating_sub(base_ns) as f64).collect::<Vec<_>>()
        };
        let (mut starts, mut stops) = (since_base(0), since_base(1));
        world.all_reduce_in_place(&mut starts, Reduction::Max).map_err(refused)?;
        if self.config.op == Collective::Barrier && !self.several_nodes {
            check_barriers(rank, &stops, &starts, &mut self.found);
        }
        world.all_reduce_in_place(&mut stops, Reduction::Max).map_err(refused)?;
        let completion_ns = stops.iter().zip(&starts).map(|(stop, start)| stop - start).sum();
        let mut run =
            CallRun { start: Nanos(start), end: Nanos(end), count, time_ns, completion_ns, overlap: None };
        if self.config.non_blocking {
            let rounds = self.caller.computation.rounds_of(time_ns as f64 / count as f64);
            let times = self.caller.run_overlapped(turn.buffers, count, rounds, self.config.osu);
            run.overlap = Some(times.map_err(refused)?);
            run.end = Nanos(now_ns());
        }
        Ok(run)
    }
}

/// Keeps the samples of the last run where `order` says so.
fn keep_run(order: RunOrder, last: &mut Option<CallRun>, rank: usize, turn: Turn, samples: &mut Vec<Sample>) {
    if let Some(run) = last.take().filter(|_| order.keep) {
        run.emit(rank, turn.size, turn.slice, samples);
    }
}

impl Program for CollectiveProgram<'_> {
    fn run(&mut self, phase: Phase, stop: &Stop) -> Result<Vec<Sample>, Reason> {
        let mut samples = Vec::new();
        // OSU's benchmarks warm up each size by itself.
        if self.config.osu && phase == Phase::WarmUp {
            return Ok(samples);
        }
        let (world, sizes, once) = (self.caller.world, self.config.sizes.len(), self.config.osu);
        each_turn(
            |word| agree(world, word),
            stop,
            sizes,
            once,
            |size, slice| self.turn(size, slice, &mut samples),
        )?;
        Ok(samples)
    }

    /// Every turn has checked what it received.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        if self.config.op == Collective::Barrier && self.several_nodes {
            let why = "op=barrier moves no data, and the clocks of several nodes do not tell who left first";
            return Ok(Integrity::Unverified { why: why.to_owned() });
        }
        Ok(std::mem::take(&mut self.found).integrity())
    }
}
