//! Products on the imitated driver, and the limits of their rates.

use std::path::Path;

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, PartRecord, Quantity, Sample, Severity};

use super::{BENCHMARK, part};
use crate::rig::{Fake, close, machine, measured, median, plan, site};
use seatrial_bench::Part;

fn make(case: &Case, place: &PartPlacement, library: &Path) -> Part {
    crate::part(case, place, Some(library.to_owned()), part::ready)
}

const REPEAT_RIGHT: &str = "the sum in row 0, column 0 is not that of the first product of the same numbers: bits \
     0x00400000 differ, computed by multiprocessor 17; a repeat was right";

const SMALL: (&str, &str) = ("shape", "128");

#[test]
fn products_have_the_rate_that_the_device_was_given_and_are_proved() {
    let (record, measures) =
        measured(&BENCHMARK, make, &[SMALL], 1, &Fake::new("tflops=0.00004").library()).expect("measured");
    close(median(&measures, "rate"), 4e-5);
    let Integrity::Verified { checked } = record.integrity else { panic!("{:?}", record.integrity) };
    // 128 x 256 sums of 4 bytes: the proof, and at least a slice of the warm-up and one that was measured.
    assert!(checked >= 3 * 4 * 128 * 256, "{checked}");
    assert_eq!(measures.evidence["gpu"]["product"], serde_json::json!([128, 256, 128]));
    assert_eq!(measures.evidence["gpu"]["instructions"], "wgmma");
}

#[test]
fn a_trial_without_a_product_lends_its_power_to_no_other() {
    let case = plan(&BENCHMARK, &[SMALL], machine(1)).expect("a plan").remove(0);
    let part = |trial: u32, watts: f64, operations: &[u64]| {
        let sample = |count: &u64| {
            let span = (Nanos(0), Nanos::secs(1));
            Sample::new(super::reduce::PRODUCT, Default::default(), span, Quantity::count(*count))
        };
        PartRecord {
            trial,
            evidence: [(
                "watch".to_owned(),
                serde_json::json!({ "0000:10:00.0": { "power_mean_w": watts } }),
            )]
            .into(),
            ..seatrial_testkit::part(operations.iter().map(sample).collect())
        }
    };
    let measures = BENCHMARK.reduce(&case, &[part(0, 100.0, &[]), part(1, 500.0, &[1_000_000_000_000])]);
    assert_eq!(measures.expect("a rate").metrics["per_watt"].trials, [[2.0]]);
}

#[test]
fn older_devices_multiply_by_warps_and_too_old_ones_are_told() {
    let run = |words: &str, kind: &str| {
        measured(&BENCHMARK, make, &[SMALL, ("type", kind)], 1, &Fake::new(words).library())
    };
    let (_, measures) = run("capability=8", "bf16").expect("measured");
    assert_eq!(measures.evidence["gpu"]["instructions"], "mma.sync");
    let old = run("capability=7", "bf16").expect_err("no matrix instructions");
    assert_eq!(old.cause, Cause::Inapplicable);
    assert!(old.text.contains("capability 7.0 has no matrix instructions for bf16: 8.0 and later"), "{old}");
    assert_eq!(run("capability=8", "fp8").expect_err("later ones have").cause, Cause::Inapplicable);
}

#[test]
fn a_wrong_sum_is_corrupt_data_in_the_proof_and_in_every_later_product() {
    for (flip, told) in [
        (0, "in a product of whole numbers row 0 is the first with a wrong sum"),
        // The first product is wrong, so a right one differs from it.
        (1, "computed by multiprocessor 17; a repeat gave this sum again"),
        (2, REPEAT_RIGHT),
    ] {
        let fake = Fake::new(&format!("flip={flip}"));
        let (record, _) = measured(&BENCHMARK, make, &[SMALL], 1, &fake.library()).expect("measured");
        let Integrity::Corrupt { wrong, first, .. } = record.integrity else {
            panic!("{flip}: {:?}", record.integrity)
        };
        assert!(wrong > 0 && first.ends_with(told), "{flip}: {first}");
    }
}

#[test]
fn a_product_that_does_nothing_is_corrupt_data() {
    let fake = Fake::new("idle=1");
    let (record, _) = measured(&BENCHMARK, make, &[SMALL], 1, &fake.library()).expect("measured");
    assert!(matches!(record.integrity, Integrity::Corrupt { .. }), "{:?}", record.integrity);
}

const BLAS: (&str, &str) = ("engine", "blas");

#[test]
fn the_library_multiplies_every_type_that_it_has_with_the_same_proof() {
    for kind in ["bf16", "fp16", "tf32", "fp32", "fp64", "fp8", "int8"] {
        let fake = Fake::new("tflops=0.00004");
        let (record, measures) =
            measured(&BENCHMARK, make, &[SMALL, BLAS, ("type", kind)], 1, &fake.library()).expect(kind);
        close(median(&measures, "rate"), 4e-5);
        assert!(matches!(record.integrity, Integrity::Verified { .. }), "{kind}: {:?}", record.integrity);
        let about = &measures.evidence["gpu"];
        assert_eq!(about["instructions"], "cuBLAS");
        assert_eq!(about["blas"]["version"], "13.1.2");
        let path = about["blas"]["path"].as_str().expect("a path");
        assert!(path.ends_with("libcuda.so.1"), "the fake is one file: {path}");
    }
}

#[test]
fn a_wrong_sum_of_the_library_is_corrupt_data_without_a_multiprocessor() {
    let run = |words: &str, kind: &str| {
        let (record, _) =
            measured(&BENCHMARK, make, &[SMALL, BLAS, ("type", kind)], 1, &Fake::new(words).library())
                .expect("measured");
        let Integrity::Corrupt { wrong, first, .. } = record.integrity else {
            panic!("{words}: {:?}", record.integrity)
        };
        assert!(wrong > 0);
        first
    };
    let proof = run("flip=0", "bf16");
    assert!(proof.ends_with("in a product of whole numbers row 0 is the first with a wrong sum"), "{proof}");
    let later = run("flip=2", "bf16");
    assert!(later.ends_with("row 0, column 0 is not that of the first product of the same numbers: bits 0x00400000 differ; a repeat was right"), "{later}");
    let long = run("flip=2", "fp64");
    assert!(long.ends_with("bits 0x0000000000400000 differ; a repeat was right"), "{long}");
    run("idle=1", "int8");
}

#[test]
fn a_library_that_is_old_broken_or_absent_is_told_with_what_to_do() {
    let refused = |fake: &Fake, changed: &[(&str, &str)]| {
        let all = [&[SMALL, BLAS], changed].concat();
        measured(&BENCHMARK, make, &all, 1, &fake.library()).expect_err("refused")
    };
    let old = refused(&Fake::new("blas=10"), &[]);
    assert_eq!(old.cause, Cause::Missing);
    assert!(old.text.contains("has version 10.1.2; 11 and later can be used"), "{old}");
    let lacking = refused(&Fake::lacking("cublasGemmEx", ""), &[]);
    assert_eq!(lacking.cause, Cause::Missing);
    assert!(lacking.text.contains("it has no function cublasGemmEx"), "{lacking}");
    let absent = refused(&Fake::new(""), &[("library", "/nowhere/libcublas.so.12")]);
    assert_eq!(absent.cause, Cause::Missing);
    assert!(absent.text.contains("cuBLAS: /nowhere/libcublas.so.12 not found"), "{absent}");
    let created = refused(&Fake::new("fail=cublasCreate:3"), &[]);
    assert_eq!(created.cause, Cause::NoSpace);
    let failed = refused(&Fake::new("fail=cublasGemmEx:13:1"), &[]);
    assert_eq!(failed.cause, Cause::IoError);
    assert!(failed.text.contains("cublasGemmEx: CUBLAS_STATUS_EXECUTION_FAILED (13)"), "{failed}");
    let fp8 = [("type", "fp8")];
    let lacking = refused(&Fake::lacking("cublasLtMatmul", ""), &fp8);
    assert_eq!(lacking.cause, Cause::Missing);
    assert!(lacking.text.contains("cublasLtMatmul"), "{lacking}");
    let none = refused(&Fake::new("fail=cublasLtMatmulAlgoGetHeuristic:15"), &fp8);
    assert_eq!(none.cause, Cause::Missing);
    assert!(none.text.contains("CUBLAS_STATUS_NOT_SUPPORTED (15)"), "{none}");
    let full = refused(&Fake::new("memory=33700000"), &[]);
    assert_eq!(full.cause, Cause::NoSpace, "the library's own memory counts too: {full}");
}

#[test]
fn the_own_engine_refuses_the_types_that_it_lacks() {
    let refused =
        |changed: &[(&str, &str)]| plan(&BENCHMARK, changed, machine(1)).expect_err("refused").cause;
    assert_eq!(refused(&[("type", "fp64")]), Cause::Contradiction);
}

#[test]
fn the_power_limit_is_told_and_nothing_to_act_on_but_heat_is() {
    for (bits, severity) in [(4, Severity::Info), (4 + 0x20, Severity::Warning)] {
        let fake = Fake::new(&format!("throttle={bits}"));
        let (_, measures) = measured(&BENCHMARK, make, &[SMALL], 1, &fake.library()).expect("measured");
        let told = measures.findings.iter().find(|one| one.kind == "gpu-throttled").expect("told");
        assert_eq!(told.severity, severity, "{}", told.text);
    }
}

#[test]
fn a_full_device_has_no_space() {
    let fake = Fake::new("memory=300000");
    let error = measured(&BENCHMARK, make, &[SMALL], 1, &fake.library()).expect_err("full");
    assert_eq!(error.cause, Cause::NoSpace);
}

#[test]
fn the_limit_is_processors_times_operations_times_clock() {
    let mut one = machine(1);
    if let seatrial_model::machine::Known::Known(gpus) = &mut one.gpus {
        gpus[0].cores = seatrial_model::machine::Known::Known(512);
        gpus[0].capability = seatrial_model::machine::Known::Known("9.0".to_owned());
        gpus[0].clock_mhz = seatrial_model::machine::Known::Known(1000);
    }
    let site = site(one.clone());
    for (kind, wanted) in [("bf16", 16.384), ("tf32", 8.192), ("fp8", 32.768)] {
        let case = plan(&BENCHMARK, &[("type", kind)], one.clone()).expect("a plan").remove(0);
        let limits = BENCHMARK.limits(&case, &site);
        let (metric, limit) = limits.iter().find(|(metric, _)| *metric == "rate").expect("a limit");
        let spec = BENCHMARK.about.metric(metric).expect("a metric");
        let record = limit.record(spec.better, spec.unit).expect("a rate");
        assert_eq!(record.value, Some(wanted), "{kind}");
        assert_eq!(case.planned.count(super::plan::PER_CLOCK), Ok((wanted * 1e3) as u64), "{kind}");
    }
}
