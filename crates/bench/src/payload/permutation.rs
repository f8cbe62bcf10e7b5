//! A permutation of numbers that needs no memory.

use seatrial_stats::mix;

/// Rounds of the network. Four make a pseudorandom permutation of good round functions (Luby and Rackoff, "How to
/// construct pseudorandom permutations from pseudorandom functions", SIAM J. Comput. 17, 1988).
const ROUNDS: u64 = 4;

/// A permutation of the numbers below a count: a Feistel network over the next power of two, whose halves may differ by a
/// bit. A number that falls outside is sent through again until it falls inside (Black and Rogaway, "Ciphers with
/// arbitrary finite domains", CT-RSA 2002), less than twice on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutation {
    count: u64,
    /// Bits of the upper and the lower half.
    widths: (u32, u32),
    key: u64,
}

impl Permutation {
    /// The permutation of `count` numbers that follows from `key`.
    pub const fn new(count: u64, key: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        // An empty half would not be permuted.
        let bits = if bits < 2 { 2 } else { bits };
        Self { count, widths: (bits / 2, bits - bits / 2), key }
    }

    /// Where the number at `position` went.
    ///
    /// # Panics
    /// When there is no such position.
    pub fn at(&self, position: u64) -> u64 {
        assert!(position < self.count, "position {position} of {}", self.count);
        let mut number = position;
        loop {
            number = self.once(number);
            if number < self.count {
                return number;
            }
        }
    }

    /// Where the number comes from: [`Self::at`] of it is `number`.
    ///
    /// # Panics
    /// When there is no such number.
    pub fn position_of(&self, number: u64) -> u64 {
        assert!(number < self.count, "number {number} of {}", self.count);
        let mut position = number;
        loop {
            position = self.back(position);
            if position < self.count {
                return position;
            }
        }
    }

    fn back(&self, number: u64) -> u64 {
        let (mut upper, mut lower) = self.widths;
        let (mut left, mut right) = (number >> lower, number & ones(lower));
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ (self.round(round, left) & ones(lower)), left);
            (upper, lower) = (lower, upper);
        }
        left << lower | right
    }

    fn once(&self, number: u64) -> u64 {
        let (mut upper, mut lower) = self.widths;
        let (mut left, mut right) = (number >> lower, number & ones(lower));
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (self.round(round, right) & ones(upper)));
            (upper, lower) = (lower, upper);
        }
        left << lower | right
    }

    const fn round(&self, round: u64, half: u64) -> u64 {
        mix(self.key ^ half ^ round << 56)
    }
}

/// A number with `bits` ones.
const fn ones(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_whatever_their_count() {
        for count in (1..=70).chain([255, 256, 257, 1000, 4095, 65_537]) {
            let order = Permutation::new(count, 7);
            let mut seen = vec![false; count as usize];
            for position in 0..count {
                assert_eq!(order.position_of(order.at(position)), position);
                let number = order.at(position) as usize;
                assert!(!std::mem::replace(&mut seen[number], true), "{number} of {count} comes twice");
            }
        }
    }

    #[test]
    fn keys_make_different_orders_and_neighbours_part() {
        let count = 4096;
        let orders = [1, 2].map(|key| Permutation::new(count, key));
        let same = (0..count).filter(|position| orders[0].at(*position) == orders[1].at(*position)).count();
        assert!(same < 16, "{same} numbers are in the same place");
        let close = (1..count).filter(|at| orders[0].at(*at).abs_diff(orders[0].at(at - 1)) < 8).count();
        assert!(close < 64, "{close} neighbours stayed together");
    }

    #[test]
    fn works_for_counts_beyond_any_disk() {
        let order = Permutation::new(1 << 61, 3);
        assert!(order.at(0) < 1 << 61 && order.at((1 << 61) - 1) < 1 << 61);
    }
}
