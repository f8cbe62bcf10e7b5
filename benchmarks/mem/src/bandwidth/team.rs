//! Pinned threads that work on their shards at the same time, slice by slice.

use std::sync::Arc;

use seatrial_model::{Binding, Integrity, Nanos, Reason};
use seatrial_sys::clock;

use crate::kernel::PrefetchTrial;
use crate::shard::{ArrayShard, ShardSpec};
use crate::slots::Slots;
use seatrial_bench::{Gate, Stop, ThreadSpec, ThreadTeam};

/// Elements between two clock readings: 512 KiB of each array. A thread ends its slice behind a block; the others, which are still
/// within theirs, have more of the memory to themselves until then: with 100 threads on a memory of 300 GB/s a block of the triad takes
/// half a millisecond, 2 % of a slice.
pub const BLOCK: usize = (512 << 10) / size_of::<f64>();

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceRun {
    pub thread: usize,
    pub start: Nanos,
    pub end: Nanos,
    /// Bytes counted as in STREAM.
    pub bytes: u64,
}

pub struct BandwidthTeam {
    threads: ThreadTeam<'static, ()>,
    shards: Arc<Slots<ArrayShard>>,
}

impl BandwidthTeam {
    pub fn start(bindings: &[Binding], slots: usize) -> Result<Self, Reason> {
        let spec = |binding: &Binding| ThreadSpec::new(format!("cpu{}", binding.cpu), Some(binding.cpu));
        let threads = bindings.iter().map(|binding| (spec(binding), || Ok(())));
        let threads = ThreadTeam::start(threads, "-p threads=")?;
        Ok(Self { threads, shards: Arc::new(Slots::new(slots)) })
    }

    /// Makes all shards, each on the thread that touches it first.
    pub fn make(&self, specs: Vec<(usize, ShardSpec)>) -> Result<(), Reason> {
        let (threads, specs): (Vec<_>, Vec<_>) = specs.into_iter().unzip();
        let shards = Arc::clone(&self.shards);
        let make = move |slot: usize, (): &mut ()| {
            shards.make(slot, ArrayShard::new(&specs[slot]), "memory for the arrays")
        };
        self.threads.each(threads, make)?;
        self.shards.take_fastest();
        Ok(())
    }

    pub fn trial(&self) -> PrefetchTrial {
        self.shards.trial()
    }

    /// Runs each thread on its slots, which no other thread has.
    pub fn slice(
        &self,
        team: &[(usize, Vec<usize>)],
        span: Nanos,
        stop: &Stop,
    ) -> Result<Vec<SliceRun>, Reason> {
        let (gate, stop, shards) = (Gate::new(team.len()), stop.clone(), Arc::clone(&self.shards));
        let slots = team.to_vec();
        let run = move |place: usize, (): &mut ()| {
            let (thread, slots) = &slots[place];
            let mut locks: Vec<_> = slots.iter().map(|slot| shards.lock(*slot)).collect();
            let mut shards: Vec<&mut ArrayShard> =
                locks.iter_mut().filter_map(|shard| shard.as_mut()).collect();
            gate.pass();
            Ok(run(*thread, &mut shards, span, &stop))
        };
        self.threads.each(team.iter().map(|(thread, _)| *thread), run)
    }

    pub fn verify(&self, threads: impl IntoIterator<Item = usize>) -> Result<Vec<Integrity>, Reason> {
        let shards = Arc::clone(&self.shards);
        self.threads.each(threads, move |slot, ()| Ok(shards.verify(slot, ArrayShard::verify)))
    }

    pub fn look<T>(&self, at: impl FnOnce(&[&ArrayShard]) -> T) -> T {
        self.shards.look(at)
    }
}

fn run(thread: usize, shards: &mut [&mut ArrayShard], span: Nanos, stop: &Stop) -> SliceRun {
    let start = Nanos(clock::now_ns());
    let mut ran = SliceRun { thread, start, end: start, bytes: 0 };
    if shards.is_empty() {
        return ran;
    }
    for step in 0.. {
        let turn = step % shards.len();
        ran.bytes += shards[turn].step(BLOCK);
        ran.end = Nanos(clock::now_ns());
        if ran.end.since(start) >= span || stop.is_over() {
            break;
        }
    }
    ran
}
