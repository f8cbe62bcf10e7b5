//! The measured loops of a rank: a barrier, then one call between two looks at the clock; of a non-blocking operation also a
//! start, a computation, and the wait for the end.

use std::hint::black_box;

use seatrial_sys::clock::now_ns;
use seatrial_sys::mpi::{Communicator, MpiError, NonBlocking, Reduction};

use super::config::{Buffers, Collective, ROOT};

/// Calls of one run at most: there is room for so many times.
pub const MOST_CALLS: u64 = 4096;

/// A rank with its memory and its times.
pub struct CollectiveRank<'a> {
    pub world: &'a Communicator<'a>,
    pub op: Collective,
    pub non_blocking: bool,
    pub computation: Computation,
    pub out: Vec<f32>,
    pub into: Vec<f32>,
    /// When each call of the run began and ended. A rank that is late at the barrier makes the call of the others longer, so
    /// that as little as possible happens between the end of a call and the next barrier.
    pub times: Vec<[u64; 2]>,
}

impl CollectiveRank<'_> {
    /// Calls the operation `count` times; the nanoseconds that all calls took, without the barriers between them. A barrier
    /// is called without another before it, as in osu_barrier.
    pub fn run(&mut self, buffers: Buffers, count: u64) -> Result<u64, MpiError> {
        let mut times = std::mem::take(&mut self.times);
        times.resize(count as usize, [0; 2]);
        for time in &mut times {
            if self.op != Collective::Barrier {
                self.world.barrier()?;
            }
            let start = now_ns();
            self.call(buffers)?;
            *time = [start, now_ns()];
        }
        self.times = times;
        Ok(self.times.iter().map(|[start, stop]| stop - start).sum())
    }

    /// Calls the non-blocking operation `count` times, with so many rounds of computation between start and wait. `within` takes
    /// the time of the computation there, else it is that of the same computation without calls.
    pub fn run_overlapped(
        &mut self,
        buffers: Buffers,
        count: u64,
        rounds: u64,
        within: bool,
    ) -> Result<OverlapTimes, MpiError> {
        let mut times = OverlapTimes::default();
        if !within {
            self.world.barrier()?;
            let start = now_ns();
            for _ in 0..count {
                self.computation.run(rounds);
            }
            times.computation_ns = now_ns() - start;
        }
        for _ in 0..count {
            if self.op != Collective::Barrier {
                self.world.barrier()?;
            }
            let (computation, within_ns) = (&mut self.computation, &mut times.computation_ns);
            let (out, into) = (&self.out[..buffers.out], &mut self.into[..buffers.into]);
            let start = now_ns();
            overlap(self.world, self.op, out, into, || {
                if within {
                    let start = now_ns();
                    computation.run(rounds);
                    *within_ns += now_ns() - start;
                } else {
                    computation.run(rounds);
                }
            })?;
            times.overall_ns += now_ns() - start;
        }
        Ok(times)
    }

    fn call(&mut self, buffers: Buffers) -> Result<(), MpiError> {
        let (world, out, into) = (self.world, &self.out[..buffers.out], &mut self.into[..buffers.into]);
        if self.non_blocking {
            return overlap(world, self.op, out, into, || ());
        }
        match self.op {
            Collective::Barrier => world.barrier(),
            Collective::Bcast => world.broadcast(into, ROOT),
            Collective::Reduce => world.reduce(out, into, Reduction::Sum, ROOT),
            Collective::Allreduce => world.all_reduce(out, into, Reduction::Sum),
            Collective::Allgather => world.all_gather(out, into),
            Collective::Alltoall => world.all_to_all(out, into),
            Collective::ReduceScatterBlock => world.reduce_scatter_block(out, into, Reduction::Sum),
            Collective::Gather => world.gather(out, into, ROOT),
            Collective::Scatter => world.scatter(out, into, ROOT),
            Collective::Scan => world.scan(out, into, Reduction::Sum),
        }
    }
}

/// Starts the operation, calls `during`, and waits for the end.
fn overlap(
    world: &Communicator<'_>,
    op: Collective,
    out: &[f32],
    into: &mut [f32],
    during: impl FnOnce(),
) -> Result<(), MpiError> {
    let (operation, root) = (Reduction::Sum, ROOT);
    let started = match op {
        Collective::Barrier => NonBlocking::Barrier,
        Collective::Bcast => NonBlocking::Broadcast { elements: into, root },
        Collective::Reduce => NonBlocking::Reduce { own: out, into, operation, root },
        Collective::Allreduce => NonBlocking::AllReduce { own: out, into, operation },
        Collective::Allgather => NonBlocking::AllGather { own: out, all: into },
        Collective::Alltoall => NonBlocking::AllToAll { out, into },
        Collective::ReduceScatterBlock => NonBlocking::ReduceScatterBlock { own: out, into, operation },
        Collective::Gather => NonBlocking::Gather { own: out, all: into, root },
        Collective::Scatter => NonBlocking::Scatter { all: out, own: into, root },
        Collective::Scan => NonBlocking::Scan { own: out, into, operation },
    };
    world.overlap(started, during)
}

/// Times of a rank in a run of overlapped calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverlapTimes {
    /// The calls with the computation, without the barriers between them.
    pub overall_ns: u64,
    pub computation_ns: u64,
}

/// Number of values that a round computes with: they stay in the first cache.
const VALUES: usize = 64;

/// Rounds that calibrate, and how often.
const CALIBRATING: u64 = 2000;
const CALIBRATIONS: usize = 5;

/// What a rank computes while an operation is under way.
pub struct Computation {
    values: [f64; VALUES],
    round_ns: f64,
}

impl Computation {
    /// Finds out how long a round takes.
    pub fn calibrated() -> Self {
        let mut new = Self { values: [1.0; VALUES], round_ns: f64::INFINITY };
        for _ in 0..CALIBRATIONS {
            let start = now_ns();
            new.run(CALIBRATING);
            // A look at the clock may take longer than its resolution, and no computation is free.
            let took = (now_ns() - start).max(1) as f64 / CALIBRATING as f64;
            new.round_ns = new.round_ns.min(took);
        }
        new
    }

    /// Rounds that take so many nanoseconds.
    pub fn rounds_of(&self, ns: f64) -> u64 {
        ((ns / self.round_ns) as u64).max(1)
    }

    pub fn run(&mut self, rounds: u64) {
        for _ in 0..rounds {
            for value in &mut self.values {
                *value = *value * 0.75 + 0.25;
            }
            black_box(&mut self.values);
        }
    }
}
