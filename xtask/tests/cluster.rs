//! Seatrial on a real cluster: agents over ssh, Slurm and mpirun in the lab, and what becomes of a run when nodes,
//! links and processes fail.
//!
//! The trials share a lab of two nodes and one of four, one after the other, and leave them healed and empty: that no
//! agent, client or job is left is looked at after every one. It needs root and the packages of the lab; without them
//! the trials are skipped, in continuous integration they fail.

#![expect(clippy::print_stderr, reason = "what a trial could not try is said")]

#[path = "cluster/beside.rs"]
mod beside;
#[path = "cluster/cached.rs"]
mod cached;
#[path = "cluster/clocks.rs"]
mod clocks;
#[path = "cluster/copied.rs"]
mod copied;
#[path = "cluster/disks.rs"]
mod disks;
#[path = "cluster/flows.rs"]
mod flows;
#[path = "cluster/foreign.rs"]
mod foreign;
#[path = "cluster/four.rs"]
mod four;
#[path = "cluster/gate.rs"]
mod gate;
#[path = "cluster/groups.rs"]
mod groups;
#[path = "cluster/jobs.rs"]
mod jobs;
#[path = "cluster/judged.rs"]
mod judged;
#[path = "cluster/killed.rs"]
mod killed;
#[path = "lab/cluster.rs"]
#[expect(dead_code, reason = "shared with the tests of the lab itself, which use all of it")]
mod lab;
#[path = "cluster/launchers.rs"]
mod launchers;
#[path = "cluster/links.rs"]
mod links;
#[path = "cluster/moved.rs"]
mod moved;
#[path = "cluster/mpi.rs"]
mod mpi;
#[path = "cluster/paths.rs"]
mod paths;
#[path = "cluster/phases.rs"]
mod phases;
#[path = "cluster/planted.rs"]
mod planted;
#[path = "cluster/readme.rs"]
mod readme;
#[path = "cluster/refused.rs"]
mod refused;
#[path = "cluster/rig.rs"]
mod rig;
#[path = "cluster/settings.rs"]
mod settings;
#[path = "cluster/started.rs"]
mod started;
#[path = "cluster/tree.rs"]
mod tree;
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
    trials.extend(cached::trials());
    trials.extend(refused::trials());
    trials.extend(killed::trials());
    trials.extend(links::trials());
    trials.extend(foreign::trials());
    trials.extend(groups::trials());
    trials.extend(beside::trials());
    trials.extend(phases::trials());
    trials.extend(planted::trials());
    trials.extend(disks::trials());
    trials.extend(jobs::trials());
    trials.extend(clocks::trials());
    trials.extend(flows::trials());
    trials.extend(paths::trials());
    trials.extend(copied::trials());
    trials.extend(moved::trials());
    trials.extend(mpi::trials());
    trials.extend(four::trials());
    trials.extend(readme::trials());
    trials.extend(settings::trials());
    trials.extend(tree::trials());
    trials.extend(gate::trials());
    let conclusion = run(&arguments, trials);
    rig::end_shared();
    conclusion.exit_code()
}
