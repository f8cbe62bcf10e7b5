//! What elements hold that operations change, so that a lost, a doubled or a wrong operation shows.

use seatrial_stats::mix;
use seatrial_sys::mpi::WindowLayout;

use super::config::{ELEMENT, OneSidedOp};
use crate::comparison::Comparison;

/// Groups of operations at the places of a size.
#[derive(Clone, Copy, Debug)]
pub struct PlaceCount {
    pub layout: WindowLayout,
    pub groups: u64,
}

/// From one value that compare_and_swap puts to the next: a wrong value is not the next one by chance, and so none is swapped
/// after it.
pub const SWAP_STEP: i64 = 0x9e37_79b9_7f4a_7c15_u64.cast_signed();

/// What element `number` adds, of compare_and_swap what it begins with.
pub fn value(number: usize) -> i64 {
    (mix(number as u64) % 1000) as i64 + 1
}

/// What elements hold before the first operation.
pub fn start(op: OneSidedOp, number: usize) -> i64 {
    if op == OneSidedOp::CompareAndSwap { value(number) } else { 0 }
}

/// What one operation adds to an element.
fn step(op: OneSidedOp, number: usize) -> i64 {
    if op == OneSidedOp::CompareAndSwap { SWAP_STEP } else { value(number) }
}

/// How many operations each of so many elements had.
fn operations(words: usize, counts: &[PlaceCount]) -> Vec<u64> {
    let mut all = vec![0; words];
    for PlaceCount { layout, groups } in counts {
        for place in 0..layout.count {
            let first = (layout.first + place * layout.stride) / ELEMENT as usize;
            let elements = layout.size / ELEMENT as usize;
            all[first..first + elements].iter_mut().for_each(|count| *count += groups);
        }
    }
    all
}

/// Compares the memory that was operated on.
pub fn check_target(op: OneSidedOp, words: &[i64], counts: &[PlaceCount], found: &mut Comparison) {
    for (number, (word, count)) in words.iter().zip(operations(words.len(), counts)).enumerate() {
        let wanted = start(op, number).wrapping_add(step(op, number).wrapping_mul(count as i64));
        found.word(ELEMENT as usize, *word == wanted, || {
            format!("element {number} after {count} operations: {word}, not {wanted}")
        });
    }
}

/// Compares what the last operation on each element found there.
pub fn check_before(op: OneSidedOp, before: &[i64], counts: &[PlaceCount], found: &mut Comparison) {
    for (number, (word, count)) in before.iter().zip(operations(before.len(), counts)).enumerate() {
        let Some(earlier) = count.checked_sub(1) else { continue };
        let wanted = start(op, number).wrapping_add(step(op, number).wrapping_mul(earlier as i64));
        found.word(ELEMENT as usize, *word == wanted, || {
            format!("element {number} before the last of {count} operations: {word}, not {wanted}")
        });
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::Integrity;

    use super::*;

    const COUNTS: [PlaceCount; 2] = [
        PlaceCount { layout: WindowLayout { first: 0, stride: 64, size: 8, count: 2 }, groups: 3 },
        PlaceCount { layout: WindowLayout { first: 0, stride: 64, size: 16, count: 2 }, groups: 5 },
    ];

    #[test]
    fn sizes_at_the_same_places_add_up() {
        let mut wanted = [0; 10];
        (wanted[0], wanted[1], wanted[8], wanted[9]) = (8, 5, 8, 5);
        assert_eq!(operations(10, &COUNTS), wanted);
    }

    #[test]
    fn a_lost_operation_is_found_in_the_target_and_in_what_was_fetched() {
        for op in [OneSidedOp::Accumulate, OneSidedOp::FetchAndOp, OneSidedOp::CompareAndSwap] {
            let after = |less: u64| -> Vec<i64> {
                let counts = operations(10, &COUNTS).into_iter().enumerate();
                counts
                    .map(|(at, count)| {
                        let done = count.saturating_sub(less) as i64;
                        start(op, at).wrapping_add(step(op, at).wrapping_mul(done))
                    })
                    .collect()
            };
            let target = |words: &[i64]| {
                let mut found = Comparison::default();
                check_target(op, words, &COUNTS, &mut found);
                found.integrity()
            };
            let before = |words: &[i64]| {
                let mut found = Comparison::default();
                check_before(op, words, &COUNTS, &mut found);
                found.integrity()
            };
            assert_eq!(target(&after(0)), Integrity::Verified { checked: 80 }, "{op:?}");
            assert_eq!(before(&after(1)), Integrity::Verified { checked: 32 }, "{op:?}");
            let Integrity::Corrupt { wrong: 4, of: 10, first } = target(&after(1)) else {
                panic!("{op:?}: not found")
            };
            assert!(first.starts_with("element 0 after 8 operations: "), "{first}");
            assert!(before(&after(0)).is_corrupt(), "{op:?}");
        }
    }
}
