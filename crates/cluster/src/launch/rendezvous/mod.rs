//! Agents that connect back to the controller, for launchers without a stream for each node.
//!
//! srun(1) gives every task the same standard input and mixes the outputs. The ticket on standard input holds
//! addresses and a key; each agent connects, both sides prove the key, and frames use that connection. The port is
//! open only while agents are awaited. Alternatives: one srun per node loads slurmctld with a step each; a shared
//! file system may not exist; every user of a node can read arguments and environment in /proc.

mod listener;
mod ticket;

pub(super) use listener::RendezvousListener;
pub(crate) use ticket::dial_back;
