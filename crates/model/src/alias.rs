//! A name of its own for a benchmark under a pattern.

/// A name that stands for a benchmark and the pattern that it is placed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// `family.test`, as benchmarks are called; no benchmark has it.
    pub id: &'static str,
    /// The benchmark.
    pub bench: &'static str,
    /// The pattern.
    pub pattern: &'static str,
    /// A few words for lists.
    pub title: &'static str,
    /// What is measured and what comes of it, in a few sentences.
    pub doc: &'static str,
}
