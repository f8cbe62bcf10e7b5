//! Ports that the ends tell each other over their control connection.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

pub fn tell_port(control: &mut TcpStream, port: u16) -> io::Result<()> {
    control.write_all(&port.to_le_bytes())
}

/// The address of the peer with the port that it tells.
pub fn peer_port(control: &mut TcpStream) -> io::Result<SocketAddr> {
    let mut port = [0; 2];
    control.read_exact(&mut port)?;
    Ok(SocketAddr::new(control.peer_addr()?.ip().to_canonical(), u16::from_le_bytes(port)))
}
