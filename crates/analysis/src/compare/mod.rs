//! Two runs side by side: better, worse, the same, or cannot tell.

mod difference;
mod pairing;
#[cfg(test)]
mod tests;

pub use difference::{Change, Comparison, Difference, Side, compare};
