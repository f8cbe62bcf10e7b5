//! Copies between devices on the imitated driver: the matrix, the sums, and pairs without peer access.

use std::path::Path;

use seatrial_model::machine::Known;
use seatrial_model::{Case, Cause, Integrity, Limit, Measures, PartPlacement};

use super::{BENCHMARK, part};
use crate::rig::{Fake, close, machine, measured, median, plan, site};
use seatrial_bench::Part;

fn make(case: &Case, place: &PartPlacement, library: &Path) -> Part {
    crate::part(case, place, Some(library.to_owned()), part::ready)
}

const SMALL: (&str, &str) = ("size", "256 KiB");

fn row(measures: &Measures, series: &str, number: usize) -> f64 {
    measures.series[series][number].values.trials[0][0]
}

#[test]
fn every_pair_and_group_has_the_rate_of_its_links() {
    for engine in ["copy", "sm"] {
        let fake = Fake::new("devices=3 peer=400 load_ns=200");
        let changed = [SMALL, ("engine", engine)];
        let (record, measures) = measured(&BENCHMARK, make, &changed, 3, &fake.library()).expect("measured");
        for (metric, expected) in [
            ("write", 400.0),
            ("read", 400.0),
            ("both_write", 800.0),
            ("both_read", 800.0),
            ("one_to_all", 800.0),
            ("all_to_one", 800.0),
            ("all_to_all", 2400.0),
            ("latency", 600.0),
            ("latency_memory", 600.0),
        ] {
            close(median(&measures, metric), expected);
        }
        let rows =
            ["pairs", "groups", "latencies", "memory_latencies"].map(|name| measures.series[name].len());
        assert_eq!(rows, [18, 7, 6, 6]);
        assert!(row(&measures, "pairs", 0) > 0.0);
        assert!(matches!(record.integrity, Integrity::Verified { .. }), "{:?}", record.integrity);
    }
}

#[test]
fn a_gpu_that_cannot_be_used_leaves_the_other_pairs_measured() {
    // The second failure loses the GPU in the middle of its work.
    for words in ["fail=cuDevicePrimaryCtxRetain@2:46", "fail=cuMemcpyPeerAsync@2:719:30"] {
        let fake = Fake::new(&format!("devices=3 {words}"));
        let (_, measures) = measured(&BENCHMARK, make, &[SMALL], 3, &fake.library()).expect("measured");
        assert!(measures.metrics.is_empty(), "the slowest pair may be one that is missing");
        let between = |row: &seatrial_model::Row| (row.at.count("from"), row.at.count("to"));
        let pairs: Vec<_> = measures.series["pairs"].iter().map(between).collect();
        assert!(pairs.contains(&(Ok(0), Ok(1))) && pairs.contains(&(Ok(1), Ok(0))), "{words}: {pairs:?}");
        let finding = measures.findings.iter().find(|finding| finding.kind == "gpu-not-measured");
        assert!(finding.is_some_and(|finding| finding.text.contains("0000:12:00.0")), "{words}");
    }
}

#[test]
fn gpus_that_do_not_reach_each_other_are_copied_by_way_of_the_host() {
    let fake = Fake::new("devices=2 no_peers");
    let (_, measures) = measured(&BENCHMARK, make, &[SMALL], 2, &fake.library()).expect("measured");
    close(median(&measures, "write"), 400.0);
    assert!(!measures.metrics.contains_key("latency"));
    assert!(measures.findings.iter().any(|finding| finding.kind == "no-peer-access"));
}

#[test]
fn what_redirects_traffic_between_gpus_without_links_of_their_own_is_told() {
    let kinds = |nvlinks: usize| {
        let mut machine = machine(2);
        if let Known::Known(gpus) = &mut machine.gpus {
            for gpu in gpus {
                gpu.nvlinks = Known::Known(vec!["0000:c1:00.0".to_owned(); nvlinks]);
                gpu.redirected_by = Known::Known(vec!["0000:00:01.0".to_owned()]);
            }
        }
        let case = plan(&BENCHMARK, &[SMALL], machine).expect("a plan").remove(0);
        case.findings.into_iter().map(|finding| finding.kind).collect::<Vec<_>>()
    };
    assert_eq!((kinds(0), kinds(2)), (vec!["peer-redirected".to_owned()], Vec::new()));
}

#[test]
fn a_wrong_word_tells_its_pair_and_place() {
    let fake = Fake::new("devices=2 corrupt=0:80");
    let (record, _) = measured(&BENCHMARK, make, &[SMALL], 2, &fake.library()).expect("measured");
    let Integrity::Corrupt { first, .. } = record.integrity else { panic!("{:?}", record.integrity) };
    let expected = "write: GPU 0000:10:00.0 to GPU 0000:11:00.0: the first wrong word is at byte 80";
    assert_eq!(first, expected);
}

#[test]
fn one_gpu_has_no_peer_and_a_size_beyond_memory_is_refused() {
    assert_eq!(plan(&BENCHMARK, &[], machine(1)).expect_err("one GPU").cause, Cause::Inapplicable);
    assert_eq!(plan(&BENCHMARK, &[("size", "128 MiB")], machine(2)).expect_err("full").cause, Cause::NoSpace);
    let case = plan(&BENCHMARK, &[SMALL], machine(2)).expect("a plan").remove(0);
    let limits = BENCHMARK.limits(&case, &site(machine(2)));
    let value = |metric: &str| {
        let spec = BENCHMARK.about.metric(metric).expect("a metric");
        limits[metric].record(spec.better, spec.unit).expect("of its dimension").value
    };
    assert_eq!((value("write"), value("both_read"), value("latency")), (Some(500.0), Some(1000.0), None));
}

#[test]
fn the_narrowest_path_of_all_pairs_bounds_the_slowest_and_links_to_other_gpus_are_none_of_it() {
    let mut machine = machine(4);
    let Known::Known(gpus) = &mut machine.gpus else { panic!("GPUs") };
    let addresses: Vec<String> = gpus.iter().map(|gpu| gpu.pci.address.clone()).collect();
    for (number, gpu) in gpus.iter_mut().enumerate() {
        // Bridges between 0 and 1, and between 2 and 3.
        gpu.nvlinks = Known::Known(vec![addresses[number ^ 1].clone(); 12]);
        gpu.nvlink_megabytes_per_second = Known::Known(25_000);
        gpu.link_generation = Known::Known(4);
        gpu.link_width = Known::Known(16);
    }
    let case = plan(&BENCHMARK, &[SMALL], machine.clone()).expect("a plan").remove(0);
    let limit = BENCHMARK.limits(&case, &site(machine))["write"].clone();
    let Limit::Chain(bounds) = limit else { panic!("{limit:?}") };
    assert!(bounds.iter().all(|bound| bound.value.base() < 32e9), "{bounds:?}");
}
