//! How much of a connection's data the kernel holds. Neither ioctl takes the socket lock (net/ipv4/tcp.c,
//! `tcp_ioctl`), so that readings do not disturb the sender.
#![expect(unsafe_code, reason = "ioctl of SIOCOUTQ and SIOCOUTQNSD")]

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

/// `SIOCOUTQ` of linux/sockios.h: unacknowledged bytes, including unsent ones.
const SIOCOUTQ: Opcode = 0x5411;

/// `SIOCOUTQNSD` of linux/sockios.h: unsent bytes.
const SIOCOUTQNSD: Opcode = 0x894b;

/// Unacknowledged bytes, and how many of them are unsent.
pub fn outstanding(socket: impl AsFd) -> Result<(i32, i32), Errno> {
    // SAFETY: the kernel writes one `int`.
    let unsent = unsafe { ioctl(&socket, Getter::<SIOCOUTQNSD, i32>::new()) }?;
    // SAFETY: as above.
    let all = unsafe { ioctl(&socket, Getter::<SIOCOUTQ, i32>::new()) }?;
    Ok((all, unsent))
}
