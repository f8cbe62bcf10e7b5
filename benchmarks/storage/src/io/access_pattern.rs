//! Which block a thread requests next, whether it reads or writes it, and which generation of data the block holds.

use super::job::{JobSpec, Operation};
use seatrial_bench::payload::Permutation;
use seatrial_stats::mix;

/// The order in which a thread visits its blocks, pass after pass. Everything is computed from the position, so no
/// table of blocks is needed.
#[derive(Clone, Debug)]
pub struct AccessPattern {
    job: JobSpec,
    key: u64,
    pass: u64,
    position: u64,
    order: Permutation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockIo {
    pub block: u64,
    pub pass: u64,
    pub write: bool,
    /// Generation that a read must find, or that a write stores.
    pub generation: u64,
}

impl AccessPattern {
    pub fn new(job: &JobSpec, key: u64) -> Self {
        let order = Permutation::new(job.blocks, mix(key ^ 1));
        Self { job: job.clone(), key, pass: 1, position: 0, order }
    }

    pub fn pass(&self) -> u64 {
        self.pass
    }

    /// The next request. The generation of a block is the pass that wrote it last, and 0 before any.
    pub fn advance(&mut self) -> BlockIo {
        let block = if self.job.random { self.order.at(self.position) } else { self.position };
        let (pass, write) = (self.pass, self.job.is_written(self.key, self.pass, block));
        let generation = if write { pass } else { self.written_before(block, pass) };
        self.position += 1;
        if self.position == self.job.blocks {
            self.position = 0;
            self.pass += 1;
            self.order = Permutation::new(self.job.blocks, mix(self.key ^ self.pass));
        }
        BlockIo { block, pass, write, generation }
    }

    /// Generation of a block after all requests given so far are done.
    pub fn generation(&self, block: u64) -> u64 {
        let position = if self.job.random { self.order.position_of(block) } else { block };
        let passes = if position < self.position { self.pass + 1 } else { self.pass };
        self.written_before(block, passes)
    }

    /// The last pass before `pass` that wrote a block. Only a mixed job searches: it recomputes the hash of earlier
    /// passes, on average one per share of writes.
    fn written_before(&self, block: u64, pass: u64) -> u64 {
        match self.job.operation {
            Operation::Read => 0,
            Operation::Write => pass - 1,
            Operation::Mixed(_) => {
                let wrote = |earlier: &u64| self.job.is_written(self.key, *earlier, block);
                (1..pass).rev().find(wrote).unwrap_or(0)
            }
        }
    }
}
