//! The measured loops of a pair: one rank operates on the memory of the other, which takes part where the synchronization
//! needs it.

use seatrial_sys::mpi::{Communicator, MpiError, RmaOperation, RmaSynchronization, RmaWindow, WindowLayout};

use super::contents::SWAP_STEP;
use crate::memory::Ring;
use crate::slices::PairEnd;

/// Own memory of the rank that operates.
pub enum OriginMemory {
    /// The other rank operates.
    None,
    Put(Vec<u8>),
    Get(Vec<u8>),
    Accumulate(Vec<i64>),
    FetchAndOp {
        own: Vec<i64>,
        before: Vec<i64>,
    },
    /// Each operation finds what the one before it has put there, and puts another value there.
    CompareAndSwap {
        expected: Vec<i64>,
        new: Vec<i64>,
        before: Vec<i64>,
    },
}

/// One end of a pair.
pub struct RmaEnd<'a> {
    /// Both ends: rank 0 operates on the memory of rank 1.
    pub pair: Communicator<'a>,
    pub window: RmaWindow<'a>,
    pub synchronization: RmaSynchronization,
    pub depth: usize,
    pub memory: OriginMemory,
}

impl RmaEnd<'_> {
    pub const fn is_origin(&self) -> bool {
        self.pair.rank() == 0
    }

    fn operate(&mut self, layout: WindowLayout) -> Result<(), MpiError> {
        let operation = match &mut self.memory {
            OriginMemory::None => return self.window.attend(),
            OriginMemory::Put(own) => RmaOperation::Put(own),
            OriginMemory::Get(own) => RmaOperation::Get(own),
            OriginMemory::Accumulate(own) => RmaOperation::Accumulate(own),
            OriginMemory::FetchAndOp { own, before } => RmaOperation::FetchAndAdd { own, before },
            OriginMemory::CompareAndSwap { expected, new, before } => {
                RmaOperation::CompareAndSwap { expected, new, before }
            }
        };
        self.window.operate(operation, layout)?;
        if let OriginMemory::CompareAndSwap { expected, new, .. } = &mut self.memory {
            for place in 0..layout.count {
                let at = (layout.first + place * layout.stride) / size_of::<i64>();
                expected[at] = new[at];
                new[at] = new[at].wrapping_add(SWAP_STEP);
            }
        }
        Ok(())
    }
}

impl PairEnd for RmaEnd<'_> {
    fn peer(&self) -> (&Communicator<'_>, usize) {
        (&self.pair, 1 - self.pair.rank())
    }

    fn messages(&self) -> u64 {
        self.depth as u64
    }

    /// The other rank has no part in flush and lock.
    fn has_times(&self) -> bool {
        self.is_origin()
            || matches!(self.synchronization, RmaSynchronization::Fence | RmaSynchronization::Pscw)
    }

    fn begin(&mut self) -> Result<(), MpiError> {
        self.window.open(self.is_origin())
    }

    fn end(&mut self) -> Result<(), MpiError> {
        self.window.close(self.is_origin())
    }

    /// Runs `count` groups of operations, each with its synchronization.
    fn run(&mut self, count: u64, ring: &mut Ring) -> Result<(), MpiError> {
        for _ in 0..count {
            let layout = ring.take(self.depth);
            self.operate(layout)?;
        }
        Ok(())
    }
}
