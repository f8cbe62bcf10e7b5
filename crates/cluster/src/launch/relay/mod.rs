//! Relays: one connection of the controller carries the frames of many agents.
//!
//! A relay is a process on a gateway node. It gets its share of the nodes, starts an agent on each as the controller
//! would (on its own node as a child), and passes frames on both ways. It is not the agent of its node: agents reap
//! every orphan, and a relay keeps clients running.
//!
//! Nothing waits for ever. Reports of children go through one bounded channel, so a slow controller slows all of
//! them; each child has a queue of commands, and a child that stops reading is given up alone. Commands never wait
//! behind reports: another thread reads them.

mod envelope;
mod gateway;
mod serve;

pub use envelope::envelopes;
pub(super) use gateway::{Gateway, RelayStart};
pub(crate) use serve::relay_main;
