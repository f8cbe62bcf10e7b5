//! Aliases: one name for a benchmark with a pattern, such as `net.trunk`.

/// A name for a benchmark with the pattern that pairs its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Alias {
    /// `family.test`, like the id of a benchmark and different from all of these.
    pub id: &'static str,
    /// Id of the benchmark that the alias runs.
    pub bench: &'static str,
    /// Id of the pattern that pairs the nodes.
    pub pattern: &'static str,
    /// A few words for lists.
    pub title: &'static str,
    /// What is measured and what the result tells, in a few sentences.
    pub doc: &'static str,
}
