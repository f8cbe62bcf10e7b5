//! `mpi.collective`: every operation with every library, wrong data, and a rank that dies.

use seatrial_model::{Case, Cause, Integrity, Reason};

use crate::case::{COLLECTIVE, case_of, cores, measured};
use crate::faults::{disturbed, reason_of};
use crate::installed::{Installed, installed, mpich, open_mpi};

pub const TESTS: &[(&str, fn())] = &[
    ("every_collective_gives_its_metrics_and_right_data_with_every_library", every_collective),
    ("a_wrong_element_is_found_in_every_collective", wrong_element),
    ("more_ranks_than_cores_make_collectives_and_are_told", oversubscribed),
    ("collectives_like_osu_count_as_osu_does", like_osu),
    ("collectives_of_all_sizes_are_a_series", sweep),
    ("a_rank_that_is_killed_in_a_collective_is_named", killed),
];

/// All that the parameter `op` takes.
const OPERATIONS: [&str; 20] = [
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
    "gather",
    "scatter",
    "scan",
    "ibarrier",
    "ibcast",
    "ireduce",
    "iallreduce",
    "iallgather",
    "ialltoall",
    "ireduce_scatter_block",
    "igather",
    "iscatter",
    "iscan",
];

fn case(params: &[(&str, &str)], of: &Installed) -> Result<Case, Reason> {
    case_of(COLLECTIVE, params, Some(of))
}

/// Two ranks, and 256 B where the operation has data.
fn of_op(op: &str) -> Vec<(&str, &str)> {
    let size = (!op.ends_with("barrier")).then_some(("size", "256B"));
    [("op", op), ("ranks", "2")].into_iter().chain(size).collect()
}

fn every_collective() {
    for of in installed() {
        for op in OPERATIONS {
            let case = case(&of_op(op), &of).expect("a case");
            let trial = measured(&case);
            for metric in ["latency", "completion", "slowest_latency"] {
                let values = trial.measures.metrics[metric].trials.concat();
                let is_sound = |value: &f64| *value > 0.0 && value.is_finite();
                assert!(!values.is_empty() && values.iter().all(is_sound), "{op} {metric}: {values:?}");
            }
            let overlap = trial.measures.metrics.get("overlap").map(|values| values.trials.concat());
            assert_eq!(overlap.is_some(), op.starts_with('i'), "{op}");
            let is_share = |value: &f64| (0.0..=100.0).contains(value);
            assert!(overlap.iter().flatten().all(is_share), "{of:?} {op}: {overlap:?}");
            assert!(trial.is_verified(), "{of:?} {op}: {:?}", trial.integrity);
            assert_eq!(trial.measures.series["latency_by_rank"].len(), 2, "every rank has its own times");
            assert!(trial.measures.evidence["slowest_rank"].as_u64() < Some(2));
            assert!(trial.measures.evidence["library"].is_object());
        }
    }
}

fn wrong_element() {
    let folder = tempfile::tempdir().expect("a folder");
    for (library, of) in installed().into_iter().enumerate() {
        // Contents are made and compared here, not by the library: the others carry three of the operations.
        let is_tried = |op: &&str| library == 0 || ["bcast", "allreduce", "ialltoall"].contains(op);
        for op in OPERATIONS.into_iter().filter(|op| !op.ends_with("barrier")).filter(is_tried) {
            let of = disturbed(&of, "wrong word", folder.path());
            let trial = measured(&case(&of_op(op), &of).expect("a case"));
            let Integrity::Corrupt { wrong: 1.., first, .. } = &trial.integrity else {
                panic!("{of:?} {op}: {:?}", trial.integrity)
            };
            assert!(first.starts_with("rank ") && first.contains(", element 1 of "), "{op}: {first}");
        }
    }
}

fn oversubscribed() {
    for of in installed() {
        for op in ["allreduce", "alltoall"] {
            let case = case(&[("op", op), ("ranks", "4"), ("size", "64B")], &of).expect("a case");
            let told = case.findings.iter().any(|finding| finding.kind == "oversubscribed");
            assert_eq!(told, cores() < 4, "{:?}", case.findings);
            let trial = measured(&case);
            assert!(trial.is_verified(), "{of:?} {op}: {:?}", trial.integrity);
            assert_eq!(trial.measures.series["latency_by_rank"].len(), 4);
        }
    }
}

fn like_osu() {
    let Some(of) = open_mpi() else { return };
    for (op, size, count) in
        [("allreduce", "8B", 1000.0), ("bcast", "16KiB", 100.0), ("ibcast", "8B", 1000.0)]
    {
        let params = [("op", op), ("size", size), ("ranks", "2"), ("like", "osu")];
        let trial = measured(&case(&params, &of).expect("a case"));
        let calls = trial.kept.samples.iter().filter(|sample| sample.channel == "calls");
        let counts: Vec<f64> = calls.map(|sample| sample.amount.value()).collect();
        assert_eq!(counts, [count; 2], "one sample a rank: {op} {size}");
        assert!(trial.is_verified());
    }
}

fn sweep() {
    let Some(of) = mpich() else { return };
    let trial = measured(&case(&[("op", "bcast"), ("ranks", "2")], &of).expect("a case"));
    // How many sizes have their turn depends on the machine; that the rest is told does not.
    let rows = trial.measures.series["latency_by_size"].len();
    let told = trial.measures.findings.iter().any(|finding| finding.kind == "not-reached");
    assert!(rows >= 1 && (rows == 19) != told, "{rows} {:?}", trial.measures.findings);
    assert!(trial.is_verified());
}

fn killed() {
    for of in installed() {
        let reason = reason_of(&of, "kill measuring", |disturbed| {
            case(&of_op("allreduce"), disturbed).expect("a case")
        });
        assert_eq!(reason.cause, Cause::Crash, "{of:?}: {reason}");
        assert!(reason.text.starts_with("rank 1 of 2 ended while measuring"), "{of:?}: {reason}");
    }
}
