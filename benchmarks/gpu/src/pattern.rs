//! Contents of the copied memory: 64-bit words that increase by one odd step, modulo 2^64. Every word tells its
//! index, sums over any range are known exactly, and a GPU makes and checks words at memory speed.

/// Step between words: odd, so that no two words of a buffer are the same; 2^64 divided by the golden ratio (Knuth,
/// The Art of Computer Programming, volume 3, section 6.4).
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub first: u64,
    pub step: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrong {
    pub count: u64,
    pub first: u64,
    /// The bits that differ in any of them, where that was noted.
    pub bits: u64,
}

impl Pattern {
    /// The pattern of a `kind` of buffer; each kind has its own first word.
    pub const fn of(kind: u64) -> Self {
        Self { first: kind.wrapping_mul(0xd1b5_4a32_d192_ed03) ^ 0x5ea7_51a1, step: STEP }
    }

    /// The sum of the words `0..count`, modulo 2^64.
    pub const fn sum(self, count: u64) -> u64 {
        // count * (count - 1) / 2 without overflow: one of the two factors is even.
        let pairs = if count.is_multiple_of(2) {
            (count / 2).wrapping_mul(count.wrapping_sub(1))
        } else {
            count.wrapping_mul((count - 1) / 2)
        };
        self.first.wrapping_mul(count).wrapping_add(pairs.wrapping_mul(self.step))
    }

    pub const fn plus(self, factor: u64, other: Self) -> Self {
        Self {
            first: self.first.wrapping_add(factor.wrapping_mul(other.first)),
            step: self.step.wrapping_add(factor.wrapping_mul(other.step)),
        }
    }

    /// The pattern from a word on.
    pub const fn from(self, word: u64) -> Self {
        Self { first: self.first.wrapping_add(word.wrapping_mul(self.step)), step: self.step }
    }

    /// The pattern of which every word has all bits the other way.
    pub const fn inverted(self) -> Self {
        Self { first: !self.first, step: self.step.wrapping_neg() }
    }

    pub fn fill(self, words: &mut [u64]) {
        let mut next = self.first;
        for word in words {
            *word = next;
            next = next.wrapping_add(self.step);
        }
    }

    pub fn check(self, words: &[u64]) -> Option<Wrong> {
        let mut next = self.first;
        let mut wrong: Option<Wrong> = None;
        for (index, word) in words.iter().enumerate() {
            if *word != next {
                let wrong = wrong.get_or_insert(Wrong { first: index as u64, ..Wrong::default() });
                wrong.count += 1;
                wrong.bits |= *word ^ next;
            }
            next = next.wrapping_add(self.step);
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_combinations_are_those_of_the_words() {
        let (a, b) = (Pattern::of(1), Pattern::of(2));
        let word = |of: Pattern, index: u64| of.first.wrapping_add(index.wrapping_mul(of.step));
        for count in [0_u64, 1, 2, 7, 1000] {
            let sum = (0..count).fold(0_u64, |sum, index| sum.wrapping_add(word(a, index)));
            assert_eq!(a.sum(count), sum, "{count}");
        }
        let expected = word(a, 77).wrapping_add(3_u64.wrapping_mul(word(b, 77)));
        assert_eq!(word(a.plus(3, b), 77), expected);
        assert_eq!(word(a.from(70), 7), word(a, 77));
        assert_eq!(word(a.inverted(), 77), !word(a, 77));
    }

    #[test]
    fn one_wrong_bit_is_found_with_its_place() {
        let mut words = vec![0; 4096];
        Pattern::of(3).fill(&mut words);
        assert_eq!(Pattern::of(3).check(&words), None);
        words[17] ^= 1 << 63;
        words[4095] ^= 1;
        assert_eq!(Pattern::of(3).check(&words), Some(Wrong { count: 2, first: 17, bits: 1 << 63 | 1 }));
    }
}
