//! Errors of RDMA devices, with the next step for an administrator.

use std::time::Duration;

use super::Status;
use crate::Errno;
use crate::library::LibraryError;
use crate::root::ReadError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerbsFault {
    NoLibrary,
    NoDevice,
    NotPermitted,
    /// RLIMIT_MEMLOCK is too low.
    MemoryLocked,
    NotSupported,
    OutOfMemory,
    /// No answer: the peer or its path is silent.
    Unreachable,
    /// The peer had no receive posted for too long.
    NotReady,
    Flushed,
    Config,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerbsError {
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error("libibverbs.so.1 is too old: it has no {symbol}")]
    TooOld { symbol: &'static str },
    /// The kernel has no user-space RDMA (uverbs).
    #[error(
        "the kernel offers no RDMA to programs (ibv_get_device_list: {errno}): is the module ib_uverbs loaded?"
    )]
    NoKernel { errno: Errno },
    #[error("no RDMA device {name}; {there}")]
    NoDevice { name: String, there: String },
    #[error("{device} has no port {port}, but ports 1 to {ports}")]
    NoPort { device: String, port: u8, ports: u8 },
    #[error(
        "port {port} of {device} is {state}, not ACTIVE: look at the cable, the switch and the subnet manager"
    )]
    PortDown { device: String, port: u8, state: &'static str },
    #[error("port {port} of {device} has no GID {asked}; its table has {table}")]
    NoGid { device: String, port: u8, asked: u32, table: String },
    #[error("no GID of one end fits one of the other: here {first}; there {second}")]
    NoCommonGid { first: String, second: String },
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    #[error(
        "registering {bytes} bytes: the limit of locked memory is {limit_bytes} bytes; raise it with `ulimit -l \
         unlimited` as root, memlock in /etc/security/limits.conf, or LimitMEMLOCK=infinity of the service (Slurm: \
         slurmd's, and PropagateResourceLimitsExcept=MEMLOCK)"
    )]
    MemoryLock { bytes: usize, limit_bytes: u64 },
    #[error("{device} offers no {feature}")]
    Lacks { device: String, feature: String },
    #[error("{what} of {asked} asked for, and the device offers {most}")]
    TooMuch { what: &'static str, asked: u64, most: u64 },
    #[error("{bytes} bytes from {offset} on are beyond the end of {size} bytes of memory")]
    Beyond { offset: usize, bytes: usize, size: usize },
    #[error("{why}")]
    Config { why: String },
    #[error("{call} for {what}: {errno}")]
    Refused { call: &'static str, what: String, errno: Errno },
    #[error("posting work: {errno} after {accepted} requests{}", if .errno == &Errno::NOMEM { " (the queue is full)" } else { "" })]
    Post { errno: Errno, accepted: usize },
    #[error("work request {id} ended with {}: {} (vendor code {vendor:#x})", .status.name(), .status.text())]
    WorkCompletion { status: Status, vendor: u32, id: u64 },
    #[error("{got} of {want} {what} within {waited:?}")]
    Timeout { what: &'static str, waited: Duration, got: usize, want: usize },
}

impl VerbsError {
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

/// errno of the calling thread's last failed call of the library.
pub(super) fn last() -> Errno {
    let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    // The library sets errno for every null pointer that it returns; 0 would be its defect, and is no errno.
    if code == 0 { Errno::IO } else { Errno::from_raw_os_error(code) }
}

/// The result of a function that returns 0, an errno, or -1 with errno set (its manual pages allow both).
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
