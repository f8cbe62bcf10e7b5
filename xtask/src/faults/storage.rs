//! Faults of file systems. Each node of a lab has one of its own.

use super::planted::Strength::{Just, Plain, Weak};
use super::planted::{Planted, group};

/// Each node writes to its own file system.
const WRITES: &[&str] = &[
    "run",
    "storage.file",
    "-w",
    "NODES",
    "-p",
    "directory=/scratch",
    "-p",
    "operation=write",
    "-p",
    "access=buffered",
    "-p",
    "size=16MiB",
    "-p",
    "time=1s",
    "-p",
    "trials=2",
    "-p",
    "max_trials=2",
];

/// The same past the page cache, whose writing back no control group of version 1 sees.
const DIRECT_WRITES: &[&str] = &[
    "run",
    "storage.file",
    "-w",
    "NODES",
    "-p",
    "directory=/scratch",
    "-p",
    "operation=write",
    "-p",
    "size=64MiB",
    "-p",
    "time=1s",
    "-p",
    "trials=3",
    "-p",
    "max_trials=3",
];

/// What all nodes may write, in MB/s, where the gain is measured: their files are in one memory, and without a limit of their own
/// the other nodes are faster while one waits.
const LEVEL: u32 = 100;

/// A control group limits what the programs of n3 write to the device of its file system.
fn throttled() -> impl Iterator<Item = Planted> {
    [(Plain, 5), (Weak, 10), (Just, 50)].into_iter().map(|(strength, megabytes)| {
        let what = format!("a control group lets the programs of n3 write {megabytes} MB/s");
        let limit = |megabytes: u32| {
            format!(
                "echo \"$(mountpoint -d /scratch) {megabytes}000000\" > $G/blkio.throttle.write_bps_device"
            )
        };
        let cause = &["a control group limits"];
        let fault = Planted::new("throttled-disk", strength, &what, DIRECT_WRITES, cause);
        let level = Some(group("blkio", "level", &limit(LEVEL)));
        Planted { level, ..fault.in_group("blkio", &limit(megabytes)) }
    })
}

pub fn faults() -> Vec<Planted> {
    let of = |name, what, cause| Planted::new(name, Plain, what, WRITES, cause);
    let mut all = vec![
        of("disk-full", "the file system of n3 is full", &["free space", "no space"])
            .by_line("dd if=/dev/zero of=/scratch/filler bs=1M 2>/dev/null; true", "rm -f /scratch/filler")
            .certain(),
        of("read-only", "the file system of n3 is read-only", &["read-only"])
            .by_line("mount -o remount,ro /scratch", "mount -o remount,rw /scratch")
            .certain(),
        of("frozen", "the file system of n3 is frozen", &["is frozen"]).by_lab("freeze-fs").certain(),
    ];
    all.extend(throttled());
    all
}
