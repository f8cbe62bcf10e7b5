//! The loaders: pinned threads with a common pace.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use seatrial_model::{Binding, Integrity, Reason};
use seatrial_sys::clock::now_ns;

use super::pace::{LoadPace, PaceCell, next_due};
use crate::shard::{ArrayShard, ShardSpec};
use crate::slots::Slots;
use seatrial_bench::{Answers, ThreadSpec, ThreadTeam};

/// Elements between two reads of the pace at full rate: 256 KiB of each array, so that the reads cost nothing.
pub const FLAT_BLOCK: usize = (256 << 10) / size_of::<f64>();

/// Elements of a paced block: 64 KiB of each array. Long compared with the start and end of the loop, where memory
/// idles (blocks of 16 KiB read half as fast as one long run), and short enough that a paced load is a stream and not
/// bursts with silence between them.
pub const PACED_BLOCK: usize = (64 << 10) / size_of::<f64>();

/// A counter with two cache lines of its own (the adjacent-line prefetcher often fetches a neighbour).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

struct Shared {
    pace: PaceCell,
    moved: Vec<Counter>,
    loads: Slots<ArrayShard>,
}

pub struct LoadTeam {
    shared: Arc<Shared>,
    threads: ThreadTeam<'static, ()>,
    /// Answers of loaders at work, which come when they stop.
    stopped: Option<Answers<()>>,
}

impl LoadTeam {
    pub fn start(loaders: Vec<(Binding, ShardSpec)>) -> Result<Self, Reason> {
        let shared = Arc::new(Shared {
            pace: PaceCell::new(LoadPace::Pause),
            moved: loaders.iter().map(|_| Counter::default()).collect(),
            loads: Slots::new(loaders.len()),
        });
        let threads = loaders.into_iter().enumerate().map(|(index, (Binding { cpu, .. }, spec))| {
            let shared = Arc::clone(&shared);
            (ThreadSpec::new(format!("cpu{cpu}"), Some(cpu)), move || {
                shared.loads.make(index, ArrayShard::new(&spec), "memory for a loader's arrays")
            })
        });
        let threads = ThreadTeam::start(threads, "-p loaders=node")?;
        shared.loads.take_fastest();
        Ok(Self { shared, threads, stopped: None })
    }

    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Sets the pace, and starts the loaders if they do not run.
    pub fn load(&mut self, pace: LoadPace) {
        self.shared.pace.set(pace);
        if self.stopped.is_none() {
            let shared = Arc::clone(&self.shared);
            self.stopped = Some(self.threads.begin(0..self.len(), move |index, ()| {
                if let Some(load) = shared.loads.lock(index).as_mut() {
                    run(&shared, index, load);
                }
                Ok(())
            }));
        }
    }

    pub fn check(&self, within: Duration) -> Result<(), Reason> {
        self.stopped.as_ref().map_or(Ok(()), |stopped| stopped.check(within))
    }

    /// Waits until all loaders have stopped, after which their arrays can be read.
    pub fn halt(&mut self) -> Result<(), Reason> {
        self.shared.pace.set(LoadPace::Over);
        self.stopped.take().map_or(Ok(()), |stopped| stopped.collect(Duration::MAX).map(drop))
    }

    pub fn moved(&self) -> impl Iterator<Item = u64> {
        self.shared.moved.iter().map(|counter| counter.0.load(Ordering::Relaxed))
    }

    pub fn verify(&mut self) -> Result<Vec<Integrity>, Reason> {
        self.halt()?;
        let shared = Arc::clone(&self.shared);
        self.threads.all(move |index, ()| Ok(shared.loads.verify(index, ArrayShard::verify)))
    }

    /// Applies `at` to all arrays. Blocks until the loaders have stopped.
    pub fn look<T>(&self, at: impl FnOnce(&[&ArrayShard]) -> T) -> T {
        self.shared.loads.look(at)
    }

    /// Flips a bit of a loader's array, to test the check.
    #[cfg(test)]
    pub fn flip(&self, loader: usize, element: usize) {
        self.shared.loads.lock(loader).as_mut().expect("it was made").flip(element);
    }
}

impl Drop for LoadTeam {
    fn drop(&mut self) {
        self.shared.pace.set(LoadPace::Over);
    }
}

/// Loads at the current pace until [`LoadPace::Over`].
fn run(shared: &Shared, index: usize, load: &mut ArrayShard) {
    let moved = &shared.moved[index].0;
    let mut step = |block| {
        moved.fetch_add(load.step(block), Ordering::Relaxed);
    };
    let (mut pace, mut due) = (LoadPace::Pause, 0);
    loop {
        let told = shared.pace.get();
        if let (LoadPace::Every(period), true) = (told, told != pace) {
            // Staggered starts, so that the loaders' blocks do not coincide.
            due = now_ns() + period * index as u64 / shared.moved.len() as u64;
        }
        pace = told;
        match pace {
            LoadPace::Over => return,
            LoadPace::Pause => std::hint::spin_loop(),
            LoadPace::FlatOut => step(FLAT_BLOCK),
            LoadPace::Every(period) => {
                let now = now_ns();
                if now < due {
                    std::hint::spin_loop();
                } else {
                    step(PACED_BLOCK);
                    due = next_due(due, now, period);
                }
            }
        }
    }
}
