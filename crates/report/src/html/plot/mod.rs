//! Plots: axes, grid and SVG by `kuva`; the content is drawn here.
//!
//! Colours are variables of the style sheet, so that one plot works in light, dark and print. Each curve has a mark
//! of its own shape besides its colour.

mod curves;
mod frame;
mod gain;
mod marks;
mod rows;
mod svg;
mod ticks;
mod trials;

pub use gain::Gains;
pub use marks::{sample, upright};
pub use rows::{Interval, Start, intervals, rug};
pub use svg::escaped;
pub use trials::Trials;

/// Number of colours and shapes; further curves reuse them with dashed lines.
pub const STYLES: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log,
    /// By doubling; positions are given as values.
    Doubling {
        bytes: bool,
    },
    /// By nines: a quantile q is at -log10(1 - q). Positions are given on this scale.
    Nines,
}

#[derive(Clone, Debug, Default)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// The interval around `y`.
    pub band: Option<(f64, f64)>,
    pub tip: String,
}

#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// Its name in the legend; empty for a single curve.
    pub name: String,
    /// From left to right.
    pub points: Vec<Point>,
}

/// Marks besides curves.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A horizontal line: a limit.
    Across(f64, String),
    /// A horizontal line: a bound of the profile.
    Bound(f64, String),
    /// A mark at an x position: a knee.
    At(f64, String),
    /// A limit at an x position.
    AtLimit(f64, String),
    /// An x position without a number, with the cause.
    Failed(f64, String),
}

impl Mark {
    pub fn name(&self) -> &str {
        match self {
            Self::Across(_, name)
            | Self::Bound(_, name)
            | Self::At(_, name)
            | Self::AtLimit(_, name)
            | Self::Failed(_, name) => name,
        }
    }

    /// The place of a horizontal line.
    fn height(&self) -> Option<f64> {
        match self {
            Self::Across(y, _) | Self::Bound(y, _) => Some(*y),
            Self::At(..) | Self::AtLimit(..) | Self::Failed(..) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Plot {
    /// The text for screen readers.
    pub label: String,
    pub across: Scale,
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

fn widened(range: (f64, f64)) -> (f64, f64) {
    if range.1 > range.0 {
        return range;
    }
    let room = if range.0 == 0.0 { 1.0 } else { 0.1 * range.0.abs() };
    (range.0 - room, range.1 + room)
}
