//! Which sizes are measured.

/// Sizes from `from` to `to` bytes, by rising size: the powers of two and the middle between two of them, and each of
/// these less and more by `beside` bytes. The odd sizes beside the even ones show what a sweep of powers of two hides:
/// drop-outs of copies and cards that only work well on multiples of something.
pub fn sizes(from: u64, to: u64, beside: u64) -> Vec<u64> {
    let powers = (0..64).map(|bit| 1_u64 << bit).take_while(|size| *size <= to);
    let bases = powers.flat_map(|size| [size, size + size / 2]);
    let mut sizes: Vec<u64> = bases
        .flat_map(|base| {
            let beside = if base > 2 * beside { beside } else { 0 };
            [base - beside, base, base + beside]
        })
        .chain([from, to])
        .filter(|size| (from..=to).contains(size))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_doubling_has_its_middle_and_its_neighbours() {
        assert_eq!(sizes(1, 16, 0), [1, 2, 3, 4, 6, 8, 12, 16]);
        assert_eq!(sizes(8, 24, 3), [8, 9, 11, 12, 13, 15, 16, 19, 21, 24]);
        // 47 sizes from 8 B on with two neighbours each, of which the last has one; 1, 2, 3, 4 and 6 B without.
        assert_eq!(sizes(1, 64 << 20, 3).len(), 3 * 47 - 1 + 5);
    }

    #[test]
    fn the_ends_are_always_among_them() {
        for (from, to) in [(5, 1000), (7, 7), (1, 3), (100, 12_345)] {
            let all = sizes(from, to, 3);
            assert_eq!((all.first(), all.last()), (Some(&from), Some(&to)));
            assert!(all.is_sorted_by(|a, b| a < b));
        }
    }
}
