//! Ranks of MPICH that Seatrial starts without mpiexec.

use std::path::PathBuf;

use seatrial_model::Cause;

use crate::case::{COLLECTIVE, POINT_TO_POINT, STARTUP, case_of, measured, trial};
use crate::installed::{Installed, mpich, open_mpi};

pub const TESTS: &[(&str, fn())] =
    &[("ranks_of_mpich_are_started_without_mpiexec", measures), ("ranks_of_open_mpi_need_mpiexec", refused)];

fn own(of: Installed) -> Installed {
    Installed { launcher: PathBuf::from("own"), ..of }
}

fn measures() {
    let Some(of) = mpich().map(own) else { return };
    let params: [(&str, &[(&str, &str)]); 5] = [
        (POINT_TO_POINT, &[("size", "4KiB")]),
        (POINT_TO_POINT, &[("op", "bandwidth"), ("size", "1MiB"), ("window", "4"), ("buffers", "one")]),
        (COLLECTIVE, &[("ranks", "3"), ("size", "1KiB")]),
        ("mpi.one_sided", &[("size", "256B")]),
        (STARTUP, &[("ranks", "1")]),
    ];
    for (bench, params) in params {
        let trial = measured(&case_of(bench, params, Some(&of)).expect("a case"));
        assert!(trial.is_verified(), "{bench}: {:?}", trial.integrity);
        assert_eq!(trial.measures.evidence["launcher"]["family"], "seatrial");
    }
}

fn refused() {
    let Some(of) = open_mpi().map(own) else { return };
    let reason =
        trial(&case_of(STARTUP, &[("ranks", "2")], Some(&of)).expect("a case")).err().expect("refused");
    assert!(reason.cause == Cause::Contradiction && reason.text.contains("PMI-1"), "{reason}");
}
