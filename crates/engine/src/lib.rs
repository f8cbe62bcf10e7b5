//! Studies, schedules and phases: drives agents through the cases of a run.
//!
//! The engine knows no benchmark (the registry is passed in), starts no process (the fleet does) and prints nothing
//! (it emits events). A trial is a state machine without a clock of its own, so that the same code runs with real
//! agents and with scripted ones.

mod beside;
mod bisect;
mod budget;
mod co_run_group;
mod crowded;
mod disturbance;
mod every_device;
mod factors;
#[cfg(test)]
mod fixture;
mod guarded;
mod host;
mod inputs;
mod liveness;
mod load_sweep;
mod makespan;
mod pattern;
mod placement;
mod plan;
mod probes;
mod recompute;
mod retest;
mod runner;
mod running_case;
mod schedule;
mod setting_blocks;
mod study;
mod summarise;
mod together;
mod trial;

pub use bisect::{Bisect, WantedGroups};
pub use budget::{Demand, NothingJudged, Standing, TimeBudget};
pub use factors::Factors;
pub use guarded::guarded;
pub use inputs::{PlanError, PlanInputs};
pub use load_sweep::{BackOff, LoadSweeps};
pub use makespan::makespan;
pub use pattern::{BISECT, Division, Ends, PATTERNS, Pattern, Step};
pub use plan::Plan;
pub use recompute::{Recomputation, recompute};
pub use retest::{Regroup, Retest, Sides, Suspect, Suspects};
pub use runner::{Finished, RunError, Runner, Watch};
pub use setting_blocks::{SettingBlocks, TriedSetting};
pub use study::Study;
pub use trial::Deadlines;
