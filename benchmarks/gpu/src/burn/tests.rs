//! Burn-in on the imitated driver.

use std::path::Path;

use seatrial_model::{Better, Case, Cause, Integrity, PartPlacement, Severity};

use super::{BENCHMARK, part};
use crate::rig::{Fake, close, machine, measured, median, plan, site};
use seatrial_bench::Part;

fn make(case: &Case, place: &PartPlacement, library: &Path) -> Part {
    crate::part(case, place, Some(library.to_owned()), part::ready)
}

/// Two MiB of memory of the imitated device in all, so that there are few targets of 128 KiB.
const SMALL: &[(&str, &str)] = &[("shape", "128")];
const MEMORY: &str = "memory=2000000 tflops=0.000004";

#[test]
fn every_gpu_multiplies_at_its_rate_and_every_target_is_compared() {
    let fake = Fake::new(&format!("devices=2 {MEMORY}"));
    let (record, measures) = measured(&BENCHMARK, make, SMALL, 2, &fake.library()).expect("measured");
    for metric in ["rate", "worst"] {
        close(median(&measures, metric), 4e-6);
    }
    for metric in ["sag", "spread"] {
        assert!(median(&measures, metric) < 1.0, "{metric}");
    }
    for (metric, value) in [("hottest", 40.0), ("heat_spread", 0.0), ("power", 300.0), ("clock", 1000.0)] {
        close(median(&measures, metric) + 1.0, value + 1.0);
    }
    let targets = measures.evidence["products"]["0000:10:00.0"]["targets"].as_u64().expect("a number");
    assert!((2..16).contains(&targets), "{targets}");
    let Integrity::Verified { checked } = record.integrity else { panic!("{:?}", record.integrity) };
    // The proofs of both, their comparison, and at least one target of each.
    assert!(checked >= 5 * 4 * 128 * 256, "{checked}");
    let gpus: Vec<u64> =
        measures.series["by_window"].iter().filter_map(|row| row.at.count("gpu").ok()).collect();
    assert!(gpus.contains(&0) && gpus.contains(&1), "{gpus:?}");
}

#[test]
fn a_wrong_sum_is_corrupt_data_and_names_the_gpu_its_bits_and_a_repeat() {
    // The first two products of a GPU are its proof and the first that the others have to equal.
    for (flip, told) in [
        (0, "GPU 0000:10:00.0: in a product of whole numbers row 0 is the first with a wrong sum"),
        (
            3,
            "GPU 0000:11:00.0: of the first product the sum in row 0, column 0 or 1 is not that of GPU 0000:10:00.0",
        ),
        (4, "bits 0x00400000 differ, computed by multiprocessor 17; a repeat was right"),
    ] {
        let fake = Fake::new(&format!("devices=2 {MEMORY} flip={flip}"));
        let (record, _) = measured(&BENCHMARK, make, SMALL, 2, &fake.library()).expect("measured");
        let Integrity::Corrupt { wrong, first, .. } = record.integrity else {
            panic!("{flip}: {:?}", record.integrity)
        };
        assert!(wrong > 0 && first.ends_with(told), "{flip}: {first}");
    }
}

#[test]
fn a_gpu_that_fails_fails_the_case_with_its_name() {
    let fake = Fake::new(&format!("devices=2 {MEMORY} fail=cuLaunchKernel@1:719:12"));
    let error = measured(&BENCHMARK, make, SMALL, 2, &fake.library()).expect_err("a GPU failed");
    assert!(error.text.starts_with("0000:11:00.0: multiplying matrices"), "{error}");
}

#[test]
fn a_gpu_without_memory_for_one_target_has_no_space() {
    let error = measured(&BENCHMARK, make, SMALL, 1, &Fake::new("memory=300000").library())
        .expect_err("too little memory");
    assert_eq!(error.cause, Cause::NoSpace);
}

#[test]
fn heat_is_told_and_the_power_limit_is_nothing_to_act_on() {
    for (bits, severity) in [(4, Severity::Info), (4 + 0x20, Severity::Warning)] {
        let fake = Fake::new(&format!("{MEMORY} throttle={bits}"));
        let (_, measures) = measured(&BENCHMARK, make, SMALL, 1, &fake.library()).expect("measured");
        let told = measures.findings.iter().find(|one| one.kind == "gpu-throttled").expect("told");
        assert_eq!(told.severity, severity, "{}", told.text);
    }
}

#[test]
fn the_limit_is_that_of_the_slowest_gpu_and_one_gpu_can_be_named() {
    use seatrial_model::machine::Known;
    let mut two = machine(2);
    let Known::Known(gpus) = &mut two.gpus else { panic!("known") };
    for (gpu, mhz) in gpus.iter_mut().zip([1000, 900]) {
        gpu.cores = Known::Known(512);
        gpu.capability = Known::Known("9.0".to_owned());
        gpu.clock_mhz = Known::Known(mhz);
    }
    let limit = |changed: &[(&str, &str)]| {
        let cases = plan(&BENCHMARK, changed, two.clone()).expect("a plan");
        let limits = BENCHMARK.limits(&cases[0], &site(two.clone()));
        let (_, limit) = limits.iter().find(|(metric, _)| *metric == "rate").expect("a limit");
        (cases.len(), limit.tightest(Better::Higher).map(|bound| bound.value.value()))
    };
    assert_eq!(limit(&[]), (1, Some(14.7456)));
    assert_eq!(limit(&[("gpu", "0")]), (1, Some(16.384)));
}
