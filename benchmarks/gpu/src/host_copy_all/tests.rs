//! All devices at once on the imitated driver: sums, a failing device, and all of its memory.

use std::path::Path;

use seatrial_model::machine::{Known, NumaNode};
use seatrial_model::{Case, Cause, Integrity, PartPlacement};

use super::{BENCHMARK, part};
use crate::rig::{Fake, close, machine, measured, median, plan, refused_here, site, trial};
use seatrial_bench::Part;

fn make(case: &Case, place: &PartPlacement, library: &Path) -> Part {
    crate::part(case, place, Some(library.to_owned()), part::ready)
}

const SMALL: (&str, &str) = ("block", "256 KiB");

#[test]
fn the_sum_is_that_of_all_gpus_and_each_stands_in_the_series() {
    let fake = Fake::new("devices=2 h2d=50 d2h=40");
    let (record, measures) = measured(&BENCHMARK, make, &[SMALL], 2, &fake.library()).expect("measured");
    for (metric, expected) in
        [("h2d_sum", 800.0), ("d2h_sum", 640.0), ("both_sum", 1440.0), ("h2d_least", 400.0)]
    {
        close(median(&measures, metric), expected);
    }
    assert_eq!(measures.series["by_gpu"].len(), 6);
    assert!(matches!(record.integrity, Integrity::Verified { .. }), "{:?}", record.integrity);
}

#[test]
fn the_whole_memory_is_gone_through_with_two_blocks_of_the_host() {
    let fake = Fake::new("devices=2 memory=8388608 h2d=50 d2h=40");
    let changed = [SMALL, ("coverage", "memory")];
    let (record, measures) = measured(&BENCHMARK, make, &changed, 2, &fake.library()).expect("measured");
    close(median(&measures, "h2d_sum"), 800.0);
    close(median(&measures, "d2h_sum"), 640.0);
    // 10/11 of 8 MiB is 29 blocks of 256 KiB; ten rounds, two GPUs, one direction.
    let copies = |direction: &str| {
        record.samples.iter().filter(|sample| sample.at.text("direction") == Ok(direction)).count()
    };
    assert_eq!((copies("h2d"), copies("d2h")), (29 * 10 * 2, 29 * 10 * 2));
    assert!(matches!(record.integrity, Integrity::Verified { .. }), "{:?}", record.integrity);
}

#[test]
fn more_blocks_than_marks_are_all_copied() {
    let fake = Fake::new("memory=8388608 h2d=50");
    let changed = [("block", "16 KiB"), ("coverage", "memory"), ("direction", "h2d")];
    let (record, measures) = measured(&BENCHMARK, make, &changed, 1, &fake.library()).expect("measured");
    close(median(&measures, "h2d_sum"), 400.0);
    let bytes: f64 = record.samples.iter().map(|sample| sample.amount.value()).sum();
    // 10/11 of 8 MiB is 465 blocks; ten rounds.
    assert_eq!(bytes, f64::from(465 * 16384 * 10));
    assert!(matches!(record.integrity, Integrity::Verified { .. }), "{:?}", record.integrity);
}

#[test]
fn a_gpu_that_cannot_be_used_or_is_lost_leaves_the_others_measured_and_no_sum() {
    for (words, why) in [
        ("devices=2 fail=cuDevicePrimaryCtxRetain@1:46", "CUDA_ERROR_DEVICE_UNAVAILABLE"),
        ("devices=2 fail=cuMemcpyAsync@1:719:40", "CUDA_ERROR_LAUNCH_FAILED"),
        ("devices=2 fail=cuModuleLoadDataEx@1:222", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
        ("devices=2 fail=cuMemAlloc@1:2", "CUDA_ERROR_OUT_OF_MEMORY"),
        // Room for two blocks of the first GPU and one of the second.
        ("devices=2 pin=786432", "ulimit -l"),
        ("devices=1", "does not show this GPU"),
    ] {
        let fake = Fake::new(words);
        let (_, measures) = measured(&BENCHMARK, make, &[SMALL], 2, &fake.library()).expect("measured");
        assert!(measures.metrics.is_empty(), "{words}");
        let gpus: Vec<_> = measures.series["by_gpu"].iter().map(|row| row.at.count("gpu")).collect();
        assert!(gpus.contains(&Ok(0)), "{words}");
        let finding = measures.findings.iter().find(|finding| finding.kind == "gpu-not-measured");
        let finding = finding.unwrap_or_else(|| panic!("{words}: {:?}", measures.findings));
        assert!(finding.text.contains(why) && finding.text.contains("0000:11:00.0"), "{}", finding.text);
    }
}

#[test]
fn a_wrong_word_tells_its_gpu_and_place() {
    let fake = Fake::new("devices=2 corrupt=0:2056");
    let changed = [SMALL, ("direction", "h2d")];
    let (record, _) = measured(&BENCHMARK, make, &changed, 2, &fake.library()).expect("measured");
    let Integrity::Corrupt { first, .. } = record.integrity else { panic!("{:?}", record.integrity) };
    assert_eq!(first, "h2d: host to GPU 0000:10:00.0: the first wrong word is at byte 2056");
}

#[test]
fn blocks_lie_where_a_cpuset_lets_them_and_each_gpu_is_told() {
    let fake = Fake::new("devices=2");
    // The GPUs are at a node that this process may not use, and that most likely does not exist.
    let mut far = machine(2);
    far.numa.push(NumaNode { id: 1, ..far.numa[0].clone() });
    if let Known::Known(gpus) = &mut far.gpus {
        gpus.iter_mut().for_each(|gpu| gpu.pci.numa_node = Known::Known(1));
    }
    far.confinement.memory_nodes = Known::Known(vec![0]);
    let case = plan(&BENCHMARK, &[SMALL], far).expect("a plan").remove(0);
    let told: Vec<_> = case.findings.iter().map(|one| (one.subject.as_str(), one.kind.as_str())).collect();
    let both = |gpu| [(gpu, "remote-cores"), (gpu, "remote-memory")];
    assert_eq!(told, [both("gpu:0"), both("gpu:1")].concat());
    let part = make(&case, &case.places[0], &fake.library());
    let record = trial(part, &case.places[0]).expect("measured");
    for gpu in ["0000:10:00.0", "0000:11:00.0"] {
        let place = &record.evidence["places"][gpu];
        let is_told = refused_here().map_or(place["right_percent"] == 100.0, |_| place["denied"].is_string());
        assert!(is_told, "{place}");
    }
}

#[test]
fn blocks_that_do_not_fit_are_refused_in_the_plan_and_limits_add_up() {
    let reason = plan(&BENCHMARK, &[("block", "4 GiB")], machine(2)).expect_err("too large");
    assert_eq!(reason.cause, Cause::NoSpace);
    let case = plan(&BENCHMARK, &[], machine(2)).expect("a plan").remove(0);
    let limits = BENCHMARK.limits(&case, &site(machine(2)));
    let spec = BENCHMARK.about.metric("h2d_sum").expect("a metric");
    let limit = limits["h2d_sum"].record(spec.better, spec.unit).expect("a rate");
    close(limit.value.expect("known"), 2.0 * 60.65 * 8.0);
}
