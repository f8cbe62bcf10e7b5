//! The tasks behind `cargo xtask`, one module each.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to the person who started it")]

pub mod ci;
mod deny;
mod emulated;
pub mod faults;
pub mod fresh;
pub mod fuzz;
pub mod generate;
pub mod guest;
pub mod instructions;
mod interrupt;
pub mod lab;
mod nodes;
pub mod packages;
pub mod test;
pub mod versus;
pub mod workspace;
