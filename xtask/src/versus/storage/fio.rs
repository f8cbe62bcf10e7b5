//! fio's side: the same work tuned by hand, with data as costly as ours, and as it comes.

use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::{device_of, polls};
use serde_json::Value;

use super::elbencho::remove;
use super::places::{Place, Places};
use super::{Figures, Job, SECONDS, SIZE, Turn};

/// How fio is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Registered memory on huge pages, registered files, requests handed over in batches, polled where the device has queues for it,
    /// and an order of the blocks that needs no map of those that were done.
    Tuned,
    /// The same, and its data costs what ours does: what is read has its check sum checked, what is written is new.
    Checked,
    /// io_uring and the depth, and every other option as it comes.
    Default,
}

impl Way {
    /// Its words in the name of a row.
    pub const fn words(self) -> &'static str {
        match self {
            Way::Tuned => "fio tuned",
            Way::Checked => "fio tuned, its data made and checked",
            Way::Default => "fio's defaults",
        }
    }
}

/// What fio calls the job, and the files that it makes for it.
const JOB: &str = "versus";

/// Requests that fio hands over, and takes back, at once.
const BATCH: u32 = 32;

/// One turn, on a file of its own. One that is read is laid out before, as ours is.
pub fn turn(places: &Rc<Places>, place: Place, job: Job, way: Way) -> Turn {
    let places = Rc::clone(places);
    Box::new(move || {
        let folder = places.folder(place)?;
        let file = folder.join("fio.read");
        if !job.write {
            remove(&file)?;
            lay_out(&file, job, way)?;
        }
        let mut command = common(job);
        command.args(["--time_based", "--ramp_time=100ms", "--output-format=json", "--lat_percentiles=1"]);
        command.args([format!("--runtime={SECONDS}"), format!("--cpus_allowed={}", super::ours::cpu()?)]);
        let pattern = if job.random { "rand" } else { "" };
        if job.write {
            // Fresh and reserved, as ours is: blocks that were never written cost a file system more. A turn that was ended has
            // left its file.
            remove(&folder.join(format!("{JOB}.0.0")))?;
            command.arg(format!("--rw={pattern}write")).arg(format!("--directory={}", folder.display()));
            command.args(["--unlink=1", "--fallocate=posix"]);
        } else {
            command.arg(format!("--rw={pattern}read")).arg(format!("--filename={}", file.display()));
        }
        if way != Way::Default {
            tune(&mut command, job, folder)?;
        }
        match (way, job.write) {
            (Way::Checked, true) => drop(command.arg("--refill_buffers=1")),
            (Way::Checked, false) => drop(command.arg("--verify=crc32c")),
            _ => {}
        }
        figures(&output(&mut command)?)
    })
}

/// What all of fio's runs have.
fn common(job: Job) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120", "fio", "--ioengine=io_uring", "--direct=1"]);
    command.arg(format!("--name={JOB}"));
    // Else it leaves how far it verified in the folder that it was started in.
    command.arg("--verify_state_save=0");
    command.args([
        format!("--size={SIZE}"),
        format!("--bs={}", job.block),
        format!("--iodepth={}", job.depth),
    ]);
    command
}

fn tune(command: &mut Command, job: Job, folder: &Path) -> Result<()> {
    let batch = job.depth.min(BATCH);
    command.args(["--fixedbufs=1", "--registerfiles=1", "--iodepth_batch_complete_min=1"]);
    // On huge pages, as ours is: a block of 1 MiB on pages of 4 KiB is 256 pieces of memory, and a virtual disk took four times as long for them.
    command.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1").arg("--iomem_align=2m");
    command.arg(format!("--iodepth_batch_submit={batch}"));
    command.arg(format!("--iodepth_batch_complete_max={batch}"));
    if job.random {
        command.args(["--norandommap=1", "--random_generator=lfsr"]);
    }
    let device = device_of(std::fs::File::open(folder)?)?;
    if polls(&SysRoot::live(), device).unwrap_or(false) {
        command.arg("--hipri=1");
    }
    Ok(())
}

/// Fills the file that is read; with check sums for each block where they are to be checked.
fn lay_out(file: &Path, job: Job, way: Way) -> Result<()> {
    let block = if way == Way::Checked { job.block } else { "1m" };
    let mut command = common(Job { block, depth: 32, ..job });
    command.args(["--rw=write", "--refill_buffers=1", "--end_fsync=1", "--output-format=json"]);
    command.arg(format!("--filename={}", file.display()));
    if way == Way::Checked {
        command.args(["--verify=crc32c", "--do_verify=0"]);
    }
    output(&mut command).map(drop).context("laying out the file to read")
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.env("LC_ALL", "C").output().context("cannot start fio")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "fio ended with {}: {said} {text}", output.status);
    Ok(text)
}

/// Reads fio's document. Remarks may stand before it.
fn figures(text: &str) -> Result<Figures> {
    let start = text.find('{').context("fio printed no document")?;
    let document: Value = serde_json::from_str(&text[start..]).context("fio's document")?;
    let job = &document["jobs"][0];
    ensure!(job["error"].as_u64() == Some(0), "fio met an error: {}", job["error"]);
    let moved = ["read", "write"].map(|way| &job[way]);
    let moved = moved.into_iter().find(|way| way["total_ios"].as_u64().is_some_and(|count| count > 0));
    let moved = moved.context("fio moved nothing")?;
    let number = |of: &Value, name: &str| of[name].as_f64().with_context(|| format!("fio told no {name}"));
    // Both are percent of the time that the job ran, by getrusage(2) of the process that is the job, with the threads
    // that the kernel gives its ring; counted anew when the ramp is over.
    let busy = (number(job, "usr_cpu")? + number(job, "sys_cpu")?) / 100.0;
    let micros = busy * number(job, "job_runtime")? * 1e3;
    Ok(Figures {
        iops: number(moved, "iops")?,
        megabytes: number(moved, "bw_bytes")? / 1e6,
        latency: number(&moved["lat_ns"]["percentile"], "50.000000")? / 1e3,
        cpu: micros / number(moved, "total_ios")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_what_fio_printed() {
        let told = figures(include_str!("captured/fio.json")).unwrap();
        assert_eq!((told.iops, told.latency), (64_335.996_006, 391.168));
        assert_eq!(told.megabytes, 263.779_946);
        // 14.6 % of 2002 ms over 128,865 blocks.
        assert!((told.cpu - 2.27).abs() < 0.01, "{}", told.cpu);
        assert!(figures("").is_err() && figures("{\"jobs\": []}").is_err());
    }
}
