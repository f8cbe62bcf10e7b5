//! Launchers: ways to start an agent on every node, one file each.

mod bulk;
mod cache;
mod copies;
mod copying;
mod link;
mod linked;
mod local;
mod mpirun;
mod outgoing;
mod process;
mod relay;
mod rendezvous;
mod slurm;
mod ssh;
mod startup;
mod words;

pub use cache::keep_copy;
pub use local::LocalLauncher;
pub use mpirun::MpirunLauncher;
pub use relay::envelopes;
pub(crate) use relay::relay_main;
pub(crate) use rendezvous::dial_back;
pub use slurm::{SlurmLauncher, SlurmRequest};
pub use ssh::{COPY_RECEIVER_READY, CopyReceiver, SshLauncher};

/// How long an agent or relay waits for a sign of life of its controller before it exits. Neither ssh nor TCP reports
/// a cut connection to an end that sends nothing. Longer than ServerAliveInterval times ServerAliveCountMax, so that
/// the controller, which has more information, notices first.
const SILENCE: std::time::Duration = std::time::Duration::from_secs(50);
