//! Whether a case gets another trial.

/// A trial that a case would make next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// One of those that the plan has.
    Planned,
    /// In place of one that was disturbed.
    Repeat,
    /// For a narrower interval.
    Precision,
}
