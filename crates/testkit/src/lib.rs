//! What tests of several crates share. No program depends on this crate.

mod machine;
mod params;
pub mod starved;

pub use machine::{card, eight_cores, row};
pub use params::params;
