//! Flags samples far from the rest; whoever drops one does it knowingly and says so.

use crate::Error;
use crate::quantile::Sorted;

/// Score from which Iglewicz and Hoaglin call a sample a potential outlier.
pub const OUTLIER_SCORE: f64 = 3.5;

/// Scales the MAD to the standard deviation of a normal distribution: its 75 % quantile.
const MAD_OF_NORMAL: f64 = 0.6745;
/// The same for the mean absolute deviation: sqrt(2/pi).
const MEAN_DEVIATION_OF_NORMAL: f64 = 0.797_884_560_802_865_4;

/// A sample that stands apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Its place in the series.
    pub index: usize,
    /// Its modified Z-score: distance from the median in robust standard deviations, with sign.
    pub score: f64,
}

/// The samples whose modified Z-score exceeds [`OUTLIER_SCORE`] in magnitude, in the order of the series.
///
/// Iglewicz and Hoaglin, "How to Detect and Handle Outliers", ASQC 16 (1993): 0.6745 (x - median) / MAD.
/// Where more than half of the samples are equal the MAD is zero, and the mean absolute deviation stands in
/// for it.
///
/// # Errors
/// Refuses an empty series and samples that are not finite.
pub fn outliers(samples: &[f64]) -> Result<Vec<Outlier>, Error> {
    let sorted = Sorted::new(samples)?;
    let median = sorted.median();
    let spread = robust_deviation(&sorted);
    if spread == 0.0 {
        return Ok(Vec::new());
    }
    // Divided before it is compared, a distance over a spread near the smallest double could overflow.
    let score = |sample: f64| ((sample - median) / spread).clamp(f64::MIN, f64::MAX);
    let scored = samples.iter().map(|&sample| score(sample)).enumerate();
    Ok(scored
        .filter(|(_, score)| score.abs() > OUTLIER_SCORE)
        .map(|(index, score)| Outlier { index, score })
        .collect())
}

/// Standard deviation that a normal distribution with this MAD would have; 0 only if all samples are equal.
fn robust_deviation(sorted: &Sorted) -> f64 {
    let mad = sorted.mad();
    if mad > 0.0 {
        return mad / MAD_OF_NORMAL;
    }
    let (samples, median) = (sorted.as_slice(), sorted.median());
    let total: f64 = samples.iter().map(|sample| (sample - median).abs()).sum();
    total / samples.len() as f64 / MEAN_DEVIATION_OF_NORMAL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_a_hand_made_table() {
        // Median 5, deviations 4 3 2 1 0 1 2 3 95: MAD 2.
        let found = outliers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 100.0]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].index, 8);
        assert!((found[0].score - 0.6745 * 95.0 / 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_border_itself_is_no_outlier() {
        // Median 0 and MAD 0.6745 make the score of a sample the sample itself.
        let around = |last: f64| vec![-2.0, -0.6745, -0.6745, -0.1, 0.0, 0.1, 0.6745, 0.6745, last];
        assert!(outliers(&around(3.499)).unwrap().is_empty());
        assert_eq!(outliers(&around(3.501)).unwrap()[0].index, 8);
    }

    #[test]
    fn flags_the_odd_one_among_equal_samples() {
        // MAD 0; mean deviation 10/11.
        let mut samples = vec![7.0; 11];
        samples[4] = -3.0;
        let found = outliers(&samples).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].index, 4);
        assert!((found[0].score - -11.0 * (2.0 / std::f64::consts::PI).sqrt()).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn equal_samples_have_no_outlier() {
        assert_eq!(outliers(&[1.0; 5]).unwrap(), []);
        assert_eq!(outliers(&[1.0]).unwrap(), []);
    }

    #[test]
    fn scores_stay_finite_over_the_smallest_spread() {
        let found = outliers(&[0.0, 5e-324, 1e-323, 1.5e-323, 1e100]).unwrap();
        assert!(found.iter().all(|outlier| outlier.score.is_finite()));
        assert_eq!(found.last().map(|outlier| outlier.index), Some(4));
    }
}
