//! `versus latency`: `mem.latency` against multichase, on the same ring.
//!
//! multichase as it comes does other work: nodes 256 bytes apart, and all of 256 KiB before it goes on. It is told to put
//! a node into every line and to be random over the whole size, and to give the average of its runs, not the best.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::{Area, Row, Work};
use crate::workspace;

/// The area. Its peer is no Debian package.
pub const LATENCY: Area = Area {
    name: "latency",
    about: "mem.latency against multichase, on the same ring",
    packages: &[],
    rows,
    alone: None,
};

/// Size as multichase spells it and as we do, and our kind of pages.
const RINGS: [(&str, &str, &str); 4] = [
    ("16k", "16 KiB", "base"),
    ("512k", "512 KiB", "transparent"),
    ("256m", "256 MiB", "transparent"),
    ("256m", "256 MiB", "base"),
];

/// What is granted to noise: both sides time the same loads, so that neither can be ahead.
const GOAL: f64 = 0.97;

fn rows() -> Result<Vec<Row>> {
    ensure!(
        Command::new("multichase").args(["-n", "1", "-m", "16k", "-T", "16k"]).output().is_ok(),
        "multichase is not on the search path: build it from the source of google/multichase"
    );
    workspace::run(&mut workspace::cargo(["build", "--release", "--locked", "--package", "seatrial"]))?;
    let row = |(theirs, size, pages): (&'static str, &'static str, &'static str)| Row {
        name: format!("dependent loads, {size}, {pages} pages"),
        unit: Unit::Nanosecond,
        better: Better::Lower,
        goal: GOAL,
        ours: ours(size, pages),
        peer: multichase(theirs, pages),
    };
    Ok(RINGS.into_iter().map(row).collect())
}

/// One trial of `mem.latency`, by the release binary.
fn ours(size: &'static str, pages: &'static str) -> Work {
    Box::new(move || {
        let home = std::env::temp_dir().join(format!("seatrial-versus-{}", std::process::id()));
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace::root().join("target"), PathBuf::from);
        let mut command = Command::new(target.join("release/seatrial"));
        command.args(["run", "mem.latency", "-o", "json", "-p", &format!("size={size}")]);
        command.args(["-p", &format!("pages={pages}"), "-p", "trials=1", "-p", "max_trials=1"]);
        command.args(["-p", "time=1 s"]);
        let output = command.env("SEATRIAL_HOME", &home).output().context("cannot start seatrial")?;
        let removed = std::fs::remove_dir_all(&home);
        ensure!(output.status.success(), "seatrial: {}", String::from_utf8_lossy(&output.stderr));
        removed.context("cannot remove the run folder of a round")?;
        let document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let median = &document["results"][0]["metrics"]["latency"]["median"];
        median.as_f64().with_context(|| format!("no latency in the document: {median}"))
    })
}

/// One run of multichase, about a second of it timed.
fn multichase(size: &'static str, pages: &'static str) -> Work {
    Box::new(move || {
        let mut command = Command::new("multichase");
        command.args(["-a", "-n", "2", "-s", "64", "-m", size, "-T", size]);
        if pages == "transparent" {
            command.arg("-H");
        }
        let output = command.output().context("cannot start multichase")?;
        ensure!(output.status.success(), "multichase: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let figure = text.split_whitespace().last().context("multichase printed nothing")?;
        Ok(figure.parse()?)
    })
}
