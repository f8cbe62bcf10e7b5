//! Ways to get an agent running on every node. A launcher is one file here.

mod bulk;
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

pub use local::LocalLauncher;
pub use mpirun::MpirunLauncher;
pub use relay::envelopes;
pub(crate) use relay::relay_main;
pub(crate) use rendezvous::dial_back;
pub use slurm::{SlurmLauncher, SlurmRequest};
pub use ssh::SshLauncher;

/// How long an agent or relay behind a connection that may be cut waits for a sign of life of its controller's before
/// it leaves. Neither ssh nor TCP tells the far end of a cut within hours, when the far end has nothing to say. It is
/// longer than the near end waits, which the site may set: so the controller, which knows more, decides first.
const SILENCE: std::time::Duration = std::time::Duration::from_secs(50);
