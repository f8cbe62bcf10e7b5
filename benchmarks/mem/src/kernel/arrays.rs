//! The arrays of a loop, and their alignment and length.

use super::name::Kernel;

/// Elements per loop turn; array lengths must be a multiple. A turn is 512 bytes: four cache lines of each half of
/// `a` for `read`, two times four lines for the others.
pub const ELEMENTS_MULTIPLE: usize = 64;

/// Offset of array n from the start of its page-aligned mapping, divided by n. Arrays with equal offsets share cache
/// sets, and a load right behind a store to the same offset in another page waits for it (4 KiB aliasing). An odd
/// number of 4 KiB pages keeps them apart at any position of a thread.
pub const ARRAY_OFFSET_BYTES: usize = 5 * 4096;

/// Every array starts at a cache line, as the widest stores require.
const ALIGNMENT: usize = 64;

/// One thread's share of the arrays; arrays that the kernel does not use may be empty.
#[derive(Debug)]
pub struct Arrays<'a> {
    pub a: &'a mut [f64],
    pub b: &'a mut [f64],
    pub c: &'a mut [f64],
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// An array is empty, or ends within a loop turn.
    #[error(
        "array {array} holds {elements} elements, which is not a multiple of {ELEMENTS_MULTIPLE} above zero"
    )]
    PartialTurn { array: char, elements: usize },
    #[error("array {array} starts {bytes} bytes into a cache line of {ALIGNMENT} bytes")]
    Unaligned { array: char, bytes: usize },
    #[error("array {array} holds {elements} elements, but array a holds {expected}")]
    Unequal { array: char, elements: usize, expected: usize },
}

impl Arrays<'_> {
    pub fn fit(&self, kernel: Kernel) -> Result<(), Misfit> {
        let expected = self.a.len();
        for (array, slice) in self.used(kernel) {
            let (elements, bytes) = (slice.len(), slice.as_ptr().addr() % ALIGNMENT);
            if elements == 0 || elements % ELEMENTS_MULTIPLE != 0 {
                return Err(Misfit::PartialTurn { array, elements });
            }
            if bytes != 0 {
                return Err(Misfit::Unaligned { array, bytes });
            }
            if elements != expected {
                return Err(Misfit::Unequal { array, elements, expected });
            }
        }
        Ok(())
    }

    pub(super) fn used(&self, kernel: Kernel) -> impl Iterator<Item = (char, &[f64])> {
        [('a', &*self.a), ('b', &*self.b), ('c', &*self.c)].into_iter().take(kernel.arrays())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(memory: &mut [f64], skip: usize, elements: usize) -> &mut [f64] {
        let start = memory.as_ptr().align_offset(ALIGNMENT) + skip;
        &mut memory[start..start + elements]
    }

    fn fit(a: (usize, usize), b: (usize, usize), kernel: Kernel) -> Result<(), Misfit> {
        let (mut of_a, mut of_b) = (vec![0.0; 512], vec![0.0; 512]);
        Arrays { a: lines(&mut of_a, a.0, a.1), b: lines(&mut of_b, b.0, b.1), c: &mut [] }.fit(kernel)
    }

    #[test]
    fn whole_turns_at_cache_lines_fit() {
        assert_eq!(fit((0, 128), (8, 128), Kernel::Copy), Ok(()));
    }

    #[test]
    fn an_array_that_the_kernel_does_not_use_may_be_anything() {
        assert_eq!(fit((0, 64), (3, 17), Kernel::Read), Ok(()));
    }

    #[test]
    fn refuses_a_partial_turn() {
        assert_eq!(
            fit((0, 65), (0, 65), Kernel::Copy),
            Err(Misfit::PartialTurn { array: 'a', elements: 65 })
        );
        assert_eq!(fit((0, 0), (0, 0), Kernel::Read), Err(Misfit::PartialTurn { array: 'a', elements: 0 }));
        assert_eq!(
            fit((0, 64), (0, 64), Kernel::Triad),
            Err(Misfit::PartialTurn { array: 'c', elements: 0 })
        );
    }

    #[test]
    fn refuses_an_array_that_starts_within_a_cache_line() {
        assert_eq!(fit((0, 64), (1, 64), Kernel::Copy), Err(Misfit::Unaligned { array: 'b', bytes: 8 }));
    }

    #[test]
    fn refuses_arrays_of_different_length() {
        let unequal = Misfit::Unequal { array: 'b', elements: 128, expected: 64 };
        assert_eq!(fit((0, 64), (0, 128), Kernel::Copy), Err(unequal));
    }
}
