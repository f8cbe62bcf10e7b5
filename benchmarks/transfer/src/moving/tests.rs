//! Both parts in this process, within a folder and over the loopback as between two nodes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use seatrial_bench::testing::{Kept, connect_all};
use seatrial_bench::{Running, Stop};
use seatrial_model::machine::{Disk, DiskBus, FileSystem, Known, Machine, Medium, Nic, NicKind};
use seatrial_model::{
    Bytes, Case, Cause, Integrity, Limit, Nanos, Params, PartRecord, Phase, Quantity, Reason, Row, Sample,
    Site, SiteNode, Unit,
};

use serde_json::json;

use super::BENCHMARK;
use super::sender::{BUSIEST, COPIED, OF_CLASS, WIRE_CURVE};

fn site(nodes: &[(&str, Machine)]) -> Site {
    let cpu = seatrial_testkit::cores([0]);
    let node = |(name, machine): &(&str, Machine)| {
        SiteNode::new(*name, Machine { cpu: cpu.clone(), ..machine.clone() })
    };
    Site { nodes: nodes.iter().map(node).collect() }
}

fn planned(site: &Site, changed: &[(&str, &str)]) -> Result<Case, Reason> {
    let params = seatrial_testkit::params(BENCHMARK.about, changed);
    BENCHMARK.plan(&params, site).map(|mut cases| cases.remove(0))
}

fn within(folder: &Path, changed: &[(&str, &str)]) -> Result<Case, Reason> {
    let folder = folder.display().to_string();
    let mut all = vec![("source", folder.as_str()), ("target", folder.as_str()), ("time", "50 ms")];
    all.extend_from_slice(changed);
    planned(&site(&[("n1", Machine::default())]), &all)
}

fn parts(case: &Case) -> Result<Vec<Box<dyn Running>>, Reason> {
    connect_all(case.places.iter().map(|place| BENCHMARK.part(case, place)), &[])
}

/// Runs and verifies both parts.
fn records(case: &Case, parts: Vec<Box<dyn Running>>) -> Result<Vec<PartRecord>, Reason> {
    let mut kept = Vec::new();
    let mut parts = parts;
    for part in &mut parts {
        let mut own = Kept::default();
        part.run(Phase::Measure, &Stop::after(Duration::from_secs(120)), &mut own)?;
        kept.push(own);
    }
    let verified: Vec<Integrity> = parts.iter_mut().map(|part| part.verify()).collect::<Result<_, _>>()?;
    let told = kept.into_iter().zip(verified).zip(&case.places);
    Ok(told.map(|((kept, integrity), place)| kept.record(place, integrity)).collect())
}

/// The file of this name of the set that was made below `folder`.
fn made(folder: &Path, name: &str) -> PathBuf {
    let folders = fs::read_dir(folder).expect("listed").map(|entry| entry.expect("read").path());
    folders.map(|path| path.join("set").join(name)).find(|path| path.exists()).expect("made")
}

fn left(folder: &Path) -> usize {
    fs::read_dir(folder).expect("listed").count()
}

#[test]
fn every_tool_that_is_there_copies_every_kind_of_set_within_a_node_and_leaves_nothing() {
    for tool in ["native", "cp", "rsync"] {
        for changed in [
            &[("files", "30"), ("size", "70000 B"), ("depth", "2"), ("breadth", "3"), ("cache", "warm")][..],
            &[("files", "40"), ("size", "5 KiB"), ("names", "hard"), ("sync", "end")],
            &[("set", "mix"), ("files", "30"), ("size", "3 MiB"), ("depth", "0")],
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let mut all = vec![("tool", tool)];
            all.extend_from_slice(changed);
            let case = within(folder.path(), &all).expect("a plan");
            let parts = match parts(&case) {
                Ok(parts) => parts,
                Err(why) if tool != "native" && why.cause == Cause::Inapplicable => {
                    assert!(why.text.contains("is not installed on n1"), "{why}");
                    continue;
                }
                Err(why) => panic!("{tool}: {why}"),
            };
            let records = records(&case, parts).expect("copied");
            assert!(
                matches!(records[1].integrity, Integrity::Verified { checked: 1.. }),
                "{tool}: {records:?}"
            );
            assert_eq!(left(folder.path()), 0, "{tool}: left");
            let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
            for name in ["goodput", "files"] {
                assert!(measures.metrics[name].trials[0].iter().all(|value| *value > 0.0), "{tool}: {name}");
            }
            assert!(!measures.metrics.contains_key("wire"), "nothing left the node");
            for name in ["version", "command"] {
                assert_eq!(measures.evidence.contains_key(name), tool != "native", "{tool}: {name}");
            }
            let [first, last] = ["first_done", "last_done"].map(|name| measures.metrics[name].trials[0][0]);
            assert!(first <= last, "{tool}: {first} {last}");
            // Files of one size are no series.
            let sizes = measures.series.get("by_size").map_or(0, Vec::len);
            let is_mix = changed.iter().any(|(name, value)| (*name, *value) == ("set", "mix"));
            assert_eq!(sizes > 1, is_mix && sizes > 0, "{tool}: {sizes}");
        }
    }
}

#[test]
fn the_mover_goes_over_connections_between_nodes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut case =
        within(folder.path(), &[("files", "50"), ("size", "100 KiB"), ("streams", "3")]).expect("a plan");
    // Two nodes that are this one.
    case.nodes.push("n2".to_owned());
    case.params.set("window", "16 KiB");
    let records = records(&case, parts(&case).expect("connected")).expect("copied");
    assert!(matches!(records[1].integrity, Integrity::Verified { checked: 1.. }), "{records:?}");
    // The kernel doubles what is asked for (socket(7)).
    let given = json!({ "send_buffer": 32 << 10, "receive_buffer": 32 << 10 });
    assert_eq!(records[0].evidence["window"], json!({ "asked": { "bytes": 16 << 10 }, "given": given }));
    let copies = records[0].samples.iter().filter(|sample| sample.channel == COPIED).count();
    assert_eq!(records[0].evidence["copies"], copies);
    assert_eq!(left(folder.path()), 0);
}

#[test]
fn a_copy_that_differs_is_corrupt_and_the_file_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = within(folder.path(), &[("files", "20"), ("size", "10 KiB"), ("depth", "0")]).expect("a plan");
    let parts = parts(&case).expect("connected");
    // A source that changed after it was made: the copy is not what it must be.
    let path = made(folder.path(), "file0000013");
    let mut bytes = fs::read(&path).expect("read");
    bytes[5000] ^= 4;
    fs::write(&path, bytes).expect("changed");
    let records = records(&case, parts).expect("copied");
    let Integrity::Corrupt { wrong: 1, of: 20, first } = &records[1].integrity else { panic!("{records:?}") };
    assert!(first.contains("copy0/set/file0000013") && first.contains("bit"), "{first}");
    assert_eq!(left(folder.path()), 0);
}

#[test]
fn a_mode_or_a_time_that_a_tool_promised_to_keep_and_did_not_is_corrupt_and_the_file_is_named() {
    type Plant = (&'static str, fn(&Path));
    let plant: [Plant; 2] = [
        ("the mode is 700 instead of 600", |path| {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("changed");
        }),
        ("the time is 7 s since 1970 instead of 1000000005 s", |path| {
            let time = UNIX_EPOCH + Duration::from_secs(7);
            fs::File::open(path).and_then(|file| file.set_modified(time)).expect("changed");
        }),
    ];
    for (tool, (what, change)) in [("native", plant[0]), ("cp", plant[0]), ("native", plant[1])] {
        let folder = tempfile::tempdir().expect("a folder");
        let all = [("tool", tool), ("files", "20"), ("size", "10 KiB"), ("depth", "0")];
        let case = within(folder.path(), &all).expect("a plan");
        let parts = parts(&case).expect("connected");
        change(&made(folder.path(), "file0000013"));
        let records = records(&case, parts).expect("copied");
        let Integrity::Corrupt { wrong: 1, of: 20, first } = &records[1].integrity else {
            panic!("{records:?}")
        };
        assert!(first.contains("copy0/set/file0000013") && first.contains(what), "{first}");
        assert_eq!(left(folder.path()), 0);
    }
}

#[test]
fn the_rate_of_each_size_and_over_time_are_series() {
    let case = within(Path::new("/data"), &[]).expect("a plan");
    let span = (Nanos(0), Nanos::millis(1000));
    let whole = Sample::new(COPIED, Params::default(), span, Quantity::bytes(1 << 30));
    let of_class = |size: u64, millis: u64, bytes: u64| {
        let at = Params::from_iter([("size".to_owned(), Bytes(size).into())]);
        Sample::new(OF_CLASS, at, (Nanos(0), Nanos::millis(millis)), Quantity::bytes(bytes))
    };
    let sent = |slot: u64, bytes: u64| {
        let span = (Nanos::millis(100 * slot), Nanos::millis(100 * slot + 100));
        Sample::new(WIRE_CURVE, Params::default(), span, Quantity::bytes(bytes))
    };
    let samples = vec![
        whole,
        of_class(1024, 500, 1_000_000),
        of_class(1 << 20, 250, 50_000_000),
        sent(0, 12_500_000),
        sent(1, 25_000_000),
        sent(2, 0),
    ];
    let kept = Kept { samples, ..Kept::default() };
    let record = kept.record(&case.places[0], Integrity::Verified { checked: 1 });
    let series = BENCHMARK.reduce(&case, &[record]).expect("numbers").series;
    let told = |name: &str, axis: &str| -> Vec<(String, f64)> {
        let row = |row: &Row| (row.at.get(axis).expect("a place").to_string(), row.values.trials[0][0]);
        series[name].iter().map(row).collect()
    };
    let wanted = |all: &[(&str, f64)]| -> Vec<(String, f64)> {
        all.iter().map(|(at, value)| ((*at).to_owned(), *value)).collect()
    };
    assert_eq!(told("by_size", "size"), wanted(&[("1 KiB", 2.0), ("1 MiB", 200.0)]));
    assert_eq!(told("by_time", "time"), wanted(&[("0", 1.0), ("0.1", 2.0), ("0.2", 0.0)]));
}

#[test]
fn a_copy_that_is_cut_off_is_no_number() {
    cut_off("cp", false);
    cut_off("native", false);
    cut_off("native", true);
}

fn cut_off(tool: &str, is_remote: bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut case =
        within(folder.path(), &[("tool", tool), ("files", "5"), ("size", "1 MiB")]).expect("a plan");
    if is_remote {
        // Two nodes that are this one.
        case.nodes.push("n2".to_owned());
    }
    let mut parts = parts(&case).expect("connected");
    let mut kept = Kept::default();
    let no_time = Stop::after(Duration::ZERO);
    no_time.raise();
    parts[0].run(Phase::Measure, &no_time, &mut kept).expect("ends");
    for part in &mut parts {
        part.verify().expect("looked");
    }
    let record = kept.record(&case.places[0], Integrity::Verified { checked: 0 });
    if !record.samples.is_empty() {
        // The tool ended before anybody looked.
        return;
    }
    assert_eq!(BENCHMARK.reduce(&case, &[record]).expect_err("nothing").cause, Cause::TooShort);
    assert_eq!(left(folder.path()), 0);
}

#[test]
fn directories_and_tools_that_do_not_fit_are_refused_in_the_plan() {
    let alone = site(&[("n1", Machine::default())]);
    let refused = |site: &Site, changed: &[(&str, &str)]| planned(site, changed).expect_err("refused");
    assert_eq!(refused(&alone, &[("tool", "scp")]).cause, Cause::Inapplicable);
    let why = refused(&alone, &[("tool", "rsync"), ("target", "/data/$HOME")]);
    assert!(why.cause == Cause::Contradiction && why.text.contains("target=/data/$HOME"), "{why}");
    planned(&alone, &[("target", "/data/two words")]).expect("the mover takes every name");
    let small = FileSystem {
        mount: "/data".to_owned(),
        available_bytes: Known::Known(3 << 29),
        size_bytes: Known::Known(4 << 30),
        ..FileSystem::default()
    };
    let room = site(&[("n1", Machine { file_systems: Known::Known(vec![small]), ..Machine::default() })]);
    let one = [("files", "400"), ("source", "/data"), ("target", "/other")];
    planned(&room, &one).expect("room for one");
    let both = [("files", "400"), ("source", "/data"), ("target", "/data")];
    assert_eq!(refused(&room, &both).cause, Cause::NoSpace);
}

/// A node with a link of 10 Gbit/s and a SATA disk below /data.
fn machine() -> Machine {
    let nic = Nic {
        name: "eth0".to_owned(),
        kind: NicKind::Physical,
        speed_mbit_s: Known::Known(10_000),
        mtu: Known::Known(9000),
        up: Known::Known(true),
        networks: Known::Known(vec!["10.0.0.0/24".to_owned()]),
        ..Nic::default()
    };
    let disk = Disk {
        name: "sda".to_owned(),
        bus: DiskBus::Sata,
        link_gbit_s: Known::Known(6.0),
        ..Disk::default()
    };
    let system = FileSystem {
        mount: "/data".to_owned(),
        medium: Medium::Disk,
        disks: vec!["sda".to_owned()],
        ..FileSystem::default()
    };
    Machine {
        nics: Known::Known(vec![nic]),
        disks: Known::Known(vec![disk]),
        file_systems: Known::Known(vec![system]),
        ..Machine::default()
    }
}

#[test]
fn the_link_bounds_a_copy_and_a_disk_where_it_has_to_be_read_or_flushed() {
    let site = site(&[("n1", machine()), ("n2", machine())]);
    let bounds = |cache: &str, sync: &str| {
        let changed = [("source", "/data"), ("target", "/data"), ("cache", cache), ("sync", sync)];
        let case = planned(&site, &changed).expect("a plan");
        assert_eq!(case.subject.as_str(), "n1->n2");
        match &BENCHMARK.limits(&case, &site)["goodput"] {
            Limit::Chain(bounds) => bounds.iter().map(|bound| bound.value.to_string()).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    let link = bounds("warm", "none");
    assert!(!link.is_empty() && link.iter().all(|value| value.ends_with("MB/s")), "{link:?}");
    let disk = || "600 MB/s".to_owned();
    assert_eq!(bounds("cold", "none"), [link.clone(), vec![disk()]].concat());
    assert_eq!(bounds("cold", "end"), [link, vec![disk(), disk()]].concat());
}

#[test]
fn a_thread_that_is_busy_all_the_time_is_found() {
    let case = within(Path::new("/data"), &[]).expect("a plan");
    let with = |percent: u64| {
        let span = (Nanos(0), Nanos::millis(1000));
        let sample = |channel: &str, amount| Sample::new(channel, Params::default(), span, amount);
        let used = Quantity::new((percent * 10_000_000) as f64, Unit::Nanosecond).expect("a time");
        let samples = vec![sample(COPIED, Quantity::bytes(1 << 30)), sample(BUSIEST, used)];
        let kept = Kept { samples, ..Kept::default() };
        let record = kept.record(&case.places[0], Integrity::Verified { checked: 1 });
        BENCHMARK.reduce(&case, &[record]).expect("numbers").findings
    };
    assert!(with(60).is_empty());
    let found = with(97);
    assert!(found.len() == 1 && found[0].kind == "one-core-bound", "{found:?}");
    assert!(found[0].text.contains("97 % of a CPU"), "{}", found[0].text);
}
