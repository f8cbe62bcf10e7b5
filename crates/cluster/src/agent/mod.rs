//! The process that stands between a controller and the workers of one node.
//!
//! Frames come in on standard input and go out on standard output, so that anything that can start a command can
//! start an agent; it opens no port, leaves nothing behind, and removes what its workers could not. It never measures and never waits for a worker in its
//! main loop, so it can always be told to stop. Each worker has threads of its own: `relay` passes on what the
//! worker says, `tell` what it is told, `output` drains what it prints, `wait` sees it end, `supervise` decides.

mod event;
mod group;
mod leftovers;
mod output;
mod reports;
mod run;
mod signal;
mod spawn;
mod stdio;
mod supervise;
mod vitals;

pub(crate) use output::Output;
pub use run::{AgentOptions, agent_main};
pub(crate) use signal::signal_name;
pub use vitals::vitals;
