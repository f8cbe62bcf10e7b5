//! `mpi.startup`: jobs of every size with every library, planted delays in the times that they belong to, and ranks that die.

use seatrial_model::{Case, Cause, Integrity, Nanos, Reason};

use crate::case::{STARTUP, Trial, case_of, cores, measured};
use crate::faults::{LATE, disturbed, program, reason_of};
use crate::installed::{Installed, installed};

pub const TESTS: &[(&str, fn())] = &[
    ("jobs_of_every_size_give_their_times_with_every_library", every_size),
    ("a_delay_is_in_the_time_that_it_belongs_to", delays),
    ("a_wrong_sum_over_the_ranks_of_a_job_is_found", wrong_sum),
    ("a_rank_that_is_killed_before_mpi_init_is_named_with_the_size_of_its_job", killed),
    ("a_job_whose_rank_does_not_come_to_mpi_init_ends_at_the_deadline", hang),
];

const TIMES: [&str; 6] = ["init", "launch", "load", "startup", "finalize", "exit"];

fn case(params: &[(&str, &str)], of: &Installed) -> Result<Case, Reason> {
    case_of(STARTUP, params, Some(of))
}

fn values(trial: &Trial, metric: &str) -> Vec<f64> {
    trial.measures.metrics[metric].trials.concat()
}

fn every_size() {
    for of in installed() {
        let all = measured(&case(&[], &of).expect("a case"));
        for metric in TIMES {
            let rows = &all.measures.series[&format!("{metric}_by_ranks")];
            // 1, 2, 4 and so on up to the number of cores.
            let sizes = (1..).take_while(|power| 1 << (power - 1) < cores()).count() + 1;
            assert_eq!(rows.len(), sizes, "{of:?} {metric}: {rows:?}");
        }
        for ranks in ["1", "2"] {
            let trial = measured(&case(&[("ranks", ranks)], &of).expect("a case"));
            assert!(trial.is_verified(), "{of:?}: {:?}", trial.integrity);
            for metric in TIMES {
                let values = values(&trial, metric);
                let is_sound = |value: &f64| *value > 0.0 && value.is_finite();
                assert!(!values.is_empty() && values.iter().all(is_sound), "{of:?} {metric}: {values:?}");
            }
            let rows = trial.measures.series["init_by_rank"].len();
            assert_eq!(rows.to_string(), ranks, "every rank has its own times");
            assert_eq!(trial.measures.evidence["ranks"].as_array().map(Vec::len), Some(rows));
            assert!(trial.measures.evidence["library"].is_object());
        }
    }
}

fn delays() {
    let late = LATE.as_secs_f64();
    let folder = tempfile::tempdir().expect("a folder");
    for of in installed() {
        let delayed = |of: &Installed| measured(&case(&[("ranks", "2")], of).expect("a case"));
        let is_late = |trial: &Trial, metric: &str, least: f64| {
            let values = values(trial, metric);
            assert!(values.iter().all(|value| *value >= least), "{of:?} {metric}: {values:?}");
        };
        // Rank 0 waits in MPI_Init for the rank that is late, unless rank 0 has to wait for a core meanwhile.
        let trial = delayed(&disturbed(&of, "late", folder.path()));
        is_late(&trial, "init", late / 2.0);
        is_late(&trial, "startup", late / 2.0);
        let script = format!("#!/bin/sh\nsleep {late}\n{} \"$@\"\nsleep {late}\n", of.launcher.display());
        let launcher = program(folder.path(), &script);
        let trial = delayed(&Installed { launcher, ..of.clone() });
        is_late(&trial, "launch", late);
        is_late(&trial, "exit", late);
    }
}

fn wrong_sum() {
    let folder = tempfile::tempdir().expect("a folder");
    for of in installed() {
        let of = disturbed(&of, "wrong word", folder.path());
        let trial = measured(&case(&[("ranks", "2")], &of).expect("a case"));
        let Integrity::Corrupt { wrong: 1.., first, .. } = &trial.integrity else {
            panic!("{of:?}: {:?}", trial.integrity)
        };
        assert!(first.starts_with("rank ") && first.contains("of the sum over 2 ranks: 3, not 2"), "{first}");
    }
}

fn killed() {
    for of in installed() {
        let reason =
            reason_of(&of, "kill joining", |disturbed| case(&[("ranks", "2")], disturbed).expect("a case"));
        assert_eq!(reason.cause, Cause::Crash, "{of:?}: {reason}");
        let told = "job of 2 ranks: rank 1 of 2 ended while in MPI_Init";
        assert!(reason.text.starts_with(told), "{of:?}: {reason}");
    }
}

fn hang() {
    for of in installed() {
        let reason = reason_of(&of, "hang", |disturbed| {
            let mut case = case(&[("ranks", "2")], disturbed).expect("a case");
            case.budget.prepare = Nanos::secs(12);
            case
        });
        assert_eq!(reason.cause, Cause::Hang, "{of:?}: {reason}");
        assert!(reason.text.contains("rank 1") && reason.text.contains("MPI_Init"), "{of:?}: {reason}");
    }
}
