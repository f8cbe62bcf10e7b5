//! The table of a check, compared letter by letter.

use std::path::Path;

use serde_json::json;

use crate::rig::{Ended, Home, Script};

/// The output without what differs between runs: id, time, folder.
fn stable(home: &Home, ended: &Ended) -> String {
    let id =
        home.runs().last().expect("a run").file_name().expect("a name").to_str().expect("text").to_owned();
    let name = |path: &Path| path.to_str().expect("text").to_owned();
    let folder = name(home.path().parent().expect("a folder of the test"));
    let text = ended.out.replace(&name(home.path()), "HOME").replace(&folder, "FOLDER").replace(&id, "ID");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for line in &mut lines {
        if let Some(at) = line.find(" UTC") {
            line.replace_range(at - "2026-01-01 00:00".len().., "DAY TIME UTC · took SPAN");
        }
    }
    lines.join("\n")
}

const ACCEPTANCE: &str = r#"
title = "acceptance of the memory"

[[test]]
id = "memory"
use = "mem.bandwidth"
params = { kernel = ["read", "write", "copy", "scale", "add", "triad"] }

[[criterion]]
id = "read"
test = "memory"
metric = "bandwidth"
where = { kernel = "read" }
at_least = { percent_of = "limit", value = 65 }

[[criterion]]
id = "write"
test = "memory"
metric = "bandwidth"
where = { kernel = "write" }
at_least = "50 GB/s"

[[criterion]]
id = "copy"
test = "memory"
metric = "bandwidth"
where = { kernel = "copy" }
at_least = "50 GB/s"

[[criterion]]
id = "scale"
test = "memory"
metric = "bandwidth"
where = { kernel = "scale" }
at_least = "50 GB/s"

[[criterion]]
id = "add"
test = "memory"
metric = "bandwidth"
where = { kernel = "add" }
at_least = "59.5 GB/s"

[[criterion]]
id = "triad"
test = "memory"
metric = "bandwidth"
where = { kernel = "triad" }
at_least = "50 GB/s"

[[waiver]]
criterion = "triad"
owner = "Ada"
reason = "module B3 is ordered"
until = 2999-12-31
"#;

fn check(home: &Home, script: &Script) -> Ended {
    home.seatrial("check").word(home.file("acceptance.toml", ACCEPTANCE)).script(script).run()
}

#[test]
fn a_check_that_passes() {
    let home = Home::new();
    let ended = check(&home, &Script::measuring(60.0)).exits(0);
    insta::assert_snapshot!(stable(&home, &ended));
}

#[test]
fn a_check_with_something_of_everything() {
    let home = Home::new();
    let crash = json!({ "crashes": { "phase": "measure", "signal": 11 } });
    let reason = json!({ "cause": "denied", "text": "mlock: Operation not permitted" });
    let script = Script::measuring(60.0)
        .case("*kernel=read*", 41.0)
        .fault("*kernel=copy*", crash)
        .fault("*kernel=scale*", json!({ "fails": { "phase": "prepare", "reason": reason } }))
        .spread("*kernel=add*", 60.0, &[1.0, 0.98, 1.02])
        .case("*@n1/node", 45.0);
    let ended = check(&home, &script).exits(1);
    insta::assert_snapshot!(stable(&home, &ended));
}

#[test]
fn a_check_on_a_machine_without_limits() {
    let home = Home::new();
    let ended = check(&home, &Script::measuring(60.0).without_limit()).exits(3);
    insta::assert_snapshot!(stable(&home, &ended));
}
