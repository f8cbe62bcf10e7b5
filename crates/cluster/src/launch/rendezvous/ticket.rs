//! What an agent is told so that it can call us, and how it does.

use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use seatrial_sys::proof::{self, Key, Side, Until};
use serde::{Deserialize, Serialize};

use crate::frame::FrameReader;

/// How long one address may take to answer.
const CONNECT_WITHIN: Duration = Duration::from_secs(4);

/// How long the proof may take.
const PROVE_WITHIN: Duration = Duration::from_secs(5);

/// How long an agent keeps trying: the network of a node that was just booted may come up late.
const TRY_FOR: Duration = Duration::from_secs(20);

/// The one text that all agents get. Sent as a frame on standard input, never as an argument.
#[derive(Serialize, Deserialize)]
pub(crate) struct RendezvousTicket {
    /// Addresses of the controller, in the order they are tried.
    addresses: Vec<IpAddr>,
    port: u16,
    /// The key in hexadecimal.
    key: String,
}

impl RendezvousTicket {
    pub(super) fn new(addresses: Vec<IpAddr>, port: u16, key: &Key) -> Self {
        Self { addresses, port, key: key.to_hex() }
    }
}

/// Reads a ticket from `from` and calls. `first` is an address to try before all others: what the launcher says
/// the controller is reached by.
pub(crate) fn dial_back(from: impl Read, first: Option<IpAddr>) -> Result<TcpStream, String> {
    let read = FrameReader::new(from).read::<RendezvousTicket>();
    let ticket = match read {
        Ok(Some(ticket)) => ticket,
        Ok(None) => return Err("no ticket came on standard input".to_owned()),
        Err(error) => return Err(format!("standard input holds no ticket: {error}")),
    };
    let key = Key::from_hex(&ticket.key).ok_or("the key of the ticket is malformed")?;
    let deadline = Instant::now() + TRY_FOR;
    loop {
        let mut refusals = Vec::new();
        for address in first.iter().chain(&ticket.addresses) {
            let at = SocketAddr::new(*address, ticket.port);
            match call(at, &key) {
                Ok(stream) => return Ok(stream),
                Err(error) => refusals.push(format!("{at}: {error}")),
            }
        }
        if Instant::now() > deadline {
            return Err(format!("the controller cannot be reached: {}", refusals.join("; ")));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn call(at: SocketAddr, key: &Key) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&at, CONNECT_WITHIN)?;
    proof::exchange(&mut Until::new(&stream, PROVE_WITHIN), key, Side::Caller)?;
    with_deadline(&stream, None)?;
    keep(&stream)?;
    Ok(stream)
}

pub(super) fn with_deadline(stream: &TcpStream, limit: Option<Duration>) -> io::Result<()> {
    stream.set_read_timeout(limit)?;
    stream.set_write_timeout(limit)
}

/// Frames are small and answered at once; a dead peer is noticed after half a minute, as over ssh.
pub(super) fn keep(stream: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(10))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(5))?;
    sockopt::set_tcp_keepcnt(stream, 4)?;
    // For what is sent and never acknowledged keepalive does not count (tcp(7), TCP_USER_TIMEOUT).
    sockopt::set_tcp_user_timeout(stream, 30_000)?;
    Ok(())
}
