//! The random order in which a ring visits the lines of its memory.

/// One seed for every order, so that all runs have the same ring.
const SEED: u64 = 0x5EA7_21A1_0000_0001;

/// A random ring over the lines `0..len`, which grows line by line. Sattolo's algorithm (S. Sattolo, "An algorithm to
/// generate a random cyclic permutation", Information Processing Letters 22, 1986), inside out: every new line is
/// inserted behind a random existing one. At every length all cyclic orders are equally likely, and there is only one
/// ring. So one pass yields the rings of a whole sweep of sizes.
#[derive(Clone, Debug)]
pub struct Order {
    next: Vec<u32>,
    state: u64,
}

impl Order {
    /// The ring of line 0 alone, with room for `lines`.
    pub fn with_room_for(lines: usize) -> Self {
        let mut next = Vec::with_capacity(lines.max(1));
        next.push(0);
        Self { next, state: SEED }
    }

    /// Grows the ring to `lines`; a longer ring stays. Panics above 2^32 lines, which the plan does not allow.
    pub fn grow(&mut self, lines: usize) {
        assert!(u32::try_from(lines).is_ok(), "{lines} lines are more than a ring can number");
        while self.next.len() < lines {
            let line = self.next.len() as u32;
            let behind = self.below(line) as usize;
            self.next.push(self.next[behind]);
            self.next[behind] = line;
        }
    }

    pub fn next(&self) -> &[u32] {
        &self.next
    }

    pub fn walk(&self, from: usize, hops: u64) -> usize {
        let hops = hops % self.next.len() as u64;
        (0..hops).fold(from, |line, _| self.next[line] as usize)
    }

    /// A random number below `limit`: the upper half of a product (D. Lemire, "Fast random integer generation in an
    /// interval", 2019). Without his rejection step the bias is less than `limit` in 2^64.
    fn below(&mut self, limit: u32) -> u32 {
        ((u128::from(self.random()) * u128::from(limit)) >> 64) as u32
    }

    /// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use super::*;

    fn order(lines: usize) -> Order {
        let mut order = Order::with_room_for(lines);
        order.grow(lines);
        order
    }

    #[test]
    fn a_ring_of_any_length_visits_every_line_once_before_it_returns() {
        for lines in [1, 2, 3, 64, 1000, 65_536] {
            let order = order(lines);
            let mut seen = HashSet::new();
            let mut line = 0;
            while seen.insert(line) {
                line = order.next()[line] as usize;
            }
            assert_eq!((seen.len(), line), (lines, 0), "a ring of {lines}");
        }
    }

    #[test]
    fn a_ring_that_grew_is_the_ring_that_was_made_at_once() {
        let mut grown = order(100);
        assert_eq!(grown.next(), order(100).next());
        grown.grow(5000);
        assert_eq!(grown.next(), order(5000).next());
    }

    #[test]
    fn all_six_rings_of_four_lines_are_equally_likely() {
        let mut found: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        let mut order = order(4);
        for _ in 0..6000 {
            order.next.truncate(1);
            order.next[0] = 0;
            order.grow(4);
            *found.entry(order.next.clone()).or_default() += 1;
        }
        assert_eq!(found.len(), 6, "{found:?}");
        // Five standard deviations of a binomial count with mean 1000 are 144.
        assert!(found.values().all(|count| count.abs_diff(1000) < 144), "{found:?}");
    }

    #[test]
    fn steps_have_no_stride_that_a_prefetcher_could_follow() {
        let order = order(1 << 16);
        let mut strides: BTreeMap<i64, u32> = BTreeMap::new();
        for (line, next) in (0..).zip(order.next()) {
            *strides.entry(i64::from(*next) - line).or_default() += 1;
        }
        let commonest = strides.values().max().copied().unwrap_or_default();
        assert!(commonest < 20, "one stride is taken {commonest} times of 65536");
    }

    #[test]
    fn walking_a_whole_lap_leads_back() {
        let order = order(777);
        let (one, lap) = (order.walk(5, 1), order.walk(5, 778));
        assert_eq!(one, order.next()[5] as usize);
        assert_eq!(lap, one);
        assert_eq!(order.walk(5, 777), 5);
    }
}
