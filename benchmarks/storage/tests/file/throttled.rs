//! The measured rate of a throttled device is its limit, and the bytes are those that the throttle counted.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use seatrial_model::{AgreedStart, Case, Cause, Fact, Integrity, Limit, Limits, PartRecord, Site, SiteNode};
use seatrial_sys::root::SysRoot;

use crate::rig::{LoopDisk, bench, case, case_of, measured, measured_at, or_skip, prepared};
use seatrial_bench::Running;
use seatrial_testkit::starved::{Watch, explains};

/// Tries per measurement: other load may take the CPUs of any single one.
const TRIES: usize = 4;

/// Current throttles of this process, which all share its control group.
static THROTTLES: Mutex<u32> = Mutex::new(0);

fn throttles() -> MutexGuard<'static, u32> {
    THROTTLES.lock().unwrap_or_else(PoisonError::into_inner)
}

const ALL: &str = "/sys/fs/cgroup/blkio";

struct Throttle {
    folder: PathBuf,
    number: String,
}

impl Throttle {
    fn new(disk: &LoopDisk) -> Result<Self, String> {
        let mut count = throttles();
        let folder = PathBuf::from(format!("{ALL}/seatrial-{}", std::process::id()));
        if *count == 0 {
            // A killed test may have left a group for a process of the same number.
            let _ = fs::remove_dir(&folder);
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

    fn set_requests(&self, way: &str, requests: u64) {
        let file = self.folder.join(format!("blkio.throttle.{way}_iops_device"));
        fs::write(file, format!("{} {requests}", self.number)).expect("set");
    }

    /// Bytes counted in one direction.
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
            self.set_requests(way, 0);
        }
        let mut count = throttles();
        *count -= 1;
        if *count == 0 {
            let _ = fs::write(format!("{ALL}/cgroup.procs"), std::process::id().to_string());
            // The kernel removes the last member a little later.
            let busy = |_: &()| fs::remove_dir(&self.folder).is_err();
            for () in std::iter::repeat_n((), 100).take_while(busy) {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
}

/// One case on its own device, throttled to `bytes` per second; returns what was wrong.
fn agree(job: &Job) -> Result<(), String> {
    let Job { way, bytes, changed, .. } = job;
    // An image in memory, so that only the throttle limits the rate.
    let Some(disk) = or_skip(LoopDisk::new(96, Some(128))) else { return Ok(()) };
    let Some(throttle) = or_skip(Throttle::new(&disk)) else { return Ok(()) };
    let mut all = vec![("size", "16 MiB"), ("block", "16 KiB"), ("time", "5 s"), ("operation", *way)];
    all.extend_from_slice(changed);
    let case = case(&disk.mount(), &all);
    throttle.set(way, *bytes);
    let (mut seen, mut is_explained) = (Vec::new(), true);
    for _ in 0..TRIES {
        let mut part = prepared(&case).map_err(|error| format!("{job:?}: {error}"))?;
        let (before, watch) = (throttle.counted(way), Watch::begin());
        let record = measured(&case, &mut *part).map_err(|error| format!("{job:?}: {error}"))?;
        let (counted, starved) = (throttle.counted(way) - before, watch.end());
        let moved = if *way == "read" { "read" } else { "written" };
        let told = record.evidence["bytes"][moved].as_u64().expect("told");
        let measures = match bench().reduce(&case, std::slice::from_ref(&record)) {
            // The threads never worked at the same time: only an overloaded machine excuses that.
            Err(reason) if reason.cause == Cause::TooShort => {
                seen.push(format!("{reason}, starved {:.0} %", 100.0 * starved));
                is_explained &= explains(starved, 1.0);
                continue;
            }
            measures => measures.map_err(|reason| format!("{job:?}: {reason}"))?,
        };
        let intervals = &measures.metrics["throughput"].trials[0];
        let rate = intervals.iter().sum::<f64>() / intervals.len() as f64 * 1e6;
        let integrity = part.verify().expect("read back");
        assert!(matches!(integrity, Integrity::Verified { .. }), "{job:?}: {integrity:?}");
        let kinds: Vec<_> = measures.findings.iter().map(|one| one.kind.to_string()).collect();
        assert!(kinds.contains(&"storage-throttled".to_owned()), "{job:?}: {kinds:?}");
        let (of_counted, of_nominal) = (told as f64 / counted as f64 - 1.0, rate / *bytes as f64 - 1.0);
        seen.push(format!(
            "{of_counted:+.5} of counted, {of_nominal:+.5} of nominal, starved {:.0} %",
            100.0 * starved
        ));
        // Nothing excuses wrong counts. Lack of CPU explains a lower rate, never a higher one.
        is_explained &= of_counted.abs() < 0.005 && explains(starved, of_nominal.abs() - 0.03);
        if of_counted.abs() < 0.005 && of_nominal.abs() < 0.03 {
            is_explained = true;
            break;
        }
    }
    let told = format!("{job:?}: {}", seen.join("; "));
    #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
    {
        println!("{told}");
    }
    if is_explained { Ok(()) } else { Err(told) }
}

#[derive(Clone, Debug)]
struct Job {
    way: &'static str,
    bytes: u64,
    changed: Vec<(&'static str, &'static str)>,
}

/// Three rates in MiB/s, both orders and both engines, each of them with each of the others; `at_once` cases run in parallel
/// on their own devices.
fn all_agree(way: &'static str, rates: [u64; 3], at_once: usize, changed: &[(&'static str, &'static str)]) {
    let mut jobs = Vec::new();
    for (number, mib) in rates.into_iter().enumerate() {
        for (order, pattern) in ["seq", "random"].into_iter().enumerate() {
            // Every other combination of the three: each pair of them is there.
            for engine in ["io_uring", "sync"].into_iter().skip((number + order) % 2).take(1) {
                let mut all = vec![("pattern", pattern), ("engine", engine)];
                // Two threads share the limit like one.
                if mib == rates[1] {
                    all.extend([("threads", "2"), ("files", "shared")]);
                }
                all.extend_from_slice(changed);
                jobs.push(Job { way, bytes: mib << 20, changed: all });
            }
        }
    }
    // Bounds the devices in use, however many tests run.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut wrong = Vec::new();
    for jobs in jobs.chunks(at_once) {
        std::thread::scope(|scope| {
            let threads: Vec<_> = jobs.iter().map(|job| scope.spawn(|| agree(job))).collect();
            wrong.extend(threads.into_iter().filter_map(|thread| thread.join().expect("no panic").err()));
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The parts of a case of many nodes, connected.
fn clients(case: &Case) -> Vec<Box<dyn Running>> {
    let prepare = |place| bench().part(&case.for_part(place), place).prepare().expect("prepared");
    let prepared: Vec<_> = case.places.iter().map(prepare).collect();
    let offers: Vec<_> = prepared.iter().map(|one| one.offer().clone()).collect();
    prepared.into_iter().map(|one| one.connect(&offers).expect("connected")).collect()
}

#[test]
fn eight_clients_on_one_device_move_together_what_its_throttle_counts() {
    const NODES: usize = 8;
    const RATE: u64 = 16 << 20;
    let Some(disk) = or_skip(LoopDisk::new(96, Some(128))) else { return };
    let Some(throttle) = or_skip(Throttle::new(&disk)) else { return };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for way in ["read", "write"] {
        let changed = [("size", "4 MiB"), ("block", "64 KiB"), ("time", "5 s"), ("operation", way)];
        let case = case_of(NODES, &disk.mount(), &changed);
        throttle.set(way, RATE);
        let mut seen = Vec::new();
        for _ in 0..TRIES {
            let mut parts = clients(&case);
            let (before, watch) = (throttle.counted(way), Watch::begin());
            let mut records: Vec<PartRecord> = std::thread::scope(|scope| {
                let running: Vec<_> = parts
                    .iter_mut()
                    .zip(&case.places)
                    .map(|(part, place)| scope.spawn(|| measured_at(&case, place, &mut **part)))
                    .collect();
                running.into_iter().map(|one| one.join().expect("no panic").expect("measured")).collect()
            });
            let (counted, starved) = (throttle.counted(way) - before, watch.end());
            let moved = if way == "read" { "read" } else { "written" };
            let told: u64 =
                records.iter().map(|one| one.evidence["bytes"][moved].as_u64().expect("told")).sum();
            // The clients have one clock.
            let began = records.iter().filter_map(|one| one.evidence["start_ns"].as_u64()).min();
            let start = AgreedStart(began.expect("told"));
            records.iter_mut().for_each(|one| start.put(&mut one.evidence));
            let measures = bench().reduce(&case, &records).expect("numbers");
            let intervals = &measures.metrics["throughput"].trials[0];
            let rate = intervals.iter().sum::<f64>() / intervals.len() as f64 * 1e6;
            for part in &mut parts {
                assert!(matches!(part.verify(), Ok(Integrity::Verified { .. })));
            }
            assert_eq!(measures.series["by_node"].len(), NODES);
            let (of_counted, of_nominal) = (told as f64 / counted as f64 - 1.0, rate / RATE as f64 - 1.0);
            seen.push(format!(
                "{way}: {of_counted:+.5} of counted, {of_nominal:+.5} of nominal, starved {starved:.2}"
            ));
            // Nothing excuses wrong counts. Lack of CPU explains a lower rate, never a higher one.
            assert!(of_counted.abs() < 0.01, "{seen:?}");
            if of_nominal.abs() < 0.03 || explains(starved, of_nominal.abs() - 0.03) {
                break;
            }
            assert!(seen.len() < TRIES, "{seen:?}");
        }
        #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
        {
            println!("{}", seen.join("; "));
        }
        throttle.set(way, 0);
    }
}

#[test]
fn what_a_control_group_lets_through_is_the_limit_of_a_case_on_the_device() {
    let Some(disk) = or_skip(LoopDisk::new(96, Some(128))) else { return };
    let limits = |operation: &str, block: &str| {
        // The real inventory of this machine.
        let site = Site { nodes: vec![SiteNode::new("n1", seatrial_inventory::read(&SysRoot::live()))] };
        let changed = [("size", "16 MiB"), ("operation", operation), ("block", block)];
        bench().limits(&case(&disk.mount(), &changed), &site)
    };
    let bounds = |limits: &Limits, metric: &str| match &limits[metric] {
        Limit::Chain(bounds) => bounds.clone(),
        unknown => panic!("{metric}: {unknown:?}"),
    };
    let before = limits("read", "16 KiB");
    assert!(matches!(&before["throughput"], Limit::Unknown { .. }), "{before:?}");

    let Some(throttle) = or_skip(Throttle::new(&disk)) else { return };
    throttle.set("read", 3 << 20);
    throttle.set("write", 5 << 20);
    for (operation, bytes) in [("read", 3_u64 << 20), ("write", 5 << 20), ("mixed", 8 << 20)] {
        let told = limits(operation, "16 KiB");
        let [bound] = &bounds(&told, "throughput")[..] else { panic!("{operation}: {told:?}") };
        assert_eq!(bound.value.to_string(), format!("{} MB/s", bytes as f64 / 1e6), "{operation}");
        assert_eq!(bound.provenance, "control group", "{operation}");
        assert_eq!(bound.formula, format!("{bytes} B/s allowed by cgroups"), "{operation}");
        let [bound] = &bounds(&told, "iops")[..] else { panic!("{operation}: {told:?}") };
        assert_eq!(bound.value.to_string(), format!("{} 1/s", bytes / (16 << 10)), "{operation}");
    }
    // A limit on requests counts by block size, besides the limit on bytes.
    throttle.set_requests("read", 100);
    let told = limits("read", "4 KiB");
    let values: Vec<_> = bounds(&told, "throughput").iter().map(|bound| bound.value.to_string()).collect();
    assert_eq!(values, ["3.145728 MB/s", "0.4096 MB/s"]);
}

/// Held by the test whose devices are throttled.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn every_way_of_reading_agrees_with_the_throttle() {
    all_agree("read", [3, 8, 16], 6, &[]);
}

#[test]
fn every_way_of_writing_agrees_with_the_throttle() {
    all_agree("write", [3, 8, 16], 6, &[]);
}

// Durable writes also wait for the journal, so they must be few for the throttle to be the limit.

#[test]
fn every_way_of_writing_durably_agrees_with_the_throttle() {
    all_agree("write", [1, 2, 4], 4, &[("sync", "each"), ("block", "32 KiB")]);
}

#[test]
fn durable_writes_through_the_page_cache_agree_with_the_throttle() {
    all_agree("write", [1, 2, 4], 4, &[("sync", "each"), ("block", "32 KiB"), ("access", "buffered")]);
}
