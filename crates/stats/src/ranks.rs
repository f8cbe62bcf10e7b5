//! Replaces values by their ranks, so that a few wild samples cannot steer a test.

/// Ranks from 1, ties sharing the mean of the ranks that they cover (midranks).
///
/// Source: Lehmann, "Nonparametrics: Statistical Methods Based on Ranks" (1975), chapter 1.
pub(crate) fn midranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let shared = (2 * first + tied.len() + 1) as f64 / 2.0;
        for &index in tied {
            ranks[index] = shared;
        }
        first += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_mean_of_their_ranks() {
        assert_eq!(midranks(&[20.0, 10.0, 20.0, 30.0]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(midranks(&[5.0, 5.0, 5.0]), [2.0, 2.0, 2.0]);
    }
}
