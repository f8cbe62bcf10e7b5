//! The transport of requests and responses: a TCP or SCTP connection, or a pair of UDP sockets.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use seatrial_model::{Cause, Reason};

use crate::port::{peer_port, tell_port};
use seatrial_bench::is_timeout;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Block,
    /// Polls the kernel, so that no wake-up or idle state of a core adds to the latency.
    Spin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivedMessage {
    Message(usize),
    Nothing,
    Closed,
}

#[derive(Debug)]
pub enum Wire {
    Stream {
        stream: TcpStream,
        filled: usize,
        flushed: usize,
    },
    Udp {
        socket: UdpSocket,
        /// The connection on which the ends met. It stays open: when it closes, the peer learns that this end is
        /// gone.
        _control: Option<TcpStream>,
    },
}

impl Wire {
    pub fn stream(stream: TcpStream) -> Self {
        Self::Stream { stream, filled: 0, flushed: 0 }
    }

    /// An end on a UDP socket with the addresses of `control`; only the peer's datagrams are received.
    pub fn udp(mut control: TcpStream) -> Result<Self, Reason> {
        Self::beside(&mut control)
            .map(|socket| Self::Udp { socket, _control: Some(control) })
            .map_err(|error| Reason::new(Cause::IoError, format!("opening a socket for datagrams: {error}")))
    }

    fn beside(control: &mut TcpStream) -> io::Result<UdpSocket> {
        let socket = UdpSocket::bind((control.local_addr()?.ip().to_canonical(), 0))?;
        tell_port(control, socket.local_addr()?.port())?;
        socket.connect(peer_port(control)?)?;
        Ok(socket)
    }

    pub fn is_udp(&self) -> bool {
        matches!(self, Self::Udp { .. })
    }

    /// Sets how this end waits; with `Block` for at most `patience`.
    pub fn set_wait(&self, wait: Wait, patience: Duration) -> io::Result<()> {
        let spins = wait == Wait::Spin;
        match self {
            Self::Stream { stream, .. } => {
                stream.set_nonblocking(spins)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))
            }
            Self::Udp { socket, .. } => {
                socket.set_nonblocking(spins)?;
                socket.set_read_timeout(Some(patience))?;
                socket.set_write_timeout(Some(patience))
            }
        }
    }

    /// Sends `message`, or as much of it as fits; false if the same message must be passed again later.
    pub fn send(&mut self, message: &[u8]) -> io::Result<bool> {
        match self {
            Self::Udp { socket, .. } => match socket.send(message) {
                Ok(_) => Ok(true),
                Err(error) if is_timeout(&error) => Ok(false),
                // An ICMP error for an earlier datagram, from before the peer had its socket.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(false),
                Err(error) => Err(error),
            },
            Self::Stream { stream, flushed, .. } => {
                while *flushed < message.len() {
                    match stream.write(&message[*flushed..]) {
                        Ok(sent) => *flushed += sent,
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(error) if is_timeout(&error) => return Ok(false),
                        Err(error) => return Err(error),
                    }
                }
                *flushed = 0;
                Ok(true)
            }
        }
    }

    /// Receives a message as long as `into`, or a datagram of at most that length; keeps an incomplete message.
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<ReceivedMessage> {
        match self {
            Self::Udp { socket, .. } => match socket.recv(into) {
                Ok(bytes) => Ok(ReceivedMessage::Message(bytes)),
                Err(error) if is_timeout(&error) || error.kind() == ErrorKind::ConnectionRefused => {
                    Ok(ReceivedMessage::Nothing)
                }
                Err(error) => Err(error),
            },
            Self::Stream { stream, filled, .. } => loop {
                match stream.read(&mut into[*filled..]) {
                    Ok(0) => return Ok(ReceivedMessage::Closed),
                    Ok(bytes) => *filled += bytes,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if is_timeout(&error) => return Ok(ReceivedMessage::Nothing),
                    Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                        return Ok(ReceivedMessage::Closed);
                    }
                    Err(error) => return Err(error),
                }
                if *filled == into.len() {
                    *filled = 0;
                    return Ok(ReceivedMessage::Message(into.len()));
                }
            },
        }
    }
}
