//! Factors: what a study leaves out, to measure what it is worth.

/// Parameters that change together in a study of factors. Declared by a benchmark where no rule finds them: several
/// parameters that belong together, or a word of a free text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Factor {
    /// The name behind `--factors`; takes precedence over a parameter of the same name.
    pub name: &'static str,
    /// One sentence: what the benchmark does without the factor.
    pub doc: &'static str,
    /// Parameters with their values, as typed, without the factor.
    pub off: &'static [(&'static str, &'static str)],
}
