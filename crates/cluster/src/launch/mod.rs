//! Ways to get an agent running on every node. A launcher is one file here.

mod gathering;
mod herd;
mod link;
mod linked;
mod local;
mod meet;
mod mpirun;
mod process;
mod slurm;
mod ssh;

pub use local::LocalLauncher;
pub(crate) use meet::follow;
pub use mpirun::MpirunLauncher;
pub use slurm::{SlurmLauncher, SlurmRequest};
pub use ssh::SshLauncher;
