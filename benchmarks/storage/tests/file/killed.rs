//! A killed worker leaves nothing behind.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::rig::{LoopDisk, case, measured, or_skip, prepared};

/// Environment: the directory of the victim.
const VICTIM: &str = "SEATRIAL_TEST_VICTIM";

#[test]
fn victim() {
    // Runs only when the other test starts it.
    let Ok(directory) = std::env::var(VICTIM) else { return };
    let changed = [
        ("size", "32 MiB"),
        ("block", "64 KiB"),
        ("operation", "mixed"),
        ("threads", "2"),
        ("time", "600 s"),
    ];
    let case = case(Path::new(&directory), &changed);
    let mut part = prepared(&case).expect("prepared");
    measured(&case, &mut *part).expect("measured");
}

#[test]
fn nothing_stays_behind_when_the_worker_is_killed() {
    let Some(disk) = or_skip(LoopDisk::new(64, None)) else { return };
    let used = disk.used();
    for beyond in [0, 30 << 20] {
        let me = std::env::current_exe().expect("known");
        let mut child = Command::new(me)
            .args(["--exact", "killed::victim"])
            .env(VICTIM, disk.mount())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("started");
        let began = Instant::now();
        while disk.used() <= used + beyond && began.elapsed() < Duration::from_secs(60) {
            assert_eq!(child.try_wait().expect("asked"), None, "the victim ended by itself");
        }
        child.kill().expect("killed");
        child.wait().expect("reaped");
        let names: Vec<_> = std::fs::read_dir(disk.mount())
            .expect("listed")
            .map(|entry| entry.expect("an entry").file_name())
            .filter(|name| name != "lost+found")
            .collect();
        assert!(names.is_empty(), "{names:?}");
        let left = || disk.used().saturating_sub(used);
        let began = Instant::now();
        // The kernel frees the blocks when the last request of a dead ring completes.
        while left() > 64 << 10 && began.elapsed() < Duration::from_secs(180) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(left() <= 64 << 10, "{} bytes are left", left());
    }
}
