//! A socket for packets beside the connection, and the MTU of the interface under it.

use super::datagram::Datagrams;
use crate::port::{peer_port, tell_port};
use seatrial_bench::interface_of;
use seatrial_model::{Cause, Reason};
use seatrial_sys::root::SysRoot;
use std::io;
use std::net::TcpStream;

pub fn meet(stream: &mut TcpStream) -> Result<Datagrams, Reason> {
    open(stream)
        .map_err(|error| Reason::new(Cause::IoError, format!("opening a socket for packets: {error}")))
}

fn open(stream: &mut TcpStream) -> io::Result<Datagrams> {
    let datagrams = Datagrams::on(stream.local_addr()?.ip().to_canonical())?;
    tell_port(stream, datagrams.port()?)?;
    datagrams.to(peer_port(stream)?)?;
    Ok(datagrams)
}

pub fn own_mtu(stream: &TcpStream) -> Option<u32> {
    let interface = interface_of(stream)?;
    SysRoot::live().value(format!("/sys/class/net/{interface}/mtu")).ok()
}
