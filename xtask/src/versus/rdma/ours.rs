//! Our side: one trial each, by the release binary, both ends on this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use seatrial_model::PartRecord;
use serde_json::Value;

use super::SECONDS;
use crate::versus::Work;
use crate::workspace;

/// The folder that programs are built into.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from)
}

/// One trial of `benchmark`; what `figure` makes of its result and of the folder of its run.
fn trial(
    device: &str,
    benchmark: &str,
    params: &[String],
    figure: &dyn Fn(&Value, &Path) -> Result<f64>,
) -> Result<f64> {
    let home = std::env::temp_dir().join(format!("seatrial-versus-{}", std::process::id()));
    let mut command = Command::new(target().join("release/seatrial"));
    command.args(["run", benchmark, "-o", "json", "-p", &format!("device={device}")]);
    command.args(["-p", "trials=1", "-p", "max_trials=1", "-p", &format!("time={SECONDS}s")]);
    command.args(params.iter().flat_map(|param| ["-p", param]));
    let output =
        command.env("SEATRIAL_HOME", &home).stdin(Stdio::null()).output().context("cannot start seatrial")?;
    let document: Result<Value, _> = serde_json::from_slice(&output.stdout);
    let told = document
        .with_context(|| format!("seatrial: {}", String::from_utf8_lossy(&output.stderr)))
        .and_then(|document| figure(&document["results"][0], &home));
    let _ = std::fs::remove_dir_all(&home);
    told
}

/// The median of a metric.
fn median(record: &Value, name: &str) -> Result<f64> {
    let median = record["metrics"][name]["median"].as_f64();
    median.with_context(|| format!("no {name}: {} {}", record["outcome"], record["reason"]))
}

/// Payload over time of all slices together, in Gbit/s: the mean that the peer prints too, where the metric itself is their
/// median.
fn mean(record: &Value, home: &Path) -> Result<f64> {
    median(record, "throughput")?;
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for run in std::fs::read_dir(home.join("runs"))?.flatten() {
        let Ok(files) = std::fs::read_dir(run.path().join("samples")) else { continue };
        for file in files.flatten() {
            let mut document: Value = serde_json::from_slice(&std::fs::read(file.path())?)?;
            let parts: Vec<PartRecord> = serde_json::from_value(document["parts"].take())?;
            for sample in
                parts.iter().flat_map(|part| &part.samples).filter(|sample| sample.channel == "moved")
            {
                let span = sample.end.since(sample.start).get() as f64 * 1e-9;
                bytes += sample.per_second().context("a sample without a span")? * span;
                seconds += span;
            }
        }
    }
    ensure!(seconds > 0.0, "no samples below {}", home.display());
    Ok(bytes / seconds * 8e-9)
}

/// Payload over time, in Gbit/s.
pub fn throughput(device: &Rc<str>, verb: &str, size: u32) -> Work {
    let (device, bench) = (Rc::clone(device), format!("rdma.{verb}"));
    // perftest asks for a completion every 100 messages of less than 8 KiB, and for each of larger ones.
    let params = [format!("size={size} B"), format!("moderation={}", if size < 8192 { 100 } else { 1 })];
    Box::new(move || trial(&device, &bench, &params, &mean))
}

/// The median latency, in microseconds.
pub fn latency(device: &Rc<str>, verb: &str, completion: &str) -> Work {
    let (device, bench) = (Rc::clone(device), format!("rdma.{verb}"));
    let mut params = Vec::new();
    if completion == "event" {
        params.extend(["completion=event".to_owned(), "size=1 B".to_owned()]);
    }
    Box::new(move || trial(&device, &bench, &params, &|record, _| median(record, "latency")))
}

/// Atomics a second, in millions.
pub fn atomics(device: &Rc<str>) -> Work {
    let device = Rc::clone(device);
    let params = ["depth=16".to_owned()];
    Box::new(move || trial(&device, "rdma.atomic", &params, &|record, _| median(record, "rate")))
}
