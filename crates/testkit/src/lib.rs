//! What tests of several crates share. No program depends on this crate.

mod hot_loop;
mod machine;
mod params;
pub mod starved;

pub use hot_loop::hot_loop;
pub use machine::{card, eight_cores, row};
pub use params::params;
