//! What goes wrong with RDMA devices, and what a person can do about it.

use std::time::Duration;

use super::Status;
use crate::Errno;
use crate::gpu::LibraryError;
use crate::root::ReadError;

/// What sort of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerbsFault {
    /// libibverbs is not there, or too old.
    NoLibrary,
    /// There is no such device or port, none at all, or it is down.
    NoDevice,
    /// The system does not let us.
    NotPermitted,
    /// The limit of locked memory is too low.
    MemoryLocked,
    /// The device cannot do that.
    NotSupported,
    /// No memory, or no more objects of the device, are left.
    OutOfMemory,
    /// Nothing comes back: the peer or the path to it is silent.
    Unreachable,
    /// The peer had no receive posted for too long.
    NotReady,
    /// Work was thrown away, since its queue pair had failed before.
    Flushed,
    /// What was asked for contradicts itself or the other end.
    Config,
    Other,
}

/// Why a call did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerbsError {
    /// The library is not there.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The library has no such function.
    #[error("libibverbs.so.1 is too old: it has no {symbol}")]
    TooOld { symbol: &'static str },
    /// The kernel offers RDMA to no program.
    #[error(
        "the kernel offers no RDMA to programs (ibv_get_device_list: {errno}): is the module ib_uverbs loaded?"
    )]
    NoKernel { errno: Errno },
    #[error("no RDMA device {name}; {there}")]
    NoDevice {
        name: String,
        /// Which ones there are, in words.
        there: String,
    },
    /// The device has no such port.
    #[error("{device} has no port {port}, but ports 1 to {ports}")]
    NoPort {
        device: String,
        port: u8,
        /// How many it has.
        ports: u8,
    },
    /// Nothing passes through the port.
    #[error(
        "port {port} of {device} is {state}, not ACTIVE: look at the cable, the switch and the subnet manager"
    )]
    PortDown {
        device: String,
        port: u8,
        /// Its state in the kernel's words.
        state: &'static str,
    },
    /// There is no address at this place of the port's table.
    #[error("port {port} of {device} has no GID {asked}; its table has {table}")]
    NoGid {
        device: String,
        port: u8,
        /// The index that was asked for.
        asked: u32,
        /// The table in words.
        table: String,
    },
    /// No address of the one end can reach one of the other.
    #[error("no GID of one end fits one of the other: here {first}; there {second}")]
    NoCommonGid {
        /// The table of the one in words.
        first: String,
        /// The table of the other.
        second: String,
    },
    /// A file of the kernel tells nothing.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// Registered memory counts as locked, and the limit is too low.
    #[error(
        "registering {bytes} bytes: the limit of locked memory is {limit_bytes} bytes; raise it with `ulimit -l \
         unlimited` as root, memlock in /etc/security/limits.conf, or LimitMEMLOCK=infinity of the service (Slurm: \
         slurmd's, and PropagateResourceLimitsExcept=MEMLOCK)"
    )]
    MemoryLock {
        /// How much was to be registered.
        bytes: usize,
        limit_bytes: u64,
    },
    /// The device cannot do that.
    #[error("{device} offers no {feature}")]
    Lacks {
        device: String,
        /// What it would need.
        feature: String,
    },
    /// More was asked for than the device offers.
    #[error("{what} of {asked} asked for, and the device offers {most}")]
    TooMuch {
        what: &'static str,
        asked: u64,
        /// How much there is.
        most: u64,
    },
    /// A range beyond the end of memory; nothing was done.
    #[error("{bytes} bytes from {offset} on are beyond the end of {size} bytes of memory")]
    Beyond {
        /// Where it was to begin.
        offset: usize,
        /// How much it was to be.
        bytes: usize,
        /// How much there is.
        size: usize,
    },
    /// What was asked for contradicts itself.
    #[error("{why}")]
    Config { why: String },
    /// The library, the driver or the kernel refused.
    #[error("{call} for {what}: {errno}")]
    Refused {
        call: &'static str,
        /// What it was for.
        what: String,
        errno: Errno,
    },
    /// A queue did not take a request.
    #[error("posting work: {errno} after {accepted} requests{}", if .errno == &Errno::NOMEM { " (the queue is full)" } else { "" })]
    Post {
        /// What the driver answered.
        errno: Errno,
        /// How many of the list it took.
        accepted: usize,
    },
    /// A request ended without having been done.
    #[error("work request {id} ended with {}: {} (vendor code {vendor:#x})", .status.name(), .status.text())]
    WorkCompletion {
        status: Status,
        /// The vendor's own code.
        vendor: u32,
        id: u64,
    },
    /// Nothing came in time.
    #[error("{got} of {want} {what} within {waited:?}")]
    Timeout {
        /// What was waited for.
        what: &'static str,
        waited: Duration,
        got: usize,
        /// How many were to come.
        want: usize,
    },
}

impl VerbsError {
    /// The sort of failure.
    pub fn fault(&self) -> VerbsFault {
        match self {
            Self::Library(_) | Self::TooOld { .. } => VerbsFault::NoLibrary,
            Self::NoKernel { .. } | Self::NoDevice { .. } | Self::NoPort { .. } | Self::PortDown { .. } => {
                VerbsFault::NoDevice
            }
            Self::MemoryLock { .. } => VerbsFault::MemoryLocked,
            Self::Lacks { .. } => VerbsFault::NotSupported,
            Self::NoGid { .. }
            | Self::NoCommonGid { .. }
            | Self::TooMuch { .. }
            | Self::Beyond { .. }
            | Self::Config { .. } => VerbsFault::Config,
            Self::Unreadable(_) => VerbsFault::Other,
            Self::Refused { errno, .. } | Self::Post { errno, .. } => of_errno(*errno),
            Self::WorkCompletion { status, .. } => match status {
                Status::RetryExceeded | Status::ResponseTimeout => VerbsFault::Unreachable,
                Status::RnrRetryExceeded => VerbsFault::NotReady,
                Status::Flushed => VerbsFault::Flushed,
                _ => VerbsFault::Other,
            },
            Self::Timeout { .. } => VerbsFault::Unreachable,
        }
    }
}

fn of_errno(errno: Errno) -> VerbsFault {
    match errno {
        Errno::PERM | Errno::ACCESS => VerbsFault::NotPermitted,
        Errno::NOMEM | Errno::NOSPC | Errno::MFILE => VerbsFault::OutOfMemory,
        Errno::NOSYS | Errno::OPNOTSUPP => VerbsFault::NotSupported,
        Errno::NODEV | Errno::NXIO | Errno::IO => VerbsFault::NoDevice,
        Errno::TIMEDOUT | Errno::NETUNREACH | Errno::HOSTUNREACH => VerbsFault::Unreachable,
        _ => VerbsFault::Other,
    }
}

/// What the calling thread's last failed call of the library left behind.
pub(super) fn last() -> Errno {
    let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    // The library sets it for every pointer that it does not give; 0 would be its defect, and no number of an error.
    if code == 0 { Errno::IO } else { Errno::from_raw_os_error(code) }
}

/// What a function answered that returns 0, an errno, or -1 with the errno set (its manual pages allow both).
pub(super) fn answer(call: &'static str, code: i32, what: impl FnOnce() -> String) -> Result<(), VerbsError> {
    match code {
        0 => Ok(()),
        -1 => Err(VerbsError::Refused { call, what: what(), errno: last() }),
        code => {
            let errno = Errno::from_raw_os_error(code.saturating_abs());
            Err(VerbsError::Refused { call, what: what(), errno })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_was_tried_and_what_to_do() {
        let lock = VerbsError::MemoryLock { bytes: 1 << 20, limit_bytes: 65536 };
        let text = lock.to_string();
        assert!(
            text.starts_with("registering 1048576 bytes: the limit of locked memory is 65536 bytes"),
            "{text}"
        );
        assert!(text.contains("LimitMEMLOCK=infinity"), "{text}");
        assert_eq!(lock.fault(), VerbsFault::MemoryLocked);
        let full = VerbsError::Post { errno: Errno::NOMEM, accepted: 3 };
        assert!(full.to_string().ends_with("after 3 requests (the queue is full)"), "{full}");
        let silent = VerbsError::WorkCompletion { status: Status::RetryExceeded, vendor: 0x81, id: 7 };
        assert!(
            silent.to_string().starts_with("work request 7 ended with IBV_WC_RETRY_EXC_ERR: "),
            "{silent}"
        );
        assert_eq!(silent.fault(), VerbsFault::Unreachable);
    }

    #[test]
    fn errors_are_returned_in_both_ways_of_the_manual() {
        let what = || "a port".to_owned();
        assert_eq!(answer("f", 0, what), Ok(()));
        let refused = Err(VerbsError::Refused { call: "f", what: what(), errno: Errno::INVAL });
        assert_eq!(answer("f", libc::EINVAL, what), refused);
        assert_eq!(answer("f", -libc::EINVAL, what), refused);
    }
}
