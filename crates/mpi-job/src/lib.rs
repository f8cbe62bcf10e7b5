//! MPI jobs, for benchmarks whose ranks do the work: found library, started launcher, and ranks that take orders from the worker of the case.
//!
//! The worker loads no MPI library. It starts this program again, first alone to find out what a library is, then by the
//! launcher of the library's installation as many times as there are ranks. Each of these processes finds the worker's
//! socket by an environment variable, and dies when the worker does.
//!
//! A job over several nodes has a part on each. The first starts the launcher; the launcher's remote shell is this program,
//! which hands the command for a node to the part on that node over a connection of the parts. Ranks call the part on their
//! own node, which passes the bytes on to the first part.

pub mod between_nodes;
mod clock_offset;
mod ends;
mod environment;
mod events;
mod hosts;
mod hung;
mod launch;
mod launcher;
mod library;
mod links;
mod network;
mod node;
mod output;
pub mod params;
mod pmi;
mod process;
mod rank;
pub mod ranks;
mod remote_shell;
mod srun;
mod start;
mod wire;
pub mod worker;

use environment::kept;
use hosts::JobHosts;
pub use launch::launch;
use launcher::Launcher;
use library::LibraryFacts;
pub use links::HostLink;
pub use node::{CONNECTIONS, NodeEnd};
pub use rank::{
    FINALIZE, Hook, Moment, Program, ProgramStart, RankJob, RankProgram, agree, allocate, refused,
    serve_worker, step,
};
pub use remote_shell::remote_shell;
pub use start::{Job, JobSpec};

/// The subcommand of this program that is a rank.
pub const SUBCOMMAND: &str = "mpi-rank";

/// The subcommand of this program that starts ranks without a launcher of the library.
pub const LAUNCH: &str = "mpi-launch";

/// The subcommand of this program that is the remote shell of a launcher.
pub const REMOTE_SHELL: &str = "mpi-remote-shell";

/// Name the socket of the worker of a node to its ranks, this program to the shell that becomes a rank, and the socket of the
/// worker that started the launcher to remote shells.
const SOCKET: &str = "SEATRIAL_MPI_JOB";
const PROGRAM: &str = "SEATRIAL_MPI_PROGRAM";
const SHELL_SOCKET: &str = "SEATRIAL_MPI_REMOTE_SHELL";
