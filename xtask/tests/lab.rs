//! The lab, real: `cargo xtask lab` makes it, breaks it and ends it, and nothing of it stays on the machine.
//!
//! The trials share one lab of two nodes, one after the other, and make a second one where they end it themselves. It
//! needs root and the packages of the lab; without them the trials are skipped, in continuous integration they fail.

#[path = "lab/cluster.rs"]
mod cluster;
#[path = "lab/ends.rs"]
mod ends;
#[path = "lab/faults.rs"]
mod faults;
#[path = "lab/reach.rs"]
mod reach;
#[path = "lab/trial.rs"]
mod trial;

use std::process::ExitCode;

use libtest_mimic::{Arguments, run};
use trial::trial;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // They share a lab, some of them its faults; and the number of a namespace that is gone may go to the next one, which
    // must not be another lab's while somebody looks whether it is gone.
    arguments.test_threads = Some(1);
    let mut trials = reach::trials();
    trials.extend(faults::trials());
    trials.extend(ends::trials());
    let conclusion = run(&arguments, trials);
    cluster::end_shared();
    conclusion.exit_code()
}
