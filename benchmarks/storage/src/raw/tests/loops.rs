//! Loop devices over temporary files, which need root: the system calls made on them, and a throttle that counts
//! bytes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use seatrial_model::machine::DiskBus;
use seatrial_model::{Case, Cause, Integrity, Phase};
use serde_json::{Value, json};

use super::{disk, planned, site};
use crate::raw::BENCHMARK;
use seatrial_bench::Stop;
use seatrial_bench::testing::{Kept, connected};
use seatrial_testkit::starved::{Watch, explains};

/// Environment of the child: disks, parameters, seconds, a control group to enter, where to answer.
const ORDER: &str = "SEATRIAL_TEST_RAW";

const MIB: u64 = 1 << 20;

const BLOCK: u64 = MIB / 4;

/// A loop device over a sparse file; dropping it removes both.
struct Loop {
    device: String,
    _folder: tempfile::TempDir,
}

impl Loop {
    fn new(bytes: u64) -> Result<Self, String> {
        Self::with(bytes, "512")
    }

    fn with(bytes: u64, sector: &str) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("it needs root".to_owned());
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join("disk");
        let file = fs::File::create(&path).map_err(|error| error.to_string())?;
        file.set_len(bytes).map_err(|error| error.to_string())?;
        let path = path.display().to_string();
        let told = command("losetup", &["--find", "--show", "--sector-size", sector, &path])?;
        Ok(Self { device: told.trim().to_owned(), _folder: folder })
    }

    fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = command("losetup", &["--detach", &self.device]);
    }
}

fn command(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output().map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Fails in CI, and elsewhere prints what was not tested.
#[expect(clippy::print_stdout, reason = "says that a test did not run, where people look")]
fn skip(why: &str) {
    assert!(!env::var("CI").is_ok_and(|ci| ci == "true"), "{why}");
    println!("skipped: {why}");
}

/// Runs this test program again, for a measurement in its own process.
fn child(wrapper: &[&str], order: &Value) -> Result<Value, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut order = order.clone();
    order["answer"] = folder.path().join("answer").display().to_string().into();
    let own = env::current_exe().map_err(|error| error.to_string())?.display().to_string();
    let test = "raw::tests::loops::measures_when_it_is_told_to";
    let line: Vec<&str> =
        wrapper.iter().copied().chain([own.as_str(), "--exact", test, "--ignored"]).collect();
    let output = Command::new(line[0]).args(&line[1..]).env(ORDER, order.to_string()).output();
    let output = output.map_err(|error| format!("{}: {error}", line[0]))?;
    let text = fs::read_to_string(folder.path().join("answer"));
    text.ok().and_then(|text| serde_json::from_str(&text).ok()).ok_or_else(|| {
        let both = [output.stdout, output.stderr].concat();
        format!("{line:?}: {}: {}", output.status, String::from_utf8_lossy(&both))
    })
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn measures_when_it_is_told_to() {
    let Ok(order) = env::var(ORDER) else { return };
    let order: Value = serde_json::from_str(&order).expect("an order");
    if let Some(group) = order["group"].as_str() {
        fs::write(Path::new(group).join("cgroup.procs"), "0").expect("entered");
    }
    let names: Vec<&str> = order["disks"].as_str().expect("disks").split(' ').collect();
    let mut changed = vec![
        ("mode", order["mode"].as_str().unwrap_or("direct")),
        ("pattern", order["pattern"].as_str().unwrap_or("seq")),
        ("block", "256 KiB"),
    ];
    let case = if let [name] = names[..] {
        changed.push(("disk", name));
        planned(&site(vec![disk(name, DiskBus::Loop)]), &changed).expect("a plan").remove(0)
    } else {
        changed.push(("together", "true"));
        let as_disks = names.iter().map(|name| disk(name, DiskBus::Virtio)).collect();
        planned(&site(as_disks), &changed).expect("a plan").remove(0)
    };
    let answer = measured(case, Duration::from_millis(order["ms"].as_u64().expect("a time")));
    fs::write(order["answer"].as_str().expect("a place"), answer.to_string()).expect("told");
}

/// One trial, not pinned.
fn measured(mut case: Case, time: Duration) -> Value {
    case.places[0].bindings.clear();
    let mut part = connected(BENCHMARK.part(&case, &case.places[0])).expect("opened");
    // The first requests after a rest find the throttle with a step's worth of bytes to give.
    part.run(Phase::WarmUp, &Stop::after(time / 10), &mut Kept::default()).expect("read");
    let mut kept = Kept::default();
    part.run(Phase::Measure, &Stop::after(time), &mut kept).expect("read");
    let integrity = part.verify().expect("looked");
    let all = match integrity {
        Integrity::Verified { checked } => checked / 16 * BLOCK,
        ref other => panic!("{other:?}"),
    };
    let record = kept.record(&case.places[0], integrity);
    let measures = BENCHMARK.reduce(&case, std::slice::from_ref(&record)).expect("figures");
    let zones = measures.series.get("by_zone").into_iter().flatten();
    let rates: Vec<f64> = zones.flat_map(|row| row.values.trials.concat()).collect();
    let kinds: Vec<_> = measures.findings.iter().map(|finding| finding.kind.clone()).collect();
    json!({
        "rates": rates,
        "read_bytes": all,
        "path": measures.evidence["path"],
        "findings": kinds,
        "metrics": measures.metrics.keys().collect::<Vec<_>>(),
    })
}

#[test]
fn nothing_opens_a_disk_to_write_it_and_every_byte_comes_from_it() {
    let disks = match (Loop::new(64 * MIB), Loop::new(48 * MIB)) {
        (Ok(one), Ok(other)) => [one, other],
        (Err(why), _) | (_, Err(why)) => return skip(&format!("no loop device: {why}")),
    };
    if let Err(why) = command("strace", &["-V"]) {
        return skip(&format!("no strace: {why}"));
    }
    let both = format!("{} {}", disks[0].name(), disks[1].name());
    for (names, mode, pattern) in [
        (disks[0].name(), "direct", "seq"),
        (disks[0].name(), "buffered", "seq"),
        (disks[0].name(), "direct", "random"),
        (&both, "direct", "seq"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("trace").display().to_string();
        let calls = "trace=open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,ioctl";
        let wrapper = ["strace", "-f", "-y", "-e", calls, "-o", &trace];
        // Tracing every call slows them down, and a busy machine may leave little CPU in a short measurement.
        let measured = [3000, 10_000, 40_000].map(|ms| {
            let order = json!({ "disks": names, "mode": mode, "pattern": pattern, "ms": ms });
            move || child(&wrapper, &order)
        });
        let mut failed = Vec::new();
        let answer = measured.into_iter().find_map(|measure| measure().map_err(|why| failed.push(why)).ok());
        let answer = answer.unwrap_or_else(|| panic!("{failed:#?}"));
        assert_opened_to_read(&fs::read_to_string(&trace).expect("a trace"), names);
        let path = &answer["path"][0];
        assert!(path["asked_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{answer}");
        if mode == "direct" {
            assert_eq!(path["asked_bytes"], path["counted_bytes"], "{answer}");
        }
        let has = |metric: &str| answer["metrics"].as_array().is_some_and(|all| all.contains(&metric.into()));
        assert_eq!(has("sharing"), names == both);
        assert_eq!((has("iops"), has("latency")), (pattern == "random", pattern == "random"));
    }
}

#[test]
fn requests_that_are_no_whole_sectors_are_refused_before_the_clock_starts() {
    let large = match Loop::with(64 * MIB, "4096") {
        Ok(large) => large,
        Err(why) => return skip(&format!("no loop device: {why}")),
    };
    let prepared = |block: &str, mode: &str| {
        let changed = [("disk", large.name()), ("block", block), ("mode", mode)];
        let site = site(vec![disk(large.name(), DiskBus::Loop)]);
        let mut case = planned(&site, &changed).expect("a plan").remove(0);
        case.places[0].bindings.clear();
        connected(BENCHMARK.part(&case, &case.places[0])).map(drop)
    };
    let error = prepared("6 KiB", "direct").expect_err("one sector and a half");
    assert_eq!(error.cause, Cause::Missing, "{error}");
    assert!(error.text.contains("multiples of 4096 B"), "{error}");
    prepared("8 KiB", "direct").expect("two sectors");
    prepared("6 KiB", "buffered").expect("the page cache reads whole pages");
}

fn assert_opened_to_read(trace: &str, names: &str) {
    for name in names.split(' ') {
        let device = format!("/dev/{name}");
        let (quoted, opened) = (format!("\"{device}\""), format!("<{device}"));
        let lines: Vec<&str> =
            trace.lines().filter(|line| line.contains(&quoted) || line.contains(&opened)).collect();
        let opens: Vec<_> = lines.iter().filter(|line| line.contains("open")).collect();
        assert!(!opens.is_empty(), "nothing opened {device}: {trace}");
        for line in lines {
            let is_write =
                ["O_WRONLY", "O_RDWR", "write", "creat", "ioctl"].iter().any(|word| line.contains(word));
            assert!(!is_write, "{line}");
        }
    }
}

/// A control group (version 1) that limits reads of a device.
struct Throttled(PathBuf);

impl Throttled {
    fn new(disk: &Loop, bytes_s: u64) -> Result<Self, String> {
        let folder = PathBuf::from(format!("/sys/fs/cgroup/blkio/seatrial-raw-{}", std::process::id()));
        // A killed test may have left a group for a process of the same number.
        let _ = fs::remove_dir(&folder);
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let group = Self(folder);
        let number = fs::read_to_string(format!("/sys/block/{}/dev", disk.name()))
            .map_err(|error| error.to_string())?;
        let rule = format!("{} {bytes_s}", number.trim());
        fs::write(group.0.join("blkio.throttle.read_bps_device"), rule).map_err(|error| error.to_string())?;
        Ok(group)
    }

    /// Bytes that the group counted.
    fn counted(&self) -> u64 {
        let text = fs::read_to_string(self.0.join("blkio.throttle.io_service_bytes")).expect("counts");
        let line = text.lines().find_map(|line| line.split_once("Read ")).expect("a line of reads");
        line.1.trim().parse().expect("a number")
    }
}

impl Drop for Throttled {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
#[ignore = "needs the machine for itself: cargo xtask test runs it last"]
fn a_throttled_disk_alone_reads_at_the_rate_and_the_bytes_that_the_throttle_counts() {
    const RATE: u64 = 20 * MIB;
    let disk = match Loop::new(320 * MIB) {
        Ok(disk) => disk,
        Err(why) => return skip(&format!("no loop device: {why}")),
    };
    let group = match Throttled::new(&disk, RATE) {
        Ok(group) => group,
        Err(why) => return skip(&format!("no throttle: {why}")),
    };
    let order = json!({ "disks": disk.name(), "ms": 5000, "group": group.0.display().to_string() });
    let mut seen = Vec::new();
    // A process without CPU reads less than the limit, and its queued requests come later.
    for _ in 0..6 {
        let (before, watch) = (group.counted(), Watch::begin());
        let answer = child(&[], &order);
        let starved = watch.end();
        let Ok(answer) = answer else {
            seen.push((0.0, starved));
            continue;
        };
        // One block was read in preparation, before the first phase.
        let asked = answer["read_bytes"].as_f64().expect("a number") + BLOCK as f64;
        let counted = (group.counted() - before) as f64;
        assert!((asked / counted - 1.0).abs() <= 0.005, "asked {asked} B, the throttle counted {counted} B");
        assert!(
            answer["findings"]
                .as_array()
                .is_some_and(|all| all.contains(&"throttled-by-control-group".into()))
        );
        let rates: Vec<f64> =
            answer["rates"].as_array().expect("rates").iter().filter_map(Value::as_f64).collect();
        let of_nominal = rates.iter().sum::<f64>() / rates.len() as f64 * 1e6 / RATE as f64;
        if (of_nominal - 1.0).abs() <= 0.03 {
            return;
        }
        seen.push((of_nominal, starved));
    }
    // A machine too busy for a clean measurement reports its lost CPU time, which must explain the difference.
    let is_explained = |(of, starved): &(f64, f64)| explains(*starved, (of - 1.0).abs() - 0.03);
    assert!(seen.iter().all(is_explained), "of the nominal rate, and of the time without a CPU: {seen:?}");
}
