//! Copies trees between two ends of this process and within it.

mod again;
mod faults;
mod resumed;
mod rig;
mod trees;
