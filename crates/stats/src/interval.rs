//! The 95 % interval of the median, from trials as the unit of replication.

use crate::Error;
use crate::autocorrelation::time_of_checked;
use crate::input::check_trials;
use crate::moments::{mean, student_quantile, variance};
use crate::quantile::{Sorted, median_of_checked};

/// Fewest values, and fewest independent values, that an interval is made from.
///
/// Six is where the whole range of a sample first covers the median with 95 %: the chance that all of n
/// values lie on one side is 2 · 0.5^n, which is 6.3 % for five and 3.1 % for six.
pub const FEWEST_VALUES: usize = 6;

/// Fewest samples that a single trial makes an interval from: fewer cannot show how they depend on each
/// other.
pub const FEWEST_SAMPLES_ALONE: usize = 100;

/// Two-sided 95 %.
const UPPER_TAIL: f64 = 0.975;

/// A closed interval in the unit of the samples; `low <= high`, both finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// The interval that reaches `half_width` to both sides of `centre`.
    pub(crate) fn around(centre: f64, half_width: f64) -> Self {
        Self { low: centre - half_width, high: centre + half_width }
    }

    /// Whether `value` lies in the interval, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Half the distance between the ends.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The half-width as a fraction of `value`; `None` where `value` is too near zero to divide by.
    #[must_use]
    pub fn relative_half_width(&self, value: f64) -> Option<f64> {
        if self.half_width() == 0.0 {
            return Some(0.0);
        }
        let fraction = self.half_width() / value.abs();
        fraction.is_finite().then_some(fraction)
    }

    /// The smallest interval that holds this one and `value`.
    fn widened_to(self, value: f64) -> Self {
        Self { low: self.low.min(value), high: self.high.max(value) }
    }
}

/// The 95 % interval of the median, or `None` where the samples cannot support one.
///
/// Two trials or more: Student's t interval over the trial medians, with k - 1 degrees of freedom. Their
/// scatter already holds the scatter within trials, whatever its correlation (Kalibera and Jones,
/// "Rigorous Benchmarking in Reasonable Time", ISMM 2013: replicate at the highest level that varies).
///
/// One trial: the order statistics between which the median lies, at the number of independent samples
/// that the series is worth (Woodruff, "Confidence Intervals for Medians", JASA 47, 1952; see
/// [`correlation_time`](crate::correlation_time)). It speaks of that one process only, and is `None` below
/// [`FEWEST_SAMPLES_ALONE`] samples or six independent ones.
///
/// Fewer than [`FEWEST_VALUES`] samples in all give `None`. The median of the pooled samples always lies in
/// the interval.
///
/// # Errors
/// Refuses an empty trial, no trials, and samples that are not finite.
pub fn median_interval(trials: &[Vec<f64>]) -> Result<Option<Interval>, Error> {
    check_trials(trials)?;
    Ok(interval_of_checked(trials, &Sorted::of_checked(trials.concat())))
}

/// As [`median_interval`], for a caller that has checked the trials and sorted their samples.
pub(crate) fn interval_of_checked(trials: &[Vec<f64>], pooled: &Sorted) -> Option<Interval> {
    if pooled.as_slice().len() < FEWEST_VALUES {
        return None;
    }
    match trials {
        [only] => within_one_trial(only, pooled),
        _ => Some(between_trials(trials).widened_to(pooled.median())),
    }
}

fn between_trials(trials: &[Vec<f64>]) -> Interval {
    let medians: Vec<f64> = trials.iter().map(|samples| median_of_checked(samples)).collect();
    let count = medians.len() as f64;
    let error = (variance(&medians) / count).sqrt();
    Interval::around(mean(&medians), student_quantile(UPPER_TAIL, count - 1.0) * error)
}

/// The share of independent samples below the true median has mean 1/2 and variance 1/(4 n).
fn within_one_trial(samples: &[f64], sorted: &Sorted) -> Option<Interval> {
    let count = samples.len() as f64;
    let independent = count / time_of_checked(samples);
    if samples.len() < FEWEST_SAMPLES_ALONE || independent < FEWEST_VALUES as f64 {
        return None;
    }
    // Student's t, not the normal quantile, because the number of independent samples is an estimate too.
    let share = student_quantile(UPPER_TAIL, independent - 1.0) / (4.0 * independent).sqrt();
    // The i-th of n order statistics stands, on average, at the share i/(n + 1).
    let low = (0.5 - share) * (count + 1.0) - 1.0;
    let high = (0.5 + share) * (count + 1.0) - 1.0;
    (low >= 0.0 && high <= count - 1.0).then(|| Interval { low: sorted.at(low), high: sorted.at(high) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_trials_give_the_t_interval_of_their_medians() {
        // Medians 10, 11, 12: mean 11, standard error 1/sqrt(3), t(2) = 4.30265.
        let trials = [vec![9.0, 10.0, 10.5], vec![11.0, 10.0, 12.0], vec![12.0, 13.0, 8.0]];
        let interval = median_interval(&trials).unwrap().unwrap();
        assert!((interval.low - (11.0 - 4.302_652_73 / 3f64.sqrt())).abs() < 1e-6, "{interval:?}");
        assert!((interval.high - (11.0 + 4.302_652_73 / 3f64.sqrt())).abs() < 1e-6, "{interval:?}");
    }

    #[test]
    fn five_values_give_no_interval_and_six_do() {
        assert_eq!(median_interval(&[vec![1.0, 2.0], vec![1.0, 2.0], vec![3.0]]).unwrap(), None);
        assert!(median_interval(&[vec![1.0, 2.0], vec![1.0, 2.0], vec![3.0, 4.0]]).unwrap().is_some());
    }

    #[test]
    fn one_trial_takes_order_statistics() {
        // A scrambled 1..=101 without correlation: share 0.5 ± t(100)/sqrt(404), times 102.
        let samples: Vec<f64> = (0..101).map(|index| f64::from((index * 37) % 101 + 1)).collect();
        assert_eq!(crate::correlation_time(&samples).unwrap(), 1.0);
        let interval = median_interval(&[samples]).unwrap().unwrap();
        let reach = 1.983_971_5 / 404f64.sqrt() * 102.0;
        assert!((interval.low - (51.0 - reach)).abs() < 1e-4, "{interval:?}");
        assert!((interval.high - (51.0 + reach)).abs() < 1e-4, "{interval:?}");
    }

    #[test]
    fn one_trial_that_drifts_gives_no_interval() {
        let samples: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(median_interval(&[samples]).unwrap(), None);
    }

    #[test]
    fn one_trial_gives_an_interval_from_a_hundred_samples_on() {
        let mut samples: Vec<f64> = (0..100).map(|index| f64::from((index * 37) % 101)).collect();
        assert!(median_interval(&[samples.clone()]).unwrap().is_some());
        samples.pop();
        assert_eq!(median_interval(&[samples]).unwrap(), None);
    }

    #[test]
    fn holds_the_pooled_median_of_lopsided_trials() {
        // Eleven trials at 0 and four at 1: the mean of the medians is 0.27 and its interval ends above 0.
        let trials: Vec<Vec<f64>> = (0..15).map(|trial| vec![f64::from(u8::from(trial > 10))]).collect();
        assert!(between_trials(&trials).low > 0.0);
        assert!(median_interval(&trials).unwrap().unwrap().contains(0.0));
    }

    #[test]
    fn relative_half_width_refuses_to_divide_by_zero() {
        let interval = Interval { low: -1.0, high: 3.0 };
        assert_eq!(interval.relative_half_width(-4.0), Some(0.5));
        assert_eq!(interval.relative_half_width(0.0), None);
        assert_eq!(Interval { low: 0.0, high: 0.0 }.relative_half_width(0.0), Some(0.0));
    }
}
