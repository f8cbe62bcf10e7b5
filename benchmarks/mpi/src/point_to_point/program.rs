//! What a rank does in the phases: rank 0 says which size has its turn, pairs exchange messages, data is checked.

use seatrial_bench::Stop;
use seatrial_bench::turns::each_turn;
use seatrial_model::{Cause, Integrity, Phase, Reason, Sample};
use seatrial_mpi_job::agree;
use seatrial_mpi_job::{Hook, Moment, Program, RankJob, allocate, refused};
use seatrial_sys::mpi::Window;
use serde::Deserialize;
use serde_json::Value;

use super::config::{RankConfig, osu_iterations};
use super::kernel::Pair;
use crate::memory::{CHECKED, MEASURED, POISON, check, fill};
use crate::slices::{PairEnd, SizeState, Turn};

/// The program of a rank.
pub fn start<'a>(config: &Value, job: RankJob<'a>) -> Result<Box<dyn Program + 'a>, Reason> {
    Ok(Box::new(PointToPoint::new(config, job)?))
}

struct PointToPoint<'a> {
    config: RankConfig,
    pair: Pair<'a>,
    sizes: Vec<SizeState>,
    hook: Hook,
}

impl<'a> PointToPoint<'a> {
    fn new(config: &Value, job: RankJob<'a>) -> Result<Self, Reason> {
        let RankJob { world, hook, .. } = job;
        let config = RankConfig::deserialize(config).map_err(|error| {
            Reason::new(Cause::Protocol, format!("cannot parse the order of a rank: {error}"))
        })?;
        let (rank, half) = (world.rank(), world.size() / 2);
        let leads = rank < half;
        let peer = if leads { rank + half } else { rank - half };
        let sizes: Vec<SizeState> =
            config.sizes.iter().map(|size| SizeState::new(*size, config.region)).collect();
        let bytes = sizes.iter().map(|state| state.ring.bytes()).max().unwrap_or(0);
        let both = config.op.is_both_ways();
        let memory = |bytes: usize| {
            allocate(bytes, POISON, "lower -p window=, -p size= or -p ranks=, or set -p buffers=one")
        };
        let mut out = memory(if both || leads { bytes } else { 0 })?;
        let into = memory(if both || !leads { bytes } else { 0 })?;
        fill(&mut out, rank, MEASURED);
        hook(Moment::Filled(rank, &mut out));
        let pair = Pair {
            world,
            peer,
            leads,
            op: config.op,
            window: config.window,
            requests: Window::new(world, 2 * config.window),
            out,
            into,
        };
        Ok(Self { config, pair, sizes, hook })
    }

    fn turn(&mut self, size: usize, slice: u64, out: &mut Vec<Sample>) -> Result<(), Reason> {
        let turn = Turn { rank: self.pair.world.rank(), slice, span: self.config.slice };
        let state = self.sizes.get_mut(size).ok_or_else(|| {
            Reason::new(Cause::CorruptData, format!("rank 0 ordered size {size}, which does not exist"))
        })?;
        if self.config.osu {
            state.like_osu(&mut self.pair, osu_iterations(self.config.op, state.size), turn, out)
        } else if self.pair.leads {
            state.lead(&mut self.pair, turn, out)
        } else {
            state.follow(&mut self.pair, turn, out)
        }
    }

    /// Sends one message of each size with new contents and compares what comes.
    fn check_round(&mut self) -> Result<Vec<Integrity>, Reason> {
        let (rank, window) = (self.pair.world.rank(), self.pair.window);
        // One message of each size, at the first place.
        let largest = self.sizes.iter().map(|state| state.size as usize).max().unwrap_or(0);
        if let Some(place) = self.pair.out.get_mut(..largest) {
            fill(place, rank, CHECKED);
        }
        (self.hook)(Moment::Filled(rank, &mut self.pair.out));
        let mut found = Vec::new();
        self.pair.window = 1;
        for size in 0..self.sizes.len() {
            let state = &mut SizeState::new(self.sizes[size].size, self.config.region);
            let bytes = state.size as usize;
            if let Some(place) = self.pair.into.get_mut(..bytes) {
                place.fill(POISON);
            }
            // Nobody sends before the memory is marked.
            self.pair.world.barrier().map_err(refused)?;
            self.pair.run(1, &mut state.ring).map_err(refused)?;
            if !self.pair.into.is_empty() {
                found.push(check(&self.pair.into, &[state.ring.used()], self.pair.peer, CHECKED));
            }
        }
        self.pair.window = window;
        Ok(found)
    }
}

impl Program for PointToPoint<'_> {
    fn run(&mut self, phase: Phase, stop: &Stop) -> Result<Vec<Sample>, Reason> {
        let mut samples = Vec::new();
        // OSU's benchmarks warm up each size by itself.
        if self.config.osu && phase == Phase::WarmUp {
            return Ok(samples);
        }
        let (world, sizes, once) = (self.pair.world, self.sizes.len(), self.config.osu);
        each_turn(
            |word| agree(world, word),
            stop,
            sizes,
            once,
            |size, slice| self.turn(size, slice, &mut samples),
        )?;
        Ok(samples)
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let mut found = Vec::new();
        if !self.pair.into.is_empty() {
            let (into, peer) = (&self.pair.into, self.pair.peer);
            let used = self.sizes.iter().map(|state| state.ring.used()).filter(|layout| layout.count > 0);
            found.push(check(into, &used.collect::<Vec<_>>(), peer, MEASURED));
        }
        found.extend(self.check_round()?);
        Ok(if found.is_empty() { Integrity::Verified { checked: 0 } } else { Integrity::of_all(found) })
    }
}
