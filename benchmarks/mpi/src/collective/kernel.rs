//! The measured loop of a rank: a barrier, then one call between two looks at the clock.

use seatrial_sys::clock::now_ns;
use seatrial_sys::mpi::{Communicator, MpiError, Reduction};

use super::config::{Buffers, Collective, ROOT};

/// Calls of one run at most: there is room for so many times.
pub const MOST_CALLS: u64 = 4096;

/// A rank with its memory and its times.
pub struct CollectiveRank<'a> {
    pub world: &'a Communicator<'a>,
    pub op: Collective,
    pub out: Vec<f32>,
    pub into: Vec<f32>,
    /// When each call of the run began and ended, in nanoseconds since the run's base.
    pub starts: Vec<f64>,
    pub stops: Vec<f64>,
}

impl CollectiveRank<'_> {
    /// Calls the operation `count` times; the nanoseconds that all calls took, without the barriers between them. A barrier
    /// is called without another before it, as in osu_barrier.
    pub fn run(&mut self, buffers: Buffers, count: u64, base_ns: u64) -> Result<u64, MpiError> {
        self.starts.clear();
        self.stops.clear();
        let mut took = 0;
        for _ in 0..count {
            if self.op != Collective::Barrier {
                self.world.barrier()?;
            }
            let start = now_ns();
            self.call(buffers)?;
            let stop = now_ns();
            took += stop - start;
            self.starts.push(start.saturating_sub(base_ns) as f64);
            self.stops.push(stop.saturating_sub(base_ns) as f64);
        }
        Ok(took)
    }

    fn call(&mut self, buffers: Buffers) -> Result<(), MpiError> {
        let (world, out, into) = (self.world, &self.out[..buffers.out], &mut self.into[..buffers.into]);
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
