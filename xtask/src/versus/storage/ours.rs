//! Our side: one trial each, by the release binary.

use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, Result};
use seatrial_sys::affinity;
use serde_json::Value;

use super::places::{Place, Places};
use super::{Figures, Job, SECONDS, SIZE, Turn};
use crate::workspace;

/// The CPU that our thread is pinned to, for the peer to be pinned to as well: the first that we may use. On machines
/// where a disk is nearer to other cores ours goes there, and the peer stays.
pub fn cpu() -> Result<u32> {
    affinity::allowed()?.iter().next().context("no CPU")
}

/// One trial of `storage.file`.
pub fn turn(places: &Rc<Places>, place: Place, job: Job) -> Turn {
    let places = Rc::clone(places);
    Rc::new(move || {
        let home = std::env::temp_dir().join(format!("seatrial-versus-{}", std::process::id()));
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace::root().join("target"), PathBuf::from);
        let mut command = Command::new(target.join("release/seatrial"));
        command.args(["run", "storage.file", "-o", "json", "-p", "threads=1", "-p", "sync=none"]);
        command.args(["-p", "trials=1", "-p", "max_trials=1", "-p", &format!("time={SECONDS} s")]);
        let pattern = if job.random { "random" } else { "seq" };
        let operation = if job.write { "write" } else { "read" };
        let params = [
            format!("directory={}", places.folder(place)?.display()),
            format!("operation={operation}"),
            format!("pattern={pattern}"),
            format!("block={}iB", job.block.to_uppercase()),
            format!("size={}iB", SIZE.to_uppercase()),
            format!("depth={}", job.depth),
        ];
        command.args(params.iter().flat_map(|param| ["-p", param]));
        let output = command.env("SEATRIAL_HOME", &home).output().context("cannot start seatrial")?;
        let removed = std::fs::remove_dir_all(&home);
        let document: Result<Value, _> = serde_json::from_slice(&output.stdout);
        let document =
            document.with_context(|| format!("seatrial: {}", String::from_utf8_lossy(&output.stderr)))?;
        removed.context("cannot remove the run folder of a round")?;
        figures(&document["results"][0])
    })
}

/// Reads the record of a trial. Rates are means, as the peers' are: a new file has two, one until each of its blocks was
/// written for the first time and one from then on, and the median of intervals would be whichever lasted longer.
fn figures(record: &Value) -> Result<Figures> {
    let metric = |name: &str, what: &str| {
        let told = record["metrics"][name][what].as_f64();
        told.with_context(|| format!("no {name}: {} {}", record["outcome"], record["reason"]))
    };
    Ok(Figures {
        iops: metric("iops", "mean")?,
        megabytes: metric("throughput", "mean")?,
        latency: metric("latency", "median")?,
        cpu: metric("cpu_per_io", "median")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_means_and_what_is_missing_is_told_with_the_reason() {
        let metric = |median: f64, mean: f64| serde_json::json!({ "median": median, "mean": mean });
        let mut record = serde_json::json!({ "metrics": {
            "iops": metric(100.0, 160.0), "throughput": metric(1.0, 1.6), "latency": metric(500.0, 600.0),
            "cpu_per_io": metric(5.0, 5.0),
        } });
        let told = figures(&record).unwrap();
        assert_eq!(told, Figures { iops: 160.0, megabytes: 1.6, latency: 500.0, cpu: 5.0 });
        record["metrics"] = Value::Null;
        record["reason"] = "the device is gone".into();
        assert!(figures(&record).unwrap_err().to_string().contains("the device is gone"));
    }
}
