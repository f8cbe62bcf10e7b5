//! Tells whether samples come in one cluster or two: two memory placements, two clock states, two paths.

use crate::Error;
use crate::dip::dip;
use crate::quantile::Sorted;

/// Fewest samples in which two modes are looked for.
const FEWEST_SAMPLES: usize = 10;
/// Smallest share of the samples that makes a mode rather than some outliers.
pub const LEAST_SHARE: f64 = 0.1;

/// One cluster of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Number of samples in it.
    pub n: usize,
    /// Its part of all samples, 0 to 1.
    pub share: f64,
    /// Median of its samples.
    pub median: f64,
}

/// In how many clusters the samples lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Modes {
    /// Nothing speaks against a single peak.
    One,
    /// A single peak is excluded; the two clusters.
    Two {
        /// The cluster of smaller values.
        low: Mode,
        /// The cluster of larger values.
        high: Mode,
    },
    /// Fewer than ten samples: nothing can be said.
    TooFew,
}

/// Tests for a single peak and, where that fails, splits the samples in two.
///
/// The test is Hartigan and Hartigan's dip (Annals of Statistics 13, 1985) at the 5 % level against the
/// uniform distribution, the hardest of the unimodal ones to tell apart. The split minimises the absolute
/// deviations from the two medians, with at least [`LEAST_SHARE`] of the samples on each side, so that a
/// spike is no mode.
///
/// Equal samples are first spread evenly over the smallest distance of two different ones: a clock or a
/// counter that reports few distinct values would otherwise have a peak at each. The test takes samples as
/// independent; slow wander inside a trial can pass for two modes, while trial medians are safe.
///
/// # Errors
/// Refuses an empty series and samples that are not finite.
pub fn modes(samples: &[f64]) -> Result<Modes, Error> {
    let sorted = Sorted::new(samples)?;
    let samples = sorted.as_slice();
    if samples.len() < FEWEST_SAMPLES {
        return Ok(Modes::TooFew);
    }
    if samples[0] == samples[samples.len() - 1] || dip(&spread(samples)) <= critical_dip(samples.len()) {
        return Ok(Modes::One);
    }
    let border = best_split(samples);
    let mode = |part: &[f64]| Mode {
        n: part.len(),
        share: part.len() as f64 / samples.len() as f64,
        median: Sorted::of_checked(part.to_vec()).median(),
    };
    Ok(Modes::Two { low: mode(&samples[..border]), high: mode(&samples[border..]) })
}

/// The dip that 5 % of uniform samples of this size exceed.
///
/// Simulated with 200,000 repeats a size (5,000 for the largest); between sizes, sqrt(n) times the dip is
/// interpolated over 1/sqrt(n), in which it is nearly linear.
fn critical_dip(count: usize) -> f64 {
    const TABLE: [(f64, f64); 8] = [
        (10.0, 0.442),
        (20.0, 0.471),
        (50.0, 0.496),
        (100.0, 0.510),
        (200.0, 0.522),
        (500.0, 0.531),
        (2000.0, 0.539),
        (10_000.0, 0.540),
    ];
    let root = (count as f64).sqrt();
    let above = TABLE.iter().position(|&(size, _)| count as f64 <= size).unwrap_or(TABLE.len() - 1).max(1);
    let ((small, small_value), (large, large_value)) = (TABLE[above - 1], TABLE[above]);
    let place = (1.0 / small.sqrt() - 1.0 / root) / (1.0 / small.sqrt() - 1.0 / large.sqrt());
    (small_value + place.min(1.0) * (large_value - small_value)) / root
}

/// Spreads each run of equal values over the smallest distance between two different ones.
fn spread(sorted: &[f64]) -> Vec<f64> {
    let distances = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|&distance| distance > 0.0);
    let resolution = distances.fold(f64::INFINITY, f64::min);
    let mut values = Vec::with_capacity(sorted.len());
    for equal in sorted.chunk_by(|a, b| a == b) {
        let count = equal.len() as f64;
        let offset = |place: usize| ((place as f64 + 0.5) / count - 0.5) * resolution;
        values.extend(equal.iter().enumerate().map(|(place, value)| value + offset(place)));
    }
    values
}

/// The border that leaves the least absolute deviation from the medians of both sides.
fn best_split(sorted: &[f64]) -> usize {
    let count = sorted.len();
    let mut sums = vec![0.0];
    for value in sorted {
        // Measured from the smallest, so that a large common offset costs no digits.
        sums.push(sums[sums.len() - 1] + (value - sorted[0]));
    }
    // The upper half of a sorted stretch less its lower half; a middle sample cancels out.
    let deviation = |start: usize, end: usize| {
        let half = (end - start) / 2;
        (sums[end] - sums[end - half]) - (sums[start + half] - sums[start])
    };
    let least = ((count as f64 * LEAST_SHARE).ceil() as usize).max(1);
    let cost = |border: &usize| deviation(0, *border) + deviation(*border, count);
    (least..=count - least).min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(count / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evenly spaced over one unit from `start`.
    fn cluster(start: f64, count: usize) -> Vec<f64> {
        (0..count).map(|index| start + index as f64 / count as f64).collect()
    }

    #[test]
    fn one_cluster_has_one_mode() {
        assert_eq!(modes(&cluster(5.0, 40)).unwrap(), Modes::One);
        assert_eq!(modes(&[7.0; 40]).unwrap(), Modes::One);
    }

    #[test]
    fn two_clusters_are_split_between_them() {
        let samples = [cluster(10.0, 21), cluster(0.0, 9)].concat();
        let Modes::Two { low, high } = modes(&samples).unwrap() else { panic!("a gap of nine units") };
        assert_eq!((low.n, low.share, low.median), (9, 0.3, 4.0 / 9.0));
        assert_eq!((high.n, high.share), (21, 0.7));
        assert!((high.median - (10.0 + 10.0 / 21.0)).abs() < 1e-12, "{high:?}");
    }

    #[test]
    fn a_spike_is_no_mode() {
        let mut samples = cluster(0.0, 40);
        samples.push(1e6);
        assert_eq!(modes(&samples).unwrap(), Modes::One);
    }

    #[test]
    fn a_spike_does_not_take_the_split() {
        let mut samples = [cluster(0.0, 20), cluster(10.0, 20)].concat();
        samples.push(1e6);
        let Modes::Two { low, high } = modes(&samples).unwrap() else { panic!("a gap of nine units") };
        assert_eq!((low.n, high.n), (20, 21));
    }

    #[test]
    fn neighbouring_ticks_of_a_clock_are_no_modes() {
        let ticks = [[100.0; 20], [101.0; 20]].concat();
        assert_eq!(modes(&ticks).unwrap(), Modes::One);
        let distant = [[100.0; 10], [101.0; 10], [120.0; 10], [121.0; 10]].concat();
        assert!(matches!(modes(&distant).unwrap(), Modes::Two { .. }));
    }

    #[test]
    fn nine_samples_are_too_few() {
        assert_eq!(modes(&cluster(0.0, 9)).unwrap(), Modes::TooFew);
        assert_eq!(modes(&cluster(0.0, 10)).unwrap(), Modes::One);
    }

    #[test]
    fn interpolates_the_critical_dip() {
        assert!((critical_dip(10) - 0.442 / 10f64.sqrt()).abs() < 1e-12);
        assert!((critical_dip(100) - 0.0510).abs() < 1e-12);
        // Between its neighbours, and flat beyond the table.
        let scaled = |count: usize| critical_dip(count) * (count as f64).sqrt();
        assert!(scaled(50) < scaled(70) && scaled(70) < scaled(100));
        assert!((scaled(1_000_000) - 0.540).abs() < 1e-12);
    }

    #[test]
    fn spreads_equal_values_over_the_resolution() {
        assert_eq!(spread(&[1.0, 1.0, 3.0, 7.0]), [0.5, 1.5, 3.0, 7.0]);
    }
}
