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

fn figures(record: &Value) -> Result<Figures> {
    let metric = |name: &str| {
        let median = record["metrics"][name]["median"].as_f64();
        median.with_context(|| format!("no {name}: {} {}", record["outcome"], record["reason"]))
    };
    Ok(Figures {
        iops: metric("iops")?,
        megabytes: metric("throughput")?,
        latency: metric("latency")?,
        cpu: metric("cpu_per_io")?,
    })
}
