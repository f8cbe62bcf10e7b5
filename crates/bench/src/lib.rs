//! Every benchmark, one folder each: `src/<family>/<test>/`.
//!
//! A benchmark measures; it does not print, judge, store or loop over cases. `src/mem/bandwidth/` is the one to
//! copy for a new benchmark; its one line in [`registry()`] is the only other place to touch.

mod benchmark;
pub mod common;
mod error;
pub mod mem;
mod planned;
mod registry;
mod stop;

pub use benchmark::{Benchmark, Offer, Part, Sink};
pub use error::Error;
pub use registry::Registry;
pub use stop::Stop;

/// The shipped benchmarks: one line each.
static BENCHMARKS: &[&dyn Benchmark] = &[
    &mem::bandwidth::Bandwidth, //
];

/// All shipped benchmarks, and the ones still to come.
pub fn registry() -> Registry {
    Registry { benchmarks: BENCHMARKS, planned: planned::PLANNED }
}
