//! A name of its own for a benchmark under a pattern.

/// A name that stands for a benchmark and the pattern that it is placed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// `family.test`, as benchmarks are called; no benchmark has it.
    pub id: &'static str,
    /// Id of the benchmark that the alias runs.
    pub bench: &'static str,
    /// Id of the pattern that the alias places it by.
    pub pattern: &'static str,
    /// A few words for lists.
    pub title: &'static str,
    /// What is measured and what comes of it, in a few sentences.
    pub doc: &'static str,
}
