//! Copies on the imitated driver: results of each direction, and of faults.

use std::path::Path;

use seatrial_model::{Case, Cause, Integrity, Outcome, PartPlacement, Reason};

use super::{BENCHMARK, part};
use crate::rig::{Fake, close, findings, machine, measured, median, plan, site, trial};
use seatrial_bench::Part;

fn make(case: &Case, place: &PartPlacement, library: &Path) -> Part {
    crate::part(case, place, Some(library.to_owned()), part::ready)
}

fn error(changed: &[(&str, &str)], fake: &Fake) -> Reason {
    measured(&BENCHMARK, make, changed, 1, &fake.library()).expect_err("an error")
}

const SMALL: (&str, &str) = ("size", "1 MiB");

#[test]
fn each_direction_has_the_rate_that_its_link_was_given() {
    for engine in ["copy", "sm"] {
        let fake = Fake::new("h2d=50 d2h=40 load_ns=500");
        let (record, measures) =
            measured(&BENCHMARK, make, &[SMALL, ("engine", engine)], 1, &fake.library()).expect("measured");
        // Kernels that copy both directions share their blocks, so both directions end together.
        let into = if engine == "sm" { 40.0 } else { 50.0 };
        for (metric, expected) in [
            ("h2d", 50.0),
            ("d2h", 40.0),
            ("both_h2d", into),
            ("both_d2h", 40.0),
            ("both", into + 40.0),
            ("latency", 1000.0),
        ] {
            close(median(&measures, metric), expected);
        }
        assert!(median(&measures, "h2d_latency") > 0.0);
        assert!(matches!(record.integrity, Integrity::Verified { .. }), "{:?}", record.integrity);
        assert_eq!(measures.evidence["watch"]["0000:10:00.0"]["pcie_width_max"], 16);
        assert!(findings(&measures).is_empty(), "{:?}", measures.findings);
    }
}

#[test]
fn plain_memory_is_copied_in_both_directions_by_two_threads() {
    let fake = Fake::new("");
    let (record, measures) =
        measured(&BENCHMARK, make, &[SMALL, ("memory", "pageable")], 1, &fake.library()).expect("measured");
    let cpus = |memory| {
        plan(&BENCHMARK, &[SMALL, ("memory", memory)], machine(1)).expect("a plan")[0].places[0]
            .bindings
            .clone()
    };
    let [one, other] = cpus("pageable")[..] else { panic!("a CPU for each thread") };
    assert!(one.cpu != other.cpu, "{one:?} {other:?}");
    assert_eq!(cpus("pinned").len(), 1);
    // The host's clock counts, so no exact figure can be expected.
    assert!(median(&measures, "h2d") > 0.0 && median(&measures, "d2h") > 0.0);
    assert!(matches!(record.integrity, Integrity::Verified { .. }), "{:?}", record.integrity);
}

#[test]
fn a_sweep_has_a_row_for_every_size_and_direction() {
    let fake = Fake::new("h2d=50 copy_ns=1000");
    let changed = [("size", "64 KiB:192 KiB:64 KiB"), ("direction", "h2d")];
    let (_, measures) = measured(&BENCHMARK, make, &changed, 1, &fake.library()).expect("measured");
    let rows = &measures.series["by_size"];
    let sizes: Vec<_> = rows.iter().filter_map(|row| row.at.text("size").ok()).collect();
    assert_eq!(sizes, ["64 KiB", "128 KiB", "192 KiB"]);
    // 64 KiB at 50 GB/s take 1310.72 ns, plus 1000 ns per copy.
    close(rows[0].values.trials[0][0], 65536.0 / 2310.72);
    close(median(&measures, "h2d"), 196_608.0 / (196_608.0 / 50.0 + 1000.0));
}

#[test]
fn one_wrong_word_is_corrupt_data_with_its_place_in_either_direction() {
    for (direction, way) in [("h2d", "to"), ("d2h", "from")] {
        let fake = Fake::new("corrupt=2:8200");
        let (record, _) = measured(&BENCHMARK, make, &[SMALL, ("direction", direction)], 1, &fake.library())
            .expect("measured");
        let Integrity::Corrupt { wrong, first, .. } = record.integrity else {
            panic!("{:?}", record.integrity)
        };
        assert!(wrong > 0);
        assert_eq!(
            first,
            format!("host (NUMA node 0) {way} GPU 0000:10:00.0: the first wrong word is at byte 8200")
        );
    }
}

#[test]
fn each_refusal_of_the_driver_has_its_outcome() {
    for (words, cause, said) in [
        ("devices=0", Cause::Missing, "cuInit"),
        ("fail=cuDevicePrimaryCtxRetain:46", Cause::Denied, "another process uses the GPU in exclusive mode"),
        ("fail=cuModuleLoadDataEx:222", Cause::Missing, "ptxas fatal: as planned by the test"),
        ("memory=4096", Cause::NoSpace, "are free"),
        ("fail=cuMemAlloc:2", Cause::NoSpace, "CUDA_ERROR_OUT_OF_MEMORY"),
        ("pin=1048576", Cause::NoSpace, "ulimit -l"),
        ("fail=cuMemHostRegister:304", Cause::Denied, "the host may limit the memory that a process pins"),
        ("fail=cuStreamSynchronize:719:9", Cause::IoError, "CUDA_ERROR_LAUNCH_FAILED (719)"),
    ] {
        let error = error(&[SMALL], &Fake::new(words));
        assert_eq!(error.cause, cause, "{words}: {error}");
        assert!(error.text.contains(said), "{words}: {error}");
    }
    assert_eq!(Cause::IoError.outcome(), Outcome::Failed, "a GPU that is lost at work did not deliver");
}

#[test]
fn a_driver_without_a_function_that_nothing_replaces_is_told_which() {
    let told = error(&[SMALL], &Fake::lacking("cuMemHostRegister", ""));
    assert_eq!(told.cause, Cause::Missing, "{told}");
    assert!(told.text.contains("driver too old for cuMemHostRegister"), "{told}");
}

#[test]
fn a_gpu_that_fails_leaves_the_case_of_the_other_as_it_was() {
    for words in
        ["fail=cuDevicePrimaryCtxRetain@0:46", "fail=cuMemAlloc@0:2", "fail=cuStreamSynchronize@0:719:9"]
    {
        let fake = Fake::new(&format!("devices=2 h2d=50 {words}"));
        let cases = plan(&BENCHMARK, &[SMALL, ("direction", "h2d")], machine(2)).expect("a plan");
        let run = |case: &Case| trial(make(case, &case.places[0], &fake.library()), &case.places[0]);
        run(&cases[0]).expect_err(words);
        let record = run(&cases[1]).expect("measured");
        let measures = BENCHMARK.reduce(&cases[1], std::slice::from_ref(&record)).expect("figures");
        close(median(&measures, "h2d"), 50.0);
    }
}

#[test]
fn a_gpu_that_others_compute_on_is_measured_and_they_are_told() {
    let fake = Fake::new("others=2");
    let (_, measures) =
        measured(&BENCHMARK, make, &[SMALL, ("direction", "h2d")], 1, &fake.library()).expect("measured");
    let [finding] = findings(&measures)[..] else { panic!("{:?}", measures.findings) };
    assert_eq!(finding.kind, "gpu-shared");
    assert!(finding.text.contains("(4000001, 4000002)"), "{}", finding.text);
}

#[test]
fn the_warm_up_goes_on_until_the_clocks_no_longer_rise() {
    let warm_up = |words: &str| {
        let fake = Fake::new(words);
        let (record, _) =
            measured(&BENCHMARK, make, &[SMALL, ("direction", "h2d")], 1, &fake.library()).expect("measured");
        let told = &record.evidence["warm_up"];
        assert_eq!(told["by"], "clocks and rates");
        // On a starved machine the warm-up may run out of time.
        told["steady"].as_bool().expect("told").then(|| told["rounds"].as_u64().expect("a count"))
    };
    assert!(warm_up("").is_none_or(|rounds| rounds == 3));
    // Each round reads the counters once, which reads two clocks.
    assert!(warm_up("rising=12").is_none_or(|rounds| rounds == 8));
}

#[test]
fn the_memory_of_every_node_is_a_row_and_the_slowest_of_the_others_a_share_of_the_nearest() {
    let mut two = machine(1);
    two.numa.push(seatrial_model::machine::NumaNode { id: 1, ..two.numa[0].clone() });
    let changed = [("scope", "matrix"), ("direction", "h2d"), ("size", "1 MiB")];
    let case = plan(&BENCHMARK, &changed, two).expect("a plan").remove(0);
    assert_eq!(case.planned.text("memory_nodes"), Ok("0 1"));
    let sample = |node: u64, end: u64| {
        let mut at = seatrial_model::Params::default();
        at.set("direction", "h2d");
        at.set("size", "1 MiB");
        at.set("memory_node", node);
        at.set("near", u64::from(node == 0));
        at.set("slice", node);
        at.set("lane", 0_u64);
        let (start, end) = (seatrial_model::Nanos(0), seatrial_model::Nanos(end));
        let amount = "1 MB".parse().expect("an amount");
        seatrial_model::Sample { channel: "copy".to_owned(), at, start, end, amount }
    };
    let record = seatrial_testkit::part(vec![sample(0, 20_000), sample(1, 50_000)]);
    let measures = BENCHMARK.reduce(&case, &[record]).expect("figures");
    close(median(&measures, "h2d"), 50.0);
    close(median(&measures, "h2d_remote"), 20.0);
    assert_eq!(measures.evidence["h2d_remote_percent_of_near"].as_f64().map(f64::round), Some(40.0));
    let nodes: Vec<_> = measures.series["matrix"].iter().map(|row| row.at.count("memory_node")).collect();
    assert_eq!(nodes, [Ok(0), Ok(1)]);
}

#[test]
fn memory_elsewhere_on_one_node_is_not_hidden_by_the_others() {
    use serde_json::json;
    let grid = |nodes: &[u32]| {
        super::cell::Grid::new(&[], &[1], nodes.iter().copied().map(Some).collect::<Vec<_>>())
    };
    let right = |percent: f64| json!({ "right_percent": percent });
    let told = super::samples::evidence_of_nodes(&grid(&[1, 0]), &[right(100.0), right(98.5)]);
    assert_eq!(told, json!({ "right_percent": 98.5, "right_percent_by_node": { "0": 98.5, "1": 100.0 } }));
    assert_eq!(super::samples::evidence_of_nodes(&grid(&[0]), &[right(100.0)]), right(100.0));
    let denied = json!({ "denied": "EPERM" });
    assert_eq!(super::samples::evidence_of_nodes(&grid(&[1, 0]), &[right(100.0), denied.clone()]), denied);
}

#[test]
fn a_driver_that_is_not_there_or_too_old_is_told() {
    let cases = plan(&BENCHMARK, &[SMALL], machine(1)).expect("a plan");
    let nowhere = Path::new("/nowhere/libcuda.so.1");
    let missing = make(&cases[0], &cases[0].places[0], nowhere).prepare().err().expect("no driver");
    let expected =
        "GPU: opening the driver: /nowhere/libcuda.so.1 not found; NVIDIA's driver is not installed here";
    assert_eq!((missing.cause, missing.text.as_str()), (Cause::Missing, expected));
    let mut other = machine(2);
    if let seatrial_model::machine::Known::Known(gpus) = &mut other.gpus {
        gpus.remove(0);
    }
    let case = plan(&BENCHMARK, &[SMALL], other).expect("a plan").remove(0);
    let fake = Fake::new("devices=1");
    let hidden = make(&case, &case.places[0], &fake.library()).prepare().err().expect("not shown");
    assert!(hidden.text.contains("CUDA does not show this GPU to this process"), "{hidden}");
}

#[test]
fn a_reduced_link_a_cut_gpu_and_an_error_of_the_driver_are_found() {
    let fake = Fake::new("gen_now=3 mig=1 throttle=4 xid=63");
    let (_, measures) =
        measured(&BENCHMARK, make, &[SMALL, ("direction", "h2d")], 1, &fake.library()).expect("measured");
    let found = findings(&measures);
    let kinds: Vec<&str> = found.iter().map(|finding| finding.kind.as_str()).collect();
    assert_eq!(kinds, ["pcie-link-reduced", "gpu-xid", "gpu-throttled", "mig"]);
    assert!(found.iter().all(|finding| finding.subject.as_str() == "gpu:0"));
}

#[test]
fn a_cpuset_without_the_gpu_s_node_is_told_and_measured_all_the_same() {
    let mut far = machine(1);
    far.cpu.threads.iter_mut().for_each(|thread| thread.node = Some(1));
    let case = plan(&BENCHMARK, &[SMALL], far).expect("a plan").remove(0);
    assert_eq!(case.findings[0].kind, "remote-cores");
    assert_eq!(case.places[0].bindings[0].memory, Some(0), "the memory is next to the GPU still");
}

#[test]
fn a_cpuset_without_the_memory_of_the_gpu_s_node_is_told_and_no_other_memory_passes_for_it() {
    let mut two = machine(1);
    two.numa.push(seatrial_model::machine::NumaNode { id: 1, ..two.numa[0].clone() });
    two.confinement.memory_nodes = seatrial_model::machine::Known::Known(vec![1]);
    let case = plan(&BENCHMARK, &[SMALL], two.clone()).expect("a plan").remove(0);
    let kinds: Vec<&str> = case.findings.iter().map(|finding| finding.kind.as_str()).collect();
    assert_eq!(kinds, ["remote-memory"]);
    assert_eq!((case.places[0].bindings[0].memory, case.planned.text("memory_nodes")), (Some(1), Ok("1")));
    let reason = plan(&BENCHMARK, &[SMALL, ("scope", "matrix")], two).expect_err("one node is left");
    assert_eq!(reason.cause, Cause::Inapplicable);
    assert!(reason.text.contains("of 2 a cpuset leaves 1 to this process"), "{reason}");
}

#[test]
fn what_cannot_hold_together_is_refused_in_the_plan() {
    for (changed, cause) in [
        (vec![("engine", "sm"), ("memory", "pageable")], Cause::Contradiction),
        (vec![("engine", "sm"), ("size", "24 B")], Cause::Contradiction),
        (vec![("scope", "matrix"), ("size", "shmoo")], Cause::Contradiction),
        (vec![("size", "many")], Cause::Contradiction),
        (vec![("scope", "matrix")], Cause::Inapplicable),
        (vec![("size", "8 GiB")], Cause::NoSpace),
        (vec![("gpu", "7")], Cause::Missing),
    ] {
        let reason = plan(&BENCHMARK, &changed, machine(1)).expect_err("refused");
        assert_eq!(reason.cause, cause, "{changed:?}: {reason}");
    }
    let reason = plan(&BENCHMARK, &[], machine(0)).expect_err("no GPU");
    assert_eq!((reason.cause, reason.text.as_str()), (Cause::Inapplicable, "this node has no GPU"));
}

#[test]
fn both_directions_together_have_twice_the_limit_of_one() {
    let case = plan(&BENCHMARK, &[], machine(1)).expect("a plan").remove(0);
    let limits = BENCHMARK.limits(&case, &site(machine(1)));
    let value = |metric: &str| {
        let spec = BENCHMARK.about.metric(metric).expect("a metric");
        limits[metric].record(spec.better, spec.unit).expect("of its dimension").value
    };
    close(value("h2d").expect("known"), 60.65);
    close(value("both").expect("known"), 2.0 * 60.65);
    assert_eq!(value("latency"), None);
}
