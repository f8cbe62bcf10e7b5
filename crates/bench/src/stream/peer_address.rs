//! The address of a peer in an offer, and connecting to it.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Reason};
use seatrial_sys::proof::{Key, Side, authenticate};
use serde::{Deserialize, Serialize};
use socket2::SockRef;

use super::{ANSWER_WITHIN, Endpoint, WITHIN, addresses_of};

/// How long a rejected caller waits before the next attempt.
const AGAIN: Duration = Duration::from_millis(20);

/// Connections that are made at a time; a listener answers more than so many callers of one address.
const CALLS_AT_ONCE: usize = 32;

/// Where a process listens and the key to it, as it stands in an offer or another message that other programs do not see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerAddress {
    /// In the order of connection attempts.
    addresses: Vec<IpAddr>,
    port: u16,
    key: String,
}

impl PeerAddress {
    pub fn new(addresses: Vec<IpAddr>, port: u16, key: &Key) -> Self {
        Self { addresses, port, key: key.to_hex() }
    }

    /// Addresses in the order they are tried.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The first `count` connections `from` an endpoint to the part that offers this, in the order of their numbers. Each takes
    /// three round trips: over a long path many have time only side by side.
    pub fn connect_all(&self, from: &Endpoint, count: usize) -> Result<Vec<TcpStream>, Reason> {
        let numbers: Vec<u32> = (0..count as u32).collect();
        let mut streams = Vec::with_capacity(count);
        for some in numbers.chunks(CALLS_AT_ONCE) {
            let made: Result<Vec<TcpStream>, Reason> = thread::scope(|scope| {
                let calls: Vec<_> =
                    some.iter().map(|&number| scope.spawn(move || self.connect(from, number))).collect();
                let failed = || Reason::new(Cause::Protocol, "a thread that connects to the peer panicked");
                calls.into_iter().map(|call| call.join().unwrap_or_else(|_| Err(failed()))).collect()
            });
            streams.extend(made?);
        }
        Ok(streams)
    }

    /// Connects `from` an endpoint to the part that offers this, as its connection of this number. The stream is
    /// blocking, without deadlines, and without Nagle's algorithm.
    pub fn connect(&self, from: &Endpoint, number: u32) -> Result<TcpStream, Reason> {
        let malformed = || Reason::new(Cause::Protocol, "the peer's key is malformed");
        let key = self.key().ok_or_else(malformed)?;
        let own = if from.interface.is_some() { addresses_of(from)? } else { Vec::new() };
        let call = |at: SocketAddr| {
            let source = own.iter().find(|own| own.is_ipv4() == at.is_ipv4());
            call(from, source, at, &key, number)
        };
        self.reach(None, WITHIN, AGAIN, is_hung_up, call).map_err(|refusals| refused(&refusals))
    }

    /// Tries to `call` the address `first` and the others in their order until one answers. Where none does, and `is_passing`
    /// holds for a refusal, again after a `pause`, for no longer than `within`; then the refusals of the last round.
    pub fn reach<T>(
        &self,
        first: Option<IpAddr>,
        within: Duration,
        pause: Duration,
        is_passing: impl Fn(&io::Error) -> bool,
        call: impl Fn(SocketAddr) -> io::Result<T>,
    ) -> Result<T, Vec<(SocketAddr, io::Error)>> {
        let deadline = Instant::now() + within;
        loop {
            let mut refusals = Vec::new();
            for address in first.iter().chain(&self.addresses) {
                let at = SocketAddr::new(*address, self.port);
                match call(at) {
                    Ok(answer) => return Ok(answer),
                    Err(error) => refusals.push((at, error)),
                }
            }
            if Instant::now() > deadline || !refusals.iter().any(|(_, error)| is_passing(error)) {
                return Err(refusals);
            }
            thread::sleep(pause);
        }
    }

    /// The key; none where it is malformed.
    pub fn key(&self) -> Option<Key> {
        Key::from_hex(&self.key)
    }
}

/// Whether the peer closed the connection for lack of room: too many unauthenticated callers, or lost packets.
fn is_hung_up(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionReset, UnexpectedEof, WouldBlock};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | WouldBlock)
}

fn refused(refusals: &[(SocketAddr, io::Error)]) -> Reason {
    let cause = refusals.last().map_or(Cause::Protocol, |(_, error)| super::cause(error));
    let words = |error: &io::Error| match error.kind() {
        io::ErrorKind::WouldBlock => format!("it did not answer within {} s", ANSWER_WITHIN.as_secs()),
        io::ErrorKind::TimedOut => format!(
            "{error}: the request for a connection was not answered; a firewall drops it (`nft list ruleset` on both nodes), a \
             route is wrong, or the node is down"
        ),
        _ => error.to_string(),
    };
    let all: Vec<String> = refusals.iter().map(|(at, error)| format!("{at}: {}", words(error))).collect();
    Reason::new(cause, format!("the peer cannot be reached: {}", all.join("; ")))
}

fn call(
    from: &Endpoint,
    source: Option<&IpAddr>,
    at: SocketAddr,
    key: &Key,
    number: u32,
) -> io::Result<TcpStream> {
    let socket = from.socket(at.ip())?;
    if let Some(source) = source {
        from.bind_device(&socket);
        socket.bind(&SocketAddr::new(*source, 0).into())?;
    }
    socket.connect_timeout(&at.into(), ANSWER_WITHIN)?;
    let stream: TcpStream = socket.into();
    authenticate(&stream, key, Side::Caller, ANSWER_WITHIN, |until| until.write_all(&number.to_le_bytes()))?;
    disable_nagle(&stream)?;
    Ok(stream)
}

/// As far as the protocol knows Nagle's algorithm by this option: not every one of streams does.
pub(super) fn disable_nagle(stream: &TcpStream) -> io::Result<()> {
    match SockRef::from(stream).set_tcp_nodelay(true) {
        Err(error) if error.raw_os_error() != Some(NO_SUCH_OPTION) => Err(error),
        _ => Ok(()),
    }
}

/// `ENOPROTOOPT` of asm-generic/errno.h.
const NO_SUCH_OPTION: i32 = 92;
