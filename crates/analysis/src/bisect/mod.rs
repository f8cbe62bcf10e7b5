//! Which node, or which boundary between nodes, holds a group back.

mod fault;
mod scale;
mod search;

pub use fault::{Fault, Group, Place};
pub use search::{FEWEST_NODES, GroupResult, Isolation, Next, Search};
