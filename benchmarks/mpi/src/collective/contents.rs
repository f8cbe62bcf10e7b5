//! What ranks send, and what must come out: small integers, whose sums are exact in MPI_FLOAT in any order.

use seatrial_stats::mix;

use super::config::{Collective, ROOT};
use crate::comparison::Comparison;

/// Elements are below this where they are moved: a float holds all integers up to 2^24.
const MOVED: u64 = 1 << 24;

/// Where they are added, an element has two shares below this: one by its place, one by its rank. The sum over the 4096
/// ranks of the largest job stays below 2^23.
const SHARE: u64 = 1 << 10;

/// Value of received memory that nobody has written to, which no element has.
pub const POISON: f32 = -1.0;

/// The rank whose result is checked, in one turn.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub op: Collective,
    pub rank: usize,
    pub ranks: usize,
    /// Each turn has contents of its own.
    pub round: u64,
}

/// Element `number` of what `rank` sends where it is only moved.
fn moved(round: u64, rank: usize, number: usize) -> f32 {
    (mix(mix((rank as u64) << 32 ^ round) ^ number as u64) % MOVED) as f32
}

/// The share of an added element that all ranks have.
fn by_number(seed: u64, number: usize) -> u64 {
    mix(seed ^ number as u64) % SHARE
}

const fn by_rank(rank: usize) -> u64 {
    rank as u64 % SHARE
}

impl Place {
    /// Writes what this rank sends.
    pub fn fill(self, memory: &mut [f32]) {
        if self.op.sums() {
            let seed = mix(self.round);
            for (number, element) in memory.iter_mut().enumerate() {
                *element = (by_number(seed, number) + by_rank(self.rank)) as f32;
            }
        } else {
            for (number, element) in memory.iter_mut().enumerate() {
                *element = moved(self.round, self.rank, number);
            }
        }
    }

    /// Compares what this rank received; `piece` elements come from each rank.
    pub fn check(self, into: &[f32], piece: usize, found: &mut Comparison) {
        if self.op.sums() { self.check_sums(into, found) } else { self.check_moved(into, piece, found) }
    }

    fn check_sums(self, into: &[f32], found: &mut Comparison) {
        let (first, ranks) = match self.op {
            Collective::ReduceScatterBlock => (self.rank * into.len(), self.ranks),
            Collective::Scan => (0, self.rank + 1),
            _ => (0, self.ranks),
        };
        let shares: u64 = (0..ranks).map(by_rank).sum();
        let seed = mix(self.round);
        for (number, element) in into.iter().enumerate() {
            let wanted = (ranks as u64 * by_number(seed, first + number) + shares) as f32;
            found.word(size_of::<f32>(), *element == wanted, || {
                format!(
                    "rank {}, element {number} of the sum over {ranks} ranks: {element}, not {wanted}",
                    self.rank
                )
            });
        }
    }

    fn check_moved(self, into: &[f32], piece: usize, found: &mut Comparison) {
        // The root of a broadcast has what it sends.
        if self.op == Collective::Bcast && self.rank == ROOT {
            return;
        }
        for (number, element) in into.iter().enumerate() {
            let (from, sent) = match self.op {
                Collective::Bcast => (ROOT, number),
                Collective::Scatter => (ROOT, self.rank * piece + number),
                Collective::Alltoall => (number / piece, self.rank * piece + number % piece),
                _ => (number / piece, number % piece),
            };
            let wanted = moved(self.round, from, sent);
            found.word(size_of::<f32>(), *element == wanted, || {
                format!(
                    "rank {}, element {sent} of what rank {from} sent: {element}, not {wanted}",
                    self.rank
                )
            });
        }
    }
}

/// Checks that this rank left no barrier before the last rank had come; both by the clock that the processes of a machine
/// share.
pub fn check_barriers(rank: usize, stops: &[f64], last_starts: &[f64], found: &mut Comparison) {
    for (number, (stop, last)) in stops.iter().zip(last_starts).enumerate() {
        found.word(size_of::<f64>(), stop >= last, || {
            format!(
                "rank {rank} left barrier {number} of a turn {} ns before the last rank had come",
                last - stop
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::Integrity;

    use super::*;

    const RANKS: usize = 4;

    /// What `rank` must receive of an operation on so many elements, made from what all ranks send.
    fn delivered(op: Collective, elements: usize, rank: usize, sent: &[Vec<f32>]) -> Vec<f32> {
        let sum = |number: usize, ranks: usize| sent[..ranks].iter().map(|of| of[number]).sum::<f32>();
        let sums =
            |first: usize, count: usize, ranks| (first..first + count).map(|at| sum(at, ranks)).collect();
        let piece = rank * elements..(rank + 1) * elements;
        match op {
            Collective::Barrier => Vec::new(),
            Collective::Bcast => sent[0][..elements].to_vec(),
            Collective::Scatter => sent[0][piece].to_vec(),
            Collective::Allgather | Collective::Gather => {
                sent.iter().flat_map(|of| of[..elements].to_vec()).collect()
            }
            Collective::Alltoall => sent.iter().flat_map(|of| of[piece.clone()].to_vec()).collect(),
            Collective::Reduce | Collective::Allreduce => sums(0, elements, RANKS),
            Collective::Scan => sums(0, elements, rank + 1),
            Collective::ReduceScatterBlock => sums(rank * (elements / RANKS), elements / RANKS, RANKS),
        }
    }

    #[test]
    fn what_the_operations_deliver_is_right_and_each_wrong_element_is_named() {
        let elements = 12;
        for op in super::super::config::OPERATIONS.iter().filter(|op| !op.ends_with("barrier")) {
            let op = Collective::of(&seatrial_model::Params::from([("op", (*op).into())])).expect("exists");
            let place = |rank| Place { op, rank, ranks: RANKS, round: 3 };
            let sent: Vec<Vec<f32>> = (0..RANKS)
                .map(|rank| {
                    let mut memory = vec![0.0; elements * RANKS];
                    place(rank).fill(&mut memory);
                    memory
                })
                .collect();
            let checked = |rank: usize, into: &[f32]| {
                let mut found = Comparison::default();
                place(rank).check(into, elements, &mut found);
                found.integrity()
            };
            // The root of a broadcast sends it.
            for rank in 1..RANKS {
                let mut into = delivered(op, elements, rank, &sent);
                let bytes = into.len() as u64 * 4;
                assert_eq!(checked(rank, &into), Integrity::Verified { checked: bytes }, "{op:?}");
                into[1] += 1.0;
                let Integrity::Corrupt { wrong: 1, first, .. } = checked(rank, &into) else {
                    panic!("{op:?}: not found")
                };
                assert!(first.starts_with(&format!("rank {rank}, element ")), "{first}");
                into[1] = POISON;
                assert!(checked(rank, &into).is_corrupt(), "{op:?}");
            }
        }
    }

    #[test]
    fn sums_over_the_largest_job_are_exact() {
        let ranks = 4096;
        let place = Place { op: Collective::Allreduce, rank: 0, ranks, round: 1 };
        let mut sums = [0.0_f32; 8];
        for rank in 0..ranks {
            let mut memory = [0.0; 8];
            Place { rank, ..place }.fill(&mut memory);
            sums.iter_mut().zip(memory).for_each(|(sum, element)| *sum += element);
        }
        let mut found = Comparison::default();
        place.check(&sums, 8, &mut found);
        assert_eq!(found.integrity(), Integrity::Verified { checked: 32 });
    }

    #[test]
    fn a_rank_that_leaves_a_barrier_early_is_named() {
        let mut found = Comparison::default();
        check_barriers(2, &[10.0, 25.0, 40.0], &[10.0, 30.0, 35.0], &mut found);
        let Integrity::Corrupt { wrong: 1, of: 3, first } = found.integrity() else { panic!("not found") };
        assert_eq!(first, "rank 2 left barrier 1 of a turn 5 ns before the last rank had come");
    }
}
