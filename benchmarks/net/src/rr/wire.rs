//! What requests and responses go over: a TCP connection or a pair of UDP sockets.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use seatrial_model::{Cause, Reason};

/// How an end waits for the next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Asleep: the kernel wakes it up.
    Block,
    /// Awake, asking the kernel again and again: no sleeping core and no waking up is in the figure.
    Spin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivedMessage {
    /// A message of this many bytes.
    Message(usize),
    Nothing,
    /// The peer has closed.
    Closed,
}

#[derive(Debug)]
pub enum Wire {
    Tcp {
        stream: TcpStream,
        filled: usize,
        flushed: usize,
    },
    Udp {
        socket: UdpSocket,
        /// The connection that the two met on. It stays open: by its end the peer learns that we are gone.
        _control: Option<TcpStream>,
    },
}

impl Wire {
    /// An end on a TCP connection.
    pub fn tcp(stream: TcpStream) -> Self {
        Self::Tcp { stream, filled: 0, flushed: 0 }
    }

    /// An end on a UDP socket beside `control`, on the same addresses; only the peer's datagrams are taken.
    pub fn udp(mut control: TcpStream) -> Result<Self, Reason> {
        Self::beside(&mut control)
            .map(|socket| Self::Udp { socket, _control: Some(control) })
            .map_err(|error| Reason::new(Cause::IoError, format!("opening a socket for datagrams: {error}")))
    }

    fn beside(control: &mut TcpStream) -> io::Result<UdpSocket> {
        let socket = UdpSocket::bind((control.local_addr()?.ip(), 0))?;
        control.write_all(&socket.local_addr()?.port().to_le_bytes())?;
        let mut port = [0; 2];
        control.read_exact(&mut port)?;
        socket.connect(SocketAddr::new(control.peer_addr()?.ip(), u16::from_le_bytes(port)))?;
        Ok(socket)
    }

    pub fn is_udp(&self) -> bool {
        matches!(self, Self::Udp { .. })
    }

    /// How an end waits; asleep, it looks up after `patience` at the latest.
    pub fn set_wait(&self, wait: Wait, patience: Duration) -> io::Result<()> {
        let spins = wait == Wait::Spin;
        match self {
            Self::Tcp { stream, .. } => {
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

    /// Sends `message`, or as much of it as there is room for; true when all of it is on its way, false when the same
    /// message is to be given again later.
    pub fn send(&mut self, message: &[u8]) -> io::Result<bool> {
        match self {
            Self::Udp { socket, .. } => match socket.send(message) {
                Ok(_) => Ok(true),
                Err(error) if not_yet(&error) => Ok(false),
                // The answer to an earlier datagram, from before the peer had its socket.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(false),
                Err(error) => Err(error),
            },
            Self::Tcp { stream, flushed, .. } => {
                while *flushed < message.len() {
                    match stream.write(&message[*flushed..]) {
                        Ok(sent) => *flushed += sent,
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(error) if not_yet(&error) => return Ok(false),
                        Err(error) => return Err(error),
                    }
                }
                *flushed = 0;
                Ok(true)
            }
        }
    }

    /// Looks for a message as long as `into`, or of a datagram at most as long; keeps what is there of one.
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<ReceivedMessage> {
        match self {
            Self::Udp { socket, .. } => match socket.recv(into) {
                Ok(bytes) => Ok(ReceivedMessage::Message(bytes)),
                Err(error) if not_yet(&error) || error.kind() == ErrorKind::ConnectionRefused => {
                    Ok(ReceivedMessage::Nothing)
                }
                Err(error) => Err(error),
            },
            Self::Tcp { stream, filled, .. } => loop {
                match stream.read(&mut into[*filled..]) {
                    Ok(0) => return Ok(ReceivedMessage::Closed),
                    Ok(bytes) => *filled += bytes,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if not_yet(&error) => return Ok(ReceivedMessage::Nothing),
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

fn not_yet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
