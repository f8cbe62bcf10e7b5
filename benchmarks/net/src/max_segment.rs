//! TCP packets as of a smaller MTU, for benchmarks of TCP.

use std::io;

use seatrial_model::{Kind, ParamSpec, Params};
use socket2::SockRef;

pub const MTU: ParamSpec = ParamSpec::new("mtu", Kind::Count(576, 32_767), "auto").word("auto").doc(
    "Largest TCP packet in bytes, as if the path had this MTU (TCP_MAXSEG); auto is the path's own MTU.",
);

pub fn asked(params: &Params) -> Option<u32> {
    params.count(MTU.name).ok().and_then(|mtu| u32::try_from(mtu).ok())
}

/// Sets the largest segment of both directions, on the connecting end before it connects: it announces its MSS and
/// keeps to it as well (tcp(7), TCP_MAXSEG).
pub fn set(socket: &SockRef<'_>, mtu: u32) -> io::Result<()> {
    let ip = if socket.domain()? == socket2::Domain::IPV6 { 40 } else { 20 };
    socket.set_tcp_mss(mtu - ip - 20)
}
