//! What is said of a comparison, the same on a terminal and on a page.

use seatrial_analysis::{BY_CHANCE, Change, Comparison, Difference};
use seatrial_model::Better;
use seatrial_stats::Verdict;

use crate::number::{change, share};

/// What a difference is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    Worse,
    CannotTell,
    Same,
    Better,
    NotComparable,
}

impl Call {
    /// In the order of a summary.
    const ALL: [Self; 5] = [Self::Worse, Self::Better, Self::Same, Self::CannotTell, Self::NotComparable];

    /// What `row` is called.
    pub fn of(row: &Difference) -> Self {
        match row.change.as_ref().map(|change| change.verdict) {
            Ok(Verdict::Worse) => Self::Worse,
            Ok(Verdict::Better) => Self::Better,
            Ok(Verdict::Same) => Self::Same,
            Ok(Verdict::CannotTell) => Self::CannotTell,
            Err(_) => Self::NotComparable,
        }
    }

    /// Tells it apart where colours are not seen.
    pub const fn sign(self) -> char {
        match self {
            Self::Worse => '▼',
            Self::Better => '▲',
            Self::Same => '=',
            Self::CannotTell | Self::NotComparable => '?',
        }
    }

    /// The word behind the sign.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Same => "same",
            Self::CannotTell => "cannot tell",
            Self::NotComparable => "not comparable",
        }
    }

    /// What is said of a number of them.
    const fn of_several(self) -> &'static str {
        match self {
            Self::Same => "the same",
            Self::CannotTell => "cannot be told apart",
            Self::Worse | Self::Better | Self::NotComparable => self.word(),
        }
    }
}

/// The difference in percent with its sign turned such that more is better.
pub fn gain(row: &Difference) -> Option<f64> {
    let percent = row.change.as_ref().ok()?.percent;
    Some(if row.better == Better::Lower { -percent } else { percent })
}

/// The differences in the order that they are read in: what is worse first, and of several the one that lost most.
pub fn worst_first(all: &[Difference]) -> Vec<&Difference> {
    let mut rows: Vec<&Difference> = all.iter().collect();
    let lost = |row: &Difference| gain(row).unwrap_or(0.0);
    rows.sort_by(|one, other| {
        Call::of(one).cmp(&Call::of(other)).then_with(|| lost(one).total_cmp(&lost(other)))
    });
    rows
}

/// `1 worse, 2 the same`.
pub fn counts(comparison: &Comparison) -> String {
    let all = &comparison.differences;
    let number = |call: Call| all.iter().filter(|row| Call::of(row) == call).count();
    listed(Call::ALL.map(|call| (number(call), call.of_several())))
}

/// What differs besides the metrics: `1 now failing, 2 changed beside them`.
pub fn beside(comparison: &Comparison) -> String {
    listed([
        (comparison.broken.len(), "now failing"),
        (comparison.mended.len(), "no longer failing"),
        (comparison.unmeasured.len(), "no longer measured"),
        (comparison.changed.len(), "changed beside them"),
    ])
}

fn listed<const N: usize>(numbers: [(usize, &str); N]) -> String {
    let told = numbers.iter().filter(|(number, _)| *number > 0);
    told.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}

/// Why nothing can be told of a difference: from which size on it could have been. None where something can.
pub fn why(change: &Change) -> Option<String> {
    match change.verdict {
        Verdict::Worse | Verdict::Better | Verdict::Same => None,
        Verdict::CannotTell if change.may_be_chance => {
            let why = "it would be called by itself, but among so many comparisons differences like it come by chance";
            Some(why.to_owned())
        }
        Verdict::CannotTell => change.smallest_percent.map(|percent| {
            format!(
                "a change below {} would not be seen, with trials that scatter like these",
                share(percent)
            )
        }),
    }
}

/// The ends of the interval of a difference.
pub fn interval(of: &Change) -> String {
    of.interval.map_or(String::new(), |(low, high)| format!("{} … {}", change(low), change(high)))
}

/// By which test the words were chosen; none where none was.
pub fn test(comparison: &Comparison) -> Option<String> {
    comparison.differences.iter().find(|row| row.change.is_ok())?;
    let same = match comparison.same_within {
        Some(within) => format!("same: shown to lie within {} of the first", share(100.0 * within)),
        None => "same: equal in every trial".to_owned(),
    };
    Some(format!(
        "before and after: the geometric mean of the trials' medians, which change and interval are of. better and worse: \
         Welch's t test over the trials, chosen so that of all that are called so {} at most are by \
         chance; {same}. It speaks of these two runs: how runs of a machine differ by themselves, `seatrial history` shows",
        share(100.0 * BY_CHANCE)
    ))
}
