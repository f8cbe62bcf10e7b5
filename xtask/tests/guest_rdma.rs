//! RDMA, real: benchmarks by the binary over soft-RoCE in a guest. Every verb and transport is tested beside its code, by
//! tests that need a device; here the whole way is, from the command line to the record.
//!
//! The trial boots; all of it is emulated, so that nothing is said of any speed. Without the packages they are skipped, in
//! continuous integration they fail.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use xtask::packages;

/// What a script in a guest gave, or none where guests cannot be had. `told` runs the binary under test.
fn guest(options: &[&str], script: &str) -> Option<Output> {
    let missing = packages::missing_now(packages::GUEST);
    if !missing.is_empty() && !xtask::workspace::is_ci() {
        let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
        eprintln!("skipped: guests need {}", names.join(" "));
        return None;
    }
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_xtask")).with_file_name("seatrial");
    let script = format!(
        "export SEATRIAL_HOME=/tmp/home\ntold() {{ '{}' \"$@\" -o json 2>>/tmp/err || true; }}\n{script}\ncat /tmp/err >&2\n",
        binary.display()
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["guest", "run"]).args(options).args(["--", "bash", "-c", &script]);
    Some(command.output().unwrap())
}

/// All results of the documents that a script wrote.
fn results(output: &Output) -> Vec<Value> {
    let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let told: Vec<Value> = documents
        .map(|document| document.unwrap_or_else(|error| panic!("{error}: {output:?}")))
        .flat_map(|document| document["results"].as_array().cloned().unwrap_or_default())
        .collect();
    assert!(!told.is_empty(), "{output:?}");
    told
}

const QUICK: &str = "-p trials=1 -p max_trials=1 -p time=1s";

/// A stream, one-way latencies and atomics.
const RUNS: &[&str] = &[
    "rdma.write_bw -p queue_pairs=2 -p size=2KiB -p up_to=16KiB",
    "rdma.send_lat",
    "rdma.atomic -p operation=fetch_add",
];

#[test]
fn a_stream_a_latency_and_atomics_are_measured_and_a_gid_that_is_not_there_is_told() {
    let lines: Vec<String> = RUNS.iter().map(|run| format!("told run {run} {QUICK}\n")).collect();
    let script = format!("{}told run rdma.write_bw {QUICK} -p gid_index=77\n", lines.concat());
    let Some(output) = guest(&["--limit", "600"], &script) else { return };
    let told = results(&output);
    assert_eq!(told.len(), RUNS.len() + 1, "{told:#?}");
    let (measured, refused) = told.split_at(RUNS.len());
    for result in measured {
        assert_eq!(result["outcome"], "measured", "{result:#}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let gid = &refused[0];
    let why = format!("{} {}", gid["cause"], gid["reason"]);
    assert_eq!(gid["outcome"], "unmeasured", "{gid:#}");
    assert!(why.contains("gid_index=77") && why.contains("10.78.0.1"), "{why}");
}
