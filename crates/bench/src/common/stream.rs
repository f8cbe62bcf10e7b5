//! TCP connections between parts of a case, which let in nobody but each other.
//!
//! The listening part offers its port, its addresses and a key made for this trial; the offer travels on the control
//! channel. Both sides prove the key before a byte of the test flows, so that neither a scanner nor another run's part
//! can end up in the measurement. The port is closed as soon as the peer is there.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use seatrial_model::Cause;
use seatrial_sys::proof::{Key, Side, exchange};
use serde::{Deserialize, Serialize};

use crate::Error;

/// How long a peer may take to come, and to prove who it is. The connect phase as a whole has its own deadline.
const WITHIN: Duration = Duration::from_secs(8);

/// How long one address may take to answer.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// How often an open port is looked at.
const LOOK: Duration = Duration::from_millis(1);

/// An open port for one peer.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    key: Key,
    addresses: Vec<IpAddr>,
}

/// What the peer must know, as it stands in an offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// Addresses in the order they are tried.
    pub addresses: Vec<IpAddr>,
    /// The port.
    pub port: u16,
    key: String,
}

impl Listening {
    /// Opens a port. With `interface` only on the addresses of that one; without, on all of them. `alone` says that the
    /// peer is on this very node, and offers the loopback.
    ///
    /// # Errors
    /// When the interface has no address, or the system refuses.
    pub fn open(interface: Option<&str>, alone: bool) -> Result<Self, Error> {
        let failed = |what: &str, error: io::Error| Error::new(Cause::IoError, format!("{what}: {error}"));
        let addresses = if alone {
            vec![Ipv4Addr::LOCALHOST.into()]
        } else {
            addresses(interface).map_err(|error| failed("asking for the addresses of this node", error))?
        };
        let first = addresses.first().ok_or_else(|| {
            let text = match interface {
                Some(name) => format!("interface {name} has no address that a peer could reach"),
                None => "no interface of this node has an address that a peer could reach".to_owned(),
            };
            Error::new(Cause::Missing, text)
        })?;
        let at: IpAddr = match (interface.is_some() || alone, first) {
            (true, one) => *one,
            (false, IpAddr::V4(_)) if addresses.iter().all(IpAddr::is_ipv4) => Ipv4Addr::UNSPECIFIED.into(),
            (false, _) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let listener = TcpListener::bind((at, 0)).map_err(|error| failed("opening a port", error))?;
        listener.set_nonblocking(true).map_err(|error| failed("setting up the port", error))?;
        let key = Key::random().map_err(|error| failed("asking for a random key", error))?;
        Ok(Self { listener, key, addresses })
    }

    /// What the peer must know.
    ///
    /// # Errors
    /// When the system does not tell the port.
    pub fn reach(&self) -> Result<Reach, Error> {
        let port =
            self.listener.local_addr().map_err(|error| Error::new(Cause::IoError, error.to_string()))?.port();
        Ok(Reach { addresses: self.addresses.clone(), port, key: self.key.to_hex() })
    }

    /// The peer's connection. Strangers are turned away and waited past; the port is closed afterwards.
    ///
    /// # Errors
    /// When the peer does not come in time.
    pub fn accept(self) -> Result<TcpStream, Error> {
        let deadline = Instant::now() + WITHIN;
        let mut strangers = 0;
        while Instant::now() < deadline {
            match self.listener.accept() {
                Ok((stream, _)) => match prove(stream, &self.key, Side::Listener) {
                    Ok(stream) => return Ok(stream),
                    Err(_) => strangers += 1,
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(LOOK),
                Err(error) => {
                    return Err(Error::new(
                        Cause::IoError,
                        format!("waiting for the peer to connect: {error}"),
                    ));
                }
            }
        }
        let others =
            if strangers == 0 { String::new() } else { format!("; {strangers} others did, without the key") };
        let text = format!("the peer did not connect within {} s{others}", WITHIN.as_secs());
        Err(Error::new(Cause::PartnerLost, text))
    }
}

impl Reach {
    /// Connects to the part that offers this.
    ///
    /// # Errors
    /// What each address answered.
    pub fn connect(&self) -> Result<TcpStream, Error> {
        let key =
            Key::from_hex(&self.key).ok_or_else(|| Error::new(Cause::Protocol, "the peer's key is none"))?;
        let mut refusals = Vec::new();
        for address in &self.addresses {
            let at = SocketAddr::new(*address, self.port);
            let connected = TcpStream::connect_timeout(&at, CONNECT_WITHIN);
            match connected.and_then(|stream| prove(stream, &key, Side::Caller)) {
                Ok(stream) => return Ok(stream),
                Err(error) => refusals.push(format!("{at}: {error}")),
            }
        }
        Err(Error::new(Cause::IoError, format!("the peer cannot be reached: {}", refusals.join("; "))))
    }
}

/// Leaves the stream blocking, without a deadline, and without Nagle's algorithm.
fn prove(mut stream: TcpStream, key: &Key, side: Side) -> io::Result<TcpStream> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(CONNECT_WITHIN))?;
    stream.set_write_timeout(Some(CONNECT_WITHIN))?;
    exchange(&mut stream, key, side)?;
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Addresses of the interfaces that are up, of one or of all; IPv4 first, the loopback and link-local ones left out.
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

/// The interface that a connection's own end has its address from; none when nobody has it any more.
pub fn interface_of(stream: &TcpStream) -> Option<String> {
    let own = stream.local_addr().ok()?.ip().to_canonical();
    let known = if_addrs::get_if_addrs().ok()?;
    known.into_iter().find(|known| known.ip() == own).map(|known| known.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::thread;

    #[test]
    fn two_parts_on_one_node_meet_on_the_loopback() {
        let listening = Listening::open(None, true).expect("a port");
        let reach = listening.reach().expect("told");
        let accepting = thread::spawn(move || listening.accept());
        let mut ours = reach.connect().expect("connected");
        let mut theirs = accepting.join().expect("joined").expect("accepted");
        ours.write_all(b"hello").expect("written");
        let mut heard = [0; 5];
        theirs.read_exact(&mut heard).expect("read");
        assert_eq!((&heard, interface_of(&ours).as_deref()), (b"hello", Some("lo")));
    }

    #[test]
    fn a_stranger_is_waited_past() {
        let listening = Listening::open(None, true).expect("a port");
        let reach = listening.reach().expect("told");
        let at = SocketAddr::new(reach.addresses[0], reach.port);
        let accepting = thread::spawn(move || listening.accept());
        let mut stranger = TcpStream::connect(at).expect("connected");
        stranger.write_all(&[0; 64]).expect("written");
        let ours = reach.connect().expect("connected");
        assert!(accepting.join().expect("joined").is_ok());
        drop((stranger, ours));
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let error = Listening::open(Some("warp0"), false).expect_err("refused");
        assert_eq!(error.cause, Cause::Missing);
        assert!(error.text.contains("warp0"));
    }
}
