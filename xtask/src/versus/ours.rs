//! Our side of every area: the release binary, and what a run of it told.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use seatrial_model::{PartRecord, Sample};
use serde_json::Value;

use crate::workspace;

/// The folder that programs are built into.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from)
}

/// Names a binary of Seatrial to measure with, where nothing can be built.
const BINARY: &str = "SEATRIAL_BINARY";

/// The binary of the turn: the release binary, or the other one that [`with`] or the environment has set.
pub fn binary() -> PathBuf {
    let named = || std::env::var_os(BINARY).map(PathBuf::from);
    let release = || target().join("release/seatrial");
    OTHER.with_borrow(Option::clone).or_else(named).unwrap_or_else(release)
}

thread_local! {
    static OTHER: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// Does `work` on this thread with another binary of Seatrial in our place.
pub fn with<T>(other: &Path, work: impl FnOnce() -> T) -> T {
    OTHER.set(Some(other.to_owned()));
    let done = work();
    OTHER.set(None);
    done
}

/// Builds the release binary, unless the environment names one.
///
/// # Errors
/// When it does not build.
pub fn build() -> Result<()> {
    if std::env::var_os(BINARY).is_some() {
        return Ok(());
    }
    workspace::run(&mut workspace::cargo(["build", "--release", "--locked", "--package", "seatrial"]))
}

/// `seatrial run` on this machine, to be given arguments.
pub fn here() -> Command {
    let mut command = Command::new(binary());
    command.arg("run");
    command
}

/// The value of `pages` with which ours has the pages that a program gets which asks for none in particular.
pub fn pages() -> &'static str {
    let mode = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if mode.contains("[always]") { "transparent" } else { "base" }
}

/// One trial of `benchmark` on this machine; the mean of `metric`, as most peers tell means.
///
/// # Errors
/// When the binary does not start, ends without a document, or did not measure.
pub fn mean_of_trial<I>(benchmark: &str, params: I, metric: &str) -> Result<f64>
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    trial(here(), benchmark, params, |record, _| value(record, metric, "mean"))
}

/// One trial of `benchmark` by `command`, which is `seatrial run` however it is started; what `look` makes of its first case
/// and of the folder that runs are kept in. Without probes no trial is repeated because others used the machine: no peer
/// repeats one.
///
/// # Errors
/// As [`mean_of_trial`], and those of `look`.
pub fn trial<T, I>(
    mut command: Command,
    benchmark: &str,
    params: I,
    look: impl FnOnce(&Value, &Path) -> Result<T>,
) -> Result<T>
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    command.arg("--no-probes");
    trial_with_probes(command, benchmark, params, look)
}

/// The same with what `command` says about probes.
///
/// # Errors
/// As [`trial`].
pub fn trial_with_probes<T, I>(
    mut command: Command,
    benchmark: &str,
    params: I,
    look: impl FnOnce(&Value, &Path) -> Result<T>,
) -> Result<T>
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let home = std::env::temp_dir().join(format!("seatrial-versus-{}", std::process::id()));
    command.args([benchmark, "-o", "json", "-p", "trials=1", "-p", "max_trials=1"]);
    for param in params {
        command.arg("-p").arg(param);
    }
    let output =
        command.env("SEATRIAL_HOME", &home).stdin(Stdio::null()).output().context("cannot start seatrial")?;
    let document: Result<Value, _> = serde_json::from_slice(&output.stdout);
    let told = document
        .with_context(|| format!("seatrial: {}", String::from_utf8_lossy(&output.stderr).trim()))
        .and_then(|document| look(&document["results"][0], &home));
    let removed = std::fs::remove_dir_all(&home);
    let told = told?;
    removed.context("cannot remove the run folder of a round")?;
    Ok(told)
}

/// What the parts of a trial wrote into this channel, of the folder that runs are kept in.
///
/// # Errors
/// When a file of samples cannot be read.
pub fn samples(home: &Path, channel: &str) -> Result<Vec<Sample>> {
    let mut told = Vec::new();
    for run in std::fs::read_dir(home.join("runs"))?.flatten() {
        let Ok(files) = std::fs::read_dir(run.path().join("samples")) else { continue };
        for file in files.flatten() {
            let mut document: Value = serde_json::from_slice(&std::fs::read(file.path())?)?;
            let parts: Vec<PartRecord> = serde_json::from_value(document["parts"].take())?;
            let samples = parts.into_iter().flat_map(|part| part.samples);
            told.extend(samples.filter(|sample| sample.channel == channel));
        }
    }
    Ok(told)
}

/// The median of a metric of a case.
///
/// # Errors
/// When it has none; the message holds why.
pub fn median(record: &Value, name: &str) -> Result<f64> {
    value(record, name, "median")
}

/// A value of a metric of a case: its `mean`, its `median`.
///
/// # Errors
/// As [`median`].
pub fn value(record: &Value, name: &str, what: &str) -> Result<f64> {
    let told = record["metrics"][name][what].as_f64().filter(|_| record["outcome"] == "measured");
    told.with_context(|| format!("no {name}: {} {}", record["outcome"], record["reason"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_the_outcome_and_its_reason() {
        let mut record =
            serde_json::json!({ "outcome": "measured", "metrics": { "rate": { "median": 2.5 } } });
        assert_eq!(median(&record, "rate").unwrap(), 2.5);
        record["outcome"] = "failed".into();
        record["reason"] = "the device is gone".into();
        let error = median(&record, "rate").unwrap_err().to_string();
        assert_eq!(error, r#"no rate: "failed" "the device is gone""#);
    }

    #[test]
    fn another_binary_stands_in_our_place_for_the_time_of_its_work() {
        let own = binary();
        assert!(own.ends_with("release/seatrial"));
        assert_eq!(with(Path::new("/opt/before"), binary), Path::new("/opt/before"));
        assert_eq!(binary(), own);
    }

    #[test]
    fn a_program_that_ends_without_a_document_is_told_with_what_it_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'no room' >&2; exit 1"]);
        let none: [&str; 0] = [];
        let error = trial(command, "mem.bandwidth", none, |_, _| Ok(1.0)).unwrap_err();
        assert!(error.to_string().starts_with("seatrial: no room"), "{error:#}");
    }
}
