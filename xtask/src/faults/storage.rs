//! Faults of file systems. Each node of a lab has one of its own.

use super::planted::Strength::Plain;
use super::planted::{Planted, Who};

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
    let of = |name, what: &str, plant: &str, heal: &str, cause| Planted {
        name,
        strength: Plain,
        what: what.to_owned(),
        plant: vec![("n3", plant.to_owned())],
        heal: vec![("n3", heal.to_owned())],
        run: WRITES,
        who: Who::Node("n3"),
        cause,
    };
    vec![
        of(
            "disk-full",
            "the file system of n3 is full",
            "dd if=/dev/zero of=/scratch/filler bs=1M 2>/dev/null; true",
            "rm -f /scratch/filler",
            &["free space", "no space"],
        ),
        of(
            "read-only",
            "the file system of n3 is read-only",
            "mount -o remount,ro /scratch",
            "mount -o remount,rw /scratch",
            &["read-only"],
        ),
        of(
            "frozen",
            "the file system of n3 is frozen",
            "fsfreeze --freeze /scratch",
            "fsfreeze --unfreeze /scratch",
            &["frozen"],
        ),
    ]
}
