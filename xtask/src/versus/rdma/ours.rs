//! Our side: one trial each, by the release binary, both ends on this machine.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{SECONDS, device};
use crate::versus::Work;
use crate::versus::ours::{here, median, samples, trial, value};

/// Payload over time of all slices together, in Gbit/s: a mean as the peer prints, where the metric itself is their median. What
/// the record has of the bytes of the whole phase (`moved`) includes those that were under way when the clock stopped.
fn mean(record: &Value, home: &Path) -> Result<f64> {
    median(record, "throughput")?;
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for sample in samples(home, "moved")? {
        let span = sample.end.since(sample.start).get() as f64 * 1e-9;
        bytes += sample.per_second().context("a sample without a span")? * span;
        seconds += span;
    }
    ensure!(seconds > 0.0, "no samples below {}", home.display());
    Ok(bytes / seconds * 8e-9)
}

/// One trial of `benchmark` on the device that the peers use, as long as theirs.
fn one(benchmark: &str, params: &[String], figure: impl FnOnce(&Value, &Path) -> Result<f64>) -> Result<f64> {
    let both = [format!("device={}", device()?), format!("time={SECONDS}s")];
    let mut command = here();
    command.args(["--pattern", "alone"]);
    trial(command, benchmark, both.iter().chain(params), figure)
}

/// Payload over time, in Gbit/s.
pub fn throughput(verb: &str, size: u32, completion: &str) -> Work {
    let bench = format!("rdma.{verb}");
    // perftest asks for a completion every 100 messages of less than 8 KiB, and for each of larger ones.
    let moderation = if size < 8192 { 100 } else { 1 };
    let params = [
        format!("size={size} B"),
        format!("moderation={moderation}"),
        "depth=128".to_owned(),
        format!("completion={completion}"),
    ];
    Box::new(move || one(&bench, &params, mean))
}

/// The median latency, in microseconds.
pub fn latency(verb: &str, size: u32, completion: &str) -> Work {
    let bench = format!("rdma.{verb}");
    let mut params = vec![format!("size={size} B")];
    // Who polls memory has no other way to wait.
    params.extend((completion == "event").then(|| "completion=event".to_owned()));
    Box::new(move || one(&bench, &params, |record, _| median(record, "latency")))
}

/// Atomics a second in millions (`rate`), or the time of one in microseconds (`latency`). perftest's rate is a mean, its typical
/// latency a median.
pub fn atomics(operation: &str, metric: &'static str) -> Work {
    let what = if metric == "rate" { "mean" } else { "median" };
    let params = [format!("operation={operation}"), "depth=16".to_owned(), "outstanding=16".to_owned()];
    Box::new(move || one("rdma.atomic", &params, |record, _| value(record, metric, what)))
}
