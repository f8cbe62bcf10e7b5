//! Agents behind a gateway: one connection of the controller's carries the frames of many.
//!
//! A relay is a process of its own on a node that others are reached through. It is told its share of the nodes, starts
//! an agent on each as the controller would (on its own node as a child), and passes frames on both ways. It is not the
//! agent of its node: agents reap whatever comes to them and sweep, and a relay keeps clients running.
//!
//! Nothing waits for ever. What children say goes through one bounded channel, so a controller that does not read slows
//! all of them, as it does without a relay; what a child is told has a queue of its own, and one that takes nothing is
//! given up, while its sisters go on. Commands never wait behind reports: they are read by another thread.

mod envelope;
mod gateway;
mod serve;

pub use envelope::envelopes;
pub(super) use gateway::{Gateway, RelayStart};
pub(crate) use serve::relay_main;
