//! The ratio of two things that were measured in turn, so that what drifts drifts for both.

use crate::Error;
use crate::input::check_series;
use crate::interval::{FEWEST_VALUES, Interval};
use crate::moments::{mean, student_quantile, student_tails, variance};

/// A ratio over pairs of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedRatio {
    /// Geometric mean of first over second, so that swapping the sides inverts it exactly.
    pub ratio: f64,
    /// 95 % interval of `ratio`; `None` with fewer than three pairs, which are six values.
    pub ci95: Option<Interval>,
    /// How often pairs without a difference would come out at least this far from 1, for whoever makes many comparisons, see
    /// [`discoveries`](crate::discoveries). `None` where `ci95` is.
    pub p: Option<f64>,
}

/// Smallest value that has a usable logarithm, as in [`compare`](crate::compare).
const SMALLEST: f64 = 1e-100;

/// The ratio of first over second, by Student's t on the logarithms of the ratios within each pair.
///
/// Pairing by time is blocking: what changes from one pair to the next (temperature, neighbours, clock) is in both values
/// of a pair and cancels in its ratio (Box, Hunter and Hunter, "Statistics for Experimenters", 2nd edition 2005, section
/// 3.2). The order within a pair should be drawn by lot, so that what changes inside a pair favours neither side.
///
/// # Errors
/// Refuses no pairs at all, and values that are not above 1e-100 and finite.
pub fn paired_ratio(pairs: &[(f64, f64)]) -> Result<PairedRatio, Error> {
    let both: Vec<f64> = pairs.iter().flat_map(|(first, second)| [*first, *second]).collect();
    check_series(&both)?;
    if let Some(trial) = both.iter().position(|value| *value < SMALLEST) {
        return Err(Error::NotPositive { trial: trial / 2, median: both[trial] });
    }
    let logs: Vec<f64> = pairs.iter().map(|(first, second)| first.ln() - second.ln()).collect();
    let centre = mean(&logs);
    let (mut ci95, mut p) = (None, None);
    if 2 * pairs.len() >= FEWEST_VALUES {
        let count = logs.len() as f64;
        let error = (variance(&logs) / count).sqrt();
        let reach = student_quantile(0.975, count - 1.0) * error;
        ci95 = Some(Interval { low: finite(centre - reach), high: finite(centre + reach) });
        p = Some(tails(centre, error, count - 1.0));
    }
    Ok(PairedRatio { ratio: finite(centre), ci95, p })
}

/// The p-value of a mean with its standard error; without any scatter, pairs differ when they differ.
fn tails(centre: f64, error: f64, freedom: f64) -> f64 {
    match (centre == 0.0, error == 0.0) {
        (true, _) => 1.0,
        (false, true) => 0.0,
        (false, false) => student_tails(centre / error, freedom),
    }
}

/// The number of a logarithm; absurd ones end at the largest finite number.
fn finite(log: f64) -> f64 {
    log.exp().min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students_on_the_logarithms_within_pairs() {
        // Logarithms of the ratios 0, 1 and 2: mean 1, standard error 1/sqrt(3), t(2) = 4.30265.
        let pairs = [(1.0, 1.0), (1f64.exp(), 1.0), (2f64.exp() * 7.0, 7.0)];
        let found = paired_ratio(&pairs).unwrap();
        let reach = 4.302_652_73 / 3f64.sqrt();
        let interval = found.ci95.unwrap();
        assert!((found.ratio.ln() - 1.0).abs() < 1e-12, "{found:?}");
        assert!((interval.low.ln() - (1.0 - reach)).abs() < 1e-6, "{interval:?}");
        assert!((interval.high.ln() - (1.0 + reach)).abs() < 1e-6, "{interval:?}");
        // The t of this mean is sqrt(3), whose tails on 2 degrees are 1 - sqrt(3/5).
        assert!((found.p.unwrap() - (1.0 - 0.6f64.sqrt())).abs() < 1e-9, "{found:?}");
        let swapped: Vec<(f64, f64)> = pairs.iter().map(|(first, second)| (*second, *first)).collect();
        assert!((paired_ratio(&swapped).unwrap().ratio * found.ratio - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_drift_that_both_sides_share_leaves_no_width() {
        let drifting: Vec<(f64, f64)> =
            (1..=6).map(|round| (f64::from(round) * 1.1, f64::from(round))).collect();
        let interval = paired_ratio(&drifting).unwrap().ci95.unwrap();
        assert!(interval.half_width() < 1e-12 && (interval.low - 1.1).abs() < 1e-12, "{interval:?}");
    }

    #[test]
    fn two_pairs_have_a_ratio_and_no_interval() {
        let found = paired_ratio(&[(2.0, 1.0), (8.0, 1.0)]).unwrap();
        assert!((found.ratio - 4.0).abs() < 1e-12 && found.ci95.is_none() && found.p.is_none(), "{found:?}");
    }

    #[test]
    fn equal_pairs_do_not_differ_and_pairs_that_differ_by_as_much_do() {
        assert_eq!(paired_ratio(&[(2.0, 2.0); 3]).unwrap().p, Some(1.0));
        assert_eq!(paired_ratio(&[(2.0, 1.0); 3]).unwrap().p, Some(0.0));
    }

    #[test]
    fn refuses_what_has_no_ratio() {
        assert_eq!(paired_ratio(&[]), Err(Error::EmptyTrial { trial: 0 }));
        assert_eq!(
            paired_ratio(&[(1.0, 1.0), (1.0, 0.0)]),
            Err(Error::NotPositive { trial: 1, median: 0.0 })
        );
        assert!(paired_ratio(&[(1.0, f64::NAN)]).is_err());
    }
}
