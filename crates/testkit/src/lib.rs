//! What tests of several crates share. No program depends on this crate.

mod hot_loop;
mod machine;
mod params;
mod record;
pub mod starved;

pub use hot_loop::hot_loop;
pub use machine::{card, cores, eight_cores, node, row, thread};
pub use params::params;
pub use record::{part, summary};
