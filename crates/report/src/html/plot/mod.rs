//! Axes, grid and SVG by `kuva`; what is drawn between them is drawn here.
//!
//! Colours are variables of the style sheet, so that a plot follows light, dark and paper without being drawn again.
//! Each curve has a mark of its own shape besides its colour.

mod curves;
mod frame;
mod gain;
mod marks;
mod rows;
mod svg;
mod ticks;

pub use gain::Gains;
pub use marks::sample;
pub use rows::{Interval, intervals, rug};

/// Colours and shapes that tell curves apart; beyond them they come round again, with a broken line.
pub const STYLES: usize = 6;

/// How the places of an axis follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log,
    /// By doubling; the places are given as they are.
    Doubling {
        /// Whether they are sizes.
        bytes: bool,
    },
    /// By nines: a quantile q stands at -log10(1 - q). The places are given as these.
    Nines,
}

/// A point of a curve.
#[derive(Clone, Debug, Default)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// The interval around `y`.
    pub band: Option<(f64, f64)>,
    /// What is said when the pointer is on it.
    pub tip: String,
}

#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// Its name in the legend; empty for the only one.
    pub name: String,
    /// From left to right.
    pub points: Vec<Point>,
}

/// What is marked besides curves.
#[derive(Clone, Debug)]
pub enum Mark {
    /// Something that holds across: a limit.
    Across(f64, String),
    /// Something that happens at a place: a knee.
    At(f64, String),
    /// A place where there is no number, with what happened instead.
    Failed(f64, String),
}

/// A plot of curves.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What screen readers say instead of it.
    pub label: String,
    pub across: Scale,
    /// What stands under it.
    pub across_name: String,
    pub up: Scale,
    pub curves: Vec<Curve>,
    pub marks: Vec<Mark>,
}

/// The smallest and the largest of finite numbers.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.filter(|value| value.is_finite());
    finite.map(|value| (value, value)).reduce(|ends, next| (ends.0.min(next.0), ends.1.max(next.1)))
}

/// A range that is not empty.
fn widened(range: (f64, f64)) -> (f64, f64) {
    if range.1 > range.0 {
        return range;
    }
    let room = if range.0 == 0.0 { 1.0 } else { 0.1 * range.0.abs() };
    (range.0 - room, range.1 + room)
}
