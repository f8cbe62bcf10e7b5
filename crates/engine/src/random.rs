//! Lots that are drawn the same way in every run.

/// Numbers that look random and are the same in every run, so that one can be resumed (SplitMix64: Steele, Lea and
/// Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(20_261_121)
    }
}

impl Random {
    /// Numbers that follow from `seed` alone.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Fisher and Yates. The remainder favours small numbers by less than 1 in 10^14 for any list that fits a memory.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            let other = self.next() % (at as u64 + 1);
            list.swap(at, other as usize);
        }
    }
}
