//! Decides whether a second set of trials is better, worse or the same as a first one.

use crate::Error;
use crate::input::check_trials;
use crate::interval::{FEWEST_VALUES, Interval};
use crate::moments::{mean, student_quantile, student_tails, variance};
use crate::quantile::median_of_checked;

/// Medians below this are taken as zero: their logarithms would outgrow any difference of interest.
pub(crate) const SMALLEST: f64 = 1e-100;
/// Chance of finding the shift that is reported as the smallest detectable one.
const POWER: f64 = 0.9;

/// Which direction of a metric is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Rates, counts of work done.
    Higher,
    Lower,
}

/// How a comparison is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompareRule {
    pub better: Better,
    /// Relative difference, between 0 and 1, below which two sets count as the same; `None` never says
    /// "same" of sets that merely could not be told apart.
    pub same_within: Option<f64>,
}

/// What can be said of the candidate against the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Different, in the good direction.
    Better,
    /// Different, in the bad direction.
    Worse,
    /// Shown to differ by less than [`CompareRule::same_within`], or equal in every trial.
    Same,
    /// The trials do not decide it.
    CannotTell,
}

/// The relative difference of two sets of trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Geometric mean of the baseline's trial medians.
    pub baseline: f64,
    /// The same of the candidate.
    pub candidate: f64,
    /// Candidate over baseline minus 1: 0.02 is 2 % more than the baseline. From the geometric means of the
    /// trial medians, so that swapping the sides inverts the ratio exactly.
    pub difference: f64,
    /// 95 % interval of `difference`; `None` with fewer than two trials on a side or six values in all.
    pub ci95: Option<Interval>,
    pub verdict: Verdict,
    /// How often sets without a difference would come out at least this far apart: the p-value of the test, for whoever
    /// makes many comparisons, see [`discoveries`](crate::discoveries). `None` where `ci95` is.
    pub p: Option<f64>,
    /// The relative shift that trials as noisy and as many as these would be told apart by with a chance of
    /// 90 %: what a "cannot tell" was unable to exclude. `None` where `ci95` is.
    pub smallest_detectable: Option<f64>,
}

/// Compares two sets of trials by Welch's t test on the logarithms of their trial medians.
///
/// Welch, "The Generalization of Student's Problem", Biometrika 34 (1947): unequal variances, fractional
/// degrees of freedom. Logarithms make the difference relative. A trial is one value here, because samples of
/// one process are no replication. [`Verdict::Same`] comes from two one-sided tests at 5 % each (Schuirmann,
/// J. Pharmacokinetics and Biopharmaceutics 15, 1987): the 90 % interval lies within the margin. It goes
/// before better and worse: a difference that is certain and negligible is the same.
///
/// Sets without any scatter (counted values) differ when they differ and are the same when equal.
///
/// # Errors
/// Refuses unusable samples, a median that is not above zero (see [`zero_split`](crate::zero_split)), and a margin
/// outside 0 to 1.
pub fn compare(
    baseline: &[Vec<f64>],
    candidate: &[Vec<f64>],
    rule: &CompareRule,
) -> Result<Comparison, Error> {
    if let Some(margin) = rule.same_within
        && !(margin > 0.0 && margin < 1.0)
    {
        return Err(Error::Setting { setting: "same_within", value: margin, wanted: "between 0 and 1" });
    }
    let (baseline_logs, candidate_logs) = (log_medians(baseline)?, log_medians(candidate)?);
    let (baseline_mean, candidate_mean) = (mean(&baseline_logs), mean(&candidate_logs));
    let shift = candidate_mean - baseline_mean;
    let found = Comparison {
        baseline: baseline_mean.exp(),
        candidate: candidate_mean.exp(),
        difference: to_relative(shift),
        ci95: None,
        verdict: Verdict::CannotTell,
        p: None,
        smallest_detectable: None,
    };
    let values: usize = baseline.iter().chain(candidate).map(Vec::len).sum();
    if baseline.len() < 2 || candidate.len() < 2 || values < FEWEST_VALUES {
        return Ok(found);
    }
    let welch = Welch::of(&baseline_logs, &candidate_logs);
    let log_interval = Interval::around(shift, welch.reach(0.975));
    Ok(Comparison {
        ci95: Some(Interval { low: to_relative(log_interval.low), high: to_relative(log_interval.high) }),
        verdict: judge(shift, &log_interval, &welch, rule),
        p: Some(welch.p(shift)),
        smallest_detectable: Some(to_relative(welch.reach(0.975) + welch.reach(POWER))),
        ..found
    })
}

/// Standard error of a difference of two means, and the degrees of freedom that it is known with.
struct Welch {
    error: f64,
    freedom: f64,
}

impl Welch {
    fn of(first: &[f64], second: &[f64]) -> Self {
        let (a, b) = (variance(first) / first.len() as f64, variance(second) / second.len() as f64);
        let total = a + b;
        let (a_share, b_share) = (a / total, b / total);
        let freedom = 1.0
            / (a_share * a_share / (first.len() - 1) as f64 + b_share * b_share / (second.len() - 1) as f64);
        // Without any scatter the shares are 0/0; the error is zero and the freedom of no account.
        Self { error: total.sqrt(), freedom: if total > 0.0 { freedom } else { 1.0 } }
    }

    fn reach(&self, p: f64) -> f64 {
        student_quantile(p, self.freedom) * self.error
    }

    /// The chance of a shift of this size or more, either way, where there is none.
    fn p(&self, shift: f64) -> f64 {
        match (self.error > 0.0, shift == 0.0) {
            (true, _) => student_tails(shift / self.error, self.freedom),
            // Counted values without scatter differ, or they do not.
            (false, true) => 1.0,
            (false, false) => 0.0,
        }
    }
}

fn judge(shift: f64, interval: &Interval, welch: &Welch, rule: &CompareRule) -> Verdict {
    let certainly_within = |margin: f64| {
        let one_sided = welch.reach(0.95);
        shift - one_sided > (-margin).ln_1p() && shift + one_sided < margin.ln_1p()
    };
    if rule.same_within.is_some_and(certainly_within) || (welch.error == 0.0 && shift == 0.0) {
        Verdict::Same
    } else if interval.contains(0.0) {
        Verdict::CannotTell
    } else if (shift > 0.0) == (rule.better == Better::Higher) {
        Verdict::Better
    } else {
        Verdict::Worse
    }
}

fn log_medians(trials: &[Vec<f64>]) -> Result<Vec<f64>, Error> {
    check_trials(trials)?;
    let log = |(trial, samples): (usize, &Vec<f64>)| match median_of_checked(samples) {
        median if median >= SMALLEST => Ok(median.ln()),
        median => Err(Error::NotPositive { trial, median }),
    };
    trials.iter().enumerate().map(log).collect()
}

/// Turns a difference of logarithms into a relative one; absurd intervals end at the largest finite number.
fn to_relative(log: f64) -> f64 {
    log.exp_m1().min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIGHER: CompareRule = CompareRule { better: Better::Higher, same_within: None };
    const LOWER: CompareRule = CompareRule { better: Better::Lower, same_within: None };

    fn trials(medians: &[f64]) -> Vec<Vec<f64>> {
        medians.iter().map(|&median| vec![median; 3]).collect()
    }

    #[test]
    fn computes_welch_on_logarithms() {
        // Logs 0 1 2 against 3 4 8: means 1 and 5, variances 1 and 7, error sqrt(8/3),
        // freedom (8/3)² / ((1/3)²/2 + (7/3)²/2) = 2.56.
        let logs = |values: &[f64]| trials(&values.iter().map(|log| log.exp()).collect::<Vec<_>>());
        let found = compare(&logs(&[0.0, 1.0, 2.0]), &logs(&[3.0, 4.0, 8.0]), &HIGHER).unwrap();
        assert!((found.difference.ln_1p() - 4.0).abs() < 1e-12, "{found:?}");
        let reach = student_quantile(0.975, 2.56) * (8.0f64 / 3.0).sqrt();
        let interval = found.ci95.unwrap();
        assert!((interval.low.ln_1p() - (4.0 - reach)).abs() < 1e-9, "{interval:?}");
        assert!((interval.high.ln_1p() - (4.0 + reach)).abs() < 1e-9, "{interval:?}");
        assert_eq!(found.verdict, Verdict::CannotTell);
        // t = 4 / sqrt(8/3) = 2.449 lies short of the 2.5 % quantile, so the chance of it is above 5 %.
        assert!(found.p.is_some_and(|p| p > 0.05 && p < 0.15), "{found:?}");
    }

    #[test]
    fn the_p_value_says_what_the_interval_says() {
        for (first, second) in
            [([99.0, 100.0, 101.0], [100.5, 101.5, 102.5]), ([99.0, 100.0, 101.0], [101.7, 102.7, 103.7])]
        {
            let found = compare(&trials(&first), &trials(&second), &HIGHER).unwrap();
            let is_outside = !found.ci95.unwrap().contains(0.0);
            assert_eq!(found.p.unwrap() < 0.05, is_outside, "{found:?}");
        }
        let (ten, eleven) = (trials(&[10.0; 3]), trials(&[11.0; 3]));
        assert_eq!(compare(&ten, &ten, &HIGHER).unwrap().p, Some(1.0));
        assert_eq!(compare(&ten, &eleven, &HIGHER).unwrap().p, Some(0.0));
        assert_eq!(compare(&trials(&[1.0]), &eleven, &HIGHER).unwrap().p, None);
    }

    #[test]
    fn direction_decides_between_better_and_worse() {
        let (slow, fast) = (trials(&[99.0, 100.0, 101.0]), trials(&[119.0, 120.0, 121.0]));
        assert_eq!(compare(&slow, &fast, &HIGHER).unwrap().verdict, Verdict::Better);
        assert_eq!(compare(&slow, &fast, &LOWER).unwrap().verdict, Verdict::Worse);
        assert_eq!(compare(&fast, &slow, &HIGHER).unwrap().verdict, Verdict::Worse);
        assert_eq!(compare(&fast, &slow, &LOWER).unwrap().verdict, Verdict::Better);
    }

    #[test]
    fn says_same_only_within_a_margin_that_was_given() {
        let (first, second) = (trials(&[99.9, 100.0, 100.1]), trials(&[100.0, 100.1, 100.2]));
        let within = |margin| CompareRule { better: Better::Higher, same_within: Some(margin) };
        assert_eq!(compare(&first, &second, &HIGHER).unwrap().verdict, Verdict::CannotTell);
        assert_eq!(compare(&first, &second, &within(0.01)).unwrap().verdict, Verdict::Same);
        assert_eq!(compare(&first, &second, &within(0.001)).unwrap().verdict, Verdict::CannotTell);
    }

    #[test]
    fn a_certain_difference_within_the_margin_is_the_same() {
        let (first, second) = (trials(&[100.0, 100.01, 99.99]), trials(&[100.2, 100.21, 100.19]));
        assert_eq!(compare(&first, &second, &HIGHER).unwrap().verdict, Verdict::Better);
        let rule = CompareRule { better: Better::Higher, same_within: Some(0.01) };
        assert_eq!(compare(&first, &second, &rule).unwrap().verdict, Verdict::Same);
    }

    #[test]
    fn counted_values_without_scatter_compare_exactly() {
        let (ten, eleven) = (trials(&[10.0; 3]), trials(&[11.0; 3]));
        assert_eq!(compare(&ten, &ten, &HIGHER).unwrap().verdict, Verdict::Same);
        let found = compare(&ten, &eleven, &HIGHER).unwrap();
        assert_eq!(found.verdict, Verdict::Better);
        assert!((found.difference - 0.1).abs() < 1e-12 && found.smallest_detectable == Some(0.0));
    }

    #[test]
    fn one_trial_or_five_values_cannot_tell() {
        let one = vec![vec![1.0; 50]];
        let found = compare(&one, &trials(&[2.0, 2.0]), &HIGHER).unwrap();
        assert_eq!((found.ci95, found.verdict), (None, Verdict::CannotTell));
        assert!((found.difference - 1.0).abs() < 1e-12);
        let few = compare(&[vec![1.0], vec![1.1]], &[vec![2.0], vec![2.1], vec![2.2]], &HIGHER).unwrap();
        assert_eq!(few.ci95, None);
    }

    #[test]
    fn rejects_zero_medians_and_margins_that_mean_nothing() {
        let error = compare(&trials(&[1.0, 0.0]), &trials(&[1.0, 1.0]), &HIGHER).unwrap_err();
        assert_eq!(error, Error::NotPositive { trial: 1, median: 0.0 });
        for margin in [0.0, 1.0, f64::NAN] {
            let rule = CompareRule { better: Better::Higher, same_within: Some(margin) };
            let error = compare(&trials(&[1.0]), &trials(&[1.0]), &rule).unwrap_err();
            assert!(matches!(error, Error::Setting { setting: "same_within", .. }), "{margin}");
        }
    }

    #[test]
    fn absurd_ratios_stay_finite() {
        let found = compare(&trials(&[1e-100, 1e100]), &trials(&[1e100, 1e-100]), &HIGHER).unwrap();
        let interval = found.ci95.unwrap();
        assert!(interval.low.is_finite() && interval.high.is_finite(), "{interval:?}");
        assert!(found.smallest_detectable.unwrap().is_finite());
    }
}
