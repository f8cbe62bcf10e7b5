//! How a number went from run to run, and where it changed for good.

mod series;
mod step;
#[cfg(test)]
mod tests;

pub use series::{Point, Trend, TrendRun, trends};
pub use step::{FEWEST_RUNS, TrendStep};
