//! Contents of the sources: words that differ by position, block and stream.

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
const ODD: u64 = 0xD6E8_FEB8_6659_FD93;

pub fn seed(stream: usize, block: u64) -> u64 {
    ((stream as u64) << 32 | block).wrapping_add(1).wrapping_mul(ODD)
}

/// Word `index` of a block: a multiplicative hash, shifted and multiplied again because the low bits of a single
/// product repeat.
pub fn word(seed: u64, index: usize) -> u64 {
    let seeded = seed.wrapping_add((index as u64).wrapping_mul(GOLDEN));
    (seeded ^ (seeded >> 32)).wrapping_mul(ODD)
}

/// Fills a block and returns the exclusive or of its words, without reading memory back.
pub fn fill(words: &mut [u64], seed: u64) -> u64 {
    let mut fold = 0;
    for (index, slot) in words.iter_mut().enumerate() {
        let word = word(seed, index);
        *slot = word;
        fold ^= word;
    }
    fold
}

/// The byte of write `number` of a stream: never zero, as in fresh memory, and different every time.
pub fn byte(number: u64) -> u8 {
    1 + (number % 251) as u8
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_word_comes_twice() {
        let seeds = [(0, 0), (0, 1), (1, 0), (179, 40)].map(|(stream, block)| seed(stream, block));
        let words: HashSet<u64> =
            seeds.iter().flat_map(|seed| (0..50_000).map(|index| word(*seed, index))).collect();
        assert_eq!(words.len(), 200_000);
    }

    #[test]
    fn the_fold_misses_no_word() {
        let mut words = [0; 64];
        let fold = fill(&mut words, seed(3, 4));
        assert_eq!(words.iter().fold(0, |fold, word| fold ^ word), fold);
        assert!(words.iter().all(|word| *word != 0) && fold != 0);
    }

    #[test]
    fn a_write_stores_what_the_one_before_did_not() {
        assert!((0..1000).all(|number| byte(number) != 0 && byte(number) != byte(number + 1)));
    }
}
