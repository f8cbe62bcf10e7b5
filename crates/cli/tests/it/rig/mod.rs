//! Tools of the tests: homes, scripts, and processes that do not outlive a test.

mod call;
mod cgroup;
mod ended;
mod home;
mod own;
mod process;
mod profile;
mod script;
mod started;

pub use call::{Call, ENDLESS, SMALL, TIMES, small};
pub use cgroup::Cgroup;
pub use ended::Ended;
pub use home::Home;
pub use own::{is_installed, skipped, with_own_network, with_private_mounts, without_privilege_over_files};
pub use process::{Process, Role, assert_nothing_runs, kill, of_home, wait_until};
pub use profile::{bound, profile, shares_of_the_limit};
pub use script::{Script, machine};
pub use started::Started;
