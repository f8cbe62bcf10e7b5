//! A socket for packets beside the connection, and the MTU of the interface under it.

use super::control::Message;
use super::datagram::Datagrams;
use seatrial_bench::interface_of;
use seatrial_model::{Cause, Reason};
use seatrial_sys::root::SysRoot;
use std::io;
use std::net::{SocketAddr, TcpStream};

pub fn meet(stream: &mut TcpStream) -> Result<Datagrams, Reason> {
    open(stream)
        .map_err(|error| Reason::new(Cause::IoError, format!("opening a socket for packets: {error}")))
}

fn open(stream: &mut TcpStream) -> io::Result<Datagrams> {
    let datagrams = Datagrams::on(stream.local_addr()?.ip().to_canonical())?;
    Message::Port(datagrams.port()?).write(stream)?;
    match Message::read(stream)? {
        Message::Port(port) => {
            datagrams.to(SocketAddr::new(stream.peer_addr()?.ip().to_canonical(), port))?;
            Ok(datagrams)
        }
        other => Err(io::Error::other(format!("{other:?} in place of a port"))),
    }
}

pub fn own_mtu(stream: &TcpStream) -> Option<u32> {
    let interface = interface_of(stream)?;
    SysRoot::live().value(format!("/sys/class/net/{interface}/mtu")).ok()
}
