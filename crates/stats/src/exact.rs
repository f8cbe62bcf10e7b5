//! Fisher's exact test of two shares.

/// How probable it is that chance puts at least `hits` of all hits among the first `of` cases, when it puts the hits of both groups
/// anywhere: one-sided, from 0 to 1. Counts above their group count as the whole group.
///
/// Source: Fisher, "The Logic of Inductive Inference" (1935).
///
/// ```
/// // 3 of 3, and none of 9 others: 1 in 220 ways.
/// let chance = seatrial_stats::fisher_exact((3, 3), (0, 9));
/// assert!((chance - 1.0 / 220.0).abs() < 1e-12);
/// ```
pub fn fisher_exact((hits, of): (usize, usize), (other_hits, other_of): (usize, usize)) -> f64 {
    let (hits, other_hits) = (hits.min(of), other_hits.min(other_of));
    let (all_hits, all) = (hits + other_hits, of + other_of);
    let ways = |hits: usize| ln_ways(all_hits, hits) + ln_ways(all - all_hits, of - hits) - ln_ways(all, of);
    let possible = hits..=all_hits.min(of);
    possible.map(|hits| ways(hits).exp()).sum::<f64>().min(1.0)
}

/// The logarithm of the number of ways to choose `chosen` of `all`.
fn ln_ways(all: usize, chosen: usize) -> f64 {
    (0..chosen).map(|at| ((all - at) as f64 / (at + 1) as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tea_tasting_lady() {
        // Fisher's own table: 3 of 4 right is 17 of 70 ways, all 4 are 1 of 70.
        assert!((fisher_exact((3, 4), (1, 4)) - 17.0 / 70.0).abs() < 1e-12);
        assert!((fisher_exact((4, 4), (0, 4)) - 1.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_and_everything_are_certain() {
        assert_eq!(fisher_exact((0, 3), (0, 9)), 1.0);
        assert!((fisher_exact((3, 3), (9, 9)) - 1.0).abs() < 1e-12);
        assert_eq!(fisher_exact((0, 0), (0, 0)), 1.0);
    }

    #[test]
    fn the_group_that_has_fewer_is_never_improbable() {
        assert!(fisher_exact((1, 6), (6, 6)) > 0.99);
    }
}
