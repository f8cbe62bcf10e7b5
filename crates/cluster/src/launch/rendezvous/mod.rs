//! Agents that open their connection to us, for launchers whose streams cannot carry one conversation a node.
//!
//! srun(1) gives every task the same standard input and mixes their outputs, so nothing can be said to one of them. What
//! it does well is to hand one short text to all: where to call and the key to prove that one was called. Each agent
//! then connects, both sides prove the key, and frames go over that connection. The alternatives are worse: one srun a
//! node loads the controller of Slurm with a step each; a shared file system is an assumption that fails on the day of
//! acceptance; a key in arguments or environment can be read in /proc by everybody on the node.
//!
//! The port is open only while agents are awaited.

mod listener;
mod ticket;

pub(super) use listener::RendezvousListener;
pub(crate) use ticket::dial_back;
