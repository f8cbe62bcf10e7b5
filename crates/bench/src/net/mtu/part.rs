//! What both ends share.

use std::io;
use std::net::{SocketAddr, TcpStream};

use seatrial_model::{Case, Cause, PartPlacement};
use seatrial_sys::root::SysRoot;

use super::client::Client;
use super::control::Message;
use super::datagram::Datagrams;
use super::server::Server;
use crate::common::{Endpoint, ends, interface_of};
use crate::{Error, Part};

/// Where the connection goes.
#[derive(Clone, Debug)]
pub struct MtuConfig {
    pub interface: Option<String>,
    pub alone: bool,
}

impl MtuConfig {
    pub fn endpoint(&self) -> Endpoint<'_> {
        Endpoint::tcp(self.interface.as_deref(), self.alone)
    }
}

/// The part of `case` at `place`.
pub fn part(case: &Case, place: &PartPlacement) -> Box<dyn Part> {
    let config =
        MtuConfig { interface: ends::interface_for(case, place.index), alone: case.nodes.len() == 1 };
    match place.part.as_str() {
        "client" => Box::new(Client::new(config, place)),
        _ => Box::new(Server::at(place, config)),
    }
}

/// Opens a socket for packets beside the connection, and tells the other end where it is.
pub fn meet(stream: &mut TcpStream) -> Result<Datagrams, Error> {
    open(stream).map_err(|error| Error::new(Cause::IoError, format!("opening a socket for packets: {error}")))
}

fn open(stream: &mut TcpStream) -> io::Result<Datagrams> {
    let datagrams = Datagrams::on(stream.local_addr()?.ip().to_canonical())?;
    Message::Port(datagrams.port()?).write(stream)?;
    match Message::read(stream)? {
        Message::Port(port) => {
            datagrams.to(SocketAddr::new(stream.peer_addr()?.ip().to_canonical(), port))?;
            Ok(datagrams)
        }
        other => Err(io::Error::other(format!("{other:?} instead of a port"))),
    }
}

/// The MTU of the interface that the connection uses.
pub fn own_mtu(stream: &TcpStream) -> Option<u32> {
    let interface = interface_of(stream)?;
    SysRoot::live().value(format!("/sys/class/net/{interface}/mtu")).ok()
}
