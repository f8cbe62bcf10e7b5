//! Access to the operating system: the one crate with unsafe code, behind safe functions.
//!
//! Everything that reads the kernel's files takes a [`root::SysRoot`], so that tests can use a file tree of their
//! own.

pub mod affinity;
pub mod callers;
pub mod cgroup;
pub mod clock;
pub mod clock_state;
pub mod cpuset;
pub mod ethtool;
#[doc(hidden)]
pub mod fuzz;
pub mod gpu;
pub mod irq;
pub mod isa;
pub mod libc_info;
pub mod library;
pub mod lifetime;
pub mod memory;
pub mod mpi;
pub mod net;
mod netlink;
pub mod nvme;
pub mod optics;
pub mod probe;
pub mod process;
pub mod proof;
pub mod queueing;
pub mod root;
pub mod sched;
pub mod shaping;
pub mod storage;
pub mod tsc;
pub mod verbs;

pub use rustix::io::Errno;

/// Why the last system call of this thread failed.
pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
