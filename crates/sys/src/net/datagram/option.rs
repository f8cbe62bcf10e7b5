//! Datagram socket options that rustix lacks.
#![expect(unsafe_code, reason = "getsockopt, setsockopt and prctl")]

use std::os::fd::{AsFd, AsRawFd};

use libc::{c_int, c_void, socklen_t};
use rustix::io::Errno;

use crate::last_errno;

/// Makes the kernel segment each send into datagrams of `bytes` (udp(7), `UDP_SEGMENT`; Linux 4.18, before
/// `ENOPROTOOPT`). 0 turns segmentation off.
pub fn segment(socket: impl AsFd, bytes: u16) -> Result<(), Errno> {
    set(socket, libc::SOL_UDP, libc::UDP_SEGMENT, c_int::from(bytes))
}

pub fn receive_coalesced(socket: impl AsFd, on: bool) -> Result<(), Errno> {
    set(socket, libc::SOL_UDP, libc::UDP_GRO, c_int::from(on))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveBuffer {
    /// Bytes granted, kernel overhead included. The kernel doubles the request for that overhead (socket(7),
    /// `SO_RCVBUF`).
    pub bytes: u64,
    /// Whether the grant exceeds `net.core.rmem_max`, which takes `CAP_NET_ADMIN`.
    pub forced: bool,
}

/// Requests a receive buffer of `bytes`, beyond the system's maximum where permitted; the grant can be smaller.
/// `None` keeps the default.
pub fn grant_receive_buffer(socket: impl AsFd, bytes: Option<u64>) -> Result<ReceiveBuffer, Errno> {
    let mut forced = false;
    if let Some(bytes) = bytes {
        // The kernel doubles the value, which is an int.
        let half = c_int::try_from(bytes / 2).unwrap_or(c_int::MAX / 2);
        set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, half)?;
        let granted: c_int = get(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF)?;
        if granted < half.saturating_mul(2) {
            forced = set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, half).is_ok();
        }
    }
    let granted: c_int = get(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF)?;
    Ok(ReceiveBuffer { bytes: granted.unsigned_abs().into(), forced })
}

/// The path MTU of a connected socket in bytes, IP header included (ip(7), `IP_MTU`; `ENOTCONN` without a
/// connection).
pub fn path_mtu(socket: impl AsFd) -> Result<u32, Errno> {
    let mtu: c_int = match family(&socket)? {
        libc::AF_INET6 => get(&socket, libc::IPPROTO_IPV6, libc::IPV6_MTU)?,
        _ => get(&socket, libc::IPPROTO_IP, libc::IP_MTU)?,
    };
    Ok(mtu.unsigned_abs())
}

/// Makes the kernel refuse (`EMSGSIZE`) datagrams above the path MTU instead of fragmenting them (ip(7),
/// `IP_PMTUDISC_DO`).
pub fn refuse_fragments(socket: impl AsFd) -> Result<(), Errno> {
    match family(&socket)? {
        libc::AF_INET6 => set(&socket, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_DO),
        _ => set(&socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO),
    }
}

/// Makes a send fail with `ENOBUFS` when a queue of this node drops the datagram. Without this option the kernel
/// counts such a datagram as sent (ip(7), `IP_RECVERR`; net/ipv4/udp.c, `udp_send_skb`).
pub fn report_local_drops(socket: impl AsFd) -> Result<(), Errno> {
    match family(&socket)? {
        libc::AF_INET6 => set(&socket, libc::IPPROTO_IPV6, libc::IPV6_RECVERR, 1),
        _ => set(&socket, libc::IPPROTO_IP, libc::IP_RECVERR, 1),
    }
}

/// Receive drops of the socket for lack of buffer space, modulo 2^32 (sock_diag(7), `SK_MEMINFO_DROPS`; `ENOPROTOOPT`
/// before Linux 4.12). One drop may hold several datagrams where [`receive_coalesced`] is on.
pub fn drops(socket: impl AsFd) -> Result<u32, Errno> {
    /// Index in the `SO_MEMINFO` array (linux/sock_diag.h).
    const DROPS: usize = 8;
    let meminfo: [u32; DROPS + 1] = get(socket, libc::SOL_SOCKET, libc::SO_MEMINFO)?;
    Ok(meminfo[DROPS])
}

/// Sets the timer slack of the calling thread to the minimum; by default the kernel may wake it up to 50 us late to
/// coalesce timers (prctl(2), `PR_SET_TIMERSLACK`).
pub fn fine_timers() -> Result<(), Errno> {
    // SAFETY: this operation takes a number and touches no memory.
    let rc = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
    if rc == 0 { Ok(()) } else { Err(last_errno()) }
}

fn family(socket: &impl AsFd) -> Result<c_int, Errno> {
    get(socket, libc::SOL_SOCKET, libc::SO_DOMAIN)
}

fn set(socket: impl AsFd, level: c_int, name: c_int, value: c_int) -> Result<(), Errno> {
    // SAFETY: the kernel reads as many bytes as it is told, from a value that is that long.
    let rc = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const value).cast::<c_void>(),
            size_of::<c_int>() as socklen_t,
        )
    };
    if rc == 0 { Ok(()) } else { Err(last_errno()) }
}

trait Plain: Copy {
    const ZERO: Self;
}

impl Plain for c_int {
    const ZERO: Self = 0;
}

impl<const N: usize> Plain for [u32; N] {
    const ZERO: Self = [0; N];
}

fn get<T: Plain>(socket: impl AsFd, level: c_int, name: c_int) -> Result<T, Errno> {
    let mut value = T::ZERO;
    let mut length = size_of::<T>() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to a value that is that long, and any bytes are a valid one.
    let rc = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw mut value).cast::<c_void>(),
            &raw mut length,
        )
    };
    if rc == 0 { Ok(value) } else { Err(last_errno()) }
}
