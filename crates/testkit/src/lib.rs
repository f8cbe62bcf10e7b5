//! What tests of several crates share. No program depends on this crate.

mod machine;
mod params;
pub mod starved;
mod trial;

pub use machine::{card, eight_cores, row};
pub use params::params;
pub use trial::{Enter, Kept, at_once, connect_all, connected, prepare_all};
