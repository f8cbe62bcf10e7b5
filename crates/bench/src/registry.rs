//! A set of benchmarks to find one in by name.

use seatrial_model::name::nearest;
use seatrial_model::{About, Alias, Planned};

use crate::Benchmark;

/// A set of benchmarks: all that are shipped, those of one family, or a test's own.
#[derive(Clone, Copy)]
pub struct Registry {
    /// Benchmarks that can run, by family.
    pub families: &'static [&'static [Benchmark]],
    /// Benchmarks that profiles may name already.
    pub planned: &'static [Planned],
    /// Names for benchmarks under a pattern or with parameters, by family.
    pub aliases: &'static [&'static [Alias]],
}

impl Registry {
    /// Benchmarks that can run, in the order of lists.
    pub fn benchmarks(&self) -> impl Iterator<Item = &'static Benchmark> {
        self.families.iter().copied().flatten()
    }

    /// The benchmark called `id`.
    pub fn find(&self, id: &str) -> Option<&'static Benchmark> {
        self.benchmarks().find(|bench| bench.about.id == id)
    }

    /// All definitions, in the order of the list.
    pub fn abouts(&self) -> impl Iterator<Item = &'static About> {
        self.benchmarks().map(|bench| bench.about)
    }

    /// All aliases, in the order of lists.
    pub fn aliases(&self) -> impl Iterator<Item = &'static Alias> + Clone {
        self.aliases.iter().copied().flatten()
    }

    /// The alias called `id`.
    pub fn alias(&self, id: &str) -> Option<&'static Alias> {
        self.aliases().find(|alias| alias.id == id)
    }

    /// Every name that a benchmark can be run by.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.abouts().map(|about| about.id).chain(self.aliases().map(|alias| alias.id))
    }

    /// The name nearest to a typo.
    pub fn nearest(&self, typed: &str) -> Option<&'static str> {
        nearest(typed, self.names())
    }
}

/// The benchmark called `id` among those of a family.
pub fn find(benchmarks: &'static [Benchmark], id: &str) -> Option<&'static Benchmark> {
    benchmarks.iter().find(|bench| bench.about.id == id)
}
