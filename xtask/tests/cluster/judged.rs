//! A small check whose judgement does not depend on how busy the machine is, and what its document has apart from what was
//! measured.

use std::collections::BTreeSet;

use serde_json::Value;

/// Bars that nothing misses; the role `measured` is given with `--role`.
pub const PROFILE: &str = r#"
title = "small"

[roles.measured]
nodes = "n9"

[[test]]
id = "chase"
use = "mem.latency"
roles = ["measured"]
params = { size = "64 KiB", time = "100 ms", trials = 1, max_trials = 1 }

[[test]]
id = "request"
use = "net.rr"
params = { time = "100 ms", trials = 1, max_trials = 1 }

[[criterion]]
test = "chase"
metric = "latency"
at_most = "1 s"

[[criterion]]
test = "request"
metric = "round_trip"
at_most = "1000 s"
"#;

/// What a judgement consists of, without what was measured: cases with their nodes, and criteria with their verdicts.
pub fn shape(document: &Value) -> [BTreeSet<String>; 2] {
    let lines = |key: &str, columns: &[&str]| {
        let rows = document[key].as_array().unwrap().iter();
        rows.map(|row| columns.iter().map(|column| format!("{} ", row[*column])).collect()).collect()
    };
    [
        lines("results", &["case", "nodes", "group", "subject", "outcome", "params"]),
        lines("verdicts", &["criterion", "test", "case", "node", "verdict", "bound"]),
    ]
}
