//! Work of one pinned thread: blocks of both chains in turn, and the median block of every slice.

use seatrial_model::Nanos;
use seatrial_sys::clock::now_ns;

use super::chain::{Chain, Chains};
use seatrial_bench::Stop;

/// Time of a sample: about 80 blocks of additions at 4 GHz.
pub const SLICE: Nanos = Nanos::millis(25);

/// One of this many blocks is of the checking chain.
const CHECK_EVERY: u64 = 5;

const FEWEST_BLOCKS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub start: Nanos,
    pub end: Nanos,
}

impl Block {
    fn span(&self) -> Nanos {
        self.end.since(self.start)
    }

    /// Clock in GHz (cycles per nanosecond) of a block of `cycles`.
    pub fn gigahertz(&self, cycles: u64) -> f64 {
        cycles as f64 / self.span().get().max(1) as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    pub number: u64,
    /// The addition block of median duration.
    pub add: Block,
    /// The checking block of median duration.
    pub check: Block,
}

#[derive(Clone, Debug, Default)]
pub struct Lap {
    pub slices: Vec<Slice>,
    pub busy: Nanos,
    /// Time that blocks took beyond the median block of their slice: interrupts, other threads, a hypervisor.
    pub lost: Nanos,
    pub tally: Tally,
}

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub blocks: u64,
    pub wrong: u64,
    pub first: Option<String>,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.wrong += other.wrong;
        self.first = self.first.take().or(other.first);
    }

    pub fn block(&mut self, chain: &Chain) -> Block {
        let start = Nanos(now_ns());
        let result = chain.run();
        let end = Nanos(now_ns());
        self.blocks += 1;
        if result != chain.expected() {
            self.wrong += 1;
            let expected = chain.expected();
            self.first.get_or_insert_with(|| {
                format!("block {} came to {result:#x} instead of {expected:#x}", self.blocks - 1)
            });
        }
        Block { start, end }
    }
}

/// Runs blocks for `span`, or until `stop`; those of the first `settle` are not kept.
pub fn run(chains: &Chains, settle: Nanos, span: Nanos, stop: &Stop) -> Lap {
    let mut lap = Lap::default();
    let mut open = Open::default();
    let origin = Nanos(now_ns()).plus(settle);
    let until = Nanos(now_ns()).plus(span);
    loop {
        let checks = lap.tally.blocks % CHECK_EVERY == CHECK_EVERY - 1;
        let block = lap.tally.block(if checks { &chains.check } else { &chains.add });
        if block.start >= origin {
            let number = block.start.since(origin).get() / SLICE.get();
            if number != open.number {
                lap.close(&mut open);
                open.number = number;
            }
            (if checks { &mut open.check } else { &mut open.add }).push(block);
        }
        if block.end >= until || stop.is_over() {
            lap.close(&mut open);
            return lap;
        }
    }
}

#[derive(Debug, Default)]
struct Open {
    number: u64,
    add: Vec<Block>,
    check: Vec<Block>,
}

impl Lap {
    fn close(&mut self, open: &mut Open) {
        let (add, check) = (middle(&mut open.add), middle(&mut open.check));
        if let (Some(add), Some(check)) = (add, check) {
            for (blocks, middle) in [(&open.add, add), (&open.check, check)] {
                for block in blocks {
                    self.busy = self.busy.plus(block.span());
                    self.lost = self.lost.plus(block.span().since(middle.span()));
                }
            }
            if open.add.len() >= FEWEST_BLOCKS {
                self.slices.push(Slice { number: open.number, add, check });
            }
        }
        open.add.clear();
        open.check.clear();
    }
}

/// The lower median by duration, because interruptions only lengthen blocks.
fn middle(blocks: &mut [Block]) -> Option<Block> {
    blocks.sort_unstable_by_key(Block::span);
    blocks.get(blocks.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn block(start: u64, span: u64) -> Block {
        Block { start: Nanos(start), end: Nanos(start + span) }
    }

    #[test]
    fn interrupted_blocks_do_not_move_the_middle_and_are_counted_as_lost() {
        let mut lap = Lap::default();
        let add = [100, 100, 4000, 100, 900, 100].map(|span| block(7, span)).to_vec();
        let mut open = Open { number: 3, add, check: vec![block(9, 300)] };
        lap.close(&mut open);
        assert_eq!(lap.slices, [Slice { number: 3, add: block(7, 100), check: block(9, 300) }]);
        assert_eq!((lap.busy.get(), lap.lost.get()), (5300 + 300, 3900 + 800));
        assert!(open.add.is_empty() && open.check.is_empty());
        assert_eq!(block(0, 250).gigahertz(1000), 4.0);
    }

    #[test]
    fn a_slice_of_few_blocks_is_no_sample() {
        let mut lap = Lap::default();
        lap.close(&mut Open {
            number: 0,
            add: vec![block(0, 9); FEWEST_BLOCKS - 1],
            check: vec![block(0, 9)],
        });
        lap.close(&mut Open { number: 1, add: vec![block(0, 9); FEWEST_BLOCKS], check: Vec::new() });
        assert!(lap.slices.is_empty());
    }

    #[test]
    fn a_block_that_comes_to_something_else_is_counted() {
        let Chains { add, check } = Chains::new(1).expect("an architecture with chains");
        let (mut tally, spoiled) = (Tally::default(), check.clone().spoiled());
        for chain in [&add, &check, &spoiled, &add, &spoiled] {
            let block = tally.block(chain);
            assert!(block.end > block.start);
        }
        assert_eq!((tally.blocks, tally.wrong), (5, 2));
        let first = tally.first.clone().expect("the first wrong one");
        assert!(first.starts_with("block 2 came to "), "{first}");
        tally.add(Tally { blocks: 5, wrong: 1, first: Some("later".to_owned()) });
        assert_eq!((tally.blocks, tally.wrong, tally.first), (10, 3, Some(first)));
    }

    #[test]
    fn one_block_is_run_however_short_the_time() {
        let chains = Chains::new(1).expect("an architecture with chains");
        let lap = run(&chains, Nanos(0), Nanos(0), &Stop::after(Duration::ZERO));
        assert_eq!((lap.tally.blocks, lap.tally.wrong, lap.slices.len()), (1, 0, 0));
    }
}
