//! What a case comes to when NCCL, a GPU or another rank fails, on the imitated driver and library.

use std::path::Path;

use seatrial_model::{Better, Cause, Measures, Reason};

use super::BENCHMARK;
use super::tests::{SMALL, trial};
use crate::rig::{Fake, machine, plan, site};

/// Why a trial of three ranks fails, each with a GPU of its own.
fn refused(fake: &Fake, changed: &[(&str, &str)]) -> Reason {
    let case = plan(&BENCHMARK, &[&[SMALL], changed].concat(), machine(3)).expect("a plan").remove(0);
    trial(&case, &fake.library()).expect_err("refused")
}

#[test]
fn two_ranks_on_one_gpu_are_a_mistake_of_the_user_s_and_told_so() {
    let fake = Fake::new("devices=3 apart=1");
    let mut case = plan(&BENCHMARK, &[SMALL], machine(3)).expect("a plan").remove(0);
    case.planned.set("gpus", "0000:10:00.0 0000:11:00.0 0000:11:00.0");
    let why = trial(&case, &fake.library()).expect_err("refused");
    assert_eq!(why.cause, Cause::Contradiction);
    assert!(why.text.contains("invalid usage (5)") && why.text.contains("have the same GPU"), "{why}");
}

#[test]
fn a_version_that_lacks_a_function_is_missing_and_no_fault_of_the_gpu() {
    let fake = Fake::lacking("ncclSend", "devices=3 apart=1");
    let why = refused(&fake, &[("operation", "send_receive")]);
    assert_eq!(why.cause, Cause::Missing);
    assert!(why.text.contains("NCCL too old for ncclSend; install a newer one"), "{why}");
    // Other operations do not need it.
    let case = plan(&BENCHMARK, &[SMALL], machine(3)).expect("a plan").remove(0);
    assert_eq!(trial(&case, &fake.library()).map(|records| records.len()), Ok(3));
}

#[test]
fn result_codes_of_operations_fail_the_case_with_rank_gpu_and_words() {
    for (code, words) in [(1, "unhandled CUDA error (1)"), (2, "system error (2)"), (6, "a peer failed (6)")]
    {
        // The first calls succeed: the GPU is lost while it works.
        let fake = Fake::new(&format!("devices=3 apart=1 fail=ncclOperation@0:{code}:4"));
        let why = refused(&fake, &[]);
        assert_eq!(why.cause, Cause::IoError, "{why}");
        assert!(why.text.contains("rank 0 (0000:10:00.0)") && why.text.contains(words), "{code}: {why}");
    }
}

#[test]
fn a_gpu_that_is_lost_in_each_phase_fails_the_case_with_its_address() {
    for (symbol, what) in [
        ("cuMemGetInfo@0:999", "reading its memory size"),
        ("ncclCommInitRank@0:1", "joining the other ranks"),
        ("cuStreamSynchronize@0:719:3", "CUDA_ERROR_LAUNCH_FAILED (719)"),
    ] {
        let fake = Fake::new(&format!("devices=3 apart=1 patience=3 fail={symbol}"));
        let why = refused(&fake, &[]);
        assert!(why.text.contains(what) && why.text.contains("0000:10:00.0"), "{symbol}: {why}");
    }
}

#[test]
fn without_memory_the_case_is_unmeasured() {
    let fake = Fake::new("devices=3 apart=1 fail=cuMemAlloc@2:2");
    let why = refused(&fake, &[]);
    assert_eq!(why.cause, Cause::NoSpace, "{why}");
    let small = Fake::new("devices=3 apart=1 memory=100000");
    let why = refused(&small, &[]);
    assert_eq!(why.cause, Cause::NoSpace);
    assert!(why.text.contains("128 KiB of device memory are needed"), "{why}");
}

#[test]
fn rccl_is_driven_by_the_same_names() {
    // RCCL has no function that ends its log.
    let fake = Fake::lacking("ncclResetDebugInit", "devices=3 apart=1");
    let library = fake.library().with_file_name("librccl.so.1");
    for end in ["", ".conf"] {
        let name = |library: &Path| library.display().to_string() + end;
        std::fs::hard_link(name(&fake.library()), name(&library)).expect("linked");
    }
    let case = plan(&BENCHMARK, &[SMALL], machine(3)).expect("a plan").remove(0);
    let records = trial(&case, &library).expect("measured");
    for record in &records {
        let path = record.evidence["gpu"]["nccl_path"].as_str().expect("a path");
        assert!(path.ends_with("librccl.so.1"), "{path}");
        assert!(
            matches!(record.integrity, seatrial_model::Integrity::Verified { .. }),
            "{:?}",
            record.integrity
        );
    }
    // The dynamic linker finds it by its name where NCCL is not.
    let folder = library.parent().expect("a folder");
    let found = seatrial_sys::gpu::nccl::Nccl::open(Some(folder)).expect("RCCL");
    assert_eq!(found.path(), library);
}

#[test]
fn the_limit_is_that_of_the_algorithm_that_the_log_names() {
    let (mut machine, site_of) = (machine(8), site);
    if let seatrial_model::machine::Known::Known(gpus) = &mut machine.gpus {
        gpus.iter_mut()
            .for_each(|gpu| gpu.capability = seatrial_model::machine::Known::Known("9.0".to_owned()));
    }
    let limit_of = |params: &[(&str, &str)], algorithm: Option<&str>| {
        let mut case = plan(&BENCHMARK, params, machine.clone()).expect("a plan").remove(0);
        if let Some(name) = algorithm {
            case.planned.set(super::limits::ALGORITHM, name);
        }
        let limits = BENCHMARK.limits(&case, &site_of(machine.clone()));
        let bound = limits["busbw"].tightest(Better::Higher).expect("a bound").clone();
        (bound.value.base() / 1e9, bound.provenance)
    };
    let limit = |algorithm| limit_of(&[], algorithm);
    assert_eq!(limit(Some("RING")), (500.0, "nvml; RING, which NCCL chose for the largest size".to_owned()));
    assert_eq!(limit(Some("NVLS")).0, 875.0);
    let forced = limit_of(&[("algorithm", "ring")], Some("RING"));
    assert_eq!(forced, (500.0, "nvml; RING, which algorithm=ring makes NCCL use".to_owned()));
    // A library that does otherwise has chosen.
    let other = limit_of(&[("algorithm", "ring")], Some("TREE"));
    assert_eq!(other.1, "nvml; TREE, which NCCL chose for the largest size");
    let unknown = limit(None);
    assert_eq!(unknown.0, 875.0);
    assert!(unknown.1.contains("NCCL's log tells none"), "{}", unknown.1);
}

#[test]
fn what_the_log_tells_of_the_largest_size_is_what_limits_get() {
    let found = |changed: &[(&str, &str)], log: &str| -> Option<String> {
        let fake = Fake::new("devices=3 apart=1 busbw=0.1");
        if !log.is_empty() {
            std::fs::write(super::log::LogFile::of_imitation(&fake.library()).path(), log).expect("written");
        }
        let case = plan(&BENCHMARK, &[&[SMALL], changed].concat(), machine(3)).expect("a plan").remove(0);
        let records = trial(&case, &fake.library()).expect("measured");
        let measures: Measures = BENCHMARK.reduce(&case, &records).expect("figures");
        measures.found.text(super::limits::ALGORITHM).ok().map(str::to_owned)
    };
    let line = "[0] NCCL INFO AllReduce: 65536 Bytes -> Algo NVLS proto SIMPLE channel{Lo..Hi}={0..7}\n";
    assert_eq!(found(&[], line).as_deref(), Some("NVLS"));
    assert_eq!(found(&[("algorithm", "tree")], "").as_deref(), Some("TREE"), "NCCL has to use it, or fails");
    assert_eq!(found(&[], ""), None);
}
