//! Many nodes in one case: its plan, and its sums from invented samples.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use seatrial_bench::testing::{Kept, at_once, prepare_all};
use seatrial_bench::{Prepared, Running, Stop};
use seatrial_model::machine::{FileSystem, Known, Medium};
use seatrial_model::{
    AgreedStart, Case, Cause, Fact, Integrity, PartPlacement, PartRecord, Phase, Reason, Site, SiteNode,
};
use serde_json::json;

use super::figures::{record, samples};
use super::rig::{folder, machine, params};
use crate::file::BENCHMARK;

const GIB: u64 = 1 << 30;

/// A case of `nodes` nodes with `/scratch`, of which so much is free.
fn planned(nodes: usize, medium: Medium, free: u64, changed: &[(&str, &str)]) -> Result<Case, Reason> {
    planned_on(None, nodes, medium, free, changed)
}

/// The same on one kernel, if its boot is named.
fn planned_on(
    boot_id: Option<&str>,
    nodes: usize,
    medium: Medium,
    free: u64,
    changed: &[(&str, &str)],
) -> Result<Case, Reason> {
    let mut params = params(changed);
    params.set("directory", "/scratch");
    let found = FileSystem {
        mount: "/scratch".to_owned(),
        source: "server:/export".to_owned(),
        medium,
        size_bytes: Known::Known(100 * GIB),
        available_bytes: Known::Known(free),
        ..FileSystem::default()
    };
    let mut machine = machine();
    machine.boot_id = boot_id.map_or_else(Known::default, |id| Known::Known(id.to_owned()));
    machine.file_systems = Known::Known(vec![found]);
    let nodes = (1..=nodes).map(|number| SiteNode::new(format!("n{number}"), machine.clone()));
    BENCHMARK.plan(&params, &Site { nodes: nodes.collect() }).map(|mut cases| cases.remove(0))
}

#[test]
fn all_nodes_are_one_case_with_a_part_on_each() {
    let case = planned(3, Medium::Network, 50 * GIB, &[]).expect("a plan");
    assert_eq!(case.nodes, ["n1", "n2", "n3"]);
    let places: Vec<(u32, &str)> = case.places.iter().map(|place| (place.index, &*place.node)).collect();
    assert_eq!(places, [(0, "n1"), (1, "n2"), (2, "n3")]);
    assert_eq!(case.planned.text("directory"), Ok("/scratch"));
    assert_eq!(case.writes.files.get(), 3 * GIB);
}

#[test]
fn the_files_of_all_clients_have_to_fit_into_what_they_share() {
    let shared = planned(3, Medium::Network, 6 * GIB, &[]).expect_err("3 GiB beside 4 GiB that stay free");
    assert_eq!(shared.cause, Cause::NoSpace);
    planned(3, Medium::Disk, 6 * GIB, &[]).expect("each has a file system of its own");
    let host =
        planned_on(Some("boot"), 3, Medium::Disk, 6 * GIB, &[]).expect_err("one host has one directory");
    assert_eq!(host.cause, Cause::NoSpace);
    let steady = planned(2, Medium::Network, 50 * GIB, &[("steady", "true")]).expect_err("no common rounds");
    assert_eq!(steady.cause, Cause::Contradiction);
}

#[test]
fn threads_have_a_core_each_also_on_nodes_of_one_kernel() {
    let planned = |boot_id: &str, threads: &str| {
        let node = |number: u32| {
            let mut node = seatrial_testkit::eight_cores(&format!("n{number}"), Vec::new());
            node.machine.boot_id = Known::Known(boot_id.replace('?', &number.to_string()));
            node
        };
        let mut params = params(&[("threads", threads), ("size", "64 MiB")]);
        params.set("directory", "/");
        BENCHMARK.plan(&params, &Site { nodes: (1..=3).map(node).collect() }).expect("a plan").remove(0)
    };
    let cpus = |case: &Case| -> Vec<Vec<u32>> {
        let of = |place: &PartPlacement| place.bindings.iter().map(|binding| binding.cpu).collect();
        case.places.iter().map(of).collect()
    };
    let own = planned("boot ?", "2");
    assert_eq!(cpus(&own)[0], cpus(&own)[1]);
    let shared = cpus(&planned("boot", "2"));
    let different: BTreeSet<u32> = shared.iter().flatten().copied().collect();
    assert_eq!((shared.len(), different.len()), (3, 6), "{shared:?}");
    let cores = planned("boot ?", "cores");
    assert_eq!(cores.params.count("threads"), Ok(8));
    let different: BTreeSet<u32> = cpus(&cores)[2].iter().copied().collect();
    assert_eq!(different.len(), 8);
}

/// A client whose clock began at `zero`, with MB of reads in each 100 ms.
fn client(index: u32, trial: u32, zero: u64, megabytes: &[u64]) -> PartRecord {
    let slices: Vec<(u64, u64, u64, u64)> =
        (zero..).step_by(100).zip(megabytes).map(|(start, read)| (start, start + 100, *read, 0)).collect();
    let end = (zero + 100 * megabytes.len() as u64) * 1_000_000;
    let threads = json!([{ "stopped_ns": end - zero * 1_000_000, "flush_ns": null }]);
    let evidence = json!({ "threads": threads, "start_ns": zero * 1_000_000 });
    PartRecord { index, trial, node: format!("n{}", index + 1), ..record(samples(0, &slices), evidence) }
}

#[test]
fn the_sum_is_of_the_time_in_which_all_nodes_worked_and_the_slowest_is_told() {
    let case = planned(2, Medium::Network, 50 * GIB, &[]).expect("a plan");
    // The second stops a slice earlier, by a clock of its own.
    let records =
        [client(0, 0, 1000, &[30, 30, 30]), client(1, 0, 900_000, &[10, 10]), client(0, 1, 0, &[9])];
    let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
    let of = |name: &str| measures.metrics[name].trials.clone();
    let near = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-6, "{value} is not {wanted}");
    assert_eq!(of("throughput").len(), 1, "a trial without all of its parts does not count");
    of("throughput")[0].iter().for_each(|rate| near(*rate, 400.0));
    near(of("slowest_node")[0][0], 100.0);
    near(of("fairness")[0][0], 400.0 * 400.0 / (2.0 * (9e4 + 1e4)));
    let nodes: Vec<String> = measures.series["by_node"].iter().map(|row| row.at.to_string()).collect();
    assert_eq!(nodes, ["node=n1", "node=n2"]);
    assert!(measures.findings.iter().all(|finding| finding.kind != "own-file-systems"));
    assert_eq!(measures.evidence["integrity"], json!({ "verified": { "checked": 2 } }));
    let mut blind = records.clone();
    blind[1].evidence.insert("sees_folder".to_owned(), json!(false));
    let measures = BENCHMARK.reduce(&case, &blind).expect("numbers");
    let own = measures.findings.iter().find(|finding| finding.kind == "own-file-systems").expect("told");
    assert!(own.text.contains("n2 did not see the folder that n1 made"), "{}", own.text);
}

#[test]
fn with_work_once_the_first_and_the_last_of_all_threads_are_told() {
    let case = planned(2, Medium::Network, 50 * GIB, &[("work", "once")]).expect("a plan");
    let records = [client(0, 0, 0, &[40, 40]), client(1, 0, 500, &[20, 20, 20, 20])];
    let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
    let of = |name: &str| measures.metrics[name].trials[0][0];
    // 120 MB in 0.2 s, 160 MB in 0.4 s.
    assert!((of("first_done") - 600.0).abs() < 1e-6, "{}", of("first_done"));
    assert!((of("last_done") - 400.0).abs() < 1e-6, "{}", of("last_done"));
}

/// The same, of a trial that was to begin at `ms` by the client's clock.
fn agreed(ms: u64, mut client: PartRecord) -> PartRecord {
    AgreedStart(ms * 1_000_000).put(&mut client.evidence);
    client
}

#[test]
fn a_client_that_began_late_is_summed_with_the_others_in_one_time() {
    let case = planned(2, Medium::Network, 50 * GIB, &[]).expect("a plan");
    // The first works from 0 to 400 ms, the second from 100 to 500 ms, by clocks of their own.
    let records = [
        agreed(7_000, client(0, 0, 7_000, &[90, 30, 30, 30])),
        agreed(900_000, client(1, 0, 900_100, &[10, 10, 10, 50])),
    ];
    let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
    let of = |name: &str| measures.metrics[name].trials[0].clone();
    let near = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-6, "{value} is not {wanted}");
    // Both worked from 100 to 400 ms: 40 MB in each 100 ms of it.
    assert_eq!(of("throughput").len(), 3);
    of("throughput").into_iter().for_each(|rate| near(rate, 400.0));
    near(of("slowest_node")[0], 100.0);
    near(of("fairness")[0], 400.0 * 400.0 / (2.0 * (9e4 + 1e4)));
    let spread = json!([{ "starts_apart_ns": 100_000_000, "ends_apart_ns": 100_000_000, "all_worked_ns": 300_000_000 }]);
    assert_eq!(measures.evidence["common_time"], spread);
    // One that begins when the other is done has no time in common with it.
    let apart = [agreed(0, client(0, 0, 0, &[9])), agreed(0, client(1, 0, 100, &[9]))];
    assert_eq!(BENCHMARK.reduce(&case, &apart).expect_err("no common time").cause, Cause::TooShort);
}

#[test]
fn what_all_have_done_counts_from_the_first_to_begin() {
    let changed = [("work", "once"), ("operation", "write")];
    let case = planned(2, Medium::Network, 50 * GIB, &changed).expect("a plan");
    let mut records =
        [agreed(0, client(0, 0, 0, &[40, 40])), agreed(1_000, client(1, 0, 1_100, &[20, 20, 20, 20]))];
    for record in &mut records {
        record.samples.iter_mut().for_each(|sample| {
            let channel = if sample.channel == "read" { "written" } else { "read" };
            sample.channel = channel.to_owned();
        });
        record.evidence.get_mut("threads").expect("told")[0]["flush_ns"] = json!(140_000_000);
    }
    let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
    let near = |name: &str, wanted: f64| {
        let value = measures.metrics[name].trials[0][0];
        assert!((value - wanted).abs() < 1e-6, "{name}: {value} is not {wanted}");
    };
    // 80 and 20 MB in the 200 ms until the first is done; 160 MB in the 500 ms until the last is done, and in the 640 ms until it
    // has flushed.
    near("first_done", 500.0);
    near("last_done", 320.0);
    near("durable", 250.0);
}

/// A case of two nodes in a folder of this machine.
fn in_one_file(directory: &Path, operation: &str) -> Case {
    let changed = [
        ("files", "interleaved"),
        ("operation", operation),
        ("access", "buffered"),
        ("threads", "2"),
        ("size", "1 MiB"),
        ("block", "16 KiB"),
    ];
    let mut case = planned(2, Medium::Network, 50 * GIB, &changed).expect("a plan");
    case.planned.set("directory", directory.to_str().expect("UTF-8"));
    case.places.iter_mut().for_each(|place| place.bindings.clear());
    case
}

#[test]
fn the_threads_of_two_nodes_read_and_write_one_file_and_leave_none() {
    let directory = folder();
    for operation in ["read", "write"] {
        let case = in_one_file(directory.path(), operation);
        let parts = case.places.iter().map(|place| BENCHMARK.part(&case, place));
        let (prepared, offers) = prepare_all(parts, &[]).expect("prepared");
        let connect = |prepared: Prepared| prepared.connect(&offers).expect("connected");
        let running = at_once(prepared, &[], connect);
        let measure = |mut part: Box<dyn Running>| {
            let mut kept = Kept::default();
            part.run(Phase::Measure, &Stop::after(Duration::from_millis(100)), &mut kept).expect("measured");
            assert_eq!(kept.evidence["files"]["count"], 1);
            assert_eq!(kept.evidence["files"]["bytes_each"], 2 << 20);
            part
        };
        let running = at_once(running, &[], measure);
        let verify = |mut part: Box<dyn Running>| (part.verify().expect("read back"), part);
        // All verify before any ends.
        let (found, running): (Vec<_>, Vec<_>) = at_once(running, &[], verify).into_iter().unzip();
        assert!(found.iter().all(|one| matches!(one, Integrity::Verified { checked: 1.. })), "{found:?}");
        drop(running);
        assert_eq!(std::fs::read_dir(directory.path()).expect("a folder").count(), 0, "{operation}");
    }
}

#[test]
fn one_file_of_two_nodes_needs_a_directory_that_both_have() {
    let directory = folder();
    let case = in_one_file(directory.path(), "write");
    let (mut prepared, mut offers) =
        prepare_all(case.places.iter().map(|place| BENCHMARK.part(&case, place)), &[]).expect("prepared");
    offers[0].data["folder"] = json!("/there/is/no/such/folder");
    let reason = prepared.remove(1).connect(&offers).err().expect("another file system");
    assert_eq!(reason.cause, Cause::Missing);
    assert!(reason.text.contains("files=interleaved needs a directory that all nodes have"), "{reason}");
}
