//! How much of a connection's data the kernel holds. Neither question takes the connection's lock (net/ipv4/tcp.c,
//! `tcp_ioctl`), so that a look disturbs no sender.
#![expect(unsafe_code, reason = "ioctl of SIOCOUTQ and SIOCOUTQNSD")]

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl};

/// `SIOCOUTQ` of linux/sockios.h: bytes that the peer has not acknowledged, those that were not sent among them.
const SIOCOUTQ: Opcode = 0x5411;

/// `SIOCOUTQNSD` of linux/sockios.h: bytes that were not sent yet.
const SIOCOUTQNSD: Opcode = 0x894b;

/// Bytes that were not acknowledged, and those of them that were not sent.
pub fn outstanding(socket: impl AsFd) -> Result<(i32, i32), Errno> {
    // SAFETY: the kernel writes one `int`.
    let unsent = unsafe { ioctl(&socket, Getter::<SIOCOUTQNSD, i32>::new()) }?;
    // SAFETY: as above.
    let all = unsafe { ioctl(&socket, Getter::<SIOCOUTQ, i32>::new()) }?;
    Ok((all, unsent))
}
