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
mod further;
mod guarded;
mod host;
mod inputs;
mod load_sweep;
mod makespan;
mod pattern;
mod placement;
mod plan;
mod probes;
mod quarantine;
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
pub use factors::{BASELINE, Factors};
pub use guarded::guarded;
pub use inputs::{PlanError, PlanInputs};
pub use load_sweep::{BackOff, LoadSweeps};
pub use makespan::makespan;
pub use pattern::{BISECT, Division, Ends, PATTERNS, Partners, Pattern, Step};
pub use plan::Plan;
pub use recompute::{Recomputation, recompute};
pub use retest::{Regroup, Retest, Sides, Suspect, Suspects};
pub use runner::{Finished, LeaveOut, RunError, Runner, Watch};
pub use schedule::{QueuedCase, QueuedGroup, Schedule};
pub use setting_blocks::{SettingBlocks, TriedSetting};
pub use study::{Next, Study, Sweep};
pub use summarise::MOST_SAMPLES_IN_RECORD;
pub use trial::{Action, Deadlines, Trial, TrialEnd};
