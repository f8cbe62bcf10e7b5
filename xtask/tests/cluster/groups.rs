//! One case over sixteen nodes, and the slow one among them by name.

use libtest_mimic::Trial;
use serde_json::Value;

use crate::rig::{Rig, sixteen, with_more_time};
use crate::started::{Ended, TooLate, outcome, record};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("of_sixteen_nodes_the_one_with_a_shaped_link_is_named_over_ssh_and_slurm", shaped),
        trial("the_nodes_of_each_leaf_switch_that_slurm_knows_are_a_group", by_switch),
        trial("isolate_names_the_node_with_a_shaped_link_and_verify_finds_the_same", isolated),
        trial("isolate_names_the_narrow_link_between_two_switches", boundary),
        trial("a_node_killed_inside_a_case_of_sixteen_is_the_culprit_and_fifteen_are_measured", killed),
    ]
}

/// All sixteen are on one kernel.
const EXCHANGE: &[&str] =
    &["run", "net.all_to_all", "--share-hosts", "-p", "trials=2", "-p", "max_trials=2", "-o", "json"];

const SSH: &[&str] = &["-w", "n[1-16]"];
const SLURM: &[&str] = &["-N", "16"];

const SHAPE: &str = "tc qdisc replace dev eth0 root tbf rate 20mbit burst 128kb latency 20ms";

/// The rate of each row of a series, by its two coordinates.
fn rows(result: &Value, series: &str, axes: [&str; 2]) -> Vec<([String; 2], f64)> {
    let rows = result["series"][series]["rows"].as_array().unwrap_or_else(|| panic!("{result}"));
    let at = |row: &Value| axes.map(|axis| row["at"][axis].as_str().expect("a name").to_owned());
    rows.iter().map(|row| (at(row), row["summary"]["median"].as_f64().expect("a rate"))).collect()
}

/// All nodes at one moment. On a busy machine they come together only in a longer time.
fn exchanged(rig: &Rig, nodes: &[&str]) -> Value {
    for longer in [&[][..], &["-p", "time=10s"]] {
        let ended = rig.run(&[EXCHANGE, longer, nodes]);
        if ended.code == Some(0) {
            return ended.document(0);
        }
    }
    rig.run(&[EXCHANGE, &["-p", "time=40s"], nodes]).document(0)
}

fn shaped() {
    sixteen(|rig| {
        rig.lab.node("n11", SHAPE);
        for nodes in [SSH, SLURM] {
            let document = exchanged(rig, nodes);
            let result = &document["results"][0];
            assert_eq!(result["nodes"].as_array().map(Vec::len), Some(16), "{nodes:?}");
            let findings = result["findings"].as_array().into_iter().flatten();
            let slowest: Vec<&str> = findings
                .filter(|finding| finding["kind"] == "slowest-node")
                .filter_map(|finding| finding["node"].as_str())
                .collect();
            assert_eq!(slowest, ["n11"], "{nodes:?}: {}", result["findings"]);
            let by_node = rows(result, "by_node", ["node", "direction"]);
            let least = by_node.iter().min_by(|(_, one), (_, other)| one.total_cmp(other)).expect("rows");
            assert_eq!(least.0, ["n11", "send"], "{nodes:?}: {by_node:?}");
            assert_eq!(rows(result, "by_flow", ["from", "to"]).len(), 16 * 15);
        }
        rig.lab.node("n11", "tc qdisc delete dev eth0 root");
    });
}

/// Slurm's topology of the lab has a leaf switch for each half of the nodes.
fn by_switch() {
    sixteen(|rig| {
        let document = exchanged(rig, &[SLURM, &["--groups", "switch"]].concat());
        let nodes = |result: &Value| result["nodes"].as_array().expect("nodes").len();
        let results = document["results"].as_array().expect("results");
        assert_eq!(results.iter().map(nodes).collect::<Vec<_>>(), [8, 8], "{document}");
        let first = results.iter().filter_map(|result| result["nodes"][0].as_str());
        assert_eq!(first.collect::<Vec<_>>(), ["n1", "n9"]);
        let document = rig.run(&[EXCHANGE, SSH, &["--groups", "switch"]]).document(3);
        assert!(
            document["results"][0]["reason"].as_str().expect("why").contains("TopologyPlugin"),
            "{document}"
        );
    });
}

/// The findings of `document` of one kind.
fn found<'a>(document: &'a Value, kind: &str) -> Vec<&'a Value> {
    let findings = document["findings"].as_array().into_iter().flatten();
    findings.filter(|finding| finding["kind"] == kind).collect()
}

/// A search measures a dozen groups or more.
const ISOLATE: &[&str] = &[
    "run",
    "net.all_to_all",
    "--share-hosts",
    "--pattern",
    "isolate",
    "-p",
    "trials=1",
    "-p",
    "max_trials=1",
    "-o",
    "json",
];

/// Isolates with a short time, or one in which the threads of sixteen nodes come to run together on a busy machine.
fn isolate(rig: &Rig) -> Ended {
    let run = |time| rig.run(&[ISOLATE, SSH, &["-p", time]]);
    let measured = ["time=500ms", "time=2s"].into_iter().map(run).find(|ended| ended.code != Some(3));
    measured.unwrap_or_else(|| run("time=8s"))
}

fn isolated() {
    sixteen(|rig| {
        rig.lab.node("n11", SHAPE);
        let ended = isolate(rig);
        let document = ended.document(0);
        let slow = found(&document, "slow-node");
        let nodes: Vec<&Value> = slow.iter().map(|finding| &finding["node"]).collect();
        assert_eq!(nodes, ["n11"], "{}", document["findings"]);
        // The whole, and 2 log2(16) + 3 groups at most.
        let cases = document["results"].as_array().map_or(0, Vec::len);
        assert!((5..=12).contains(&cases), "{cases} cases");
        rig.lab.node("n11", "tc qdisc delete dev eth0 root");
        // The same conclusion from the evidence alone.
        let run = document["run"]["id"].as_str().expect("an id");
        let evidence = rig.lab.folder().join("isolate.tar.gz");
        let evidence = evidence.to_str().expect("a path");
        let exported =
            ended.then(rig.command(&[], &rig.program, &[&["export", run, "--evidence", evidence]])).end();
        assert_eq!(exported.code, Some(0), "{}", exported.complaint);
        let verified = rig.run(&[&["verify", evidence]]);
        assert_eq!(verified.code, Some(0), "{}{}", verified.out, verified.complaint);
    });
}

/// A second switch for the last eight nodes, behind a link that carries much less than they do.
const SECOND_SWITCH: &str = "\
mtu=$(cat /sys/class/net/br0/mtu)
ip link add br9 mtu $mtu type bridge && ip link set br9 up
ip link add up0 mtu $mtu type veth peer name up9 mtu $mtu
ip link set up0 master br0 && ip link set up9 master br9
for node in n9 n10 n11 n12 n13 n14 n15 n16; do ip link set $node master br9; done
for end in up0 up9; do tc qdisc replace dev $end root tbf rate 200mbit burst 256kb limit 4mb; ip link set $end up; done";

const ONE_SWITCH: &str = "\
for node in n9 n10 n11 n12 n13 n14 n15 n16; do ip link set $node master br0; done
ip link delete up0 && ip link delete br9";

fn boundary() {
    sixteen(|rig| {
        // The copy of the binary is not to take the narrow link.
        rig.run(&[&["inventory", "--share-hosts"], SSH]);
        rig.lab.head(SECOND_SWITCH);
        let document = isolate(rig).document(0);
        rig.lab.head(ONE_SWITCH);
        let slow = found(&document, "slow-boundary");
        assert_eq!(slow.len(), 1, "{}", document["findings"]);
        let text = slow[0]["text"].as_str().expect("a text");
        assert!(text.contains("n[1-8]") && text.contains("n[9-16]"), "{text}");
        assert_eq!(found(&document, "slow-node").len(), 0, "{}", document["findings"]);
    });
}

fn killed() {
    sixteen(|rig| {
        with_more_time(rig, |time| {
            let mut run = rig.start(&[EXCHANGE, SSH, &["-p", time]]);
            run.wait_for_measuring("net.all_to_all@n[1-16]");
            rig.lab.node("n7", "pkill -KILL -x seatrial-agent");
            run.still_measures("net.all_to_all@n[1-16]");
            let document = run.end().document(1);
            let all = "net.all_to_all@n[1-16]";
            assert_eq!(outcome(&document, all), ("failed", "vanished"));
            assert_eq!(record(&document, all)["lost"], serde_json::json!(["n7"]));
            let rest = outcome(&document, "net.all_to_all@n[1-6,8-16]");
            if rest == ("unmeasured", "too_short") {
                // On a busy machine fifteen nodes come to run together late.
                std::panic::resume_unwind(Box::new(TooLate));
            }
            assert_eq!(rest, ("measured", ""));
        });
    });
}
