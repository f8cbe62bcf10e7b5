//! One thing that a result may owe something to, and what is measured without it.

/// Parameters that change together when a study asks what one thing is worth. A benchmark declares those that no rule
/// finds by itself: several parameters that are one thing to a person, or a word of a free text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    /// The name, as typed behind `--factors`. Where a parameter has the same name, this goes first.
    pub name: &'static str,
    /// One sentence: what it is measured without.
    pub doc: &'static str,
    /// Parameters and the values, as a person would type them, that they have without it.
    pub off: &'static [(&'static str, &'static str)],
}
