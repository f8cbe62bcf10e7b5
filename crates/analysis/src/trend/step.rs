//! Where a series of runs changed its level.

use seatrial_model::Better;
use seatrial_stats::{CompareRule, compare, cuts, median};

/// Runs before which no change can be shown.
pub const FEWEST_RUNS: usize = seatrial_stats::FEWEST_TO_CUT;

#[derive(Clone, Debug, PartialEq)]
pub struct TrendStep {
    pub run: String,
    /// Its position among the points of the trend.
    pub at: usize,
    /// Number of runs of the old and of the new level.
    pub runs: (usize, usize),
    /// The medians of the two levels, in the unit of the trend.
    pub levels: (f64, f64),
    /// The new level over the old, in percent above 100; `None` if a run is zero.
    pub percent: Option<f64>,
    pub interval: Option<(f64, f64)>,
    /// The probability of a cut as deep as this one, at any position, in runs of one level.
    pub p: f64,
    /// Whether it is an improvement; `None` where neither direction is good.
    pub is_better: Option<bool>,
}

/// The changes of level in `values`, one value per run, in the order of time; `runs` has their names.
/// [`seatrial_stats::cuts`] finds the positions: of a hundred series without a change it cuts two. Welch's t test on
/// the logarithms of the runs on either side gives the size, each run one value.
pub(super) fn steps(runs: &[&str], values: &[f64], better: Better) -> Vec<TrendStep> {
    let Ok(cuts) = cuts(values) else { return Vec::new() };
    let starts = std::iter::once(0).chain(cuts.iter().map(|cut| cut.at));
    let ends = cuts.iter().map(|cut| cut.at).skip(1).chain([values.len()]);
    let mut found = Vec::new();
    for ((cut, start), end) in cuts.iter().zip(starts).zip(ends) {
        let (before, after) = (&values[start..cut.at], &values[cut.at..end]);
        let (Some(old), Some(new)) = (median(before), median(after)) else { continue };
        // The direction does not change the interval, only the word for it.
        let rule = CompareRule { better: seatrial_stats::Better::Higher, same_within: None };
        let told = compare(&trials(before), &trials(after), &rule).ok();
        let percent = |share: f64| 100.0 * share;
        found.push(TrendStep {
            run: runs[cut.at].to_owned(),
            at: cut.at,
            runs: (before.len(), after.len()),
            levels: (old, new),
            percent: told.map(|told| percent(told.difference)),
            interval: told.and_then(|told| told.ci95).map(|ends| (percent(ends.low), percent(ends.high))),
            p: cut.p,
            is_better: match better {
                Better::Higher => Some(new > old),
                Better::Lower => Some(new < old),
                Better::None => None,
            },
        });
    }
    found
}

fn trials(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|value| vec![*value]).collect()
}
