//! Many nodes in one case: real parts in one folder or in two, and sums from invented samples.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use seatrial_bench::testing::Kept;
use seatrial_bench::{Offer, Prepared, Running, Stop};
use seatrial_model::{
    AgreedStart, Case, Fact, Integrity, Measures, Nanos, Params, PartPlacement, PartRecord, Phase, Quantity,
    Sample, Site, SiteNode,
};
use serde_json::json;

use super::machine;
use crate::metadata::BENCHMARK;
use crate::metadata::part::{CHANNEL, START};
use crate::metadata::work::FileOperation;

fn planned(nodes: usize, changed: &[(&str, &str)]) -> Case {
    let params = seatrial_testkit::params(BENCHMARK.about, changed);
    let nodes = (1..=nodes).map(|number| SiteNode::new(format!("n{number}"), machine(Vec::new()))).collect();
    BENCHMARK.plan(&params, &Site { nodes }).expect("a plan").remove(0)
}

/// The parts of a case of two nodes in `directory`.
fn prepared(directory: &Path, folder: &str) -> (Case, Vec<Prepared>) {
    let path = directory.display().to_string();
    let changed = [("directory", path.as_str()), ("folder", folder), ("threads", "2"), ("size", "3901 B")];
    let mut case = planned(2, &changed);
    case.places.iter_mut().for_each(|place| place.bindings.clear());
    let prepare = |place| (BENCHMARK.part)(&case.for_part(place), place).prepare().expect("prepared");
    let prepared = case.places.iter().map(prepare).collect();
    (case, prepared)
}

/// Runs the parts at one time until there are numbers; the machine may be busy.
fn measured(case: &Case, mut parts: Vec<Box<dyn Running>>) -> (Measures, Vec<PartRecord>) {
    for (trial, seconds) in (0..).zip([2, 8, 32, 128]) {
        let run = |(place, part): (&PartPlacement, &mut Box<dyn Running>)| {
            let mut kept = Kept::default();
            part.run(Phase::Measure, &Stop::after(Duration::from_secs(seconds)), &mut kept).expect("runs");
            PartRecord { trial, ..kept.record(place, Integrity::Verified { checked: 1 }) }
        };
        let records: Vec<PartRecord> = thread::scope(|scope| {
            let running: Vec<_> =
                case.places.iter().zip(&mut parts).map(|one| scope.spawn(move || run(one))).collect();
            running.into_iter().map(|one| one.join().expect("no panic")).collect()
        });
        if let Ok(measures) = BENCHMARK.reduce(case, &records) {
            for part in &mut parts {
                let integrity = part.verify().expect("looked");
                assert!(matches!(integrity, Integrity::Verified { checked } if checked > 0), "{integrity:?}");
            }
            return (measures, records);
        }
    }
    panic!("the parts never did an operation at the same time");
}

#[test]
fn every_operation_of_all_nodes_is_summed_checked_and_nothing_is_left() {
    for folder in ["own", "shared"] {
        let directory = tempfile::tempdir().expect("a folder");
        let (case, prepared) = prepared(directory.path(), folder);
        let offers: Vec<Offer> = prepared.iter().map(|one| one.offer().clone()).collect();
        let connected = prepared.into_iter().map(|one| one.connect(&offers).expect("connected")).collect();
        let (measures, records) = measured(&case, connected);
        assert_eq!(measures.series["by_operation"].len(), FileOperation::ALL.len());
        let nodes: Vec<String> = measures.series["by_node"].iter().map(|row| row.at.to_string()).collect();
        assert_eq!(nodes, ["node=n1", "node=n2"]);
        let of = |name: &str| measures.metrics[name].trials[0][0];
        assert!(of("slowest_node") > 0.0 && of("operations") > of("slowest_node"), "{measures:?}");
        assert!(of("fairness") > 0.5 && of("fairness") <= 1.0 && of("slowest") > 0.0);
        assert!(measures.findings.iter().all(|finding| finding.kind != "own-file-systems"));
        assert!(records.iter().all(|part| part.evidence["sees_folder"] == true));
        assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 0, "something is left");
    }
}

#[test]
fn a_node_that_does_not_see_the_folder_of_the_first_is_told_and_cannot_work_in_it() {
    for folder in ["own", "shared"] {
        let directory = tempfile::tempdir().expect("a folder");
        let (case, prepared) = prepared(directory.path(), folder);
        let mut offers: Vec<Offer> = prepared.iter().map(|one| one.offer().clone()).collect();
        // As on a node on which the path leads to another file system.
        let elsewhere = directory.path().join("elsewhere").display().to_string();
        let [first, second] = <[Prepared; 2]>::try_from(prepared).unwrap_or_else(|_| panic!("two parts"));
        let first = first.connect(&offers).expect("connected");
        offers[0].data = json!({ "folder": elsewhere });
        let second = second.connect(&offers);
        if folder == "shared" {
            let why = second.err().expect("not there").text;
            assert!(why.contains(&elsewhere) && why.contains("folder=shared needs a directory"), "{why}");
            continue;
        }
        let (measures, _) = measured(&case, vec![first, second.expect("connected")]);
        let told = measures.findings.iter().find(|finding| finding.kind == "own-file-systems").expect("told");
        assert!(told.text.contains("n2 did not see the folder that n1 made"), "{}", told.text);
    }
}

/// A node that began at `zero` by its clock, whose threads did `per_ms` operations a millisecond in each slot of 100 ms, from
/// `late` ms after its begin to `early` ms before its end.
fn client(index: u32, zero: u64, per_ms: [u64; 2], late: u64, early: u64) -> PartRecord {
    let mut samples = Vec::new();
    for (slot, operation) in (0..).zip(FileOperation::ALL) {
        for (thread, per_ms) in (0_u64..).zip(per_ms) {
            let (from, to) = (zero + 100 * slot + late, zero + 100 * (slot + 1) - early);
            let at = Params::from([("operation", operation.word().into()), ("thread", thread.into())]);
            let span = (Nanos::millis(from), Nanos::millis(to));
            samples.push(Sample::new(CHANNEL, at, span, Quantity::count(per_ms * (to - from))));
        }
    }
    let evidence = BTreeMap::from([(START.to_owned(), json!(zero * 1_000_000))]);
    PartRecord { index, node: format!("n{}", index + 1), evidence, ..seatrial_testkit::part(samples) }
}

#[test]
fn the_sum_is_of_one_time_for_all_threads_of_all_nodes() {
    let case = planned(2, &[]);
    let near =
        |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-6 * wanted, "{value} is not {wanted}");
    // Clocks that differ by far; the second node is slower, starts later and is done earlier.
    let records = [client(0, 5, [3, 2], 0, 0), client(1, 900_000, [1, 1], 30, 20)];
    let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
    // What is done on each file once is counted from the first to begin to the last to end: the second had half of that.
    let rates = |series: &str| -> Vec<f64> {
        measures.series[series].iter().map(|row| row.values.trials[0][0]).collect()
    };
    rates("by_operation")
        .into_iter()
        .zip([6000.0, 7000.0, 7000.0, 7000.0, 7000.0, 7000.0, 6000.0])
        .for_each(|(rate, wanted)| near(rate, wanted));
    near(measures.metrics["operations"].trials[0][0], (6e3_f64.powi(2) * 7e3_f64.powi(5)).powf(1.0 / 7.0));
    let slowest = (1e3_f64.powi(2) * 2e3_f64.powi(5)).powf(1.0 / 7.0);
    near(measures.metrics["slowest_node"].trials[0][0], slowest);
    near(
        measures.metrics["fairness"].trials[0][0],
        (5e3 + slowest).powi(2) / (2.0 * (25e6 + slowest.powi(2))),
    );
    near(rates("by_node")[0], 5000.0);
    near(rates("by_node")[1], slowest);
    // Without a common time there is no sum, and a trial without all of its parts does not count.
    let apart = [client(0, 0, [1, 1], 0, 60), client(1, 0, [1, 1], 50, 0)];
    let why = BENCHMARK.reduce(&case, &apart).expect_err("no common time").text;
    let told =
        "never did 'stat' at the same time: n1 was done 140.0 ms after the start, n2 began 150.0 ms after it";
    assert!(why.contains(told), "{why}");
    assert!(BENCHMARK.reduce(&case, &records[..1]).is_err());
}

/// `part`, of a trial that was to begin at `ms` by its clock.
fn agreed(ms: u64, mut part: PartRecord) -> PartRecord {
    AgreedStart(ms * 1_000_000).put(&mut part.evidence);
    part
}

#[test]
fn a_node_that_began_late_is_summed_with_the_others_in_one_time() {
    let case = planned(2, &[]);
    // The second begins 30 ms late, each of its operations ends 20 ms early: its share i is from 100 i + 30 to 100 i + 110 ms.
    let records = [agreed(5, client(0, 5, [3, 2], 0, 0)), agreed(900_000, client(1, 900_030, [1, 1], 0, 20))];
    let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
    let rates = measures.series["by_operation"].iter().map(|row| row.values.trials[0][0]);
    // Once for each file: 500 and 160 operations in 110 ms. Anything else: 5 and 2 in each of the 70 ms in which both did it.
    for (rate, wanted) in rates.zip([6000.0, 7000.0, 7000.0, 7000.0, 7000.0, 7000.0, 6000.0]) {
        assert!((rate - wanted).abs() < 1e-6 * wanted, "{rate} is not {wanted}");
    }
    // The first worked from 0 to 700 ms, the second from 30 to 710 ms.
    let spread =
        json!([{ "starts_apart_ns": 30_000_000, "ends_apart_ns": 10_000_000, "all_worked_ns": 670_000_000 }]);
    assert_eq!(measures.evidence["common_time"], spread);
}

#[test]
fn all_nodes_are_one_case_with_more_files_than_one_has() {
    let case = planned(3, &[("files", "auto")]);
    assert_eq!((case.nodes.len(), case.places.len(), case.planned.count("files")), (3, 3, Ok(20_000)));
    assert_eq!(planned(1, &[]).planned.count("files"), Ok(1000));
    assert_eq!(planned(3, &[("files", "50")]).planned.count("files"), Ok(50));
}
