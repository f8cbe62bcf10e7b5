//! A data set copied from one node to another, by every tool that is there.

use libtest_mimic::Trial;

use crate::rig::{BOTH, shared};
use crate::started::{outcome, reason};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_data_set_is_copied_between_nodes_by_every_tool_and_nothing_is_left", copied),
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
        let results = document["results"].as_array().expect("results");
        assert_eq!(results.len(), 4, "{document}");
        for result in results {
            let tool = result["params"]["tool"].as_str().expect("a tool");
            if result["outcome"] == "skipped" {
                let why = result["reason"].as_str().expect("why");
                assert!(tool == "rsync" && why.contains("is not installed on n"), "{tool}: {why}");
                continue;
            }
            assert_eq!(result["outcome"], "measured", "{tool}: {}", result["reason"]);
            let median = |name: &str| result["metrics"][name]["median"].as_f64().expect("a number");
            assert!(median("goodput") > 0.0, "{tool}");
            // All of it left by the interface, with headers; the nodes tell each other little besides.
            let wire = median("wire");
            assert!((1.0..2.0).contains(&wire), "{tool}: {} B on the wire", wire * BYTES);
            assert_eq!(result["evidence"]["version"].is_string(), tool != "native", "{tool}");
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
