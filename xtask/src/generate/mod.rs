//! `cargo xtask generate`: every file that is made from the code, so that no fact is written down twice.

mod benchmarks;
mod cli;
mod diagnosis;
mod performance;
mod run;
mod schema;
mod settings;
mod tree;

pub use run::{Args, run};
pub use tree::{File, Stale};
