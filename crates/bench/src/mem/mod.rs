//! Memory.

pub mod bandwidth;
