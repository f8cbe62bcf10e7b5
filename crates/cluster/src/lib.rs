//! Launchers, agents and workers: getting a case's parts to run where they should, and knowing how they end.
//!
//! Knows nothing of what is measured. One agent a node, one worker process a part; messages are frames of JSON.
//!
//! Everything here expects the worst of what it runs, because a measurement drives hardware to where it breaks:
//!
//! | what a worker may do | what holds |
//! |---|---|
//! | crash, exit, panic | it is a process of its own; the agent sees how it ended and keeps its last words |
//! | loop, ignore `Stop` and SIGTERM | SIGTERM, SIGKILL after a grace, with what it was doing as evidence |
//! | sleep uninterruptibly | it is abandoned with its kernel stack, reaped if it ever dies, and blocks nobody |
//! | write garbage or an endless frame | frames are bounded and checked; the worker is killed |
//! | flood its output or its samples | output is drained and its end kept; samples wait for the reader |
//! | die with a folder of its own on disk | the agent removes it, as far as it is what a test makes |
//! | start processes of its own | its group is killed, orphans come to the agent and are reaped |
//! | lose its supervisor, even to kill -9 | the end of its socket and a parent-death signal kill its group |

mod agent;
mod build_id;
mod clock_offset;
mod fleet;
pub mod frame;
mod launch;
mod message;
mod own_program;
mod scripted;
mod worker;

#[doc(hidden)]
pub use agent::vitals;
pub use agent::{AgentOptions, agent_main};
pub use build_id::build_id;
pub use clock_offset::Offset;
pub use fleet::{Fleet, FleetEvent, LaunchError, Launcher, Missing, NodeIndex, Nudge};
#[doc(hidden)]
pub use launch::envelopes;
pub use launch::{LocalLauncher, MpirunLauncher, SlurmLauncher, SlurmRequest, SshLauncher};
pub use message::{Command, EndKind, FromWorker, Hello, PROTOCOL, Report, ToWorker, WorkerEnd, WorkerId};
pub use scripted::{
    Fault, Pattern, Rule, Script, ScriptError, ScriptFile, ScriptedFleet, SimulatedNodes, When,
};
pub use worker::worker_main;
