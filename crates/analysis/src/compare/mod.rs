//! Runs, or named parts of runs, compared: better, worse, the same, or cannot tell.

mod apart;
mod cases;
mod changed;
mod curves;
mod difference;
mod differing;
mod pairing;
mod part;
mod per_price;
#[cfg(test)]
mod tests;

pub use apart::{Apart, apart};
pub use cases::ComparedCases;
pub use changed::{Changed, changed, changed_parts};
pub use curves::{Curves, curves};
pub use difference::{BY_CHANCE, Change, Comparison, Difference, Ended, Side, compare};
pub use differing::DifferingParam;
pub use part::{NoSuchPart, Part};
pub use per_price::{PerPrice, Priced, per_price};
