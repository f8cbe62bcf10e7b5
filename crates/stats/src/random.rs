//! Numbers that look random and are the same in every run.

/// What a generator's state moves by: 2^64 over the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads every bit of a number over all bits: the step and the finish of SplitMix64 (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
pub const fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(STEP);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The generator SplitMix64: a seed gives one sequence, on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of `seed`.
    pub const fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        let bits = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        bits
    }

    /// A number from 0 to below 1, of 53 bits.
    pub const fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts `list` in another order (Fisher and Yates). The high half of a product favours some places by less than 1 in
    /// 10^9 for lists below 10^10 (Lemire, "Fast random integer generation in an interval", 2019).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let wide = u128::from(self.bits()) * (last as u128 + 1);
            list.swap(last, (wide >> 64) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_reference_implementation() {
        // splitmix64.c of Vigna, seed 1234567.
        let mut random = Random::of(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([random.bits(), random.bits(), random.bits()], expected);
    }

    #[test]
    fn a_shuffle_keeps_all_and_uniform_numbers_stay_below_one() {
        let mut random = Random::of(3);
        let mut list: Vec<u32> = (0..100).collect();
        random.shuffle(&mut list);
        assert!(!list.is_sorted());
        list.sort_unstable();
        assert!(list.into_iter().eq(0..100));
        let mean = (0..10_000)
            .map(|_| random.uniform())
            .inspect(|one| assert!((0.0..1.0).contains(one)))
            .sum::<f64>()
            / 1e4;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
