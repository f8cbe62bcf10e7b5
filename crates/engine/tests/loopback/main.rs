//! Benchmarks of several parts, run for real on this machine: offers, barrier, common window, stop and reduce.
//!
//! The binary is its own agent, worker and controller, so it has its own main function.

mod pair;
mod rig;
mod ring;
mod runs;
mod toy;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial, run};
use seatrial_cluster::{AgentOptions, agent_main, worker_main};

/// The build id of agents of this binary.
const BUILD: &str = "loopback";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1).cloned();
    match args.get(1).map(String::as_str) {
        Some("worker") => {
            worker_main(&toy::REGISTRY, option("--fd").and_then(|fd| fd.parse().ok()).unwrap_or(-1))
        }
        Some("agent") => agent_main(&AgentOptions {
            node: option("--node"),
            build: BUILD.to_owned(),
            ..AgentOptions::default()
        }),
        _ => {
            let trials = runs::ALL.iter().map(|(name, test)| {
                Trial::test(*name, move || {
                    test();
                    Ok(())
                })
            });
            // One after the other: some check the process table for leftovers of the run.
            let args = Arguments { test_threads: Some(1), ..Arguments::from_args() };
            run(&args, trials.collect()).exit_code()
        }
    }
}
