//! The figures that stand for a metric in a record: never a mean on its own.

use crate::Error;
use crate::input::check_trials;
use crate::interval::{Interval, interval_of_checked};
use crate::moments::mean;
use crate::quantile::Sorted;

/// What repeated measurements amount to; every figure but the counts is in the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Number of samples, over all trials.
    pub n: usize,
    pub trials: usize,
    /// Median of all samples.
    pub median: f64,
    /// Raw median absolute deviation of all samples, not scaled to a standard deviation.
    pub mad: f64,
    pub min: f64,
    pub max: f64,
    /// Arithmetic mean, for reference beside the median.
    pub mean: f64,
    /// 95 % interval of the median, see [`median_interval`](crate::median_interval); `None` where the
    /// samples cannot support one.
    pub ci95: Option<Interval>,
}

impl Summary {
    /// Summarises trials of samples. For quantiles use [`Sorted::pooled`].
    ///
    /// # Errors
    /// Refuses an empty trial, no trials, and samples that are not finite.
    pub fn of(trials: &[Vec<f64>]) -> Result<Self, Error> {
        check_trials(trials)?;
        let pooled = Sorted::of_checked(trials.concat());
        Ok(Self {
            n: pooled.as_slice().len(),
            trials: trials.len(),
            median: pooled.median(),
            mad: pooled.mad(),
            min: pooled.min(),
            max: pooled.max(),
            // Summed in rising order, so that shuffled samples give the same digits; the clamp undoes
            // the last bit of rounding, which could put the mean of equal samples beside them.
            mean: mean(pooled.as_slice()).clamp(pooled.min(), pooled.max()),
            ci95: interval_of_checked(trials, &pooled),
        })
    }

    /// Half-width of the interval as a fraction of the median: the figure that a stop rule looks at.
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        self.ci95.and_then(|interval| interval.relative_half_width(self.median))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summarises_a_table_by_hand() {
        let summary = Summary::of(&[vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 9.0]]).unwrap();
        assert_eq!((summary.n, summary.trials), (6, 2));
        assert_eq!((summary.median, summary.mean), (3.5, 4.0));
        assert_eq!((summary.min, summary.max), (1.0, 9.0));
        // Deviations 2.5 1.5 0.5 0.5 1.5 5.5.
        assert_eq!(summary.mad, 1.5);
        // Medians 2 and 5: 3.5 ± 12.7062 · 1.5.
        let interval = summary.ci95.unwrap();
        assert!((interval.half_width() - 19.0593).abs() < 1e-3, "{interval:?}");
        assert!((summary.relative_half_width().unwrap() - 5.4455).abs() < 1e-3);
    }

    #[test]
    fn equal_samples_have_no_width() {
        let summary = Summary::of(&vec![vec![0.1; 7]; 3]).unwrap();
        assert_eq!((summary.mean, summary.mad), (0.1, 0.0));
        assert!(summary.ci95.unwrap().contains(0.1));
        assert!(summary.relative_half_width().unwrap() < 1e-12);
    }

    #[test]
    fn a_single_sample_has_a_median_and_no_interval() {
        let summary = Summary::of(&[vec![2.0]]).unwrap();
        assert_eq!((summary.median, summary.mad, summary.ci95), (2.0, 0.0, None));
    }

    #[test]
    fn refuses_a_nan() {
        assert!(matches!(Summary::of(&[vec![f64::NAN]]), Err(Error::NotFinite { .. })));
    }
}
