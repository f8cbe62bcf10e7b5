//! The power that a load draws, against gpu-burn: both for so long, and of both what `nvidia-smi` tells meanwhile.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::here::fewer_than;
use super::peers::GPU_BURN;
use crate::versus::network::peers::output;
use crate::versus::network::read::median;
use crate::versus::{Figure, Row, ours};

/// Long enough for a board that draws its limit after two: what it draws changes no more.
const SECONDS: &str = "10";

/// Seconds that gpu-burn gives its processes to end themselves; it sleeps for all of them.
const GRACE: &str = "2";

/// Readings of a GPU that are lower than this share of its highest are not of the load: nothing runs yet, or no more.
const UNDER_LOAD: f64 = 0.8;

pub fn row() -> Row {
    let figure = Figure {
        name: format!("gpu.burn, {SECONDS} s, power of a GPU vs gpu-burn -tc"),
        unit: Unit::Watt,
        better: Better::Higher,
        goal: Some(1.0),
    };
    let ours = || {
        drawn(|| {
            let time = [format!("time={SECONDS} s")];
            ours::trial(ours::here(), "gpu.burn", time, |record, _| ours::median(record, "rate")).map(drop)
        })
    };
    Row::one(figure, ours, || drawn(burn)).unless(|| fewer_than(1).or_else(|| GPU_BURN.hindrance()))
}

/// It looks for its kernel in the folder that it runs in, and fails by what it prints alone.
fn burn() -> Result<()> {
    let mut command = Command::new(GPU_BURN.program("gpu_burn")?);
    command.args(["-tc", "-stts", GRACE, SECONDS]).current_dir(GPU_BURN.program("")?);
    let text = output(command)?;
    let is_whole = text.contains(": OK") && !text.contains("FAULTY");
    ensure!(is_whole, "gpu-burn did not test every GPU: {}", text.rsplit('\r').next().unwrap_or_default());
    Ok(())
}

/// The median power under load while `work` runs, the mean over the GPUs.
fn drawn(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let mut watch = Command::new("nvidia-smi");
    watch.args(["--query-gpu=index,power.draw", "--format=csv,noheader,nounits", "-lms", "200"]);
    let mut watch =
        watch.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("cannot start nvidia-smi")?;
    let done = work();
    watch.kill().context("cannot end nvidia-smi")?;
    let told = watch.wait_with_output().context("nvidia-smi told nothing")?;
    done?;
    power(&String::from_utf8_lossy(&told.stdout)).context("nvidia-smi told no power")
}

/// Of lines `INDEX, WATT`.
fn power(text: &str) -> Option<f64> {
    let reading = |line: &str| {
        let (index, watt) = line.split_once(", ")?;
        Some((index.trim().parse::<usize>().ok()?, watt.trim().parse::<f64>().ok()?))
    };
    let readings: Vec<(usize, f64)> = text.lines().filter_map(reading).collect();
    let count = readings.iter().map(|(index, _)| index + 1).max()?;
    let of = |gpu: usize| {
        let all = || readings.iter().filter(move |(index, _)| *index == gpu).map(|(_, watt)| *watt);
        let highest = all().fold(0.0, f64::max);
        median(all().filter(|watt| *watt >= UNDER_LOAD * highest).collect())
    };
    Some((0..count).map(of).sum::<f64>() / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_is_the_median_under_load_and_the_mean_of_the_gpus() {
        // A GPU that is idle, loaded, and idle again; the other one draws less.
        let told = "0, 76.1\n1, 74.0\n0, 690.0\n1, 600.0\n0, 700.0\n1, 610.0\n0, 698.0\n1, 606.0\n0, 120.5\n1, 110.0\n";
        assert_eq!(power(told), Some(652.0));
        assert_eq!(power("0, [N/A]\n"), None);
    }
}
