//! One trial of one case: its workers, phase by phase.

mod deadline;
mod machine;
#[cfg(test)]
mod tests;
mod worker;

pub use deadline::Deadlines;
pub use machine::{Action, Trial, TrialEnd};
