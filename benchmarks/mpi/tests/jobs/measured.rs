//! What is measured: counts that must be exact, data that must be right, facts of the record.

use seatrial_model::{Cause, Reason};

use crate::case::{POINT_TO_POINT, TRIES, case, cores, measured, pinned_case, trial};
use crate::installed::{installed, open_mpi};

pub const TESTS: &[(&str, fn())] = &[
    ("every_operation_gives_its_metrics_with_every_library", every_operation),
    ("the_record_names_library_launcher_and_ranks", the_record),
    ("like_osu_counts_as_osu_does", like_osu),
    ("pairs_measure_together", pairs),
    ("a_sweep_is_a_series", sweep),
    ("an_absent_library_is_told", absent),
];

fn every_operation() {
    let operations = [
        ("latency", "latency", "slowest_latency"),
        ("bandwidth", "bandwidth", "slowest_bandwidth"),
        ("both_directions", "bandwidth", "slowest_bandwidth"),
        ("message_rate", "message_rate", "slowest_rate"),
    ];
    for of in installed() {
        for (op, metric, slowest) in operations {
            for buffers in ["one", "fresh"] {
                let params = [("op", op), ("size", "4KiB"), ("window", "8"), ("buffers", buffers)];
                let mut case = case(&params, Some(&of)).expect("a case");
                // Enough to begin again at the first place; a test needs no memory beyond the caches.
                if buffers == "fresh" {
                    case.planned.set("region", seatrial_model::Bytes::kib(64));
                }
                let trial = measured(&case);
                let metrics: Vec<&str> = trial.measures.metrics.keys().map(String::as_str).collect();
                assert!(metrics.contains(&metric) && metrics.contains(&slowest), "{op}: {metrics:?}");
                assert!(trial.is_verified(), "{op}: {:?}", trial.integrity);
                let all = trial.measures.metrics.values().flat_map(|values| values.trials.concat());
                assert!(all.into_iter().all(|value| value > 0.0 && value.is_finite()), "{op}");
                let ranks: Vec<_> = trial.kept.samples.iter().map(|one| one.at.count("rank")).collect();
                assert!(
                    ranks.contains(&Ok(0)) && ranks.contains(&Ok(1)),
                    "{op}: every rank has its own times"
                );
            }
        }
    }
}

fn the_record() {
    for of in installed() {
        let case = pinned_case(POINT_TO_POINT, &[("size", "8B")], Some(&of)).expect("a case");
        let trial = measured(&case);
        let evidence = &trial.measures.evidence;
        let maker = if of.library.ends_with("libmpi.so.40") { "Open MPI" } else { "MPICH" };
        let library = &evidence["library"];
        assert_eq!(library["path"], of.library.display().to_string());
        assert_eq!(library["hash"].as_str().map(str::len), Some(64), "{library}");
        assert!(library["version"].as_str().is_some_and(|text| text.contains(maker)), "{library}");
        assert_eq!(library["found"], "the library that was named");
        assert_eq!(evidence["launcher"]["path"], of.launcher.display().to_string());
        let ranks = evidence["ranks"].as_array().expect("ranks");
        let cpus: Vec<_> = ranks.iter().map(|rank| rank["cpu"].as_u64()).collect();
        let planned: Vec<_> = (0..2).map(|rank| case.places[0].cpu(rank).map(u64::from)).collect();
        assert_eq!(cpus, planned, "ranks are where the plan put them");
        assert!(evidence["environment"]["kept"].is_object(), "{evidence:?}");
    }
}

fn like_osu() {
    let Some(of) = open_mpi() else { return };
    for (op, size, count) in
        [("latency", "8B", 10_000.0), ("bandwidth", "8B", 6400.0), ("bandwidth", "16KiB", 1280.0)]
    {
        let case = case(&[("op", op), ("size", size), ("like", "osu")], Some(&of)).expect("a case");
        let trial = measured(&case);
        let counts: Vec<f64> = trial.kept.samples.iter().map(|sample| sample.amount.value()).collect();
        assert_eq!(counts, [count; 2], "one sample a rank: {op} {size}");
        assert!(trial.is_verified());
    }
}

fn pairs() {
    for of in installed() {
        let params = [("op", "bandwidth"), ("size", "1KiB"), ("ranks", "4"), ("buffers", "one")];
        let case = case(&params, Some(&of)).expect("a case");
        let told = case.findings.iter().any(|finding| finding.kind == "oversubscribed");
        assert_eq!(told, cores() < 4, "{:?}", case.findings);
        let tried = (0..TRIES).map(|_| trial(&case)).find(|tried| {
            let hung = |reason: &Reason| reason.cause == Cause::Hang;
            !tried.as_ref().err().is_some_and(hung)
        });
        match tried.expect("all hung") {
            Ok(trial) => {
                let ranks = trial.measures.series["bandwidth_by_rank"].len();
                assert!(trial.is_verified() && ranks == 4, "{of:?}: {:?}", trial.measures.series);
                assert_eq!(trial.kept.evidence["ranks"].as_array().map(Vec::len), Some(4));
            }
            // Ranks that poll take the cores from each other; a sum of rates of different times would be wrong.
            Err(reason) => {
                let apart = reason.cause == Cause::TooShort && reason.text.contains("at the same time");
                assert!(apart, "{of:?}: {reason}");
            }
        }
    }
}

fn sweep() {
    let Some(of) = open_mpi() else { return };
    let trial = measured(&case(&[("op", "latency")], Some(&of)).expect("a case"));
    // How many sizes have their turn depends on the machine; that the rest is told does not.
    let rows = trial.measures.series["latency_by_size"].len();
    let told = trial.measures.findings.iter().any(|finding| finding.kind == "not-reached");
    assert!(rows >= 1 && (rows == 23) != told, "{rows} {:?}", trial.measures.findings);
    assert!(trial.is_verified());
}

fn absent() {
    let case = case(&[("library", "/there/is/no/libmpi.so")], None).expect("a case");
    let reason = trial(&case).err().expect("no library");
    assert_eq!(reason.cause, Cause::Missing);
    assert!(reason.text.contains("/there/is/no/libmpi.so"), "{reason}");
}
