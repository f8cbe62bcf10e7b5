//! All benchmarks, one line each, and the ones still to come.

use seatrial_model::name::nearest;
use seatrial_model::{About, Planned};

use crate::Benchmark;

/// A set of benchmarks. The shipped one is [`crate::registry()`]; tests bring their own.
#[derive(Clone, Copy)]
pub struct Registry {
    /// Benchmarks that can run.
    pub benchmarks: &'static [&'static dyn Benchmark],
    /// Benchmarks that profiles may name already.
    pub planned: &'static [Planned],
}

impl Registry {
    /// The benchmark called `id`.
    pub fn find(&self, id: &str) -> Option<&'static dyn Benchmark> {
        self.benchmarks.iter().copied().find(|bench| bench.about().id == id)
    }

    /// The benchmark still to come called `id`.
    pub fn find_planned(&self, id: &str) -> Option<&'static Planned> {
        self.planned.iter().find(|planned| planned.id == id)
    }

    /// All definitions, in the order of the list.
    pub fn abouts(&self) -> impl Iterator<Item = &'static About> {
        self.benchmarks.iter().map(|bench| bench.about())
    }

    /// The id nearest to a typo.
    pub fn nearest(&self, typed: &str) -> Option<&'static str> {
        nearest(typed, self.abouts().map(|about| about.id))
    }
}
