//! Settings read from trees of files, composed from the kernel's documentation: whole machines, and files that are
//! missing, empty, garbage, denied or contradictory. And changed in them, and restored.

mod change;
mod change_devices;
mod conformance;
mod cpu;
mod disk;
mod faults;
mod gpu;
mod kernel;
mod limits;
mod memory;
mod net;
mod nic;
mod rdma;
mod software;
mod state;
mod state_of_devices;
mod tree;
mod tuning;
