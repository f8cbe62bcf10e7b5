//! Runs, or parts of runs, compared: better, worse, the same, or cannot tell.

mod json;
mod terminal;

use seatrial_analysis::{Comparison, Curves, PerPrice};

pub use json::value;
pub use terminal::{CompareContent, render};

pub use crate::view::per_price::Pricing;

/// The sides of a comparison, the first of which is the baseline.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The name of each side, as in headings.
    pub names: &'a [String],
    /// What tells each side from the others, as in legends and column heads.
    pub legend: &'a [String],
    /// Each side but the first against the first.
    pub comparisons: &'a [Comparison],
    pub curves: &'a [Curves],
    pub per_price: &'a [PerPrice],
    /// The currency of the prices; may be empty.
    pub price_unit: &'a str,
}

impl<'a> Compared<'a> {
    /// The names of both sides of each comparison, and the comparison.
    pub fn pairs(&self) -> impl Iterator<Item = (Names<'a>, &'a Comparison)> {
        let a = self.names.first().map_or("", String::as_str);
        let others = self.names.iter().skip(1).zip(self.comparisons);
        others.map(move |(b, comparison)| (Names { a, b }, comparison))
    }

    pub(crate) fn pricing(&self) -> Pricing<'a> {
        Pricing { names: self.legend, unit: self.price_unit }
    }
}

/// The two sides of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    pub a: &'a str,
    pub b: &'a str,
}
