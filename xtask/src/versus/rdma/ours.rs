//! Our side: one trial each, by the release binary, both ends on this machine.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result};
use serde_json::Value;

use super::SECONDS;
use crate::versus::Work;
use crate::workspace;

/// One trial of `benchmark`; a metric of it.
fn metric(device: &str, benchmark: &str, params: &[String], name: &str) -> Result<f64> {
    let home = std::env::temp_dir().join(format!("seatrial-versus-{}", std::process::id()));
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    let mut command = Command::new(target.join("release/seatrial"));
    command.args(["run", benchmark, "-o", "json", "-p", &format!("device={device}")]);
    command.args(["-p", "trials=1", "-p", "max_trials=1", "-p", &format!("time={SECONDS}s")]);
    command.args(params.iter().flat_map(|param| ["-p", param]));
    let output =
        command.env("SEATRIAL_HOME", &home).stdin(Stdio::null()).output().context("cannot start seatrial")?;
    let _ = std::fs::remove_dir_all(&home);
    let document: Result<Value, _> = serde_json::from_slice(&output.stdout);
    let document =
        document.with_context(|| format!("seatrial: {}", String::from_utf8_lossy(&output.stderr)))?;
    let record = &document["results"][0];
    let median = record["metrics"][name]["median"].as_f64();
    median.with_context(|| format!("no {name}: {} {}", record["outcome"], record["reason"]))
}

/// Payload over time, in Gbit/s.
pub fn throughput(device: &Rc<str>, verb: &str, size: u32) -> Work {
    let (device, bench) = (Rc::clone(device), format!("rdma.{verb}"));
    // perftest asks for a completion every 100 messages of less than 8 KiB, and for each of larger ones.
    let params = [format!("size={size} B"), format!("moderation={}", if size < 8192 { 100 } else { 1 })];
    Box::new(move || metric(&device, &bench, &params, "throughput"))
}

/// The median latency, in microseconds.
pub fn latency(device: &Rc<str>, verb: &str, completion: &str) -> Work {
    let (device, bench) = (Rc::clone(device), format!("rdma.{verb}"));
    let mut params = Vec::new();
    if completion == "event" {
        params.extend(["completion=event".to_owned(), "size=1 B".to_owned()]);
    }
    Box::new(move || metric(&device, &bench, &params, "latency"))
}

/// Atomics a second, in millions.
pub fn atomics(device: &Rc<str>) -> Work {
    let device = Rc::clone(device);
    Box::new(move || metric(&device, "rdma.atomic", &["depth=16".to_owned()], "rate"))
}
