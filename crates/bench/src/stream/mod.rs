//! Stream connections (TCP, MPTCP, SCTP) between parts of a case, closed to all others.
//!
//! The listening part offers its port, its addresses and a key for this trial over the control channel. Both sides prove
//! the key before any payload, and the caller sends the number of its connection, so that neither a scanner nor another
//! run's part can join the measurement. The port is closed as soon as all peers are connected.

mod admit;
mod peer_address;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use seatrial_model::{Case, Cause, PartPlacement, Reason};
use seatrial_sys::proof::Key;
use serde_json::{Value, json};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::ends::interface_for;

pub use peer_address::PeerAddress;

/// How long the other end may say nothing before it counts as gone, whatever its transport still retries: TCP has sent its
/// first segment three times by then (RFC 6298, 2.1). Shorter than the engine's grace period, so that only the end that does
/// not answer is late, and is named.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long peers may take to come, and to prove who they are. The connect phase as a whole has its own deadline.
const WITHIN: Duration = Duration::from_secs(8);

/// How long one address may take to answer, and one caller to authenticate.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);

/// Where the connections of a part begin, and what sort they are.
#[derive(Clone)]
pub struct Endpoint {
    /// The interface; none leaves it to the routes.
    pub interface: Option<String>,
    /// Whether the peer is on this very node: then all goes over the loopback.
    pub alone: bool,
    /// The protocol other than TCP: MPTCP, SCTP.
    pub protocol: Option<Protocol>,
    /// Options that must be set before the connection is made, such as the sizes of buffers, which the window scale is
    /// agreed upon by. Called for the port and for every calling socket.
    pub options: Arc<SocketOptions>,
}

type SocketOptions = dyn Fn(SockRef<'_>) -> io::Result<()> + Send + Sync;

impl Endpoint {
    pub fn tcp(interface: Option<String>, alone: bool) -> Self {
        Self { interface, alone, protocol: None, options: Arc::new(|_| Ok(())) }
    }

    /// That of the part at `place`: TCP on the interface that the case names or the plan has found.
    pub fn of(case: &Case, place: &PartPlacement) -> Self {
        Self::tcp(interface_for(case, place.index), case.nodes.len() == 1)
    }

    /// Binds a socket to the interface, if one is named, so that the first route to the peer does not choose another. Needs no
    /// privilege since Linux 5.7; before, the address or the route has to do.
    pub fn bind_device(&self, socket: &Socket) {
        if let Some(interface) = &self.interface {
            let _ = socket.bind_device(Some(interface.as_bytes()));
        }
    }

    fn socket(&self, family: IpAddr) -> io::Result<Socket> {
        let protocol = self.protocol.unwrap_or(Protocol::TCP);
        let socket = Socket::new(Domain::for_address((family, 0).into()), Type::STREAM, Some(protocol))?;
        (self.options)(SockRef::from(&socket))?;
        Ok(socket)
    }
}

/// An open port for the peers of a case.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    key: Key,
    addresses: Vec<IpAddr>,
}

impl Listener {
    /// Opens a port: on the addresses of the endpoint's interface, or of all interfaces.
    ///
    /// # Errors
    /// When the interface has no address, or the system refuses.
    pub fn open(at: &Endpoint) -> Result<Self, Reason> {
        let failed = |what: &str, error: io::Error| Reason::new(cause(&error), format!("{what}: {error}"));
        let addresses = addresses_of(at)?;
        let own = match (at.interface.is_some() || at.alone, addresses[0]) {
            (true, one) => one,
            (false, IpAddr::V4(_)) if addresses.iter().all(IpAddr::is_ipv4) => Ipv4Addr::UNSPECIFIED.into(),
            (false, _) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = at.socket(own).map_err(|error| failed("making a socket", error))?;
        let opened = || {
            if own.is_ipv6() {
                socket.set_only_v6(false)?;
            }
            socket.bind(&SocketAddr::new(own, 0).into())?;
            socket.listen(admit::ASKED_AT_ONCE as i32)?;
            socket.set_nonblocking(true)
        };
        opened().map_err(|error| failed("opening a port", error))?;
        let key = Key::random().map_err(|error| failed("asking for a random key", error))?;
        Ok(Self { listener: socket.into(), key, addresses })
    }

    pub fn address(&self) -> Result<PeerAddress, Reason> {
        let port = self
            .listener
            .local_addr()
            .map_err(|error| Reason::new(Cause::IoError, error.to_string()))?
            .port();
        Ok(PeerAddress::new(self.addresses.clone(), port, &self.key))
    }

    /// The peer's `count` connections, ordered by number. Other callers are rejected without delay; the port is closed
    /// afterwards.
    pub fn accept(self, count: usize) -> Result<Accepted, Reason> {
        self.accept_within(count, WITHIN)
    }

    /// The same of peers that may take so long to come.
    pub fn accept_within(self, count: usize, within: Duration) -> Result<Accepted, Reason> {
        admit::admit(self.listener, &self.key, count, within)
    }
}

/// Open ports for the peers of a case, one for each of its paths, with the number of connections.
#[derive(Debug)]
pub struct Listeners(Vec<(Listener, usize)>);

impl Listeners {
    /// # Errors
    /// As [`Listener::open`].
    pub fn open(paths: &[(Endpoint, usize)]) -> Result<Self, Reason> {
        let open = |(endpoint, count): &(Endpoint, usize)| Ok((Listener::open(endpoint)?, *count));
        paths.iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// What the peer needs for [`connect_over`].
    pub fn addresses(&self) -> Result<Vec<PeerAddress>, Reason> {
        self.0.iter().map(|(listener, _)| listener.address()).collect()
    }

    /// The connections of each path, in the order of the paths.
    pub fn accept(self) -> Result<Vec<Accepted>, Reason> {
        self.0.into_iter().map(|(listener, count)| listener.accept(count)).collect()
    }
}

/// The connections of each path to the peer's [`Listeners`], in the order of the paths.
pub fn connect_over(
    paths: &[(Endpoint, usize)],
    offered: &[PeerAddress],
) -> Result<Vec<Vec<TcpStream>>, Reason> {
    if offered.len() != paths.len() {
        let text = format!("the peer offers {} paths, not {}", offered.len(), paths.len());
        return Err(Reason::new(Cause::Protocol, text));
    }
    paths.iter().zip(offered).map(|((endpoint, count), peer)| peer.connect_all(endpoint, *count)).collect()
}

/// Connections of a peer.
#[derive(Debug)]
pub struct Accepted {
    pub streams: Vec<TcpStream>,
    /// Callers without the key, or too many at once.
    pub foreign: usize,
}

impl Accepted {
    pub fn only(mut self) -> Result<TcpStream, Reason> {
        self.streams.pop().ok_or_else(|| Reason::new(Cause::Protocol, "no connection was asked for"))
    }
}

/// The cause of a failed system call.
fn cause(error: &io::Error) -> Cause {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Cause::Denied,
        // The kernel lacks the protocol: EPROTONOSUPPORT, EAFNOSUPPORT.
        io::ErrorKind::Unsupported => Cause::Missing,
        // Our own deadline: EAGAIN.
        io::ErrorKind::WouldBlock => Cause::PartnerLost,
        _ => match error.raw_os_error() {
            Some(number) if UNSUPPORTED.contains(&number) => Cause::Missing,
            _ => Cause::IoError,
        },
    }
}

/// Whether an error of a socket only says that nothing moved within its own deadline, or that a signal came.
pub fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// The error of an option of a connection that cannot be set.
pub fn setting_up(error: io::Error) -> Reason {
    Reason::new(Cause::IoError, format!("setting up a connection: {error}"))
}

/// What an `error` on a connection comes to that only carries words between the parts, while they are `doing` something: that
/// the peer says nothing or is gone speaks against nobody.
pub fn beside(doing: &str, error: &io::Error) -> Reason {
    use io::ErrorKind::{ConnectionReset, TimedOut, UnexpectedEof, WouldBlock};
    let said = match error.kind() {
        WouldBlock | TimedOut => "the peer said nothing in time",
        UnexpectedEof | ConnectionReset => "the peer closed the connection",
        _ => return Reason::new(Cause::IoError, format!("{doing}: {error}")),
    };
    Reason::new(Cause::PartnerLost, format!("{doing}: {said}"))
}

/// `EPROTONOSUPPORT`, `ESOCKTNOSUPPORT` and `EAFNOSUPPORT` of asm-generic/errno.h.
const UNSUPPORTED: [i32; 3] = [93, 94, 97];

/// The addresses by which a peer reaches the endpoint; at least one.
fn addresses_of(at: &Endpoint) -> Result<Vec<IpAddr>, Reason> {
    if at.alone {
        return Ok(vec![Ipv4Addr::LOCALHOST.into()]);
    }
    let found = addresses(at.interface.as_deref()).map_err(|error| {
        Reason::new(Cause::IoError, format!("asking for the addresses of this node: {error}"))
    })?;
    if found.is_empty() {
        let text = match &at.interface {
            Some(name) => format!("interface {name} has no address that a peer could reach"),
            None => "no interface of this node has an address that a peer could reach".to_owned(),
        };
        return Err(Reason::new(Cause::Missing, text));
    }
    Ok(found)
}

/// Addresses of one or all interfaces that are up; IPv4 first, without loopback and link-local addresses.
fn addresses(interface: Option<&str>) -> io::Result<Vec<IpAddr>> {
    let mut found: Vec<IpAddr> = if_addrs::get_if_addrs()?
        .into_iter()
        .filter(|known| interface.is_none_or(|name| known.name == name) && known.is_oper_up())
        .map(|known| known.ip())
        .filter(|address| match address {
            IpAddr::V4(four) => !four.is_loopback() && !four.is_link_local(),
            IpAddr::V6(six) => !six.is_loopback() && !six.is_unicast_link_local(),
        })
        .collect();
    found.sort_by_key(IpAddr::is_ipv6);
    Ok(found)
}

/// Second handles to connections, such as those by which a [`crate::ServerThread`] hangs up.
pub fn second_handles(streams: &[TcpStream]) -> Result<Vec<TcpStream>, Reason> {
    let handles = streams.iter().map(TcpStream::try_clone).collect::<io::Result<_>>();
    handles.map_err(|error| {
        Reason::new(Cause::IoError, format!("cannot make a second handle to a connection: {error}"))
    })
}

/// The interface that a connection's own end has its address from; none when nobody has it any more.
pub fn interface_of(stream: &TcpStream) -> Option<String> {
    let own = stream.local_addr().ok()?.ip().to_canonical();
    let known = if_addrs::get_if_addrs().ok()?;
    known.into_iter().find(|known| known.ip() == own).map(|known| known.name)
}

/// For the record: the interface of a connection and the addresses of its ends.
pub fn connection_evidence(stream: &TcpStream) -> Value {
    json!({ "interface": interface_of(stream), "ends": (stream.local_addr().ok(), stream.peer_addr().ok()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::thread;

    fn here() -> Endpoint {
        Endpoint::tcp(None, true)
    }

    #[test]
    fn a_deadline_of_our_own_is_told_in_words_and_is_no_verdict() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut stream = TcpStream::connect(listener.local_addr().expect("an address")).expect("connects");
        stream.set_read_timeout(Some(Duration::from_millis(10))).expect("set");
        let error = stream.read_exact(&mut [0]).expect_err("nobody says anything");
        let told = beside("asking for the port", &error);
        assert_eq!(
            told,
            Reason::new(Cause::PartnerLost, "asking for the port: the peer said nothing in time")
        );
        assert_eq!(cause(&error), Cause::PartnerLost);
    }

    #[test]
    fn two_parts_on_one_node_meet_on_the_loopback() {
        let listener = Listener::open(&here()).expect("a port");
        let address = listener.address().expect("told");
        let accepting = thread::spawn(move || listener.accept(1));
        let mut ours = address.connect(&here(), 0).expect("connected");
        let mut theirs = accepting.join().expect("joined").and_then(Accepted::only).expect("accepted");
        ours.write_all(b"hello").expect("written");
        let mut heard = [0; 5];
        theirs.read_exact(&mut heard).expect("read");
        assert_eq!((&heard, interface_of(&ours).as_deref()), (b"hello", Some("lo")));
    }

    #[test]
    fn connections_are_told_apart_by_their_numbers() {
        let listener = Listener::open(&here()).expect("a port");
        let address = listener.address().expect("told");
        let accepting = thread::spawn(move || listener.accept(3));
        let callers = [2, 0, 1].map(|number| {
            let mut stream = address.connect(&here(), number).expect("connected");
            stream.write_all(&[number as u8]).expect("written");
            stream
        });
        let accepted = accepting.join().expect("joined").expect("all came");
        for (number, mut stream) in accepted.streams.into_iter().enumerate() {
            let mut said = [0];
            stream.read_exact(&mut said).expect("read");
            assert_eq!(usize::from(said[0]), number);
        }
        drop(callers);
    }

    /// Passes on what the two ends say, each time 100 ms later.
    fn pass_on_late(near: &TcpStream, at: SocketAddr) {
        let far = TcpStream::connect(at).expect("connected");
        for (from, to) in [(near, &far), (&far, near)] {
            let (mut from, mut to) = (from.try_clone().expect("a handle"), to.try_clone().expect("a handle"));
            thread::spawn(move || {
                let mut bytes = [0; 256];
                while let Ok(read @ 1..) = from.read(&mut bytes) {
                    thread::sleep(Duration::from_millis(100));
                    if to.write_all(&bytes[..read]).is_err() {
                        return;
                    }
                }
            });
        }
    }

    #[test]
    fn many_connections_over_a_long_path_come_in_time() {
        let listener = Listener::open(&here()).expect("a port");
        let address = listener.address().expect("told");
        let at = SocketAddr::new(address.addresses()[0], address.port());
        let way = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = way.local_addr().expect("an address").port();
        let far = PeerAddress::new(vec![Ipv4Addr::LOCALHOST.into()], port, &address.key().expect("a key"));
        thread::spawn(move || way.incoming().flatten().for_each(|near| pass_on_late(&near, at)));
        let accepting = thread::spawn(move || listener.accept(64));
        // One after the other they would take twice the time that a peer has.
        let mut ours = far.connect_all(&here(), 64).expect("all are connected");
        let theirs = accepting.join().expect("joined").expect("all came");
        for (number, stream) in ours.iter_mut().enumerate() {
            stream.write_all(&[number as u8]).expect("written");
        }
        for (number, mut stream) in theirs.streams.into_iter().enumerate() {
            let mut said = [0];
            stream.read_exact(&mut said).expect("read");
            assert_eq!(usize::from(said[0]), number);
        }
    }

    #[test]
    fn callers_who_say_nothing_or_nonsense_hold_up_nobody() {
        let listener = Listener::open(&here()).expect("a port");
        let address = listener.address().expect("told");
        let at = SocketAddr::new(address.addresses()[0], address.port());
        let accepting = thread::spawn(move || listener.accept(1));
        let silent: Vec<_> = (0..20).map(|_| TcpStream::connect(at).expect("connected")).collect();
        let mut loud = TcpStream::connect(at).expect("connected");
        loud.write_all(&[7; 64]).expect("written");
        // The stream ends: the caller was rejected.
        while loud.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
        let ours = address.connect(&here(), 0).expect("connected");
        let accepted = accepting.join().expect("joined").expect("accepted");
        assert_eq!((accepted.streams.len(), accepted.foreign), (1, 21));
        drop((silent, ours));
    }

    #[test]
    fn a_peer_gets_through_when_more_others_call_than_are_asked() {
        let listener = Listener::open(&here()).expect("a port");
        let address = listener.address().expect("told");
        let at = SocketAddr::new(address.addresses()[0], address.port());
        let accepting = thread::spawn(move || listener.accept(1));
        let silent: Vec<_> =
            (0..admit::ASKED_AT_ONCE + 40).filter_map(|_| TcpStream::connect(at).ok()).collect();
        let calling = thread::spawn(move || address.connect(&here(), 0));
        drop(silent);
        let accepted = accepting.join().expect("joined").expect("accepted");
        assert!(calling.join().expect("joined").is_ok() && accepted.foreign > 0);
    }

    #[test]
    fn options_are_set_before_the_connection_is_made() {
        let small = Endpoint { options: Arc::new(|socket| socket.set_recv_buffer_size(16 << 10)), ..here() };
        let listener = Listener::open(&small).expect("a port");
        let address = listener.address().expect("told");
        let accepting = thread::spawn(move || listener.accept(1));
        let ours = address.connect(&small, 0).expect("connected");
        let theirs = accepting.join().expect("joined").and_then(Accepted::only).expect("accepted");
        for stream in [&ours, &theirs] {
            // The kernel doubles the value (socket(7)).
            assert_eq!(SockRef::from(stream).recv_buffer_size().expect("told"), 32 << 10);
        }
    }

    #[test]
    fn a_protocol_that_the_kernel_has_not_got_is_missing() {
        let none = Endpoint { protocol: Some(Protocol::from(250)), ..here() };
        let error = Listener::open(&none).expect_err("refused");
        assert_eq!(error.cause, Cause::Missing, "{}", error.text);
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let error = Listener::open(&Endpoint::tcp(Some("warp0".to_owned()), false)).expect_err("refused");
        assert_eq!(error.cause, Cause::Missing);
        assert!(error.text.contains("warp0"));
    }
}
