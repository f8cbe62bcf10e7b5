//! A data set copied from one node to another, by every tool that is there.

use libtest_mimic::Trial;

use serde_json::{Value, json};

use crate::rig::{BOTH, Rig, shared, wide};
use crate::started::{outcome, reason};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_data_set_is_copied_between_nodes_by_every_tool_and_nothing_is_left", copied),
        trial("cipher_direction_and_window_are_what_the_record_says", options),
        trial("copies_at_once_share_what_the_shaper_lets_through", at_once),
        trial("over_a_long_path_the_mover_fills_the_link_and_a_small_window_does_not", long_path),
        trial("a_path_that_loses_packets_holds_every_tool_back_by_loss", lossy_path),
        trial("a_tool_that_cannot_log_in_to_the_other_node_is_no_failure", no_login),
    ]
}

const MOVE: &[&str] = &[
    "run",
    "transfer.move",
    "-p",
    "source=/scratch",
    "-p",
    "target=/scratch",
    "-p",
    "files=40",
    "-p",
    "size=100KiB",
    "-p",
    "names=hard",
    "-p",
    "time=50ms",
    "-p",
    "trials=1",
    "-p",
    "max_trials=1",
    "-o",
    "json",
];

/// No login from the other node.
const WALL: &str = "nft add table inet wall && \
                    nft add chain inet wall in '{ type filter hook input priority 0; }' && \
                    nft add rule inet wall in ip saddr 10.77.0.1 tcp dport 22 reject with tcp reset";

/// Bytes of all files.
const BYTES: f64 = 40.0 * 102_400.0;

fn copied() {
    shared(|rig| {
        let tools = ["-p", "tool=native,scp,rsync,tar-ssh"];
        let document = rig.run(&[MOVE, &tools, BOTH]).document(0);
        // It writes names with control characters or bytes that are no UTF-8 under other names.
        let plain: Vec<&str> =
            MOVE.iter().map(|word| if *word == "names=hard" { "names=plain" } else { word }).collect();
        let by_rclone = rig.run(&[&plain, &["-p", "tool=rclone"], BOTH]);
        let by_rclone = by_rclone.document(by_rclone.code.expect("an exit code"));
        let results = |document: &Value| document["results"].as_array().expect("results").clone();
        let all = [results(&document), results(&by_rclone)].concat();
        assert_eq!(all.len(), 5, "{document} {by_rclone}");
        for result in &all {
            let tool = result["params"]["tool"].as_str().expect("a tool");
            if result["outcome"] == "skipped" {
                let why = result["reason"].as_str().expect("why");
                let may_be_absent = ["rsync", "rclone"].contains(&tool);
                let is_told = ["is not installed on n", "is too old"].iter().any(|words| why.contains(words));
                assert!(may_be_absent && is_told, "{tool}: {why}");
                continue;
            }
            assert_eq!(result["outcome"], "measured", "{tool}: {}", result["reason"]);
            let median = |name: &str| result["metrics"][name]["median"].as_f64().expect("a number");
            assert!(median("goodput") > 0.0, "{tool}");
            // All of it left by the interface, with headers; the nodes tell each other little besides.
            let wire = median("wire");
            assert!((1.0..2.0).contains(&wire), "{tool}: {} B on the wire", wire * BYTES);
            assert_eq!(result["evidence"]["version"].is_string(), tool != "native", "{tool}");
            assert!(median("verify") > 0.0, "{tool}");
            // What took the time, together not more than all of it.
            let held = result["evidence"]["held_back"].as_array().expect("what held it back");
            let shares: Vec<f64> = held.iter().map(|hold| hold["share"].as_f64().expect("a share")).collect();
            assert!(!shares.is_empty() && shares.iter().sum::<f64>() < 1.001, "{tool}: {held:?}");
        }
        for node in ["n1", "n2"] {
            assert_eq!(rig.lab.node(node, "ls -A /scratch | grep -v lost+found || true"), "", "{node}");
        }
    });
}

fn no_login() {
    shared(|rig| {
        // The daemon takes nobody from the other node, only from the head.
        rig.lab.node("n2", WALL);
        let ended = rig.run(&[MOVE, &["-p", "tool=scp"], BOTH]);
        rig.lab.node("n2", "nft delete table inet wall");
        let document = ended.document(3);
        assert_eq!(outcome(&document, "transfer.move"), ("unmeasured", "never_reached"));
        let why = reason(&document, "transfer.move");
        assert!(why.contains("n1 cannot log in to n2 with ssh"), "{why}");
    });
}

/// A copy of a few files between two nodes, with these parameters besides.
fn moved(rig: &Rig, params: &[&str], code: i32) -> Value {
    rig.run(&[MOVE, params, BOTH]).document(code)["results"][0].clone()
}

#[track_caller]
fn measured(rig: &Rig, params: &[&str]) -> Value {
    let result = moved(rig, params, 0);
    assert_eq!(result["outcome"], "measured", "{params:?}: {}", result["reason"]);
    result["evidence"].clone()
}

fn options() {
    shared(|rig| {
        for tool in ["scp", "tar-ssh"] {
            let tool_is = format!("tool={tool}");
            for cipher in ["aes128-ctr", "aes256-gcm@openssh.com"] {
                let evidence = measured(
                    rig,
                    &["-p", &tool_is, "-p", &format!("cipher={cipher}"), "-p", "preserve=true"],
                );
                assert_eq!(evidence["cipher"], cipher, "{tool}");
                let command = evidence["command"].as_str().expect("a command");
                assert!(command.contains(&format!("-c {cipher}")) && command.contains("n2"), "{command}");
            }
            // The second node fetches: its command has the first in it.
            let evidence = measured(rig, &["-p", &tool_is, "-p", "direction=pull"]);
            let command = evidence["command"].as_str().expect("a command");
            assert!(command.contains("n1") && !command.contains("n2"), "{command}");
            assert!(evidence["cipher"].is_string() && evidence["version"].is_string(), "{evidence}");
        }
        let why = moved(rig, &["-p", "tool=scp", "-p", "cipher=rot13"], 3);
        assert!(why["reason"].as_str().expect("why").contains("rot13"), "{why}");

        for cipher in ["aes-256-gcm", "chacha20-poly1305"] {
            measured(rig, &["-p", &format!("cipher={cipher}")]);
        }

        let window = |asked: &str| measured(rig, &["-p", &format!("window={asked}")])["window"].clone();
        assert_eq!(window("auto"), Value::Null);
        let given = json!({ "send_buffer": 128 << 10, "receive_buffer": 128 << 10 });
        assert_eq!(window("64 KiB"), json!({ "asked": { "bytes": 64 << 10 }, "given": given }));
        let window = window("bdp");
        let number =
            |of: &str, name: &str| window[of][name].as_u64().unwrap_or_else(|| panic!("{name}: {window}"));
        let [speed, delay] = ["link_mbit_s", "round_trip_us"].map(|name| number("asked", name));
        assert_eq!(number("asked", "bytes"), (speed * delay / 8).max(4096), "{window}");
        assert!(number("given", "send_buffer") >= 4096, "{window}");

        for (option, word) in
            [("cipher=aes128-ctr", "encrypts with aes-256-gcm or"), ("direction=pull", "no such thing")]
        {
            let skipped = moved(rig, &["-p", option], 3);
            assert_eq!(skipped["outcome"], "skipped", "{skipped}");
            assert!(skipped["reason"].as_str().expect("why").contains(word), "{skipped}");
        }
    });
}

/// Of a frame of 9014 B, with its Ethernet header as the shaper counts it, headers of IPv4, TCP and timestamps leave this.
const PAYLOAD: f64 = (9000.0 - 52.0) / 9014.0;

/// Every pair with one file of 30 MB.
const AT_ONCE: &[&str] = &[
    "run",
    "transfer.move",
    "-w",
    "n[1-4]",
    "-p",
    "source=/scratch",
    "-p",
    "target=/scratch",
    "-p",
    "files=1",
    "-p",
    "size=30MB",
    "-p",
    "cache=warm",
    "-p",
    "time=50ms",
    "-p",
    "trials=1",
    "-p",
    "max_trials=1",
    "-o",
    "json",
];

/// Tries of one measurement: other work on the machine makes a copy slower, nothing makes it faster than its link.
const TRIES: usize = 6;

fn at_once() {
    wide(|rig| {
        // What a node may send or receive, in Mbit/s, and the links that the copies have together.
        for (pattern, slow, links, pairs) in [
            ("bisection", &["n1", "n2"][..], 2.0, 2),
            ("incast", &["n1"], 1.0, 3),
            ("one-to-many", &["n1"], 1.0, 3),
        ] {
            const MBIT: f64 = 200.0;
            for node in slow {
                rig.lab.lab(&["fault", node, &format!("rate={MBIT}mbit")]);
            }
            // The login of scp is part of its time; the mover begins when it is told.
            for (tool, least) in [("native", 0.85), ("scp", 0.6)] {
                let mut seen = Vec::new();
                while seen.len() < TRIES {
                    let words = ["--pattern", pattern, "-p", &format!("tool={tool}")];
                    // One of several copies may get so little of the link that its time is up: a try without a share.
                    let ended = rig.run(&[AT_ONCE, &words]);
                    let document = ended.document(ended.code.expect("an exit code"));
                    let results = document["results"].as_array().expect("results");
                    assert_eq!(results.len(), pairs, "{document}");
                    let rate =
                        |result: &Value| result["metrics"]["goodput"]["median"].as_f64().unwrap_or(0.0);
                    let slowest = results.iter().map(rate).reduce(f64::min).expect("a pair");
                    // MB/s of all bytes until the last copy is done.
                    let share = slowest * pairs as f64 / (links * MBIT / 8.0 * PAYLOAD);
                    seen.push(share);
                    if (least..1.02).contains(&share) {
                        break;
                    }
                }
                #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
                {
                    println!("{pattern} of {tool}: shares of the link {seen:.3?}");
                }
                let last = seen.last().expect("a try");
                assert!((least..1.02).contains(last), "{pattern} of {tool}: {seen:?}");
            }
            for node in slow {
                rig.lab.lab(&["heal", node]);
            }
        }
    });
}

/// One file in memory, over a path of 1 Gbit/s and 20 ms there and back.
const LONG: &[&str] = &[
    "run",
    "transfer.move",
    "-p",
    "source=/dev/shm",
    "-p",
    "target=/dev/shm",
    "-p",
    "files=1",
    "-p",
    "cache=warm",
    "-p",
    "time=50ms",
    "-p",
    "trials=1",
    "-p",
    "max_trials=1",
    "-o",
    "json",
];

fn lossy_path() {
    shared(|rig| {
        rig.lab.lab(&["fault", "n2", "rate=1gbit", "drop=1%"]);
        let tools = ["-p", "size=20MB", "-p", "tool=native,scp"];
        let document = rig.run(&[LONG, &tools, BOTH]).document(0);
        for result in document["results"].as_array().expect("results") {
            let held = result["evidence"]["held_back"].as_array().expect("what held it back");
            // On a busy machine a login may take as long as a copy.
            let is_told = held.iter().any(|hold| hold["what"] == "packet loss");
            assert!(is_told || result["params"]["tool"] == "scp", "{result:#}");
            let found = result["findings"].as_array().expect("findings").iter();
            let lost = found.filter(|finding| finding["kind"] == "limited-by-loss");
            let percent =
                |finding: &Value| finding["value"].as_str()?.strip_suffix(" %")?.parse::<f64>().ok();
            let percent: Vec<f64> = lost.filter_map(percent).collect();
            // Of a hundred frames each end drops one; what comes in order only late may be sent again too.
            assert!(
                matches!(percent[..], [percent] if (0.9..4.0).contains(&percent)),
                "{percent:?} {result:#}"
            );
        }
    });
}

fn long_path() {
    // So slow that two busy cores fill it.
    const MBIT: f64 = 200.0;
    shared(|rig| {
        rig.lab.lab(&["fault", "n2", &format!("rate={MBIT}mbit"), "delay=10ms"]);
        let moved = |params: &[&str]| {
            let document = rig.run(&[LONG, params, BOTH]).document(0);
            let result = document["results"][0].clone();
            let rate = result["metrics"]["goodput"]["median"].as_f64().expect("a rate");
            (rate / (MBIT / 8.0 * PAYLOAD), result)
        };
        // 96 KiB, of which TCP may use half again or all, in each 20 ms: 9.8 MB/s at most.
        let (share, result) = moved(&["-p", "size=4MB", "-p", "streams=1", "-p", "window=96KiB"]);
        assert!(share < 0.45, "{share}: {result}");
        let held = &result["evidence"]["held_back"];
        assert!(held.to_string().contains("window of the connections"), "{held}");

        let mut seen = Vec::new();
        while seen.len() < TRIES && seen.last().is_none_or(|share| *share < 0.9) {
            seen.push(moved(&["-p", "size=160MB", "-p", "window=auto"]).0);
        }
        assert!((0.9..1.02).contains(seen.last().expect("a try")), "shares of the link {seen:?}");
    });
}
