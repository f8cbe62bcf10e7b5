//! Seatrial on a real cluster: agents over ssh, Slurm and mpirun in the lab, and what becomes of a run when nodes,
//! links and processes fail.
//!
//! The trials share one lab of two nodes, one after the other, and leave it healed and empty: that no agent, client or
//! job is left is looked at after every one. It needs root and the packages of the lab; without them the trials are
//! skipped, in continuous integration they fail.

#[path = "cluster/killed.rs"]
mod killed;
#[path = "lab/cluster.rs"]
#[expect(dead_code, reason = "shared with the tests of the lab itself, which use all of it")]
mod lab;
#[path = "cluster/launchers.rs"]
mod launchers;
#[path = "cluster/links.rs"]
mod links;
#[path = "cluster/refused.rs"]
mod refused;
#[path = "cluster/rig.rs"]
mod rig;
#[path = "cluster/started.rs"]
mod started;
#[path = "lab/trial.rs"]
mod trial;

use std::process::ExitCode;

use libtest_mimic::{Arguments, run};
use trial::trial;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // They share a lab and its faults.
    arguments.test_threads = Some(1);
    let mut trials = launchers::trials();
    trials.extend(refused::trials());
    trials.extend(killed::trials());
    trials.extend(links::trials());
    let conclusion = run(&arguments, trials);
    rig::end_shared();
    conclusion.exit_code()
}
