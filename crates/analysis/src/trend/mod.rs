//! The history of a number over runs, and its lasting changes.

mod series;
mod step;
#[cfg(test)]
mod tests;

pub use series::{Point, Trend, TrendRun, trends};
pub use step::{FEWEST_RUNS, TrendStep};
