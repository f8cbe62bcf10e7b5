//! Two runs compared: better, worse, the same, or cannot tell.

mod changed;
mod difference;
mod pairing;
#[cfg(test)]
mod tests;

pub use changed::{Changed, changed};
pub use difference::{BY_CHANCE, Change, Comparison, Difference, Ended, Side, compare};
