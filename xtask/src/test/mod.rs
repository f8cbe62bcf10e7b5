//! `cargo xtask test`: every test of the workspace, doc tests too, with a summary that can be read.

mod digest;
mod groups;
mod lanes;
mod run;

pub use digest::{Counts, Digest};
pub use run::{Args, guests, run};
