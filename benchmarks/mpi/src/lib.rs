//! Message passing (MPI).
//!
//! A folder with a `doc.md` is a benchmark; other modules are shared in this family.

mod between_nodes;
mod collective;
mod comparison;
mod copies;
mod declare;
mod hung;
mod job;
mod measures;
mod memory;
mod network;
mod one_sided;
mod pairs;
mod point_to_point;
mod ranks;
mod slices;
mod startup;
mod worker;

use std::process::ExitCode;

use seatrial_bench::Benchmark;

pub use job::{Hook, LAUNCH, Moment, REMOTE_SHELL, SUBCOMMAND};

/// The benchmarks of this family, in the order of lists.
pub const BENCHMARKS: &[Benchmark] =
    &[point_to_point::BENCHMARK, collective::BENCHMARK, one_sided::BENCHMARK, startup::BENCHMARK];

/// What ranks run, by benchmark.
const PROGRAMS: &[(&str, job::ProgramStart)] = &[
    (point_to_point::ID, point_to_point::start),
    (collective::ID, collective::start),
    (one_sided::ID, one_sided::start),
    (startup::ID, startup::start),
];

/// Runs this process as a rank, which the launcher of an MPI library started. `hook` does nothing but in tests.
pub fn rank_main(hook: Hook) -> ExitCode {
    job::serve_worker(PROGRAMS, hook)
}

/// Runs this process as the launcher of ranks, or as a part of it: `words` are what the worker or the launcher told.
pub fn launch_main(words: &[String]) -> ExitCode {
    job::launch(words)
}

/// Runs this process as the remote shell of a launcher that a part of a job started: `arguments` are a host and a command.
pub fn remote_shell_main(arguments: &[String]) -> ExitCode {
    job::remote_shell(arguments)
}
