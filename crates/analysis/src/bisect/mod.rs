//! Which node, or which boundary between nodes, holds a group back.

mod fault;
mod scale;
mod search;

pub use fault::{Fault, Place};
pub use search::{FEWEST_NODES, Group, GroupResult, Isolation, Next, Search};
