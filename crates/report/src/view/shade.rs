//! The shade of a result on a map: its verdict, or how much of its limit it reaches.

use seatrial_model::Verdict;

use super::numbers::JudgedNumber;
use super::parts::Part;
use crate::words::Badge;

/// Least percent of the limit of each step, from the best.
const STEPS: [f64; 3] = [90.0, 70.0, 50.0];

/// From good to bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shade {
    #[default]
    NotMeasured,
    /// Measured, without a verdict and without a limit.
    Measured,
    /// Without a verdict: the step of its share of the limit, 0 the best.
    Share(u8),
    Verdict(Verdict),
}

impl Shade {
    /// Every shade with its text in a legend.
    pub const LEGEND: [(Self, &'static str); 10] = [
        (Self::Verdict(Verdict::Pass), "✓ pass"),
        (Self::Verdict(Verdict::Warn), "! warn"),
        (Self::Verdict(Verdict::Fail), "✗ fail"),
        (Self::Verdict(Verdict::Unknown), "? unknown"),
        (Self::Share(0), "90 % of the limit or more"),
        (Self::Share(1), "70 to 90 %"),
        (Self::Share(2), "50 to 70 %"),
        (Self::Share(3), "below 50 %"),
        (Self::Measured, "measured, not judged"),
        (Self::NotMeasured, "not measured"),
    ];

    /// Of the worst number of `part`.
    pub fn of(part: &Part<'_>) -> Self {
        Self::of_number(&part.worst)
    }

    pub fn of_number(number: &JudgedNumber<'_>) -> Self {
        match (number.tone(), number.share()) {
            (Some(verdict), _) => Self::Verdict(verdict),
            (None, Some(share)) => Self::Share(STEPS.iter().filter(|least| share < **least).count() as u8),
            (None, None) => Self::Measured,
        }
    }

    /// Whether there is nothing to act on: passed, or without a verdict.
    pub fn is_good(self) -> bool {
        !matches!(self, Self::Verdict(Verdict::Fail | Verdict::Unknown | Verdict::Warn))
    }

    /// The CSS class.
    pub fn class(self) -> &'static str {
        match self {
            Self::NotMeasured => "none",
            Self::Measured => "plain",
            Self::Share(0) => "s0",
            Self::Share(1) => "s1",
            Self::Share(2) => "s2",
            Self::Share(_) => "s3",
            Self::Verdict(verdict) => verdict.word(),
        }
    }

    pub fn badge(self) -> Option<Badge> {
        match self {
            Self::Verdict(verdict) => Some(verdict.into()),
            _ => None,
        }
    }
}
