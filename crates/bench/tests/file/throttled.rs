//! The rate of a throttled device is found, and the bytes are those that the throttle counted.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use seatrial_model::Integrity;

use crate::rig::{LoopDisk, case, measured, or_skip, prepared, reduced};

/// Tries of one measurement: other work on the machine can keep any single one from its CPUs.
const TRIES: usize = 3;

/// Throttles of this process at present. It can be in one control group only, so all devices have theirs there.
static THROTTLES: Mutex<u32> = Mutex::new(0);

fn throttles() -> MutexGuard<'static, u32> {
    THROTTLES.lock().unwrap_or_else(PoisonError::into_inner)
}

const ALL: &str = "/sys/fs/cgroup/blkio";

/// Limits on one device, in the control group of this process.
struct Throttle {
    folder: PathBuf,
    number: String,
}

impl Throttle {
    fn new(disk: &LoopDisk) -> Result<Self, String> {
        let mut count = throttles();
        let folder = PathBuf::from(format!("{ALL}/seatrial-{}", std::process::id()));
        if *count == 0 {
            fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            fs::write(folder.join("cgroup.procs"), std::process::id().to_string())
                .map_err(|error| error.to_string())?;
        }
        *count += 1;
        Ok(Self { folder, number: disk.number() })
    }

    fn set(&self, way: &str, bytes: u64) {
        let file = self.folder.join(format!("blkio.throttle.{way}_bps_device"));
        fs::write(file, format!("{} {bytes}", self.number)).expect("set");
    }

    /// Bytes that went through one way.
    fn counted(&self, way: &str) -> u64 {
        let text = fs::read_to_string(self.folder.join("blkio.throttle.io_service_bytes")).expect("counted");
        let line = format!("{} {} ", self.number, if way == "read" { "Read" } else { "Write" });
        text.lines().find_map(|text| text.strip_prefix(&line)?.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        for way in ["read", "write"] {
            self.set(way, 0);
        }
        let mut count = throttles();
        *count -= 1;
        if *count == 0 {
            let _ = fs::write(format!("{ALL}/cgroup.procs"), std::process::id().to_string());
            // The kernel forgets the last member a little later.
            let busy = |_: &()| fs::remove_dir(&self.folder).is_err();
            for () in std::iter::repeat_n((), 100).take_while(busy) {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
}

/// One case on a device of its own, throttled to so many bytes a second.
fn agree(name: &str, way: &str, bytes: u64, changed: &[(&str, &str)]) -> bool {
    // In memory, so that nothing but the throttle holds it up.
    let Some(disk) = or_skip(LoopDisk::new(96, Some(128))) else { return false };
    let Some(throttle) = or_skip(Throttle::new(&disk)) else { return false };
    let mut all = vec![("size", "32 MiB"), ("block", "64 KiB"), ("time", "5 s"), ("operation", way)];
    all.extend_from_slice(changed);
    let case = case(&disk.mount(), &all);
    throttle.set(way, bytes);
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let mut part = prepared(&case).expect("prepared");
        let before = throttle.counted(way);
        let record = measured(&case, &mut *part).expect("measured");
        let counted = throttle.counted(way) - before;
        let told =
            record.evidence["bytes"][if way == "read" { "read" } else { "written" }].as_u64().expect("told");
        let measures = reduced(&case, &record);
        let intervals = &measures.metrics["throughput"].trials[0];
        let rate = intervals.iter().sum::<f64>() / intervals.len() as f64 * 1e6;
        let integrity = part.verify().expect("read back");
        assert!(matches!(integrity, Integrity::Verified { .. }), "{name}: {integrity:?}");
        let kinds: Vec<_> = measures.findings.iter().map(|one| one.kind.to_string()).collect();
        assert!(kinds.contains(&"storage-throttled".to_owned()), "{name}: {kinds:?}");
        let (of_counted, of_nominal) = (told as f64 / counted as f64 - 1.0, rate / bytes as f64 - 1.0);
        seen.push(format!("{of_counted:+.5} of counted, {of_nominal:+.5} of nominal"));
        if of_counted.abs() < 0.005 && of_nominal.abs() < 0.03 {
            break;
        }
    }
    #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
    {
        println!("{name}: {}", seen.join("; "));
    }
    assert!(seen.len() < TRIES, "{name}: {}", seen.join("; "));
    true
}

#[test]
fn sequential_reads_through_a_ring_agree_with_the_throttle() {
    agree("a", "read", 20 << 20, &[]);
}

#[test]
fn random_writes_one_by_one_agree_with_the_throttle() {
    agree("b", "write", 4 << 20, &[("pattern", "random"), ("engine", "sync"), ("sync", "each")]);
}

#[test]
fn random_reads_of_two_threads_in_one_file_agree_with_the_throttle() {
    agree("c", "read", 40 << 20, &[("pattern", "random"), ("threads", "2"), ("files", "shared")]);
}

#[test]
fn sequential_writes_through_a_ring_agree_with_the_throttle() {
    agree("d", "write", 12 << 20, &[("depth", "8"), ("block", "16 KiB")]);
}
