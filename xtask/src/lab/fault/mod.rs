//! Faults on demand: each is applied to one node, written down, and healed.

mod apply;
mod link;
mod spec;

pub use apply::{apply, describe, heal, heal_all};
pub use link::{Counter, counters};
pub use spec::Fault;
