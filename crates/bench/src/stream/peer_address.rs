//! What a peer must know to connect, and the connecting.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Reason};
use seatrial_sys::proof::{Key, Side, Until, exchange};
use serde::{Deserialize, Serialize};
use socket2::SockRef;

use super::{ANSWER_WITHIN, Endpoint, WITHIN, addresses_of};
use crate::Offer;

/// How long a caller that was hung up on waits before it calls again.
const AGAIN: Duration = Duration::from_millis(20);

/// What the peer must know, as it stands in an offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerAddress {
    /// In the order they are tried.
    addresses: Vec<IpAddr>,
    port: u16,
    key: String,
}

impl PeerAddress {
    pub(super) fn new(addresses: Vec<IpAddr>, port: u16, key: &Key) -> Self {
        Self { addresses, port, key: key.to_hex() }
    }

    /// Reads the offer's data.
    pub fn read(data: &serde_json::Value) -> Result<Self, Reason> {
        Self::deserialize(data).map_err(|error| {
            Reason::new(Cause::Protocol, format!("the peer's offer cannot be read: {error}"))
        })
    }

    /// What the part called `part` offers, of the offers of all.
    ///
    /// # Errors
    /// When none of them is of that part, or it is something else.
    pub fn of(peers: &[Offer], part: &str) -> Result<Self, Reason> {
        let missing = || Reason::new(Cause::Protocol, format!("no {part} among the peers"));
        Self::read(&peers.iter().find(|offer| offer.part == part).ok_or_else(missing)?.data)
    }

    /// Addresses in the order they are tried.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Connects `from` an endpoint to the part that offers this, as its connection of this number. The stream is
    /// blocking, without deadlines, and without Nagle's algorithm.
    pub fn connect(&self, from: &Endpoint<'_>, number: u32) -> Result<TcpStream, Reason> {
        let key = Key::from_hex(&self.key)
            .ok_or_else(|| Reason::new(Cause::Protocol, "the peer's key is malformed"))?;
        let own = if from.interface.is_some() { addresses_of(from)? } else { Vec::new() };
        let deadline = Instant::now() + WITHIN;
        loop {
            let mut refusals = Vec::new();
            for address in &self.addresses {
                let at = SocketAddr::new(*address, self.port);
                let source = own.iter().find(|own| own.is_ipv4() == address.is_ipv4());
                match call(from, source, at, &key, number) {
                    Ok(stream) => return Ok(stream),
                    Err(error) => refusals.push((at, error)),
                }
            }
            let again = refusals.iter().any(|(_, error)| is_hung_up(error));
            if !again || Instant::now() > deadline {
                return Err(refused(&refusals));
            }
            thread::sleep(AGAIN);
        }
    }
}

/// Whether somebody was there and had no time for us: too many unauthenticated callers came, or packets were lost.
fn is_hung_up(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionReset, UnexpectedEof, WouldBlock};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | WouldBlock)
}

fn refused(refusals: &[(SocketAddr, io::Error)]) -> Reason {
    let cause = refusals.last().map_or(Cause::Protocol, |(_, error)| super::cause(error));
    let words = |error: &io::Error| match error.kind() {
        io::ErrorKind::WouldBlock => format!("it did not answer within {} s", ANSWER_WITHIN.as_secs()),
        _ => error.to_string(),
    };
    let all: Vec<String> = refusals.iter().map(|(at, error)| format!("{at}: {}", words(error))).collect();
    Reason::new(cause, format!("the peer cannot be reached: {}", all.join("; ")))
}

fn call(
    from: &Endpoint<'_>,
    source: Option<&IpAddr>,
    at: SocketAddr,
    key: &Key,
    number: u32,
) -> io::Result<TcpStream> {
    let socket = from.socket(at.ip())?;
    if let Some(source) = source {
        // Without it the first route to the peer decides, which need not be that of the interface.
        if let Some(interface) = from.interface {
            // Needs no privilege since Linux 5.7; before, the address alone has to do.
            let _ = socket.bind_device(Some(interface.as_bytes()));
        }
        socket.bind(&SocketAddr::new(*source, 0).into())?;
    }
    socket.connect_timeout(&at.into(), ANSWER_WITHIN)?;
    let stream: TcpStream = socket.into();
    stream.set_nonblocking(false)?;
    let mut until = Until::new(&stream, ANSWER_WITHIN);
    exchange(&mut until, key, Side::Caller)?;
    until.write_all(&number.to_le_bytes())?;
    release(&stream)?;
    Ok(stream)
}

/// The state in which a stream is handed on.
pub(super) fn release(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)?;
    // Not every protocol of streams knows Nagle's algorithm by this option.
    match SockRef::from(stream).set_tcp_nodelay(true) {
        Err(error) if error.raw_os_error() != Some(NO_SUCH_OPTION) => Err(error),
        _ => Ok(()),
    }
}

/// `ENOPROTOOPT` of asm-generic/errno.h.
const NO_SUCH_OPTION: i32 = 92;
