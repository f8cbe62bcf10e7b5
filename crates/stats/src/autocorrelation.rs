//! Measures how much neighbouring samples repeat each other, hence what n of them are worth.

use std::f64::consts::PI;

use crate::Error;
use crate::input::check_series;
use crate::moments::mean;
use crate::quantile::median_of_checked;
use crate::ranks::midranks;

/// From this many samples on, a series without evidence of dependence is taken as independent.
const ENOUGH_TO_ACQUIT: usize = 100;
/// One-sided 10 % point of the normal distribution: more than this is evidence of dependence.
const EVIDENCE: f64 = 1.2816;
/// Longer series are shortened to this many block means before their lags are summed, which costs n².
const LONGEST: usize = 2000;

/// How many samples in a row carry the information of one independent sample, about the median; at least 1.
///
/// n samples tell as much as n divided by this many independent ones. The larger of two estimates counts:
///
/// 1. the integrated autocorrelation time of the series of signs about the median (the median's influence
///    function), summed over Geyer's initial monotone sequence ("Practical Markov Chain Monte Carlo",
///    Statistical Science 7, 1992) and corrected for the bias of estimating the centre from the same samples;
/// 2. what a first-order autoregression of the same lag-1 correlation would have, after the small-sample
///    correction of Marriott and Pope (Biometrika 41, 1954). The first sees any shape of dependence but
///    wavers; the second is steady where the first has too few samples.
///
/// With 100 samples or more, dependence must first show in the sum of the first five rank autocorrelations
/// (one-sided 10 % level); without that evidence the answer is 1. Shorter series have to pay for the doubt.
///
/// # Errors
/// Refuses an empty series and samples that are not finite.
pub fn correlation_time(samples: &[f64]) -> Result<f64, Error> {
    check_series(samples)?;
    Ok(time_of_checked(samples))
}

pub(crate) fn time_of_checked(samples: &[f64]) -> f64 {
    let ranks = Centred::new(&midranks(samples));
    if samples.len() >= ENOUGH_TO_ACQUIT && !shows_dependence(&ranks) {
        return 1.0;
    }
    let centre = median_of_checked(samples);
    let signs: Vec<f64> = samples.iter().map(|&sample| sign(sample - centre)).collect();
    summed_time(&signs).max(autoregressive_time(&ranks))
}

/// A series with its mean taken off.
struct Centred {
    values: Vec<f64>,
    /// Sum of squares; 0 for a constant series, which correlates with nothing.
    power: f64,
}

impl Centred {
    fn new(samples: &[f64]) -> Self {
        // The mean of equal samples may miss them by a rounding error, which would correlate perfectly.
        let constant = samples.iter().all(|&sample| sample == samples[0]);
        let centre = if constant { samples[0] } else { mean(samples) };
        let values: Vec<f64> = samples.iter().map(|sample| sample - centre).collect();
        let power = values.iter().map(|value| value * value).sum();
        Self { values, power }
    }

    /// With itself `lag` samples later, from -1 to 1; 0 where it cannot be told.
    ///
    /// The usual estimate with n in both denominators: Box, Jenkins and Reinsel, "Time Series Analysis", chapter 2.
    fn correlation(&self, lag: usize) -> f64 {
        if self.power == 0.0 || lag >= self.values.len() {
            return 0.0;
        }
        let products: f64 = self.values.iter().zip(&self.values[lag..]).map(|(now, later)| now * later).sum();
        (products / self.power).clamp(-1.0, 1.0)
    }
}

fn sign(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

/// Each autocorrelation of independent samples has mean -1/n and variance 1/n (Bartlett 1946).
fn shows_dependence(ranks: &Centred) -> bool {
    const LAGS: usize = 5;
    let count = ranks.values.len() as f64;
    let sum: f64 = (1..=LAGS).map(|lag| ranks.correlation(lag) + 1.0 / count).sum();
    sum * (count / LAGS as f64).sqrt() > EVIDENCE
}

/// Integrated autocorrelation time of a series, by block means where it is long.
///
/// Block means keep the variance of the mean of the whole, so their time, times the block length and the
/// share of the variance that they keep, is the time of the series.
fn summed_time(series: &[f64]) -> f64 {
    let block = series.len().div_ceil(LONGEST);
    if block == 1 {
        return initial_sequence(&Centred::new(series)).max(1.0);
    }
    let whole = Centred::new(series);
    let means = Centred::new(&series.chunks_exact(block).map(mean).collect::<Vec<_>>());
    if whole.power == 0.0 {
        return 1.0;
    }
    let kept = (means.power / means.values.len() as f64) / (whole.power / series.len() as f64);
    (initial_sequence(&means) * block as f64 * kept).max(1.0)
}

/// Sums sums of two neighbouring autocorrelations while these stay positive, none above the one before.
fn initial_sequence(series: &Centred) -> f64 {
    let count = series.values.len();
    let mut time = -1.0;
    let mut lag = 0;
    let mut ceiling = f64::INFINITY;
    while lag + 1 < count / 2 {
        let pair = (series.correlation(lag) + series.correlation(lag + 1)).min(ceiling);
        if pair <= 0.0 {
            break;
        }
        time += 2.0 * pair;
        ceiling = pair;
        lag += 2;
    }
    // Taking the mean off lowers each of the 2 lag - 1 terms by about time/n. The floor keeps a window over
    // most of the series from blowing the answer up; so short a series gets no interval anyway.
    time / (1.0 - 2.0 * lag as f64 / count as f64).max(0.25)
}

/// Integrated time of the signs of a Gaussian first-order autoregression with this lag-1 correlation.
///
/// Signs of two normal variables with correlation r correlate by (2/pi) asin r (Sheppard 1899).
fn autoregressive_time(ranks: &Centred) -> f64 {
    let count = ranks.values.len() as f64;
    let raw = ranks.correlation(1);
    let corrected = (raw + (1.0 + 3.0 * raw) / count).min(1.0 - 1.0 / count);
    if corrected <= 0.0 || ranks.power == 0.0 {
        return 1.0;
    }
    let powers = std::iter::successors(Some(corrected), |power| Some(power * corrected));
    let sum: f64 = powers.take(ranks.values.len()).take_while(|&power| power > 1e-6).map(f64::asin).sum();
    1.0 + 4.0 / PI * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lagged_products_by_hand() {
        // Centred: -1.5 -0.5 0.5 1.5; power 5; lag 1: 0.75 - 0.25 + 0.75 = 1.25; lag 2: -0.75 - 0.75 = -1.5.
        let series = Centred::new(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!([0, 1, 2, 4].map(|lag| series.correlation(lag)), [1.0, 0.25, -0.3, 0.0]);
    }

    #[test]
    fn a_constant_series_correlates_with_nothing() {
        assert_eq!(Centred::new(&[0.1; 7]).correlation(1), 0.0);
        assert_eq!(correlation_time(&[5.0; 8]).unwrap(), 1.0);
    }

    #[test]
    fn an_alternating_series_counts_in_full() {
        let samples: Vec<f64> = (0..120).map(|index| f64::from(index % 2)).collect();
        assert!(Centred::new(&samples).correlation(1) < -0.9);
        assert_eq!(correlation_time(&samples).unwrap(), 1.0);
    }

    #[test]
    fn samples_repeated_four_times_are_worth_a_quarter() {
        // A scrambled permutation of 0..100, each value held for four samples.
        let samples: Vec<f64> = (0..400).map(|index| f64::from((index / 4 * 37) % 101)).collect();
        let time = correlation_time(&samples).unwrap();
        assert!((2.5..6.0).contains(&time), "{time}");
    }

    #[test]
    fn block_means_keep_the_time_of_a_long_series() {
        // 30 samples of each value: the time is 30, and 6,000 samples are read through blocks of three.
        let signs: Vec<f64> =
            (0..6000).map(|index| sign(f64::from((index / 30 * 77) % 201) - 100.0)).collect();
        let direct = initial_sequence(&Centred::new(&signs));
        let blocked = summed_time(&signs);
        assert!((blocked / direct - 1.0).abs() < 0.1, "{blocked} against {direct}");
    }
}
