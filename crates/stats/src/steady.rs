//! Finds where the warm-up of a trial ends, or that it has not ended.

use crate::Error;
use crate::input::check_series;
use crate::moments::mean;
use crate::outlier::OUTLIER_SCORE;
use crate::quantile::Sorted;

/// Fewest samples in which a warm-up is looked for.
const FEWEST_SAMPLES: usize = 20;
/// Samples in a batch once there are enough for twenty batches: MSER-5.
const BATCH: usize = 5;
/// MAD of a normal distribution in standard deviations.
const MAD_OF_NORMAL: f64 = 0.6745;

/// Where the steady part of a trial begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steady {
    /// From this sample on; 0 when nothing needs to be dropped.
    From(usize),
    /// The best place to cut lies at the middle: the trial still drifts, and more samples are needed.
    NotReached,
    /// Fewer than twenty samples: nothing can be said.
    TooShort,
}

/// Finds the warm-up of one trial by the marginal standard error rule, MSER-5.
///
/// The cut minimises the sum of squares of what remains over the square of its count, that is the standard
/// error of the mean of the rest (White, "An Effective Truncation Heuristic for Bias Reduction in Simulation
/// Output", Simulation 69, 1997; Franklin and White, Winter Simulation Conference 2008). Batches of five,
/// from 100 samples on, keep noise from moving the cut. The first half is searched; a minimum at its very end
/// means that no steady state was seen.
///
/// One change to the rule: samples are first clipped to 3.5 robust standard deviations about the median of
/// the second half. Otherwise one late spike would throw away all that came before it.
///
/// A change in the second half is no warm-up and is not seen: look for [`levels`](crate::levels) as well. The
/// rule gives away 2 to 8 % of a series without any warm-up, calls up to 4 % of such series not steady, and
/// drops nothing itself.
///
/// # Errors
/// Refuses an empty series and samples that are not finite.
pub fn steady_from(samples: &[f64]) -> Result<Steady, Error> {
    check_series(samples)?;
    if samples.len() < FEWEST_SAMPLES {
        return Ok(Steady::TooShort);
    }
    let batch = if samples.len() >= FEWEST_SAMPLES * BATCH { BATCH } else { 1 };
    let batches: Vec<f64> = clipped(samples).chunks_exact(batch).map(mean).collect();
    let half = batches.len() / 2;
    let cut = best_cut(&batches, half);
    Ok(if cut == half { Steady::NotReached } else { Steady::From(cut * batch) })
}

/// Deviations from the median of the second half, wild ones drawn in.
fn clipped(samples: &[f64]) -> Vec<f64> {
    let late = Sorted::of_checked(samples[samples.len() / 2..].to_vec());
    let (centre, mad) = (late.median(), late.mad());
    // Where most late samples are equal there is no scale to clip by.
    let reach = if mad > 0.0 { OUTLIER_SCORE / MAD_OF_NORMAL * mad } else { f64::INFINITY };
    samples.iter().map(|sample| (sample - centre).clamp(-reach, reach)).collect()
}

/// The first place, 0 to `last`, that minimises the marginal standard error of the rest.
fn best_cut(values: &[f64], last: usize) -> usize {
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, value) in values.iter().enumerate().rev() {
        sum += value;
        squares += value * value;
        if cut > last {
            continue;
        }
        let count = (values.len() - cut) as f64;
        let error = (squares - sum * sum / count).max(0.0) / (count * count);
        // Walking down: an equal error earlier in the series keeps more samples.
        if error <= best.0 {
            best = (error, cut);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A steady series that alternates about 10.
    fn flat(count: usize) -> Vec<f64> {
        (0..count).map(|index| if index % 2 == 0 { 9.0 } else { 11.0 }).collect()
    }

    #[test]
    fn keeps_all_of_a_flat_series() {
        assert_eq!(steady_from(&flat(20)).unwrap(), Steady::From(0));
        assert_eq!(steady_from(&flat(100)).unwrap(), Steady::From(0));
        assert_eq!(steady_from(&[4.0; 30]).unwrap(), Steady::From(0));
    }

    #[test]
    fn drops_a_slow_start_to_the_sample() {
        let mut samples = flat(20);
        samples[..3].copy_from_slice(&[30.0, 24.0, 18.0]);
        assert_eq!(steady_from(&samples).unwrap(), Steady::From(3));
    }

    #[test]
    fn drops_whole_batches_of_a_long_series() {
        let mut samples = flat(100);
        samples[..12].fill(3.0);
        assert_eq!(steady_from(&samples).unwrap(), Steady::From(15));
    }

    #[test]
    fn a_drift_is_not_steady() {
        let samples: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(steady_from(&samples).unwrap(), Steady::NotReached);
    }

    #[test]
    fn a_long_first_level_is_dropped_whole() {
        let mut samples = flat(100);
        samples[..40].fill(20.0);
        assert_eq!(steady_from(&samples).unwrap(), Steady::From(40));
    }

    #[test]
    fn one_late_spike_throws_nothing_away() {
        let mut samples = flat(60);
        samples[25] = 500.0;
        assert_eq!(steady_from(&samples).unwrap(), Steady::From(0));
    }

    #[test]
    fn nineteen_samples_are_too_few() {
        assert_eq!(steady_from(&flat(19)).unwrap(), Steady::TooShort);
        assert!(matches!(steady_from(&flat(20)).unwrap(), Steady::From(_)));
    }

    #[test]
    fn computes_the_marginal_error_by_hand() {
        // Cut 0: 34/16 = 2.125; cut 1: 0.667/9 = 0.074; cut 2: 0.5/4 = 0.125.
        assert_eq!(best_cut(&[8.0, 1.0, 1.0, 2.0], 2), 1);
    }
}
