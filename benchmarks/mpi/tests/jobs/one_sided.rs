//! One-sided operations: every operation, window and synchronization with every library, wrong words, two to eight ranks.

use seatrial_model::{Case, Cause, Integrity, Reason};

use crate::case::{TRIES, case_of, measured, trial};
use crate::faults::{disturbed, reason_of};
use crate::installed::{Installed, installed, mpich, open_mpi};

pub const TESTS: &[(&str, fn())] = &[
    ("every_one_sided_operation_gives_its_metrics_with_every_library", every_operation),
    ("every_window_and_synchronization_works_with_every_library", every_window),
    ("a_planted_wrong_word_is_found_in_every_one_sided_operation", wrong_word),
    ("one_sided_pairs_of_eight_ranks_measure_together", pairs),
    ("one_sided_like_osu_counts_as_osu_does", like_osu),
    ("one_sided_sizes_are_a_series", sweep),
    ("a_rank_that_is_killed_in_a_one_sided_operation_is_named", killed),
];

const ONE_SIDED: &str = "mpi.one_sided";

const OPERATIONS: [&str; 5] = ["put", "get", "accumulate", "fetch_and_op", "compare_and_swap"];

fn case(params: &[(&str, &str)], of: &Installed) -> Result<Case, Reason> {
    case_of(ONE_SIDED, params, Some(of))
}

/// 256 B where the operation has a size.
fn of_op(op: &str) -> Vec<(&str, &str)> {
    let has_size = !matches!(op, "fetch_and_op" | "compare_and_swap");
    [("op", op)].into_iter().chain(has_size.then_some(("size", "256B"))).collect()
}

/// A fault that steers Open MPI away from its component that crashes with MPI_Compare_and_swap; none in other operations.
fn fault_of(op: &str) -> &'static str {
    if op == "compare_and_swap" { "none' OMPI_MCA_osc='pt2pt" } else { "none" }
}

fn every_operation() {
    let folder = tempfile::tempdir().expect("a folder");
    for of in installed() {
        for op in OPERATIONS {
            let of = disturbed(&of, fault_of(op), folder.path());
            for depth in ["1", "8"] {
                let params = [of_op(op), vec![("depth", depth), ("buffers", "one")]].concat();
                let trial = measured(&case(&params, &of).expect("a case"));
                assert!(trial.is_verified(), "{of:?} {op} {depth}: {:?}", trial.integrity);
                let metrics: Vec<&str> = trial.measures.metrics.keys().map(String::as_str).collect();
                let wanted: &[&str] = match (depth, params.len()) {
                    ("1", _) => &["latency", "slowest_latency"],
                    (_, 4) => &["rate", "bandwidth", "slowest_bandwidth"],
                    _ => &["rate", "slowest_rate"],
                };
                assert!(wanted.iter().all(|name| metrics.contains(name)), "{op} {depth}: {metrics:?}");
                let all = trial.measures.metrics.values().flat_map(|values| values.trials.concat());
                assert!(all.into_iter().all(|value| value > 0.0 && value.is_finite()), "{op}");
                assert!(trial.measures.evidence["library"].is_object());
            }
        }
    }
}

/// The operations take turns; every one with every window and synchronization is tested in `sys`.
fn every_window() {
    let mut operations = ["put", "get", "accumulate"].into_iter().cycle();
    for of in installed() {
        for window in ["allocate", "create", "dynamic"] {
            for (sync, op) in ["flush", "lock", "fence", "pscw"].into_iter().zip(&mut operations) {
                // Long turns: what opens and closes an epoch takes time of them, and waits for a core.
                let params = [
                    ("op", op),
                    ("size", "64B"),
                    ("depth", "4"),
                    ("window", window),
                    ("sync", sync),
                    ("time", "200ms"),
                ];
                let mut case = case(&params, &of).expect("a case");
                // Enough to begin again at the first place; a test needs no memory beyond the caches.
                if op != "accumulate" {
                    case.planned.set("region", seatrial_model::Bytes::kib(64));
                }
                let trial = measured(&case);
                assert!(trial.is_verified(), "{of:?} {op} {window} {sync}: {:?}", trial.integrity);
                let ranks = trial.measures.series["bandwidth_by_rank"].len();
                let has_both = matches!(sync, "fence" | "pscw");
                assert_eq!(ranks, if has_both { 2 } else { 1 }, "{sync}");
            }
        }
    }
}

fn wrong_word() {
    let folder = tempfile::tempdir().expect("a folder");
    for of in installed() {
        for op in OPERATIONS {
            let fault = match op {
                "get" => "wrong word at rank 1",
                "compare_and_swap" => "wrong word' OMPI_MCA_osc='pt2pt",
                _ => "wrong word",
            };
            let of = disturbed(&of, fault, folder.path());
            let params = [of_op(op), vec![("depth", "2"), ("buffers", "one")]].concat();
            let trial = measured(&case(&params, &of).expect("a case"));
            let Integrity::Corrupt { wrong: 1.., first, .. } = &trial.integrity else {
                panic!("{of:?} {op}: {:?}", trial.integrity)
            };
            let is_copy = matches!(op, "put" | "get");
            let wanted = if is_copy { "byte 0 of the memory: [" } else { "element 0 " };
            assert!(first.contains(wanted), "{op}: {first}");
        }
    }
}

fn pairs() {
    for of in installed() {
        for ranks in ["4", "8"] {
            let params = [("op", "accumulate"), ("size", "64B"), ("ranks", ranks)];
            let case = case(&params, &of).expect("a case");
            let tried = (0..TRIES).map(|_| trial(&case)).find(|tried| {
                let hung = |reason: &Reason| matches!(reason.cause, Cause::Hang | Cause::TooShort);
                !tried.as_ref().err().is_some_and(hung)
            });
            let trial = tried.expect("all hung").expect("measured");
            assert!(trial.is_verified(), "{of:?} {ranks}: {:?}", trial.integrity);
            let origins = ranks.parse::<usize>().expect("a number") / 2;
            assert_eq!(trial.measures.series["latency_by_rank"].len(), origins);
        }
    }
}

fn like_osu() {
    let Some(of) = open_mpi() else { return };
    for (op, size, depth, count) in [
        ("put", "8B", "1", 10_000.0),
        ("get", "16KiB", "1", 1000.0),
        ("put", "8B", "64", 6400.0),
        ("get", "16KiB", "64", 1280.0),
    ] {
        let params = [("op", op), ("size", size), ("depth", depth), ("like", "osu")];
        let trial = measured(&case(&params, &of).expect("a case"));
        let counts: Vec<f64> = trial.kept.samples.iter().map(|sample| sample.amount.value()).collect();
        assert_eq!(counts, [count], "one sample: {op} {size}");
        assert!(trial.is_verified());
    }
}

fn sweep() {
    let Some(of) = mpich() else { return };
    let trial = measured(&case(&[("op", "get")], &of).expect("a case"));
    // How many sizes have their turn depends on the machine; that the rest is told does not.
    let rows = trial.measures.series["latency_by_size"].len();
    let told = trial.measures.findings.iter().any(|finding| finding.kind == "not-reached");
    assert!(rows >= 1 && (rows == 23) != told, "{rows} {:?}", trial.measures.findings);
    assert!(trial.is_verified());
}

fn killed() {
    for of in installed() {
        let reason =
            reason_of(&of, "kill measuring", |disturbed| case(&of_op("put"), disturbed).expect("a case"));
        assert_eq!(reason.cause, Cause::Crash, "{of:?}: {reason}");
        assert!(reason.text.starts_with("rank 1 of 2 ended while measuring"), "{of:?}: {reason}");
    }
}
