//! Settings read from trees of files: those of whole machines, and files that are missing, empty, garbage, denied or
//! in contradiction. All trees are composed by hand, after the kernel's documentation.

mod conformance;
mod cpu;
mod faults;
mod kernel;
mod limits;
mod memory;
mod net;
mod nic;
mod rdma;
mod tree;
mod tuning;
