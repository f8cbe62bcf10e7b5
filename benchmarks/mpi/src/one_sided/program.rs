//! What a rank does in the phases: rank 0 says which size has its turn, one rank of each pair operates on the memory of the
//! other, data is checked.

use seatrial_bench::Stop;
use seatrial_bench::turns::each_turn;
use seatrial_model::{Cause, Integrity, Phase, Reason, Sample};
use seatrial_mpi_job::agree;
use seatrial_mpi_job::{Hook, Moment, Program, RankJob, allocate, refused};
use seatrial_sys::mpi::{Communicator, RmaWindow};
use serde::Deserialize;
use serde_json::Value;

use super::config::{ELEMENT, OneSidedConfig, OneSidedOp, osu_iterations};
use super::contents::{PlaceCount, SWAP_STEP, check_before, check_target, start as start_value, value};
use super::kernel::{OriginMemory, RmaEnd};
use crate::comparison::Comparison;
use crate::memory::{CHECKED, MEASURED, POISON, check, fill, stride};
use crate::slices::{PairEnd, SizeState, Turn};

/// What to lower where memory is short.
const REMEDY: &str = "lower -p depth=, -p size= or -p ranks=, or set -p buffers=one";

/// The program of a rank.
pub fn start<'a>(config: &Value, job: RankJob<'a>) -> Result<Box<dyn Program + 'a>, Reason> {
    Ok(Box::new(OneSided::new(config, job)?))
}

struct OneSided<'a> {
    config: OneSidedConfig,
    world: &'a Communicator<'a>,
    end: RmaEnd<'a>,
    sizes: Vec<SizeState>,
    hook: Hook,
}

impl<'a> OneSided<'a> {
    fn new(config: &Value, job: RankJob<'a>) -> Result<Self, Reason> {
        let RankJob { world, hook, .. } = job;
        let config = OneSidedConfig::deserialize(config).map_err(|error| {
            Reason::new(Cause::Protocol, format!("cannot parse the order of a rank: {error}"))
        })?;
        let half = world.size() / 2;
        let number = u16::try_from(world.rank() % half)
            .map_err(|_| Reason::new(Cause::Protocol, format!("{half} pairs are too many")))?;
        let pair = world.split(number).map_err(refused)?;
        let sizes: Vec<SizeState> =
            config.sizes.iter().map(|size| SizeState::new(*size, config.places(*size))).collect();
        let words =
            sizes.iter().map(|state| state.ring.bytes()).max().unwrap_or(0).div_ceil(ELEMENT as usize);
        let is_origin = pair.rank() == 0;
        let memory = if is_origin { origin_memory(config.op, words)? } else { OriginMemory::None };
        if !is_origin {
            let bytes = words as u64 * ELEMENT;
            seatrial_bench::require_room(bytes, "the window of a rank takes", REMEDY)?;
        }
        let synchronization = config.synchronization()?;
        let exposed = if is_origin { 0 } else { words };
        let memory_of_window = config.memory()?;
        let mut window = None;
        // One pair after the other: Open MPI 4 names the file of a window after the number of the communicator, which those
        // of one split share.
        for turn in 0..half {
            if turn == usize::from(number) {
                let made = RmaWindow::new(&pair, memory_of_window, exposed, synchronization);
                window = Some(made.map_err(refused)?);
            }
            world.barrier().map_err(refused)?;
        }
        let window = window.ok_or_else(|| Reason::new(Cause::Protocol, "the rank has no pair"))?;
        let end = RmaEnd { pair, window, synchronization, depth: config.depth, memory };
        let mut new = Self { config, world, end, sizes, hook };
        new.fill()?;
        // No rank operates on memory that is not yet filled.
        world.barrier().map_err(refused)?;
        Ok(new)
    }

    /// The contents at the start: what each end sends, and marks where data is to come.
    fn fill(&mut self) -> Result<(), Reason> {
        let (op, hook, rank) = (self.config.op, self.hook, self.world.rank());
        let bytes = |memory: &mut [u8]| {
            fill(memory, rank, MEASURED);
            hook(Moment::Filled(rank, memory));
        };
        let words = |memory: &mut [i64]| {
            memory.iter_mut().enumerate().for_each(|(number, word)| *word = value(number));
            hook(Moment::FilledWords(rank, memory));
        };
        match &mut self.end.memory {
            OriginMemory::None => {
                let filled = match op {
                    OneSidedOp::Put => self.end.window.with_bytes(|memory| memory.fill(POISON)),
                    OneSidedOp::Get => self.end.window.with_bytes(bytes),
                    OneSidedOp::CompareAndSwap => self.end.window.with_words(words),
                    OneSidedOp::Accumulate | OneSidedOp::FetchAndOp => Ok(()),
                };
                filled.map_err(refused)?;
            }
            OriginMemory::Put(own) => bytes(own),
            OriginMemory::Get(_) => {}
            OriginMemory::Accumulate(own) | OriginMemory::FetchAndOp { own, .. } => words(own),
            OriginMemory::CompareAndSwap { expected, new, .. } => {
                for (number, (expected, new)) in expected.iter_mut().zip(new).enumerate() {
                    *expected = start_value(op, number);
                    *new = *expected + SWAP_STEP;
                }
            }
        }
        Ok(())
    }

    fn turn(&mut self, size: usize, slice: u64, out: &mut Vec<Sample>) -> Result<(), Reason> {
        let turn = Turn { rank: self.world.rank(), slice, span: self.config.slice };
        let state = self.sizes.get_mut(size).ok_or_else(|| {
            Reason::new(Cause::CorruptData, format!("rank 0 ordered size {size}, which does not exist"))
        })?;
        if self.config.osu {
            state.like_osu(&mut self.end, osu_iterations(self.config.depth, state.size), turn, out)
        } else if self.end.is_origin() {
            state.lead(&mut self.end, turn, out)
        } else {
            state.follow(&mut self.end, turn, out)
        }
    }

    /// Looks at the memory that data comes to: own memory after a get, exposed memory otherwise.
    fn look<T>(&mut self, of: impl FnOnce(&mut [u8]) -> T) -> Result<Option<T>, Reason> {
        match (&mut self.end.memory, self.config.op) {
            (OriginMemory::Get(own), _) => Ok(Some(of(own))),
            (OriginMemory::None, OneSidedOp::Put) => {
                self.end.window.with_bytes(of).map(Some).map_err(refused)
            }
            _ => Ok(None),
        }
    }

    /// The rank that the data of this rank comes from, by its number in the job.
    fn source(&self) -> usize {
        let half = self.world.size() / 2;
        (self.world.rank() + half) % self.world.size()
    }

    /// Compares copies at every place that had one, then copies each size once with new contents and compares again.
    fn check_copies(&mut self) -> Result<Vec<Integrity>, Reason> {
        let (from, rank) = (self.source(), self.world.rank());
        let used: Vec<_> =
            self.sizes.iter().map(|state| state.ring.used()).filter(|used| used.count > 0).collect();
        let mut found = Vec::new();
        found.extend(self.look(|memory| check(memory, &used, from, MEASURED))?);
        let largest = self.config.sizes.iter().max().map_or(0, |size| *size as usize);
        let hook = self.hook;
        let fill = |memory: &mut [u8]| {
            fill(&mut memory[..largest], rank, CHECKED);
            hook(Moment::Filled(rank, memory));
        };
        match &mut self.end.memory {
            OriginMemory::Put(own) => fill(own),
            OriginMemory::None if self.config.op == OneSidedOp::Get => {
                self.end.window.with_bytes(fill).map_err(refused)?;
            }
            _ => {}
        }
        self.end.depth = 1;
        for size in self.config.sizes.clone() {
            let mut state = SizeState::new(size, 0);
            self.look(|memory| memory[..size as usize].fill(POISON))?;
            // No rank operates before the memory is marked, and none looks before the operation has ended.
            self.world.barrier().map_err(refused)?;
            self.end.begin().map_err(refused)?;
            self.end.run(1, &mut state.ring).map_err(refused)?;
            self.end.end().map_err(refused)?;
            self.world.barrier().map_err(refused)?;
            found.extend(self.look(|memory| check(memory, &[state.ring.used()], from, CHECKED))?);
        }
        Ok(found)
    }

    /// Compares elements with the number of operations that they had.
    fn check_elements(&mut self) -> Result<Vec<Integrity>, Reason> {
        let (op, mut found) = (self.config.op, Comparison::default());
        let depth = self.config.depth;
        let counts: Vec<PlaceCount> = self
            .sizes
            .iter()
            .map(|state| PlaceCount { layout: state.ring.used(), groups: state.ring.taken() / depth as u64 })
            .collect();
        match &self.end.memory {
            OriginMemory::None => {
                let check = |words: &mut [i64]| check_target(op, words, &counts, &mut found);
                self.end.window.with_words(check).map_err(refused)?;
            }
            OriginMemory::FetchAndOp { before, .. } | OriginMemory::CompareAndSwap { before, .. } => {
                check_before(op, before, &counts, &mut found);
            }
            _ => {}
        }
        Ok(vec![found.integrity()])
    }
}

/// Own memory of a rank that operates on so many elements.
fn origin_memory(op: OneSidedOp, words: usize) -> Result<OriginMemory, Reason> {
    let bytes = || allocate(words * ELEMENT as usize, POISON, REMEDY);
    let elements = || allocate(words, 0_i64, REMEDY);
    Ok(match op {
        OneSidedOp::Put => OriginMemory::Put(bytes()?),
        OneSidedOp::Get => OriginMemory::Get(bytes()?),
        OneSidedOp::Accumulate => OriginMemory::Accumulate(elements()?),
        OneSidedOp::FetchAndOp => OriginMemory::FetchAndOp { own: elements()?, before: elements()? },
        OneSidedOp::CompareAndSwap => {
            OriginMemory::CompareAndSwap { expected: elements()?, new: elements()?, before: elements()? }
        }
    })
}

impl OneSidedConfig {
    /// Bytes of the places of a size.
    const fn places(&self, size: u64) -> u64 {
        if self.region > 0 { self.region } else { self.depth as u64 * stride(size) }
    }
}

impl Program for OneSided<'_> {
    fn run(&mut self, phase: Phase, stop: &Stop) -> Result<Vec<Sample>, Reason> {
        let mut samples = Vec::new();
        // OSU's benchmarks warm up each size by itself.
        if self.config.osu && phase == Phase::WarmUp {
            return Ok(samples);
        }
        let (world, sizes, once) = (self.world, self.sizes.len(), self.config.osu);
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
        // Nobody looks while another rank operates.
        self.world.barrier().map_err(refused)?;
        let found = if self.config.op.copies() { self.check_copies()? } else { self.check_elements()? };
        self.end.window.free().map_err(refused)?;
        Ok(if found.is_empty() { Integrity::Verified { checked: 0 } } else { Integrity::of_all(found) })
    }
}
