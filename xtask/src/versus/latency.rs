//! `versus latency`: `mem.latency` against multichase, on the same ring.
//!
//! multichase as it comes does other work: nodes 256 bytes apart, and all of 256 KiB before it goes on. It is told to put
//! a node into every line and to be random over the whole size, and to give the average of its runs, not the best.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::{Area, Figure, Hardware, Row, ours};

/// The area. Its peer is no Debian package.
pub const LATENCY: Area = Area {
    name: "latency",
    about: "mem.latency against multichase, on the same ring",
    packages: &[],
    peers: &[],
    rows,
    prepare,
    alone: None,
    machine: Hardware::here,
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

fn rows() -> Vec<Row> {
    let row = |(theirs, size, pages): (&'static str, &'static str, &'static str)| {
        let figure = Figure {
            name: format!("dependent loads, {size}, {pages} pages"),
            unit: Unit::Nanosecond,
            better: Better::Lower,
            goal: Some(GOAL),
        };
        let params = [format!("size={size}"), format!("pages={pages}"), "time=1 s".to_owned()];
        Row::one(
            figure,
            move || ours::mean_of_trial("mem.latency", &params, "latency"),
            move || multichase(theirs, pages),
        )
    };
    RINGS.into_iter().map(row).collect()
}

fn prepare() -> Result<()> {
    ensure!(
        Command::new("multichase").args(["-n", "1", "-m", "16k", "-T", "16k"]).output().is_ok(),
        "multichase is not on the search path: build it from the source of google/multichase"
    );
    ours::build()
}

/// One run of multichase, about a second of it timed.
fn multichase(size: &str, pages: &str) -> Result<f64> {
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
}
