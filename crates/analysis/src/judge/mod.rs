//! Verdicts: the demands of a profile against the measured numbers.

mod advice;
mod assignment;
mod case;
mod demand;
pub(crate) mod disturbed;
#[cfg(test)]
pub(crate) mod fixture;
mod inputs;
mod judged_nodes;
mod judgement;
mod level;
mod measured;
mod peers;
mod range;
mod scope;
mod setting;
#[cfg(test)]
mod tests;
mod waiver;

pub use advice::MissingLimit;
pub use assignment::Assignment;
pub(crate) use case::is_of_test;
pub use inputs::JudgeInputs;
pub(crate) use judged_nodes::judged_nodes;
pub use judgement::{Judgement, judge};
pub(crate) use measured::measured;
pub(crate) use scope::{is_judged, nothing_here, planned_only};
pub(crate) use setting::{SettingRuling, judge_settings};
