//! The bytes of a stream, and how both ends compare them after the clock has stopped.

pub mod closing;
pub mod pattern;
