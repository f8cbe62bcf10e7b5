//! `versus cobalt2`: `mem.pipeline` against the program that it follows.
//!
//! The first row is as near to the original as ours goes: a thread a step, one block a step, the same time, the same kind
//! of pages. What remains is that ours really reads. The second row is ours as it is meant. A turn takes half a minute.

mod original;

use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use seatrial_model::Unit;
use seatrial_stats::Better;

use self::original::Original;
use super::{Area, Row, Work};
use crate::packages::Package;
use crate::workspace;

/// The area.
pub const COBALT2: Area = Area {
    name: "cobalt2",
    about: "mem.pipeline against mem-test of the COBALT2 compliance suite, both on 702 Gbit/s",
    packages: &[
        Package { name: "gcc", program: "gcc", reason: "builds the original as its Makefile does" },
        Package { name: "git", program: "git", reason: "fetches the original" },
    ],
    rows,
    alone: None,
};

/// Of 702 Gbit/s the original credits 81 to reading that its compiler removes. Where memory is the limit, doing that work
/// may cost as much.
const GOAL: f64 = (702.0 - 81.0) / 702.0;

/// Other work, with both figures side by side: past the caches and without breaks there is no rate that ours should reach
/// of the original's.
const NO_GOAL: f64 = 0.0;

/// Parameters of ours that come nearest to the original, and those of a measurement as it is meant.
const ROWS: [(&str, f64, &[&str]); 2] = [
    ("thread a step, one block a step", GOAL, &["threads=step", "blocks=one"]),
    ("thread a core, past the caches", NO_GOAL, &["threads=core", "blocks=rotate"]),
];

fn rows() -> Result<Vec<Row>> {
    workspace::run(&mut workspace::cargo(["build", "--release", "--locked", "--package", "seatrial"]))?;
    let original = Rc::new(Original::build()?);
    let row = |(name, goal, params): (&str, f64, &'static [&'static str])| {
        let original = Rc::clone(&original);
        Row {
            name: format!("{name} vs mem-test"),
            unit: Unit::GigabitsPerSecond,
            better: Better::Higher,
            goal,
            ours: ours(params),
            peer: Box::new(move || original.run()),
        }
    };
    Ok(ROWS.map(row).into())
}

/// One trial of `mem.pipeline` by the release binary, as long as the original runs.
fn ours(params: &'static [&'static str]) -> Work {
    Box::new(move || {
        let home = std::env::temp_dir().join(format!("seatrial-versus-{}", std::process::id()));
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace::root().join("target"), PathBuf::from);
        let mut command = Command::new(target.join("release/seatrial"));
        command.args(["run", "mem.pipeline", "-o", "json", "-p", "time=25166ms"]);
        command.args(["-p", "trials=1", "-p", "max_trials=1", "-p", &format!("pages={}", pages())]);
        command.args(params.iter().flat_map(|param| ["-p", param]));
        let output = command.env("SEATRIAL_HOME", &home).output().context("cannot start seatrial")?;
        let removed = std::fs::remove_dir_all(&home);
        ensure!(output.status.success(), "seatrial: {}", String::from_utf8_lossy(&output.stderr));
        removed.context("cannot remove the run folder of a round")?;
        let document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let result = &document["results"][0];
        let median = &result["metrics"]["throughput"]["median"];
        median.as_f64().with_context(|| format!("no throughput in the document: {}", result["reason"]))
    })
}

/// The pages that the original's `malloc` gets.
fn pages() -> &'static str {
    let mode = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if mode.contains("[always]") { "transparent" } else { "base" }
}
