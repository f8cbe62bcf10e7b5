//! Verdicts: what a profile demands against what was measured.

mod advice;
mod assignment;
mod case;
mod demand;
mod disturbed;
#[cfg(test)]
pub(crate) mod fixture;
mod grounds;
mod judgement;
mod level;
mod measured;
mod range;
mod scope;
mod setting;
mod sisters;
#[cfg(test)]
mod tests;
mod waiver;

pub use advice::MissingLimit;
pub use assignment::Assignment;
pub use grounds::Grounds;
pub use judgement::{Judgement, judge};
pub(crate) use setting::{SettingRuling, judge_settings};
