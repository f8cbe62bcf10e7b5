//! RDMA, real: the benchmarks by the binary over soft-RoCE in guests, and what goes wrong on a fabric. Every verb is tested
//! by itself in `guest_verbs`; here the whole way is, from the command line to the record.
//!
//! Each of the two trials boots once, and all of it is emulated, so that nothing is said of any speed. Without the packages
//! they are skipped, in continuous integration they fail.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use xtask::packages;

/// The binary under test, which lies where the tests' own does and is at the same place in a guest.
fn seatrial() -> String {
    PathBuf::from(env!("CARGO_BIN_EXE_xtask")).with_file_name("seatrial").display().to_string()
}

/// What a script in a guest gave, or none where guests cannot be had. In the script, `told NAME ARGUMENTS` runs the binary
/// under test and names what it tells.
fn guest(options: &[&str], script: &str) -> Option<Output> {
    let missing = packages::missing_now(packages::GUEST);
    if !missing.is_empty() && !xtask::workspace::is_ci() {
        let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
        eprintln!("skipped: guests need {}", names.join(" "));
        return None;
    }
    let script = format!(
        "export SEATRIAL_HOME=/tmp/home\n\
         told() {{ echo \"\\\"$1\\\"\"; shift; \"$@\" -o json 2>>/tmp/err || true; }}\n\
         {script}\n\
         cat /tmp/err >&2\n"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["guest", "run"]).args(options).args(["--", "bash", "-c", &script]);
    Some(command.output().unwrap())
}

/// The results of each run by its name, in the order of the script.
fn results(output: &Output) -> Vec<(String, Vec<Value>)> {
    let mut told: Vec<(String, Vec<Value>)> = Vec::new();
    for value in serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>() {
        let value = value.unwrap_or_else(|error| panic!("{error}: {}", said(output)));
        match (value.as_str(), told.last_mut()) {
            (Some(name), _) => told.push((name.to_owned(), Vec::new())),
            (None, Some((_, results))) => {
                results.extend(value["results"].as_array().cloned().unwrap_or_default());
            }
            (None, None) => panic!("a document without a name: {value}"),
        }
    }
    assert!(!told.is_empty(), "{}", said(output));
    told
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

/// The one result of the run with this name.
fn the_one<'a>(told: &'a [(String, Vec<Value>)], name: &str, output: &Output) -> &'a Value {
    let found = told.iter().find(|(own, _)| own == name).map(|(_, results)| results.as_slice());
    match found {
        Some([result]) => result,
        other => panic!("{name}: {other:?}\n{}", said(output)),
    }
}

fn why(result: &Value) -> String {
    format!("{} {}: {}", result["outcome"], result["cause"], result["reason"])
}

const QUICK: &str = "-p trials=1 -p max_trials=1 -p time=500ms";

/// All eight and the ping-pong over verbs, over every transport, with several queue pairs and sizes, and what else changes
/// the way that messages are posted and taken; and how many cases each line makes. Few lines: to start the program takes
/// longer than a case.
const RUNS: &[(&str, usize)] = &[
    (
        "rdma.write_bw rdma.read_bw rdma.send_bw rdma.write_lat rdma.write_poll_lat rdma.send_lat rdma.read_lat rdma.atomic \
         -p queue_pairs=2 -p size=2KiB -p up_to=4KiB",
        8,
    ),
    (
        "rdma.write_bw rdma.send_bw rdma.write_lat rdma.write_poll_lat rdma.send_lat -p transport=uc -p size=1KiB",
        5,
    ),
    ("rdma.send_bw rdma.send_lat rdma.atomic -p transport=ud -p size=1KiB -p operation=compare_swap", 3),
    (
        "rdma.write_bw rdma.read_bw -p direction=both -p post_list=4 -p moderation=8 -p depth=32 -p buffers=different \
         -p fence=true -p size=16KiB",
        2,
    ),
    (
        "rdma.write_bw rdma.read_bw rdma.send_bw -p buffers=fresh -p completion=event -p inline=64B -p size=64B",
        3,
    ),
    ("net.pingpong -p transport=verbs -p to=1KiB", 1),
];

#[test]
fn every_benchmark_moves_its_data_and_what_cannot_be_is_told() {
    let binary = seatrial();
    let runs: Vec<String> =
        RUNS.iter().map(|(run, _)| format!("told '{run}' '{binary}' run {run} {QUICK}\n")).collect();
    let write = format!("'{binary}' run rdma.write_bw {QUICK}");
    let script = format!(
        "{runs}\
         told refused {write} -p gid_index=77,auto -p inline=4KiB -p size=4KiB\n\
         ulimit -l 64\n\
         told memlock setpriv --bounding-set=-ipc_lock {write} -p size=1MiB\n\
         for library in /usr/lib/*/libibverbs.so.1; do mv \"$library\" \"$library.away\"; done\n\
         told library {write}\n\
         rdma link delete rxe0\n\
         told none {write}\n",
        runs = runs.concat()
    );
    let Some(output) = guest(&["--limit", "900"], &script) else { return };
    let told = results(&output);
    assert_eq!(told.len(), RUNS.len() + 4, "{}", said(&output));
    for (run, cases) in RUNS {
        let (_, results) = told.iter().find(|(name, _)| name == run).unwrap();
        assert_eq!(results.len(), *cases, "{run}: {}", said(&output));
        for result in results {
            // A machine that starves a guest for seconds may leave it too few messages for a number; what came is whole
            // then too.
            let is_short = result["cause"] == "too_short";
            assert!(result["outcome"] == "measured" || is_short, "{run}: {result:#}\n{}", said(&output));
        }
        let measured = results.iter().filter(|result| result["outcome"] == "measured").count();
        assert!(2 * measured >= *cases, "{run}: {}", said(&output));
    }

    let (_, refused) = told.iter().find(|(name, _)| name == "refused").unwrap();
    let [gid, inline] = refused.as_slice() else { panic!("{refused:#?}\n{}", said(&output)) };
    let one = |name: &str| the_one(&told, name, &output);
    for (result, wanted, words) in [
        (gid, "unmeasured", ["gid_index=77", "10.78.0.1"]),
        (inline, "skipped", ["inline=4 KiB", "at most"]),
        (one("memlock"), "unmeasured", ["denied", "65536 bytes"]),
        (one("library"), "skipped", ["libibverbs", "inapplicable"]),
        (one("none"), "skipped", ["no RDMA device", "inapplicable"]),
    ] {
        let why = why(result);
        assert_eq!(result["outcome"], wanted, "{why}");
        assert!(words.iter().all(|word| why.contains(word)), "{why}");
    }
}

#[test]
fn two_guests_measure_each_other_and_a_dead_peer_is_an_outcome() {
    let run = format!("'{}' run -w g1,g2 -p device=rxe1/1 -p trials=1 -p max_trials=1", seatrial());
    // The other guest's worker dies some seconds after it is there.
    let script = format!(
        "told both {run} rdma.write_bw -p time=1s -p direction=both -p size=4KiB\n\
         ( until ssh g2 pgrep -f worker.--f[d] > /dev/null; do sleep 1; done; sleep 4\n\
           ssh g2 'pkill -KILL -f worker.--f[d]' ) &\n\
         told killed {run} rdma.write_bw -p time=100s -p queue_pairs=2\n\
         wait\n"
    );
    let Some(output) = guest(&["--guests", "2", "--nics", "2", "--limit", "600"], &script) else { return };
    let told = results(&output);
    assert_eq!(the_one(&told, "both", &output)["outcome"], "measured", "{}", said(&output));
    // It speaks against its node or against the path, whichever is seen first; the end of the phase is not waited for.
    let result = the_one(&told, "killed", &output);
    assert_eq!(result["outcome"], "failed", "{result:#}");
    assert!(result["cause"] == "crash" || result["cause"] == "io_error", "{result:#}");
    assert!(result["seconds"].as_f64().is_some_and(|seconds| seconds < 100.0), "{result:#}");
}
