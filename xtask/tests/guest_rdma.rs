//! RDMA, real: the benchmarks by the binary over soft-RoCE in guests, and what goes wrong on a fabric. Every verb is tested
//! by itself in `guest_verbs`; here the whole way is, from the command line to the record.
//!
//! Each of the two trials boots once, and all of it is emulated, so that nothing is said of any speed. Without the packages
//! they are skipped, in continuous integration they fail.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "common/guest.rs"]
mod common;

use std::process::Output;

use common::{complaint, documents, guest, measured};
use serde_json::Value;

/// In a script: `named NAME ARGUMENTS` is `told ARGUMENTS`, and a document of its name before.
const NAMED: &str = "named() { echo \"\\\"$1\\\"\"; shift; told \"$@\"; }\n";

/// What each named run told, in the order of the script; nothing where it ended without a document.
struct Runs {
    told: Vec<(String, Value)>,
    complaint: String,
}

impl Runs {
    fn of(output: &Output) -> Self {
        let mut told: Vec<(String, Value)> = Vec::new();
        for document in documents(output) {
            match (document.as_str(), told.last_mut()) {
                (Some(name), _) => told.push((name.to_owned(), Value::Null)),
                (None, Some((_, run))) => *run = document,
                (None, None) => panic!("a document without a name: {document}"),
            }
        }
        Self { told, complaint: complaint(output) }
    }

    #[track_caller]
    fn run(&self, name: &str) -> &Value {
        let found = self.told.iter().find(|(own, _)| own == name).map(|(_, document)| document);
        found.unwrap_or_else(|| panic!("no run {name}; {}", self.complaint))
    }

    #[track_caller]
    fn results(&self, name: &str) -> &[Value] {
        let results = self.run(name)["results"].as_array();
        results.unwrap_or_else(|| panic!("{name} told nothing; {}", self.complaint))
    }

    /// The one result of a run.
    #[track_caller]
    fn result(&self, name: &str) -> &Value {
        match self.results(name) {
            [result] => result,
            other => panic!("{name} has {} results; {}\n{other:#?}", other.len(), self.complaint),
        }
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
    ("rdma.send_bw -p transport=ud -p multicast=true -p queue_pairs=2 -p size=1KiB", 1),
    ("net.pingpong -p transport=verbs -p to=1KiB -p operation=write,read,send -p buffers=same,fresh", 6),
];

#[test]
fn every_benchmark_moves_its_data_and_what_cannot_be_is_told() {
    let runs: Vec<String> =
        RUNS.iter().map(|(run, _)| format!("named '{run}' run {run} --pattern alone {QUICK}\n")).collect();
    let write = format!("run rdma.write_bw --pattern alone {QUICK}");
    let script = format!(
        "{NAMED}{runs}\
         named refused {write} -p gid_index=77,auto -p inline=4KiB -p size=4KiB\n\
         ulimit -l 64\n\
         with='setpriv --bounding-set=-ipc_lock'\n\
         named memlock {write} -p size=1MiB\n\
         with=\n\
         for library in /usr/lib/*/libibverbs.so.1; do mv \"$library\" \"$library.away\"; done\n\
         named library {write}\n\
         rdma link delete rxe0\n\
         named none {write}\n",
        runs = runs.concat()
    );
    let Some(output) = guest(&["--limit", "1200"], &script) else { return };
    let told = Runs::of(&output);
    for (run, cases) in RUNS {
        let results = told.results(run);
        assert_eq!(results.len(), *cases, "{run}: {}", told.complaint);
        for result in results {
            // A machine that starves a guest for seconds may leave it too few messages for a number; what came is whole
            // then too.
            let is_short = result["cause"] == "too_short";
            assert!(
                result["outcome"] == "measured" || is_short,
                "{run}: {}; {}\n{result:#}",
                why(result),
                told.complaint
            );
        }
        let measured = results.iter().filter(|result| result["outcome"] == "measured").count();
        assert!(2 * measured >= *cases, "{run}: {}\n{results:#?}", told.complaint);
    }

    let [gid, inline] = told.results("refused") else { panic!("{:#}", told.run("refused")) };
    for (result, wanted, words) in [
        (gid, "unmeasured", ["gid_index=77", "10.78.0.1"]),
        (inline, "skipped", ["inline=4 KiB", "at most"]),
        (told.result("memlock"), "unmeasured", ["denied", "65536 bytes"]),
        (told.result("library"), "skipped", ["libibverbs", "inapplicable"]),
        (told.result("none"), "skipped", ["no RDMA device", "inapplicable"]),
    ] {
        let why = why(result);
        assert_eq!(result["outcome"], wanted, "{why}; {}", told.complaint);
        assert!(words.iter().all(|word| why.contains(word)), "{why}");
    }
}

/// How long the runs measure whose other end is to fail: their end is not waited for.
const LONG_SECONDS: f64 = 300.0;

/// The job of the first of two guests.
fn between_two() -> String {
    let run = "run -w g1,g2 -p trials=1 -p max_trials=1 rdma.write_bw";
    // Messages of one packet: where many packets of a message are sent again, on a machine that starves the guest, Linux 6.1's
    // soft-RoCE may take one in the middle for its beginning, and ends the queue pair.
    let run_sends = run.replace("rdma.write_bw", "rdma.send_bw");
    // Two parts that poll would take the processors of an emulated guest from the kernel's threads that move the data.
    let exchange = "rdma.all_to_all -p size=4KiB -p per_node=2 -p completion=event -p depth=4 -p time=4s";
    let exchange = run.replace("rdma.write_bw", exchange);
    let run = format!("{run} -p size=4KiB");
    let long = format!("{run} -p device=rxe1/1 -p time={LONG_SECONDS}s -p queue_pairs=2");
    format!(
        r#"{NAMED}
# Agents come up at once where the binary lies in the cache of their node. To send it there takes an emulated machine long, and
# is tested elsewhere: the first guest sends it to itself, the other one finds it in the files that both have of the host.
until "$program" inventory -w g1 > /dev/null 2> /tmp/gather.err; do cat /tmp/gather.err >&2; sleep 1; done
build=$(ls -t "$HOME/.cache/seatrial" | head -n 1)
ssh g2 "mkdir -p -m 700 .cache/seatrial && cp '$program' .cache/seatrial/$build"

# Something goes wrong two seconds after the case began to move its messages: it warms up for less.
came() {{ ssh g2 cat /sys/class/net/eth1/statistics/rx_bytes; }}
once_it_moves() {{
    before=$(came)
    until [ $(($(came) - before)) -gt 4000000 ]; do sleep 0.5; done
    sleep 2
    "$@"
}}

named both {run} -p device=rxe1/1 -p time=1s -p direction=both
named group {run_sends} -p device=rxe1/1 -p time=1s -p transport=ud -p multicast=true -p size=1KiB
named ports {run} -p device=rxe0/1+rxe1/1 -p time=1s -p direction=both
others='rdma.atomic rdma.send_lat rdma.read_lat'
named exchange {exchange} -p device=rxe1/1
named rails {exchange} -p device=rxe0/1+rxe1/1 -p shift=1
named others run -w g1,g2 -p trials=1 -p max_trials=1 $others -p device=rxe0/1+rxe1/1 -p time=2s -p queue_pairs=2 -p threads=2

# The bracket keeps the pattern from fitting the command that looks for it.
once_it_moves ssh g2 'pkill -KILL -f worker.--f[d]' &
named killed {long}
wait

# Nothing comes through any more, either way. The interfaces stay up: Linux 6.1's soft-RoCE does not survive it when the one
# under it is taken away while much is outstanding.
cut() {{ for guest in g1 g2; do ssh $guest tc qdisc replace dev eth1 root netem loss 100%; done; }}
once_it_moves cut &
named cut {long}
wait
"#
    )
}

/// What was sent to a group came to the other guest, which was a member where switches would hear of it.
fn in_a_group(document: &Value) {
    let result = measured(document, 0);
    let group = &result["evidence"]["server"]["device"]["group"];
    assert!(group["gid"].as_str().is_some_and(|gid| gid.contains(":ffff:ef")), "{group}");
    assert_eq!(group["joined"], "as the switches are told");
    let lost = result["metrics"]["loss"]["mean"].as_f64();
    assert!(lost.is_some_and(|lost| lost < 100.0), "{:#}", result["metrics"]["loss"]);
}

/// Both ports carried something, each way, and the counters of the interfaces below them show what they carried together.
fn over_two_ports(document: &Value) {
    let result = measured(document, 0);
    assert_eq!(result["layout"]["port"], "rxe0/1+rxe1/1");
    let rows = result["series"]["by_port"]["rows"].as_array().expect("rows");
    let word = |row: &Value, name: &str| row["at"][name].as_str().unwrap_or_default().to_owned();
    let mut told: Vec<_> = rows.iter().map(|row| (word(row, "port"), word(row, "direction"))).collect();
    told.sort();
    let wanted =
        ["rxe0/1", "rxe1/1"].map(|port| ["forward", "reverse"].map(|way| (port.to_owned(), way.to_owned())));
    assert_eq!(told, wanted.concat());
    assert!(
        rows.iter().all(|row| row["summary"]["mean"].as_f64().is_some_and(|mean| mean > 0.0)),
        "{rows:#?}"
    );
    for node in ["g1", "g2"] {
        for counter in ["tx_bytes eth0", "tx_bytes eth1"] {
            let count = &result["evidence"]["probes"][node]["nic"]["counts"][counter];
            assert!(count.as_u64().is_some_and(|bytes| bytes > 100_000), "{node}, {counter}: {count}");
        }
    }
    is_proved(result, 4);
}

/// Each port in each way has a row of its own, at the interface below it, whose counters show it.
fn is_proved(result: &Value, rows: usize) {
    let moved = result["evidence"]["moved"].as_array().expect("rows");
    let told = moved.iter().flat_map(|row| ["sender", "receiver"].map(|end| row[end]["interface"].as_str()));
    assert!(
        moved.len() == rows && told.clone().all(|name| matches!(name, Some("eth0" | "eth1"))),
        "{moved:#?}"
    );
    for interface in ["eth0", "eth1"] {
        assert_eq!(told.clone().filter(|name| *name == Some(interface)).count(), rows, "{moved:#?}");
    }
    let findings = result["findings"].as_array().into_iter().flatten();
    let found: Vec<&Value> = findings.filter(|finding| finding["kind"] == "path-unconfirmed").collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Atomics and conversations over two ports in one case tell of each.
fn others_over_two_ports(told: &Runs) {
    let document = told.run("others");
    let results = told.results("others");
    assert_eq!(results.len(), 3, "{}", told.complaint);
    for index in 0..results.len() {
        let result = measured(document, index);
        // What is read goes one way only.
        let rows = if result["bench"] == "rdma.read_lat" { 2 } else { 4 };
        assert_eq!(result["layout"]["port"], "rxe0/1+rxe1/1");
        let ports = result["series"]["by_port"]["rows"].as_array().expect("rows").iter();
        let ports: Vec<Option<&str>> = ports.map(|row| row["at"]["port"].as_str()).collect();
        assert_eq!(ports, [Some("rxe0/1"), Some("rxe1/1")], "{}", result["bench"]);
        is_proved(result, rows);
    }
}

/// All parts of both nodes write to those of the other: over one port, or each over a port of its own. What was counted
/// as sent by one node is what the other received.
fn of_all_to_all(document: &Value, port: &str, queue_pairs: u64) {
    let result = measured(document, 0);
    assert_eq!(
        (&result["layout"]["port"], &result["layout"]["queue_pairs"]),
        (&port.into(), &queue_pairs.into())
    );
    let rates = |series: &str, axes: [&str; 2]| -> Vec<(String, f64)> {
        let rows = result["series"][series]["rows"].as_array().expect("rows").iter();
        let name =
            |row: &Value| axes.map(|axis| row["at"][axis].as_str().unwrap_or_default().to_owned()).join(" ");
        let mut all: Vec<_> =
            rows.map(|row| (name(row), row["summary"]["mean"].as_f64().unwrap_or_default())).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    let flows = rates("by_flow", ["from", "to"]);
    let [(there, forward), (back, reverse)] = flows.as_slice() else { panic!("{flows:?}") };
    assert_eq!((there.as_str(), back.as_str()), ("g1 g2", "g2 g1"));
    assert!(*forward > 0.0 && *reverse > 0.0, "{flows:?}");
    let nodes: Vec<f64> = rates("by_node", ["node", "direction"]).into_iter().map(|(_, rate)| rate).collect();
    assert_eq!(nodes, [*reverse, *forward, *forward, *reverse], "g1 receive, g1 send, g2 receive, g2 send");
    for interface in ["eth0", "eth1"].into_iter().filter(|name| port.contains(&name.replace("eth", "rxe"))) {
        for node in ["g1", "g2"] {
            let count = &result["evidence"]["probes"][node]["nic"]["counts"][format!("tx_bytes {interface}")];
            assert!(count.as_u64().is_some_and(|bytes| bytes > 100_000), "{node}, {interface}: {count}");
        }
    }
}

#[test]
fn two_guests_measure_each_other_and_a_dead_peer_and_a_cut_link_are_outcomes() {
    let options = ["--guests", "2", "--nics", "2", "--limit", "1200"];
    let Some(output) = guest(&options, &between_two()) else { return };
    let told = Runs::of(&output);
    told.result("both");
    measured(told.run("both"), 0);
    in_a_group(told.run("group"));
    told.result("ports");
    over_two_ports(told.run("ports"));
    of_all_to_all(told.run("exchange"), "rxe1/1", 2);
    of_all_to_all(told.run("rails"), "rxe0/1+rxe1/1", 1);
    others_over_two_ports(&told);
    // It speaks against its node or against the path, whichever is seen first.
    let killed = told.result("killed");
    assert!(
        killed["cause"] == "crash" || killed["cause"] == "io_error",
        "{}; {}",
        why(killed),
        told.complaint
    );
    let cut = told.result("cut");
    let silent = "the peer or the path to it is silent";
    assert!(
        cut["reason"].as_str().is_some_and(|text| text.contains(silent)),
        "{}; {}",
        why(cut),
        told.complaint
    );
    for result in [killed, cut] {
        assert_eq!(result["outcome"], "failed", "{}", why(result));
        assert!(result["seconds"].as_f64().is_some_and(|seconds| seconds < LONG_SECONDS), "{result:#}");
    }
}
