//! Runs of lost datagrams, by length.

/// Lengths that are counted exactly; longer ones are counted by powers of two.
const EXACT: u64 = 32;

/// Classes: the exact lengths, and one for each power of two above.
const CLASSES: usize = EXACT as usize + 59;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Length of the current run.
    run: u64,
    longest: u64,
    classes: [u64; CLASSES],
}

impl Default for Bursts {
    fn default() -> Self {
        Self { run: 0, longest: 0, classes: [0; CLASSES] }
    }
}

impl Bursts {
    /// Adds the next `count` numbers, at most 64; bits from the lowest on tell whether each arrived.
    pub fn word(&mut self, word: u64, count: u64) {
        let mask = if count < 64 { (1 << count) - 1 } else { u64::MAX };
        let mut missing = !word & mask;
        if missing == 0 {
            self.end();
            return;
        }
        let mut left = count;
        let mut came = !missing;
        while left > 0 {
            let here = u64::from(came.trailing_ones()).min(left);
            if here > 0 {
                self.end();
            }
            (missing, left) = (missing.checked_shr(here as u32).unwrap_or(0), left - here);
            let gone = u64::from(missing.trailing_ones()).min(left);
            self.missing(gone);
            (missing, left) = (missing.checked_shr(gone as u32).unwrap_or(0), left - gone);
            came = !missing;
        }
    }

    pub fn missing(&mut self, count: u64) {
        self.run += count;
    }

    pub fn end(&mut self) {
        if self.run > 0 {
            self.longest = self.longest.max(self.run);
            self.classes[class(self.run)] += 1;
            self.run = 0;
        }
    }

    pub fn count(&self) -> u64 {
        self.classes.iter().sum()
    }

    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// Shortest and longest length of each class that has runs, and their number.
    pub fn lengths(&self) -> Vec<(u64, u64, u64)> {
        let bounds = |class: usize| {
            let class = class as u64;
            if class < EXACT {
                return (class + 1, class + 1);
            }
            let power = class - EXACT;
            ((EXACT << power) + 1, EXACT.saturating_mul(1 << (power + 1)))
        };
        let counted = self.classes.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(at, count)| (bounds(at).0, bounds(at).1, *count)).collect()
    }
}

fn class(length: u64) -> usize {
    if length <= EXACT {
        return length as usize - 1;
    }
    ((length - 1) / EXACT).ilog2() as usize + EXACT as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_told_apart_and_long_ones_by_powers_of_two() {
        let mut bursts = Bursts::default();
        for length in [1, 1, 32, 33, 64, 65, 128, u64::MAX] {
            bursts.missing(length);
            bursts.end();
        }
        let lengths = bursts.lengths();
        assert_eq!(lengths[..4], [(1, 1, 2), (32, 32, 1), (33, 64, 2), (65, 128, 2)]);
        assert_eq!(lengths.len(), 5);
        assert_eq!((bursts.count(), bursts.longest()), (8, u64::MAX));
    }

    #[test]
    fn a_run_goes_on_over_the_border_of_words() {
        let mut bursts = Bursts::default();
        bursts.word(!(0b111 << 61), 64);
        bursts.word(!0b11, 64);
        bursts.word(0, 64);
        bursts.word(0b1, 5);
        bursts.end();
        assert_eq!(bursts.lengths(), [(4, 4, 1), (5, 5, 1), (33, 64, 1)]);
    }
}
