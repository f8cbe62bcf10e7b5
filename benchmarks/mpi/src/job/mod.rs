//! One MPI job: found library, started launcher, and ranks that take orders from the worker of the case.
//!
//! The worker loads no MPI library. It starts this program again, first alone to find out what a library is, then by the
//! launcher of the library's installation as many times as there are ranks. Each of these processes finds the worker's
//! socket by an environment variable, and dies when the worker does.

mod ends;
mod environment;
mod events;
mod launcher;
mod library;
mod output;
mod process;
mod rank;
mod start;
mod wire;

pub use environment::kept;
pub use launcher::Launcher;
pub use library::LibraryFacts;
pub use rank::{Hook, Moment, Program, ProgramStart, allocate, refused, serve_worker};
pub use start::{Job, JobSpec};

/// The subcommand of this program that is a rank.
pub const SUBCOMMAND: &str = "mpi-rank";

/// Names the worker's socket to its ranks, an abstract one (unix(7)): nothing has to be removed.
const SOCKET: &str = "SEATRIAL_MPI_JOB";
