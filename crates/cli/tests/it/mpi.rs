//! `mpi.point_to_point` with the real binary: its ranks, what is skipped or refused, and that nothing stays.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use seatrial_model::{Cause, Outcome};

use crate::rig::{Home, Started, assert_nothing_runs, is_installed, of_home, skipped, wait_until};

const SHORT: &str = "-p size=8B -p time=100ms -p trials=1 -p max_trials=1";

fn has_mpi() -> bool {
    let has = is_installed("mpiexec");
    if !has {
        skipped("needs openmpi-bin or mpich");
    }
    has
}

#[test]
fn ranks_of_the_installed_library_exchange_messages() {
    if !has_mpi() {
        return;
    }
    let home = Home::new();
    let case = home.seatrial(&format!("run mpi.point_to_point {SHORT} -o json")).run().exits(0).case();
    assert_eq!((case.outcome, case.reason.as_deref()), (Outcome::Measured, None));
    assert!(case.metrics["latency"].median > 0.0);
    let library = &case.evidence["library"];
    assert!(Path::new(library["path"].as_str().expect("a path")).is_file(), "{library}");
    assert_eq!(case.evidence["ranks"].as_array().map(Vec::len), Some(2));
    assert_nothing_runs(home.path());
}

#[test]
fn a_machine_without_a_library_is_skipped_with_where_was_looked() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a folder");
    // The dynamic linker takes these files before those of the system, and refuses them.
    for name in [
        "libmpi_abi.so.1",
        "libmpi_abi.so.0",
        "libmpi.so.40",
        "libmpi.so.12",
        "libmpich.so.12",
        "libmpi_cray.so.12",
        "libmpi_ibm.so.3",
        "libmpi.so.20",
        "libmpi.so",
    ] {
        fs::write(folder.path().join(name), "no library").expect("written");
    }
    let path = folder.path().to_str().expect("text");
    let call = home.seatrial(&format!("run mpi.point_to_point {SHORT} -o json"));
    let call = call.env("LD_LIBRARY_PATH", Some(path)).env("PATH", Some(path)).env("SEATRIAL_MPI", None);
    let case = call.run().exits(3).case();
    assert_eq!((case.outcome, case.cause), (Outcome::Skipped, Some(Cause::Inapplicable)));
    let why = case.reason.expect("a reason");
    assert!(why.contains("LD_LIBRARY_PATH") && why.contains("dynamic linker"), "{why}");
}

#[test]
fn one_rank_and_an_odd_number_are_usage_errors() {
    let home = Home::new();
    home.seatrial("run mpi.point_to_point -p ranks=1").run().exits(2).says("1 is outside 2 to 4096");
    home.seatrial("run mpi.point_to_point -p ranks=3")
        .run()
        .exits(2)
        .says("ranks exchange messages in pairs");
}

#[test]
fn a_message_longer_than_mpi_can_count_is_a_usage_error() {
    let home = Home::new();
    for bench in ["mpi.point_to_point", "mpi.one_sided", "mpi.collective"] {
        home.seatrial(&format!("run {bench} -p size=3GiB")).run().exits(2).says("3 GiB is outside");
    }
}

#[test]
fn a_rank_by_hand_is_told_that_a_benchmark_starts_it() {
    let home = Home::new();
    home.seatrial("mpi-rank").run().exits(2).says("a benchmark starts this command");
}

/// A run that measures until it is ended, and the ranks of its job when all have started.
fn long_run(home: &Home, params: &str) -> (Started, Vec<Pid>) {
    let line = "run mpi.point_to_point -p size=8B -p time=3600s -p trials=1 -p max_trials=1 -o json";
    let started = home.seatrial(&format!("{line} {params}")).start();
    let line = |pid: Pid| fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    let is_rank = |pid: &Pid| line(*pid).split(|byte| *byte == 0).nth(1) == Some(b"mpi-rank");
    let ranks = || -> Vec<Pid> {
        of_home(home.path()).into_iter().map(|process| process.pid).filter(is_rank).collect()
    };
    wait_until("the ranks to start", || ranks().len() == 2);
    (started, ranks())
}

#[test]
fn no_rank_outlives_a_controller_that_is_killed() {
    if !has_mpi() {
        return;
    }
    let home = Home::new();
    let (started, _) = long_run(&home, "");
    started.signal(Signal::KILL);
    assert_nothing_runs(home.path());
}

#[test]
fn ranks_that_seatrial_starts_itself_end_with_the_one_that_is_killed_and_with_the_controller() {
    let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
    let mut libraries = folders.iter().map(|folder| Path::new(folder).join("libmpich.so.12"));
    let Some(library) = libraries.find(|library| library.exists()) else {
        skipped("needs mpich");
        return;
    };
    let params = format!("-p launcher=own -p library={}", library.display());
    let home = Home::new();
    let (mut started, ranks) = long_run(&home, &params);
    started.wait_for_event("measuring", |event| event["phase"] == "measure");
    kill_process(ranks[1], Signal::KILL).expect("killed");
    let case = started.ended().exits(1).case();
    assert_eq!((case.outcome, case.cause), (Outcome::Failed, Some(Cause::Crash)), "{:?}", case.reason);
    let why = case.reason.expect("a reason");
    assert!(why.contains("of 2 ended while measuring") && why.contains("exit code 137"), "{why}");
    assert_nothing_runs(home.path());
    let (started, _) = long_run(&home, &params);
    started.signal(Signal::KILL);
    assert_nothing_runs(home.path());
}
