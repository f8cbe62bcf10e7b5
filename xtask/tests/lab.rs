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

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial, run};
use xtask::{packages, workspace};

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

/// A trial that fails by panicking, and says so when it cannot look.
#[expect(clippy::print_stdout, reason = "`cargo xtask test` counts these lines")]
fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        match obstacle() {
            Some(why) if workspace::is_ci() => return Err(format!("CI has to have a lab: {why}").into()),
            // One thread at a time, the name of the trial stands on the line already.
            Some(why) => println!("\nskipped: {why}"),
            None => test(),
        }
        Ok(())
    })
}

/// Why there can be no lab here.
fn obstacle() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("the lab needs root".to_owned());
    }
    let missing =
        packages::missing_now(packages::LAB).into_iter().chain(packages::missing_now(packages::LAB_TESTS));
    let missing: Vec<&str> = missing.map(|package| package.name).collect();
    if missing.is_empty() { None } else { Some(format!("the lab needs {}", missing.join(", "))) }
}
