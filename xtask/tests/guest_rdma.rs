//! RDMA, real: the benchmarks over soft-RoCE in guests, with what goes wrong on a fabric.
//!
//! Each trial boots; all of it is emulated, so that nothing is said of any speed. Without the packages they are skipped, in
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

/// One line a case: all eight, over every transport, with several queue pairs and sizes, and what else changes the way that
/// messages are posted and taken.
const RUNS: &[&str] = &[
    "rdma.write_bw -p transport=rc,uc -p queue_pairs=3 -p threads=2 -p size=2KiB -p up_to=16KiB",
    "rdma.write_bw -p direction=both -p post_list=4 -p moderation=8 -p depth=32 -p buffers=different -p size=16KiB",
    "rdma.write_bw -p fence=true -p size=4KiB",
    "rdma.write_bw -p completion=event -p size=64B -p inline=64B",
    "rdma.read_bw -p queue_pairs=2 -p size=1000B -p up_to=5000B -p outstanding=4",
    "rdma.read_bw -p direction=reverse -p fence=true -p mtu=1024 -p size=4KiB",
    "rdma.send_bw -p transport=rc,uc,ud -p queue_pairs=2 -p size=512B -p up_to=1KiB",
    "rdma.send_bw -p direction=both -p completion=event -p receives=64 -p depth=16 -p size=4KiB",
    "rdma.write_lat -p transport=rc,uc -p up_to=8KiB",
    "rdma.write_poll_lat -p transport=rc,uc -p size=1B -p up_to=4KiB",
    "rdma.send_lat -p transport=rc,uc,ud -p up_to=1KiB",
    "rdma.send_lat -p completion=event",
    "rdma.read_lat -p size=8B -p up_to=64KiB",
    "rdma.atomic -p operation=fetch_add,compare_swap -p queue_pairs=3",
    "net.pingpong -p transport=verbs -p to=64KiB",
];

#[test]
fn every_benchmark_moves_its_data_and_finds_it_whole() {
    let lines: Vec<String> = RUNS.iter().map(|run| format!("told run {run} {QUICK}\n")).collect();
    // What a tool would be told to do before it could talk to anybody: nothing here names an address.
    let script = format!(
        "{}told run rdma.write_bw {QUICK} -p gid_index=77\ntold run rdma.write_bw {QUICK} -p inline=4KiB -p size=4KiB\n\
         setpriv --bounding-set=-ipc_lock bash -c 'ulimit -l 64; \"$0\" run rdma.write_bw -p trials=1 -p max_trials=1 -p \
         size=1MiB -o json 2>>/tmp/err || true' '{}'\nrdma link delete rxe0\ntold run rdma.write_bw {QUICK}",
        lines.concat(),
        PathBuf::from(env!("CARGO_BIN_EXE_xtask")).with_file_name("seatrial").display()
    );
    let Some(output) = guest(&["--limit", "900"], &script) else { return };
    let told = results(&output);
    let (measured, refused) = told.split_at(told.len() - 3);
    for result in measured {
        assert_eq!(result["outcome"], "measured", "{result:#}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let why = |result: &Value| format!("{} {}", result["cause"], result["reason"]);
    let [gid, inline, locked] = refused else { panic!("{refused:#?}") };
    assert_eq!(gid["outcome"], "unmeasured", "{gid:#}");
    assert!(why(gid).contains("gid_index=77") && why(gid).contains("10.78.0.1"), "{}", why(gid));
    assert!(inline["outcome"] == "unmeasured" || inline["outcome"] == "skipped", "{inline:#}");
    assert_eq!(locked["cause"], "denied", "{locked:#}");
    assert!(why(locked).contains("64"), "{}", why(locked));
}

#[test]
fn two_guests_measure_each_other_and_a_dead_peer_or_a_cut_link_is_an_outcome() {
    // Orders go over the first pair of cards, so that the second can be cut.
    let run = "run rdma.write_bw -w g1,g2 -p device=rxe1/1 -p trials=1 -p max_trials=1";
    let long = format!("{run} -p time=60s -p queue_pairs=2");
    let script = format!(
        "told {run} -p time=2s -p direction=both -p size=4KiB\n\
         told run rdma.send_lat -w g1,g2 -p device=rxe1/1 -p transport=ud {QUICK}\n\
         ( sleep 15; ssh g2 pkill -KILL -f ' worker' ) &\n\
         told {long}\n\
         wait\n\
         ( sleep 15; ssh g2 ip link set eth1 down ) &\n\
         told {long}\n\
         wait\n"
    );
    let Some(output) = guest(&["--guests", "2", "--nics", "2", "--limit", "600"], &script) else { return };
    let told = results(&output);
    let outcomes: Vec<&str> = told.iter().filter_map(|result| result["outcome"].as_str()).collect();
    assert!(told.len() >= 4, "{outcomes:?} {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        outcomes[..2],
        ["measured", "measured"],
        "{told:#?}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // The worker that was killed speaks against its node, the link against the path; neither of them waits for the end.
    for result in &told[2..4] {
        assert_ne!(result["outcome"], "measured", "{result:#}");
        assert_ne!(result["cause"], "hang", "{result:#}");
        assert!(result["seconds"].as_f64().is_some_and(|seconds| seconds < 60.0), "{result:#}");
    }
}
