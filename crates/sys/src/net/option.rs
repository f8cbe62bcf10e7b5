//! Stream socket options that rustix lacks.
#![expect(unsafe_code, reason = "setsockopt and getsockopt of options that rustix lacks")]

use std::os::fd::{AsFd, AsRawFd};

use rustix::io::Errno;

use crate::root::{ReadError, SysRoot};

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Limits the sending rate (socket(7), `SO_MAX_PACING_RATE`). TCP paces by itself since Linux 4.13, without the
/// queueing discipline `fq`.
pub fn set_max_pacing_rate(socket: impl AsFd, bytes_per_second: u64) -> Result<(), Errno> {
    set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, bytes_per_second)
}

/// Disables Nagle's algorithm of an SCTP socket, or enables it (sctp(7), `SCTP_NODELAY`).
pub fn set_sctp_nodelay(socket: impl AsFd, nodelay: bool) -> Result<(), Errno> {
    set(socket, libc::IPPROTO_SCTP, SCTP_NODELAY, libc::c_int::from(nodelay))
}

/// `SCTP_NODELAY` of linux/sctp.h.
const SCTP_NODELAY: libc::c_int = 3;

/// The pacing limit in bytes per second; `None` without a limit.
pub fn max_pacing_rate(socket: impl AsFd) -> Result<Option<u64>, Errno> {
    let mut rate = 0_u64;
    let mut length = size_of::<u64>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to a number that is that long.
    let rc = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw mut rate).cast(),
            &raw mut length,
        )
    };
    match rc {
        // Old kernels fill in 32 bits.
        0 if length as usize == size_of::<u32>() && rate == u64::from(u32::MAX) => Ok(None),
        0 => Ok(Some(rate).filter(|rate| *rate != u64::MAX)),
        _ => Err(crate::last_errno()),
    }
}

/// Lets a blocked receiver sleep until `bytes` have come, or its deadline (socket(7), `SO_RCVLOWAT`; the kernel
/// treats 0 as 1). Waking the receiver for every packet also costs the sender CPU time.
pub fn set_receive_low_water(socket: impl AsFd, bytes: u32) -> Result<(), Errno> {
    set(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX))
}

/// Lets a sender wait, and poll(2) say so, while `bytes` or more are queued that TCP has not sent (tcp(7),
/// `TCP_NOTSENT_LOWAT`). Without it a slow connection may queue megabytes, which the end of a flow has to wait for.
pub fn set_not_sent_low_water(socket: impl AsFd, bytes: u32) -> Result<(), Errno> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, bytes)
}

/// Sets an option whose value is a number.
fn set<T: Copy>(socket: impl AsFd, level: libc::c_int, name: libc::c_int, value: T) -> Result<(), Errno> {
    // SAFETY: the pointer is to a number of the length that is told.
    let rc = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if rc == 0 { Ok(()) } else { Err(crate::last_errno()) }
}

pub fn unread(socket: impl AsFd) -> Result<u64, Errno> {
    rustix::io::ioctl_fionread(socket)
}

/// The congestion controls that any process may choose now, without loading modules.
pub fn available_congestion_controls(root: &SysRoot) -> Result<Vec<String>, ReadError> {
    Ok(root.text(AVAILABLE)?.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_paced_socket_says_so() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut ours = TcpStream::connect(listener.local_addr().expect("told")).expect("connected");
        assert_eq!(max_pacing_rate(&ours), Ok(None));
        set_max_pacing_rate(&ours, 10_000_000_000).expect("set");
        assert_eq!(max_pacing_rate(&ours), Ok(Some(10_000_000_000)));
        let (theirs, _) = listener.accept().expect("accepted");
        ours.write_all(b"hello").expect("written");
        theirs.peek(&mut [0]).expect("there");
        assert_eq!(unread(&theirs), Ok(5));
    }

    #[test]
    fn congestion_controls_are_the_kernels_words() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join(AVAILABLE.trim_start_matches('/'));
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(file, "reno bbr cubic\n").expect("written");
        let found = available_congestion_controls(&SysRoot::at(dir.path())).expect("read");
        assert_eq!(found, ["reno", "bbr", "cubic"]);
        assert!(available_congestion_controls(&SysRoot::at("/nowhere")).is_err());
    }
}
