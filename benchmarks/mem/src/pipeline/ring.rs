//! Number of blocks per step, and which block each unit of work uses.

use seatrial_model::{Bytes, Nanos};

use super::scenario::Scenario;

/// Least bytes between two uses of a block, in sizes of the last-level cache: STREAM's rule for arrays.
pub const TIMES_CACHE: u64 = 4;

/// Blocks of each step, equal for source and destination. Every step has as many blocks as it uses up in the same
/// time, so that all steps together touch the same number of bytes between two uses of any block, at any pace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRings {
    /// Blocks by step, in the scenario's order.
    pub blocks: Vec<u64>,
    pub memory: Bytes,
    /// Least bytes that all steps touch before a block is used again.
    pub reuse: Bytes,
}

impl BlockRings {
    pub fn single(scenario: &Scenario) -> Self {
        Self::of(scenario, vec![1; scenario.steps.len()])
    }

    /// Enough blocks to touch `bytes` before one is used again, within `room` bytes of memory; `None` if not even
    /// single blocks fit.
    pub fn past(scenario: &Scenario, bytes: Bytes, room: Option<Bytes>) -> Option<Self> {
        let span = bytes.get() as f64 / scenario.touched_per_second();
        let fits = |rings: &Self| room.is_none_or(|room| rings.memory <= room);
        let wanted = Self::lasting(scenario, span);
        if fits(&wanted) {
            return Some(wanted);
        }
        let mut best = Some(Self::single(scenario)).filter(fits)?;
        // Bisects the longest time that fits, to a thousandth of the wanted one.
        let (mut low, mut high) = (0.0, span);
        for _ in 0..10 {
            let middle = 0.5 * (low + high);
            let rings = Self::lasting(scenario, middle);
            if fits(&rings) {
                (low, best) = (middle, rings);
            } else {
                high = middle;
            }
        }
        Some(best)
    }

    fn lasting(scenario: &Scenario, seconds: f64) -> Self {
        let blocks = |period: Nanos| (seconds / period.as_secs()).ceil().max(1.0) as u64;
        Self::of(scenario, scenario.steps.iter().map(|step| blocks(step.period())).collect())
    }

    pub fn of(scenario: &Scenario, blocks: Vec<u64>) -> Self {
        let steps = || scenario.steps.iter().zip(&blocks);
        let memory: u64 =
            steps().map(|(step, blocks)| blocks * step.block.get() * step.operation.touched()).sum();
        let spans = steps().map(|(step, blocks)| *blocks as f64 * step.period().as_secs());
        let reuse = spans.fold(f64::INFINITY, f64::min) * scenario.touched_per_second();
        Self { memory: Bytes(memory * u64::from(scenario.stations)), reuse: Bytes(reuse as u64), blocks }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub source: u64,
    pub destination: u64,
}

/// Blocks of work `number` in rings of `blocks`. Sources go round in order. Destinations too, but shifted by one each
/// round, so that a block is written from another source every time, and its contents tell which write was last.
pub const fn turn(number: u64, blocks: u64) -> Turn {
    Turn { source: number % blocks, destination: (number + number / blocks) % blocks }
}

/// The last of the first `done` units of work that wrote to `destination`, if any.
pub fn last_writer(destination: u64, blocks: u64, done: u64) -> Option<u64> {
    // Two rounds contain one whole round, which writes every block.
    (done.saturating_sub(2 * blocks)..done)
        .rev()
        .find(|number| turn(*number, blocks).destination == destination)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cobalt2() -> Scenario {
        Scenario::shipped("cobalt2").expect("ships")
    }

    fn megabytes(rings: &BlockRings) -> u64 {
        rings.memory.get() / 1_000_000
    }

    #[test]
    fn the_original_works_on_1_9_gigabytes() {
        let single = BlockRings::single(&cobalt2());
        // 5 blocks of 1.152 MB and 11 of 9.216 MB for each of 18 stations.
        assert_eq!(single.memory, Bytes(18 * (5 * 1_152_000 + 11 * 9_216_000)));
        // 702 Gbit/s for 3.072 ms.
        assert_eq!(single.reuse, Bytes(269_568_000));
    }

    #[test]
    fn a_small_cache_needs_no_rotation() {
        let rings = BlockRings::past(&cobalt2(), Bytes(4 * (32 << 20)), None).expect("room");
        assert_eq!(rings, BlockRings::single(&cobalt2()));
    }

    #[test]
    fn rings_touch_what_was_asked_for_before_they_come_round() {
        for asked in [1 << 30, 9 << 30, 40 << 30] {
            let rings = BlockRings::past(&cobalt2(), Bytes(asked), None).expect("room");
            assert!(rings.reuse >= Bytes(asked), "{rings:?}");
            let shortest =
                BlockRings::of(&cobalt2(), rings.blocks.iter().map(|blocks| blocks.max(&2) - 1).collect());
            assert!(shortest.reuse < Bytes(asked), "{rings:?}");
        }
        let rings = BlockRings::past(&cobalt2(), Bytes::gib(9), None).expect("room");
        assert_eq!(rings.blocks, [36, 36, 36, 5, 5, 5, 3, 3, 3, 3]);
    }

    #[test]
    fn less_memory_makes_shorter_rings_and_too_little_none() {
        let (scenario, wanted) = (cobalt2(), Bytes::gib(9));
        let whole = BlockRings::past(&scenario, wanted, None).expect("room");
        let room = Bytes::gib(5);
        let less = BlockRings::past(&scenario, wanted, Some(room)).expect("some");
        assert!(less.memory <= room && less.memory.get() > room.get() / 10 * 8, "{less:?}");
        assert!(less.reuse < wanted && less.reuse > BlockRings::single(&scenario).reuse);
        assert!(megabytes(&less) < megabytes(&whole));
        let single = BlockRings::single(&scenario);
        assert_eq!(BlockRings::past(&scenario, wanted, Some(single.memory)), Some(single.clone()));
        assert_eq!(BlockRings::past(&scenario, wanted, Some(Bytes(single.memory.get() - 1))), None);
    }

    #[test]
    fn every_time_round_a_destination_has_another_source() {
        for blocks in [1, 2, 5] {
            let turns: Vec<Turn> = (0..blocks * blocks).map(|number| turn(number, blocks)).collect();
            for (round, turns) in turns.chunks(blocks as usize).enumerate() {
                let mut destinations: Vec<u64> = turns.iter().map(|turn| turn.destination).collect();
                destinations.sort_unstable();
                assert_eq!(destinations, (0..blocks).collect::<Vec<_>>(), "round {round} of {blocks}");
            }
            let mut pairs = turns.clone();
            pairs.sort_unstable_by_key(|turn| (turn.source, turn.destination));
            pairs.dedup();
            assert_eq!(pairs.len(), turns.len(), "{blocks} blocks: a pair comes twice");
        }
    }

    #[test]
    fn the_last_writer_is_found_by_replaying() {
        for blocks in [1, 3, 4] {
            for done in 0..4 * blocks * blocks {
                let mut written = vec![None; blocks as usize];
                for number in 0..done {
                    written[turn(number, blocks).destination as usize] = Some(number);
                }
                for (destination, writer) in (0..).zip(&written) {
                    assert_eq!(
                        last_writer(destination, blocks, done),
                        *writer,
                        "{destination} of {blocks}, {done}"
                    );
                }
            }
        }
    }
}
