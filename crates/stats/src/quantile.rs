//! Quantiles, the median and its absolute deviation, of samples that are sorted once.

use crate::Error;
use crate::input::{check_series, check_trials};

/// Samples in rising order, the form in which every order statistic is read off.
#[derive(Debug, Clone, PartialEq)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts one series.
    ///
    /// # Errors
    /// Refuses an empty series and samples that are not finite.
    pub fn new(samples: &[f64]) -> Result<Self, Error> {
        check_series(samples)?;
        Ok(Self::of_checked(samples.to_vec()))
    }

    /// Sorts the samples of all trials together.
    ///
    /// # Errors
    /// Refuses an empty trial, no trials, and samples that are not finite.
    pub fn pooled(trials: &[Vec<f64>]) -> Result<Self, Error> {
        check_trials(trials)?;
        Ok(Self::of_checked(trials.concat()))
    }

    /// Sorts values that [`crate::input`] has accepted, or that were computed from such.
    pub(crate) fn of_checked(mut values: Vec<f64>) -> Self {
        debug_assert!(!values.is_empty(), "order statistics of nothing");
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    /// The samples in rising order; never empty.
    #[must_use]
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    #[must_use]
    pub fn min(&self) -> f64 {
        self.0[0]
    }

    #[must_use]
    pub fn max(&self) -> f64 {
        self.0[self.0.len() - 1]
    }

    /// The `p`-quantile by linear interpolation between order statistics.
    ///
    /// This is type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American
    /// Statistician 50 (1996): position `(n - 1) p`, counted from zero; what NumPy and R do unasked.
    ///
    /// # Errors
    /// Refuses a `p` outside 0 to 1, NaN included.
    pub fn quantile(&self, p: f64) -> Result<f64, Error> {
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::Probability { value: p });
        }
        Ok(self.at((self.0.len() - 1) as f64 * p))
    }

    /// Whether at least one sample is expected beyond the `p`-quantile.
    ///
    /// Where this is false, for example at p99 of 20 samples, the quantile is little more than the extreme
    /// under another name, and a report should leave it out or say so.
    #[must_use]
    pub fn resolves(&self, p: f64) -> bool {
        // The slack lets p = 0.9 of 10 samples count although 1 - 0.9 falls short of 0.1 in binary.
        self.0.len() as f64 * p.min(1.0 - p) >= 1.0 - 1e-9
    }

    /// The middle sample, or the mean of the middle two.
    #[must_use]
    pub fn median(&self) -> f64 {
        let upper = self.0.len() / 2;
        if self.0.len() % 2 == 1 { self.0[upper] } else { self.0[upper - 1].midpoint(self.0[upper]) }
    }

    /// The median absolute deviation from the median: raw, in the samples' unit, **not** multiplied by the
    /// 1.4826 that would make it estimate a normal standard deviation.
    ///
    /// Source: Hampel, "The Influence Curve and its Role in Robust Estimation", JASA 69 (1974).
    #[must_use]
    pub fn mad(&self) -> f64 {
        let median = self.median();
        Self::of_checked(self.0.iter().map(|value| (value - median).abs()).collect()).median()
    }

    /// Reads between the order statistics at a position from 0 to n - 1.
    pub(crate) fn at(&self, position: f64) -> f64 {
        let below = (position.floor().max(0.0) as usize).min(self.0.len() - 1);
        let above = (below + 1).min(self.0.len() - 1);
        let (low, high) = (self.0[below], self.0[above]);
        low + (position - below as f64) * (high - low)
    }
}

/// Median of values that are already known to be finite and not empty.
pub(crate) fn median_of_checked(values: &[f64]) -> f64 {
    Sorted::of_checked(values.to_vec()).median()
}

/// The median of finite values; none of no value.
pub fn median(values: &[f64]) -> Option<f64> {
    Sorted::new(values).ok().map(|sorted| sorted.median())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(samples: &[f64]) -> Sorted {
        Sorted::new(samples).unwrap()
    }

    #[test]
    fn interpolates_between_order_statistics() {
        let samples = sorted(&[40.0, 10.0, 30.0, 20.0]);
        for (p, expected) in [(0.0, 10.0), (0.25, 17.5), (0.5, 25.0), (0.9, 37.0), (1.0, 40.0)] {
            assert_eq!(samples.quantile(p).unwrap(), expected, "at {p}");
        }
    }

    #[test]
    fn takes_the_middle_of_odd_and_even_counts() {
        assert_eq!(sorted(&[3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(sorted(&[4.0, 1.0, 2.0, 3.0]).median(), 2.5);
        assert_eq!(sorted(&[7.0]).median(), 7.0);
    }

    #[test]
    fn leaves_the_mad_unscaled() {
        // Deviations from 2 are 1 1 0 0 2 4 7: their median is 1.
        assert_eq!(sorted(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]).mad(), 1.0);
    }

    #[test]
    fn rejects_a_probability_outside_zero_to_one() {
        let samples = sorted(&[1.0]);
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(samples.quantile(p), Err(Error::Probability { .. })), "at {p}");
        }
    }

    #[test]
    fn resolves_p99_from_a_hundred_samples_on() {
        assert!(!sorted(&vec![1.0; 99]).resolves(0.99));
        assert!(sorted(&vec![1.0; 100]).resolves(0.99));
        assert!(sorted(&[1.0; 10]).resolves(0.9) && !sorted(&[1.0; 9]).resolves(0.9));
        assert!(sorted(&[1.0, 2.0]).resolves(0.5));
    }

    #[test]
    fn pools_all_trials() {
        let pooled = Sorted::pooled(&[vec![3.0, 1.0], vec![2.0]]).unwrap();
        assert_eq!(pooled.as_slice(), [1.0, 2.0, 3.0]);
        assert_eq!((pooled.min(), pooled.max()), (1.0, 3.0));
    }
}
