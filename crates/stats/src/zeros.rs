//! Tells a set of trials that are all zero from one of which none is: no ratio says how far apart they are.

use crate::Error;
use crate::compare::{Better, SMALLEST, Verdict};
use crate::input::check_trials;
use crate::interval::FEWEST_VALUES;
use crate::moments::mean;
use crate::quantile::median_of_checked;

/// The chance below which a split is called better or worse.
const LEVEL: f64 = 0.05;

/// Two sets of which one is zero in every trial and the other in none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZeroSplit {
    /// Geometric mean of the baseline's trial medians, or 0.
    pub baseline: f64,
    /// The same of the candidate.
    pub candidate: f64,
    /// How often sets without a difference would come out like this at most. `None` with fewer than two trials on a
    /// side or six values in all.
    pub p: Option<f64>,
}

impl ZeroSplit {
    /// Better or worse where chance would hardly do this; never the same.
    #[must_use]
    pub fn verdict(&self, better: Better) -> Verdict {
        if !self.p.is_some_and(|p| p < LEVEL) {
            Verdict::CannotTell
        } else if (self.candidate > self.baseline) == (better == Better::Higher) {
            Verdict::Better
        } else {
            Verdict::Worse
        }
    }
}

/// Whether the trial medians of one set are all zero and those of the other all above it; `None` for other sets.
///
/// Where a trial is zero with a chance of q, all of n and none of m others are with a chance of q^n (1-q)^m. That is
/// largest at q = n/(n+m), whatever the values above zero are. Twice this is `p`, as either set may be the zero one:
/// 1/32 with three trials on each side. Barnard, "Significance Tests for 2 x 2 Tables", Biometrika 34 (1947): the
/// number of zeros is a result. Fisher's test takes it as given and would need four trials on each side.
///
/// Sets without any scatter (counted values) differ when they differ, as in [`compare`](crate::compare).
///
/// # Errors
/// Refuses unusable samples.
pub fn zero_split(baseline: &[Vec<f64>], candidate: &[Vec<f64>]) -> Result<Option<ZeroSplit>, Error> {
    check_trials(baseline)?;
    check_trials(candidate)?;
    let medians =
        |trials: &[Vec<f64>]| trials.iter().map(|trial| median_of_checked(trial)).collect::<Vec<f64>>();
    let (first, second) = (medians(baseline), medians(candidate));
    let others = match (is_zero(&first), is_zero(&second)) {
        (true, false) => &second,
        (false, true) => &first,
        _ => return Ok(None),
    };
    if others.iter().any(|median| *median < SMALLEST) {
        return Ok(None);
    }
    let values: usize = baseline.iter().chain(candidate).map(Vec::len).sum();
    let is_enough = first.len() > 1 && second.len() > 1 && values >= FEWEST_VALUES;
    let is_counted = others.iter().all(|median| *median == others[0]);
    let chance = || if is_counted { 0.0 } else { chance_of_split(first.len(), second.len()) };
    Ok(Some(ZeroSplit { baseline: middle(&first), candidate: middle(&second), p: is_enough.then(chance) }))
}

fn is_zero(medians: &[f64]) -> bool {
    medians.iter().all(|median| median.abs() < SMALLEST)
}

/// The geometric mean, or 0 of zeros.
fn middle(medians: &[f64]) -> f64 {
    if is_zero(medians) {
        return 0.0;
    }
    mean(&medians.iter().map(|median| median.ln()).collect::<Vec<_>>()).exp()
}

fn chance_of_split(zeros: usize, others: usize) -> f64 {
    let (zeros, others) = (zeros as f64, others as f64);
    let all = zeros + others;
    2.0 * (zeros / all).powf(zeros) * (others / all).powf(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(medians: &[f64]) -> Vec<Vec<f64>> {
        medians.iter().map(|median| vec![*median; 3]).collect()
    }

    fn split(baseline: &[f64], candidate: &[f64]) -> Option<ZeroSplit> {
        zero_split(&trials(baseline), &trials(candidate)).unwrap()
    }

    #[test]
    fn three_zeros_against_three_others_are_one_in_thirty_two() {
        let found = split(&[0.0; 3], &[4.0, 1.0, 2.0]).expect("a split");
        assert!((found.p.unwrap() - 1.0 / 32.0).abs() < 1e-12, "{found:?}");
        assert!(found.baseline == 0.0 && (found.candidate - 2.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found.verdict(Better::Lower), Verdict::Worse);
        assert_eq!(found.verdict(Better::Higher), Verdict::Better);
        let back = split(&[4.0, 1.0, 2.0], &[0.0; 3]).expect("a split");
        assert_eq!(
            (back.verdict(Better::Lower), back.verdict(Better::Higher)),
            (Verdict::Better, Verdict::Worse)
        );
    }

    #[test]
    fn chance_is_never_larger_than_stated() {
        for (zeros, others) in [(2, 2), (2, 3), (3, 3), (2, 5), (6, 4)] {
            let of = |q: f64| q.powi(zeros) * (1.0 - q).powi(others) + q.powi(others) * (1.0 - q).powi(zeros);
            let largest = (1..1000).map(|at| of(f64::from(at) / 1000.0)).fold(0.0, f64::max);
            let stated = chance_of_split(zeros as usize, others as usize);
            assert!(stated >= largest - 1e-12, "{zeros} against {others}: {stated} < {largest}");
        }
    }

    #[test]
    fn too_few_trials_cannot_tell() {
        let verdict =
            |baseline: &[f64], candidate: &[f64]| split(baseline, candidate).unwrap().verdict(Better::Lower);
        assert_eq!(verdict(&[0.0; 2], &[3.0, 4.0]), Verdict::CannotTell, "2/16");
        assert_eq!(verdict(&[0.0; 2], &[3.0, 4.0, 5.0]), Verdict::CannotTell, "216/3125");
        let one = split(&[0.0], &[3.0, 4.0, 5.0]).unwrap();
        assert_eq!((one.p, one.verdict(Better::Lower)), (None, Verdict::CannotTell));
        let few = zero_split(&[vec![0.0], vec![0.0]], &[vec![3.0], vec![3.0]]).unwrap().unwrap();
        assert_eq!(few.p, None);
    }

    #[test]
    fn counted_values_without_scatter_differ_when_they_differ() {
        assert_eq!(split(&[0.0; 3], &[3.0; 3]).unwrap().p, Some(0.0));
    }

    #[test]
    fn only_all_zeros_against_none_are_a_split() {
        for (one, other) in [
            (&[0.0; 3], &[0.0; 3]),
            (&[0.0; 3], &[0.0, 1.0, 2.0]),
            (&[0.0, 1.0, 1.0], &[3.0, 4.0, 5.0]),
            (&[1.0; 3], &[3.0, 4.0, 5.0]),
            (&[0.0; 3], &[-1.0, 1.0, 2.0]),
        ] {
            assert_eq!(split(one, other), None, "{one:?} {other:?}");
            assert_eq!(split(other, one), None, "{other:?} {one:?}");
        }
        assert!(zero_split(&trials(&[0.0]), &[vec![f64::NAN]]).is_err());
    }
}
