//! Where a series of runs changed its level.

use seatrial_model::Better;
use seatrial_stats::{CompareRule, Sorted, compare, cuts};

/// Runs before which no change can be shown.
pub const FEWEST_RUNS: usize = seatrial_stats::FEWEST_TO_CUT;

/// A change of level between two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendStep {
    /// The first run of the new level.
    pub run: String,
    /// Its place among the points of the trend.
    pub at: usize,
    /// Runs of the level before, and of the one that begins here.
    pub runs: (usize, usize),
    /// The medians of the two levels, in the unit of the trend.
    pub levels: (f64, f64),
    /// The second level over the first, in percent above 100; none where a run is at zero, of which there is no share.
    pub percent: Option<f64>,
    /// Ends of the 95 % interval of `percent`.
    pub interval: Option<(f64, f64)>,
    /// The chance of a cut as deep as this one, wherever it lies, in runs of one level.
    pub p: f64,
    /// Whether it is for the better; none where neither direction is good.
    pub is_better: Option<bool>,
}

/// The changes of level in `values`, one a run, in the order of time; `runs` has their names.
///
/// Where they are, and that they are there at all, is told by [`seatrial_stats::cuts`]: of a hundred series in which
/// nothing changed it cuts two. How large they are is told by Welch's t test on the logarithms of the runs on either side,
/// each run one value.
pub(super) fn steps(runs: &[&str], values: &[f64], better: Better) -> Vec<TrendStep> {
    let Ok(cuts) = cuts(values) else { return Vec::new() };
    let starts = std::iter::once(0).chain(cuts.iter().map(|cut| cut.at));
    let ends = cuts.iter().map(|cut| cut.at).skip(1).chain([values.len()]);
    let mut found = Vec::new();
    for ((cut, start), end) in cuts.iter().zip(starts).zip(ends) {
        let (before, after) = (&values[start..cut.at], &values[cut.at..end]);
        let (Some(old), Some(new)) = (median(before), median(after)) else { continue };
        // Which direction is good does not change the interval, only the word for it.
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

fn median(values: &[f64]) -> Option<f64> {
    Sorted::new(values).ok().map(|sorted| sorted.median())
}

/// Every run is a trial of one value.
fn trials(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|value| vec![*value]).collect()
}
