//! Copies trees between two ends of this process and within it.

mod faults;
mod resumed;
mod rig;
mod trees;
