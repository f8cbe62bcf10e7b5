//! Real copies in temporary folders, and plans on invented machines.

use std::path::Path;
use std::time::Duration;

use seatrial_model::machine::{Disk, DiskBus, FileSystem, Known, Machine, Medium};
use seatrial_model::{Case, Cause, Integrity, Limit, Phase, Reason, Site, SiteNode};

use super::BENCHMARK;
use super::part::CopyWorker;
use seatrial_bench::testing::Kept;
use seatrial_bench::{Running, Stop};

fn site(systems: Vec<FileSystem>, disks: Vec<Disk>) -> Site {
    let cpu = seatrial_testkit::cores([0]);
    let (file_systems, disks) = (Known::Known(systems), Known::Known(disks));
    Site { nodes: vec![SiteNode::new("n1", Machine { cpu, file_systems, disks, ..Machine::default() })] }
}

fn planned(site: &Site, changed: &[(&str, &str)]) -> Result<Case, Reason> {
    let about = BENCHMARK.about;
    let params = seatrial_testkit::params(about, changed);
    BENCHMARK.plan(&params, site).map(|mut cases| cases.remove(0))
}

fn worker(from: &Path, to: &Path, changed: &[(&str, &str)]) -> (Case, Result<CopyWorker, Reason>) {
    let (from, to) = (from.display().to_string(), to.display().to_string());
    let mut all = vec![("from", from.as_str()), ("to", to.as_str()), ("size", "2560 KiB"), ("time", "50 ms")];
    all.extend_from_slice(changed);
    let mut case = planned(&site(Vec::new(), Vec::new()), &all).expect("a plan");
    case.places[0].bindings.clear();
    let worker = CopyWorker::prepare(&case, &case.places[0]);
    (case, worker)
}

fn run(worker: &mut CopyWorker) -> Kept {
    let mut kept = Kept::default();
    worker.run(Phase::Measure, &Stop::after(Duration::from_secs(120)), &mut kept).expect("copies");
    kept
}

#[test]
fn every_way_copies_what_there_is_and_leaves_nothing() {
    let (one, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let ways = [
        ("read_write", "end", one.path()),
        ("read_write", "none", other.path()),
        ("copy_file_range", "end", other.path()),
        ("copy_file_range", "none", one.path()),
    ];
    for (method, sync, to) in ways {
        let (case, worker) =
            worker(one.path(), to, &[("method", method), ("sync", sync), ("block", "300 KiB")]);
        let mut worker = worker.expect("made");
        let kept = run(&mut worker);
        for folder in [one.path(), other.path()] {
            assert_eq!(std::fs::read_dir(folder).expect("listed").count(), 0, "a file has a name");
        }
        let integrity = worker.verify().expect("looked");
        assert_eq!(integrity, Integrity::Verified { checked: 2560 << 10 });
        let record = kept.record(&case.places[0], integrity);
        let measures = BENCHMARK.reduce(&case, &[record]).expect("figures");
        assert_eq!(measures.metrics.contains_key("unsynced"), sync == "end");
        for end in ["from", "to"] {
            let extents = &measures.evidence["extents"][end];
            assert!(extents["count"].is_u64() || extents["unknown"].is_string(), "{extents}");
        }
        let first = |name: &str| measures.metrics[name].trials[0][0];
        assert!(first("throughput") > 0.0 && first("user") >= 0.0 && first("system") >= 0.0);
    }
}

#[test]
fn a_changed_byte_of_the_copy_is_found_and_located() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, worker) = worker(folder.path(), folder.path(), &[]);
    let mut worker = worker.expect("made");
    run(&mut worker);
    worker.spoil();
    let found = worker.verify().expect("looked");
    let Integrity::Corrupt { wrong: 1, of: 3, first } = &found else { panic!("{found:?}") };
    assert!(first.starts_with("the first wrong piece of the copy: file 0, offset 4096: "), "{first}");
    assert!(first.contains("byte 5000"), "{first}");
}

#[test]
fn several_files_are_copied_and_each_is_compared_with_its_own_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let (case, worker) = worker(folder.path(), folder.path(), &[("files", "3")]);
    assert_eq!(case.writes.files, seatrial_model::Bytes(2 * 3 * (2560 << 10)));
    let mut worker = worker.expect("made");
    let copied = run(&mut worker).samples.remove(0);
    assert_eq!(copied.amount, seatrial_model::Quantity::bytes(3 * (2560 << 10)));
    assert_eq!(worker.verify().expect("looked"), Integrity::Verified { checked: 3 * (2560 << 10) });
    run(&mut worker);
    worker.spoil();
    let found = worker.verify().expect("looked");
    let Integrity::Corrupt { wrong: 1, of: 9, first } = &found else { panic!("{found:?}") };
    assert!(first.starts_with("the first wrong piece of the copy: file 2, offset 4096: "), "{first}");
}

#[test]
fn a_copy_that_was_not_finished_is_no_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let (case, worker) = worker(folder.path(), folder.path(), &[]);
    let mut worker = worker.expect("made");
    let mut kept = Kept::default();
    worker.run(Phase::Measure, &Stop::after(Duration::ZERO), &mut kept).expect("ends");
    assert!(kept.samples.is_empty());
    assert!(matches!(worker.verify(), Ok(Integrity::Unverified { .. })));
    assert_eq!(BENCHMARK.reduce(&case, &[]).expect_err("nothing").cause, Cause::TooShort);
}

#[test]
fn a_directory_that_is_not_there_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, worker) = worker(folder.path(), &folder.path().join("absent"), &[]);
    assert_eq!(worker.expect_err("absent").cause, Cause::Missing);
}

fn system(mount: &str, disk: &str, room: u64) -> FileSystem {
    FileSystem {
        mount: mount.to_owned(),
        source: format!("/dev/{disk}1"),
        medium: Medium::Disk,
        disks: vec![disk.to_owned()],
        available_bytes: Known::Known(room),
        fill_percent: Known::Known(87.5),
        ..FileSystem::default()
    }
}

fn sata(name: &str, gbit: f64) -> Disk {
    Disk { name: name.to_owned(), bus: DiskBus::Sata, link_gbit_s: Known::Known(gbit), ..Disk::default() }
}

#[test]
fn from_disk_to_disk_the_slower_link_is_the_limit_and_within_one_there_is_none() {
    let systems = vec![system("/data1", "sda", 1 << 40), system("/data2", "sdb", 1 << 40)];
    let site = site(systems, vec![sata("sda", 6.0), sata("sdb", 3.0)]);
    let between = planned(&site, &[("from", "/data1"), ("to", "/data2/x")]).expect("a plan");
    assert_eq!(between.subject.as_str(), "fs:/data1->/data2");
    assert_eq!(between.facts.get("fill_percent"), Some(&seatrial_model::Value::Number(87.5)));
    assert_eq!(between.facts.text("from"), Ok("/data1"));
    let Limit::Chain(bounds) = &BENCHMARK.limits(&between, &site)["throughput"] else { panic!("no limit") };
    let values: Vec<String> = bounds.iter().map(|bound| bound.value.to_string()).collect();
    assert_eq!(values, ["600 MB/s", "300 MB/s"]);
    let cached = planned(&site, &[("from", "/data2"), ("to", "/data1"), ("source", "warm")]).expect("a plan");
    let Limit::Chain(bounds) = &BENCHMARK.limits(&cached, &site)["throughput"] else { panic!("no limit") };
    assert_eq!(bounds.iter().map(|bound| bound.value.to_string()).collect::<Vec<_>>(), ["600 MB/s"]);
    let unbounded = [
        &[("from", "/data1")][..],
        &[("from", "/data1"), ("to", "/data2"), ("method", "copy_file_range")],
        &[("from", "/data1"), ("to", "/data2"), ("sync", "none")],
    ];
    for changed in unbounded {
        let case = planned(&site, changed).expect("a plan");
        assert!(matches!(BENCHMARK.limits(&case, &site)["throughput"], Limit::Unknown { .. }), "{changed:?}");
    }
}

#[test]
fn a_file_system_without_room_for_both_is_refused_in_the_plan() {
    let site = site(vec![system("/a", "sda", 300 << 20), system("/b", "sdb", 300 << 20)], Vec::new());
    planned(&site, &[("from", "/a"), ("to", "/b")]).expect("room for one on each");
    let reason = planned(&site, &[("from", "/a")]).expect_err("two on one");
    assert_eq!(reason.cause, Cause::NoSpace);
}
