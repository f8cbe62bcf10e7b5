//! Kinds of further trials of a case.

/// The next trial that a case would make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// A trial of the plan.
    Planned,
    /// In place of a disturbed trial.
    Repeat,
    /// For a narrower interval.
    Precision,
}
