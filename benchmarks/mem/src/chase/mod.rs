//! Rings of pointers in memory, and positions on them: the base of every latency measurement.
//!
//! A ring visits all lines of some memory once, in random order ([`Order`]). [`Rings`] are the memory with the
//! pointers; a [`Chaser`] is a position on a ring that times hops and is checked against the order.

mod chaser;
mod kernel;
mod order;

pub use chaser::{ChaseRun, Chaser, hop_ns};
pub use kernel::{HOPS_MULTIPLE, POINTER, Rings};
pub use order::Order;
