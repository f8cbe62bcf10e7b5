//! Process control for supervisors and their workers.

mod inherit;
mod own;
mod rlimit;
mod run;
mod target;
mod task;

pub use inherit::{InheritError, adopt, inherit, socket_pair};
pub use own::{die_with_parent, leave_with_parent, name_thread, reap_orphans, tie_to_parent};
pub use rlimit::{Limit, Resource, limit, set_soft_limit};
pub use run::{ProcessStat, RunProcesses};
pub use rustix::process::{Pid, Signal};
pub use target::{Target, TargetError};
pub use task::{Task, tasks};
