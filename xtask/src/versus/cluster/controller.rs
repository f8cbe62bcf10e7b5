//! What a run costs the process that the person started: processor time and the most memory it ever held.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::nodes::Nodes;
use crate::versus::ours::binary;

/// Runs of which the median is told.
const RUNS: usize = 5;

/// How often the memory is looked at.
const LOOK: Duration = Duration::from_millis(1);

/// What one run took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// From the start of the process to its end.
    pub seconds: f64,
    /// Processor time of the process itself, in user and kernel mode.
    pub cpu_seconds: f64,
    /// Processor time of its children that it waited for: ssh, srun.
    pub children_seconds: f64,
    /// The most memory that was resident at once, in MB.
    pub peak_mb: f64,
}

/// Runs `command`, which becomes Seatrial without another process in between.
pub fn cost_of(command: &mut Command) -> Result<Cost> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).spawn().context("cannot start seatrial")?;
    let pid = Pid::from_raw(child.id().cast_signed()).context("no PID")?;
    let mut cost = Cost::default();
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // It stays a zombie until its times are read.
    while waitid(WaitId::Pid(pid), ended)?.is_none() {
        cost.peak_mb = cost.peak_mb.max(peak_mb(child.id()).unwrap_or(0.0));
        std::thread::sleep(LOOK);
    }
    cost.seconds = start.elapsed().as_secs_f64();
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    ensure!(child.wait()?.success(), "seatrial failed");
    // proc_pid_stat(5): behind the name in brackets, the 12th to 15th field are utime, stime, cutime and cstime, in
    // hundredths of a second on every Linux (USER_HZ).
    let fields: Vec<&str> = stat.rsplit_once(')').context("no name")?.1.split_whitespace().collect();
    let seconds = |at: usize| Some(fields.get(at)?.parse::<f64>().ok()? / 100.0);
    let both = |at: usize| seconds(at).zip(seconds(at + 1)).map(|(one, other)| one + other);
    cost.cpu_seconds = both(11).context("no utime")?;
    cost.children_seconds = both(13).context("no cutime")?;
    Ok(cost)
}

/// `VmHWM` of proc_pid_status(5); none before it is Seatrial, and when it has ended.
fn peak_mb(pid: u32) -> Option<f64> {
    let exe = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    (exe.file_name()? == "seatrial").then_some(kib * 1024.0 / 1e6)
}

/// The middle of some values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A row for each size and launcher.
pub fn table(sizes: &[u32]) -> Result<String> {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["nodes", "launcher", "its own CPU time", "of its ssh or srun", "peak memory"]);
    let seatrial = binary().display().to_string();
    for size in sizes {
        let nodes = Nodes::new(*size);
        let (list, count) = (format!("n[1-{size}]"), size.to_string());
        for (launcher, option) in [("ssh", ["-w", &list]), ("Slurm", ["-N", &count])] {
            let words = [&seatrial, "inventory", option[0], option[1], "-o", "json"];
            let mut costs = Vec::new();
            for _ in 0..RUNS {
                costs.push(cost_of(nodes.command(&words)?.stdout(Stdio::null()).stderr(Stdio::null()))?);
            }
            let of = |value: fn(&Cost) -> f64| median(costs.iter().map(value).collect());
            table.add_row([
                count.clone(),
                launcher.to_owned(),
                format!("{:.2} s", of(|cost| cost.cpu_seconds)),
                format!("{:.2} s", of(|cost| cost.children_seconds)),
                format!("{:.1} MB", of(|cost| cost.peak_mb)),
            ]);
        }
    }
    Ok(table.to_string())
}
