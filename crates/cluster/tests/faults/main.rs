//! What the cluster layer survives: real agents and workers that misbehave.
//!
//! This binary is its own agent, worker and controller (launchers start `/proc/self/exe`), so it has its own main
//! function and test harness.

mod agents;
mod cases;
mod ends;
mod far;
mod frozen;
mod many;
mod process;
mod rig;
mod toys;

use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial, run};
use seatrial_cluster::{AgentOptions, agent_main, worker_main};

const BUILD: &str = "toys";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1).cloned();
    match args.get(1).map(String::as_str) {
        Some("worker") => {
            let fd = option("--fd").and_then(|fd| fd.parse().ok()).unwrap_or(-1);
            worker_main(&toys::REGISTRY, toys::share_channel(fd))
        }
        Some("agent")
            if std::env::var_os(many::SCRIPTED).is_some() && !args.iter().any(|arg| arg == "--relay") =>
        {
            many::agent(option("--node"))
        }
        Some("agent") => agent_main(&AgentOptions {
            node: option("--node"),
            sysroot: option("--sysroot").map(Into::into),
            silence: option("--silence").and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs),
            relay: args.iter().any(|arg| arg == "--relay"),
            build: option("--build").unwrap_or_else(|| BUILD.to_owned()),
            ..AgentOptions::default()
        }),
        Some("controller") => agents::doomed_controller(),
        _ => {
            let mut trials = ends::trials();
            trials.extend(agents::trials());
            trials.extend(far::trials());
            trials.extend(frozen::trials());
            trials.extend(many::trials());
            run(&Arguments::from_args(), trials).exit_code()
        }
    }
}

fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
