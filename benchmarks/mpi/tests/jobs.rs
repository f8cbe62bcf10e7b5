//! Jobs of real MPI libraries, on which faults are inflicted. Launchers start this program again as the ranks, so it has
//! a main function of its own.

#[path = "jobs/case.rs"]
mod case;
#[path = "jobs/collective.rs"]
mod collective;
#[path = "jobs/faults.rs"]
mod faults;
#[path = "jobs/installed.rs"]
mod installed;
#[path = "jobs/measured.rs"]
mod measured;
#[path = "jobs/one_sided.rs"]
mod one_sided;
#[path = "jobs/own_launcher.rs"]
mod own_launcher;
#[path = "jobs/startup.rs"]
mod startup;
#[path = "jobs/wheels.rs"]
mod wheels;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial, run};
use seatrial_mpi_job as mpi_job;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(mpi_job::SUBCOMMAND) {
        return mpi_job::serve_worker(seatrial_mpi::PROGRAMS, faults::inflict);
    }
    if let [_, command, words @ ..] = &std::env::args().collect::<Vec<_>>()[..]
        && command == mpi_job::LAUNCH
    {
        return mpi_job::launch(words);
    }
    let mut arguments = Arguments::from_args();
    // Each job takes all cores of a small machine.
    arguments.test_threads.get_or_insert(1);
    let test = |(name, test): (&'static str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let mut trials: Vec<Trial> = wheels::TESTS.iter().map(|one| test(*one).with_ignored_flag(true)).collect();
    let tests = [
        measured::TESTS,
        collective::TESTS,
        one_sided::TESTS,
        startup::TESTS,
        own_launcher::TESTS,
        faults::TESTS,
    ]
    .concat();
    trials.extend(tests.into_iter().map(test));
    run(&arguments, trials).exit_code()
}
