//! Ways to get an agent running on every node. A launcher is one file here.

mod link;
mod linked;
mod local;

pub use local::LocalLauncher;
