//! Rings of pointers in memory, and who runs along them: what every measurement of load latency is made of.
//!
//! A ring visits all lines of a piece of memory once, in random order ([`Order`]). [`Rings`] are the memory with the
//! pointers in it, a [`Chaser`] is a position on a ring that times hops and is checked against the order afterwards.

mod chaser;
mod kernel;
mod order;

pub use chaser::{ChaseRun, Chaser, hop_ns};
pub use kernel::{HOPS_MULTIPLE, POINTER, Rings};
pub use order::Order;
