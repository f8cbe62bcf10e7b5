//! Contents of the arrays before and after the loops, to the bit.
//!
//! Values differ between elements and arrays, so that a line that is missing, misplaced or written twice is found.
//! All are in [1, 2) with random mantissas: results stay finite, no operation is exact by luck, and the expected
//! value is the same two IEEE 754 operations (the loops multiply and add without fusing, as Rust does).

use super::arrays::Arrays;
use super::name::Kernel;
use crate::check::Check;

/// The factor `s` of `scale` and `triad`, and the value of `write`, as in STREAM.
pub const SCALAR: f64 = 3.0;

/// The byte of `memset`; eight of them make a finite number.
pub(super) const MEMSET_BYTE: u8 = 0x40;

impl Kernel {
    /// Fills the kernel's arrays with their starting values. Call it on the thread that runs the loop, as the first
    /// touch.
    pub fn fill(self, arrays: &mut Arrays<'_>) {
        let all = [(b'a', &mut *arrays.a), (b'b', &mut *arrays.b), (b'c', &mut *arrays.c)];
        for (array, slice) in all.into_iter().take(self.arrays()) {
            for (index, element) in slice.iter_mut().enumerate() {
                *element = start(array, index);
            }
        }
    }

    /// The fold of a pass over `arrays`, in which every bit of `a` counts; computed from the pattern, not from
    /// memory. Folds of parts combine by exclusive or.
    pub fn expected_fold(self, arrays: &Arrays<'_>) -> u64 {
        if !self.folds() {
            return 0;
        }
        (0..arrays.a.len()).fold(0, |fold, index| fold ^ start(b'a', index).to_bits())
    }

    /// Compares every element of the kernel's arrays with its exact value after one or more whole passes.
    pub fn check(self, arrays: &Arrays<'_>) -> Check {
        let mut check = Check::default();
        for (array, slice) in arrays.used(self) {
            for (index, element) in slice.iter().enumerate() {
                let expected = self.after(array, index);
                check.word(element.to_bits() == expected.to_bits(), || {
                    format!("element {index} of array {array} is {element:e}, not {expected:e}")
                });
            }
        }
        check
    }

    fn after(self, array: char, index: usize) -> f64 {
        let start = |array| start(array, index);
        match (self, array) {
            (Self::Write, 'a') => SCALAR,
            (Self::Memset, 'a') => f64::from_ne_bytes([MEMSET_BYTE; size_of::<f64>()]),
            (Self::Copy | Self::Memcpy, 'b') => start(b'a'),
            (Self::Scale, 'b') => SCALAR * start(b'a'),
            (Self::Add, 'c') => start(b'a') + start(b'b'),
            (Self::Triad, 'a') => start(b'b') + SCALAR * start(b'c'),
            (_, input) => start(input as u8),
        }
    }
}

/// Starting value of an element: the mantissa is the upper part of a multiplicative hash, shifted and multiplied
/// again because the low bits of a single product repeat.
fn start(array: u8, index: usize) -> f64 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    const ODD: u64 = 0xD6E8_FEB8_6659_FD93;
    let seed = (index as u64).wrapping_mul(GOLDEN).wrapping_add(u64::from(array).wrapping_mul(ODD));
    let mixed = (seed ^ (seed >> 32)).wrapping_mul(ODD);
    f64::from_bits((mixed >> 12) | 1.0_f64.to_bits())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_elements_start_alike() {
        let values: HashSet<u64> = (0..100_000)
            .flat_map(|index| [b'a', b'b', b'c'].map(|array| start(array, index).to_bits()))
            .collect();
        assert_eq!(values.len(), 300_000);
    }

    #[test]
    fn starting_values_lie_between_one_and_two() {
        assert!((0..100_000).all(|index| (1.0..2.0).contains(&start(b'b', index))));
    }

    #[test]
    fn a_triad_with_one_rounding_instead_of_two_would_show() {
        let told_apart = |index: &usize| {
            let (b, c) = (start(b'b', *index), start(b'c', *index));
            SCALAR.mul_add(c, b) != b + SCALAR * c
        };
        assert!((0..1000).filter(told_apart).count() > 100);
    }

    #[test]
    fn the_fold_of_any_missing_line_shows() {
        let line =
            |first: usize| (first..first + 8).fold(0, |fold, index| fold ^ start(b'a', index).to_bits());
        assert!((0..100_000).step_by(8).all(|first| line(first) != 0));
    }

    #[test]
    fn folds_of_parts_combine_to_the_fold_of_the_whole() {
        let mut memory = vec![0.0; 300];
        let mut arrays = Arrays { a: &mut memory, b: &mut [], c: &mut [] };
        Kernel::Read.fill(&mut arrays);
        let whole = Kernel::Read.expected_fold(&arrays);
        let parts: Vec<u64> = arrays
            .a
            .chunks(7)
            .map(|part| part.iter().fold(0, |fold, element| fold ^ element.to_bits()))
            .collect();
        assert_eq!(parts.iter().fold(0, |fold, part| fold ^ part), whole);
    }

    #[test]
    fn memory_that_no_pass_went_over_is_all_wrong() {
        let (mut a, mut b) = (vec![0.0; 100], vec![0.0; 100]);
        let mut arrays = Arrays { a: &mut a, b: &mut b, c: &mut [] };
        Kernel::Copy.fill(&mut arrays);
        let check = Kernel::Copy.check(&arrays);
        assert_eq!((check.checked, check.wrong), (200, 100));
        assert!(check.first.starts_with("element 0 of array b is "), "{}", check.first);
    }
}
