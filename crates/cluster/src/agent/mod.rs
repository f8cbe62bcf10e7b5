//! The agent: the process between a controller and the workers of one node.
//!
//! Frames come in on standard input and go out on standard output, so that anything that starts commands can start an
//! agent. It opens no port and removes what its workers left. The main loop never waits for a worker, so an agent can
//! always be stopped. Each worker has threads: `relay` passes on what the worker says, `tell` what the worker is
//! told, `output` drains what it prints, `wait` sees it end, `supervise` decides.

mod event;
mod group;
mod leftovers;
mod output;
mod reports;
mod restore_timer;
mod run;
mod settings;
mod signal;
mod spawn;
mod stdio;
mod supervise;
mod vitals;

pub(crate) use output::Output;
pub use run::{AgentOptions, agent_main};
pub(crate) use signal::signal_name;
pub use vitals::vitals;
