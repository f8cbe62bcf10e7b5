//! Decides a criterion: a number with its interval against a range.

use seatrial_model::Verdict;

/// Relative tolerance of every comparison with a bar. Unit conversions round in the sixteenth digit; no measurement
/// is exact to nine digits.
const SLACK: f64 = 1e-9;

/// The values that satisfy a criterion, both ends included; an end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decision {
    pub verdict: Verdict,
    /// Whether the interval contains an end of the range, so that another run may decide otherwise.
    pub is_noise: bool,
}

impl Range {
    fn holds(self, value: f64) -> bool {
        value >= self.low - self.low.abs() * SLACK && value <= self.high + self.high.abs() * SLACK
    }

    /// Judges `value`; repeats of the measurement would find it anywhere in `spread`. A spread wholly inside passes,
    /// a spread wholly outside fails. A spread across a bar is `warn` when the value itself is inside, and `unknown`
    /// when it is not.
    pub fn decide(self, value: f64, spread: (f64, f64)) -> Decision {
        // A value outside its own spread is not a median; the wider of the two then decides.
        let (low, high) = (spread.0.min(value), spread.1.max(value));
        let verdict = match (self.holds(value), self.holds(low) && self.holds(high)) {
            (_, true) => Verdict::Pass,
            (true, false) => Verdict::Warn,
            (false, false) if self.misses(low, high) => Verdict::Fail,
            (false, false) => Verdict::Unknown,
        };
        Decision { verdict, is_noise: matches!(verdict, Verdict::Warn | Verdict::Unknown) }
    }

    fn misses(self, low: f64, high: f64) -> bool {
        (!self.holds(low) && low > self.high) || (!self.holds(high) && high < self.low)
    }

    /// How much better than the nearest bar `value` is, in percent of the bar; negative if worse. `None` when that
    /// bar is zero.
    pub fn margin_percent(self, value: f64) -> Option<f64> {
        let to_low = value - self.low;
        let to_high = self.high - value;
        let (distance, bar) = if to_low <= to_high { (to_low, self.low) } else { (to_high, self.high) };
        let percent = 100.0 * distance / bar.abs();
        percent.is_finite().then_some(percent)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use seatrial_model::{Quantity, Unit};

    use super::*;

    const AT_LEAST_100: Range = Range { low: 100.0, high: f64::INFINITY };
    const AT_MOST_100: Range = Range { low: f64::NEG_INFINITY, high: 100.0 };
    const EXACTLY_100: Range = Range { low: 100.0, high: 100.0 };
    const FROM_90_TO_110: Range = Range { low: 90.0, high: 110.0 };

    #[test]
    fn every_place_of_the_interval_has_its_verdict() {
        use Verdict::{Fail, Pass, Unknown, Warn};
        for (range, value, low, high, verdict) in [
            (AT_LEAST_100, 110.0, 105.0, 115.0, Pass),
            (AT_LEAST_100, 105.0, 100.0, 110.0, Pass),
            (AT_LEAST_100, 101.0, 99.0, 103.0, Warn),
            (AT_LEAST_100, 100.0, 99.0, 103.0, Warn),
            (AT_LEAST_100, 99.0, 97.0, 101.0, Unknown),
            (AT_LEAST_100, 99.0, 97.0, 100.0, Unknown),
            (AT_LEAST_100, 95.0, 94.0, 96.0, Fail),
            (AT_MOST_100, 95.0, 94.0, 96.0, Pass),
            (AT_MOST_100, 99.0, 97.0, 101.0, Warn),
            (AT_MOST_100, 101.0, 99.0, 103.0, Unknown),
            (AT_MOST_100, 105.0, 104.0, 106.0, Fail),
            (EXACTLY_100, 100.0, 100.0, 100.0, Pass),
            (EXACTLY_100, 100.0, 99.0, 101.0, Warn),
            (EXACTLY_100, 100.5, 99.0, 101.0, Unknown),
            (EXACTLY_100, 102.0, 101.0, 103.0, Fail),
            (FROM_90_TO_110, 100.0, 95.0, 105.0, Pass),
            (FROM_90_TO_110, 91.0, 89.0, 93.0, Warn),
            (FROM_90_TO_110, 111.0, 109.0, 113.0, Unknown),
            (FROM_90_TO_110, 80.0, 79.0, 81.0, Fail),
            (FROM_90_TO_110, 120.0, 119.0, 121.0, Fail),
        ] {
            let decision = range.decide(value, (low, high));
            assert_eq!(decision.verdict, verdict, "{value} [{low}, {high}] in {range:?}");
            assert_eq!(decision.is_noise, matches!(verdict, Warn | Unknown));
        }
    }

    #[test]
    fn margins_are_signed_percent_of_the_nearest_bar() {
        for (range, value, margin) in [
            (AT_LEAST_100, 110.0, Some(10.0)),
            (AT_LEAST_100, 80.0, Some(-20.0)),
            (AT_MOST_100, 80.0, Some(20.0)),
            (EXACTLY_100, 100.0, Some(0.0)),
            (EXACTLY_100, 105.0, Some(-5.0)),
            (FROM_90_TO_110, 99.0, Some(10.0)),
            (FROM_90_TO_110, 121.0, Some(-10.0)),
            (Range { low: f64::NEG_INFINITY, high: 0.0 }, 1.0, None),
        ] {
            assert_eq!(range.margin_percent(value), margin, "{value} in {range:?}");
        }
    }

    fn goodness(verdict: Verdict) -> u8 {
        match verdict {
            Verdict::Fail => 0,
            Verdict::Unknown => 1,
            Verdict::Warn => 2,
            _ => 3,
        }
    }

    fn config() -> ProptestConfig {
        ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn more_never_judges_worse_against_at_least(
            bar in 1.0..1e6f64, value in 0.0..2e6f64, more in 0.0..1e5f64, below in 0.0..1e5f64, above in 0.0..1e5f64,
        ) {
            let range = Range { low: bar, high: f64::INFINITY };
            let at = |value: f64| goodness(range.decide(value, (value - below, value + above)).verdict);
            prop_assert!(at(value) <= at(value + more));
        }

        #[test]
        fn more_never_judges_better_against_at_most(
            bar in 1.0..1e6f64, value in 0.0..2e6f64, more in 0.0..1e5f64, below in 0.0..1e5f64, above in 0.0..1e5f64,
        ) {
            let range = Range { low: f64::NEG_INFINITY, high: bar };
            let at = |value: f64| goodness(range.decide(value, (value - below, value + above)).verdict);
            prop_assert!(at(value) >= at(value + more));
        }

        #[test]
        fn a_narrower_interval_never_turns_a_plain_verdict_around(
            bar in 1.0..1e3f64, value in 0.0..2e3f64, below in 0.0..1e2f64, above in 0.0..1e2f64, share in 0.0..1.0f64,
        ) {
            let range = Range { low: bar, high: f64::INFINITY };
            let wide = range.decide(value, (value - below, value + above)).verdict;
            let narrow = range.decide(value, (value - share * below, value + share * above)).verdict;
            if matches!(wide, Verdict::Pass | Verdict::Fail) {
                prop_assert_eq!(narrow, wide);
            }
        }

        #[test]
        fn a_bar_that_is_exactly_met_is_met_in_every_unit(value in 1e-3..1e6f64, index in 0..Unit::ALL.len()) {
            let measured = Quantity::new(value, Unit::GigabytesPerSecond).unwrap();
            if let Ok(bar) = measured.to(Unit::ALL[index]) {
                let low = bar.to(Unit::GigabytesPerSecond).unwrap().value();
                let decision = Range { low, high: low }.decide(value, (value, value));
                prop_assert_eq!(decision.verdict, Verdict::Pass);
            }
        }
    }
}
