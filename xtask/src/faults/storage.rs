//! Faults of file systems. Each node of a lab has one of its own.

use super::planted::Planted;
use super::planted::Strength::Plain;

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

pub fn faults() -> Vec<Planted> {
    let of = |name, what, cause| Planted::new(name, Plain, what, WRITES, cause);
    vec![
        of("disk-full", "the file system of n3 is full", &["free space", "no space"])
            .by_line("dd if=/dev/zero of=/scratch/filler bs=1M 2>/dev/null; true", "rm -f /scratch/filler")
            .certain(),
        of("read-only", "the file system of n3 is read-only", &["read-only"])
            .by_line("mount -o remount,ro /scratch", "mount -o remount,rw /scratch")
            .certain(),
        of("frozen", "the file system of n3 is frozen", &["is frozen"]).by_lab("freeze-fs").certain(),
    ]
}
