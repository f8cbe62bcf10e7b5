//! One case over sixteen nodes, and the slow one among them by name.

use libtest_mimic::Trial;
use serde_json::Value;

use crate::rig::{sixteen, with_more_time};
use crate::started::{outcome, record};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("of_sixteen_nodes_the_one_with_a_shaped_link_is_named_over_ssh_and_slurm", shaped),
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

fn shaped() {
    sixteen(|rig| {
        rig.lab.node("n11", SHAPE);
        for nodes in [SSH, SLURM] {
            let document = rig.run(&[EXCHANGE, nodes]).document(0);
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
            assert_eq!(outcome(&document, "net.all_to_all@n[1-6,8-16]"), ("measured", ""));
        });
    });
}
