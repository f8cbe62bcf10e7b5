//! Launchers, agents and workers: start the parts of a case on their nodes, and know how they end.
//!
//! Independent of what is measured. One agent per node, one worker process per part; messages are JSON frames. A
//! measurement drives hardware to where it breaks, so all code here expects the worst of a worker:
//!
//! | what a worker may do | what holds |
//! |---|---|
//! | crash, exit, panic | it is a separate process; the agent sees how it ended and keeps the end of its output |
//! | loop, ignore `Stop` and SIGTERM | SIGTERM, SIGKILL after a grace period, with its state as evidence |
//! | sleep uninterruptibly | it is abandoned with its kernel stack, reaped if it ever dies, and blocks nothing |
//! | write garbage or an endless frame | frames are bounded and checked; the worker is killed |
//! | flood its output or its samples | output is drained and its end kept; samples wait for the reader |
//! | die with a folder of its own on disk | the agent removes it, as far as it is what a test makes |
//! | start processes of its own | its group is killed, orphans are reparented to the agent and reaped |
//! | lose its supervisor, even to kill -9 | the end of its socket and a parent-death signal kill its group |

mod agent;
mod answers;
mod build_id;
mod clock_offset;
mod counters;
mod fleet;
pub mod frame;
mod launch;
mod message;
mod offers;
mod own_program;
mod scripted;
mod settings_orders;
mod worker;

#[doc(hidden)]
pub use agent::vitals;
pub use agent::{AgentOptions, agent_main};
pub use build_id::{build_id, local_build_id};
pub use clock_offset::Offset;
pub use counters::read_counters;
pub use fleet::{Fleet, FleetEvent, LaunchError, Launcher, Missing, NodeIndex, Nudge};
#[doc(hidden)]
pub use launch::envelopes;
pub use launch::{
    COPY_RECEIVER_READY, CopyReceiver, LocalLauncher, MpirunLauncher, SlurmLauncher, SlurmRequest,
    SshLauncher, keep_copy,
};
pub use message::{Command, EndKind, FromWorker, Hello, PROTOCOL, Report, ToWorker, WorkerEnd, WorkerId};
pub use offers::Offers;
pub use scripted::{
    Fault, Pattern, Rule, Script, ScriptError, ScriptFile, ScriptedFleet, SimulatedNodes, When,
};
pub use settings_orders::{Answered, order_settings};
pub use worker::worker_main;
