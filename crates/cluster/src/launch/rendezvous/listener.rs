//! The port at which agents connect, and their authentication.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use seatrial_bench::PeerAddress;
use seatrial_sys::callers::Callers;
use seatrial_sys::proof::{Key, Side};

use super::ticket::prove;

/// Most callers in authentication at a time; beyond, the oldest is disconnected.
const ASKED_AT_ONCE: usize = 128;

/// Most of them from one address.
const ASKED_OF_ONE: usize = 64;

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// An open port; closed on drop.
pub(in crate::launch) struct RendezvousListener {
    port: u16,
    key: Key,
    closed: Arc<AtomicBool>,
    callers: Receiver<(SocketAddr, TcpStream)>,
    rejected: Arc<AtomicUsize>,
    accepting: Option<JoinHandle<()>>,
}

impl RendezvousListener {
    /// Opens a port on every address, since the nodes may reach any of them.
    pub(in crate::launch) fn open() -> io::Result<Self> {
        // A kernel without IPv6 has no `::`.
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0))
            .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let key = Key::random()?;
        let closed = Arc::new(AtomicBool::new(false));
        let rejected = Arc::new(AtomicUsize::new(0));
        let (admitted, callers) = sync_channel(ASKED_AT_ONCE);
        let accepting = AcceptThread {
            listener,
            key: key.clone(),
            admitted,
            closed: Arc::clone(&closed),
            asked: Arc::new(Callers::new(ASKED_AT_ONCE, ASKED_OF_ONE)),
            rejected: Arc::clone(&rejected),
        };
        let accepting =
            thread::Builder::new().name("listener".to_owned()).spawn(move || accepting.serve())?;
        Ok(Self { port, key, closed, callers, rejected, accepting: Some(accepting) })
    }

    pub(in crate::launch) fn ticket(&self) -> io::Result<PeerAddress> {
        let mut addresses: Vec<IpAddr> = if_addrs::get_if_addrs()?
            .into_iter()
            .filter(if_addrs::Interface::is_oper_up)
            .map(|interface| interface.ip())
            // Link-local addresses mean nothing without an interface.
            .filter(|address| match address {
                IpAddr::V4(four) => !four.is_link_local(),
                IpAddr::V6(six) => !six.is_unicast_link_local(),
            })
            .collect();
        // Loopback last: only an agent on this machine needs it; on another node, nothing at loopback has our key.
        addresses.sort_by_key(|address| (address.is_loopback(), address.is_ipv6()));
        Ok(PeerAddress::new(addresses, self.port, &self.key))
    }

    pub(in crate::launch) fn next(&self, within: Duration) -> Option<(SocketAddr, TcpStream)> {
        self.callers.recv_timeout(within).ok()
    }

    /// Callers that failed to authenticate, or were too many.
    pub(in crate::launch) fn rejected(&self) -> usize {
        self.rejected.load(Ordering::Relaxed)
    }
}

impl Drop for RendezvousListener {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // Joined, so that no port is open when the measurement begins.
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

struct AcceptThread {
    listener: TcpListener,
    key: Key,
    admitted: SyncSender<(SocketAddr, TcpStream)>,
    closed: Arc<AtomicBool>,
    asked: Arc<Callers>,
    rejected: Arc<AtomicUsize>,
}

impl AcceptThread {
    fn serve(self) {
        while !self.closed.load(Ordering::Relaxed) {
            match self.listener.accept() {
                Ok((stream, from)) => self.ask(stream, from),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(POLL_INTERVAL),
                // The caller hung up already, or no descriptor is free for the moment.
                Err(_) => thread::sleep(POLL_INTERVAL),
            }
        }
    }

    fn ask(&self, stream: TcpStream, from: SocketAddr) {
        let (key, admitted, rejected) = (self.key.clone(), self.admitted.clone(), Arc::clone(&self.rejected));
        let then = move |met| match met {
            // The fleet is complete.
            Ok(stream) => _ = admitted.try_send((from, stream)),
            Err(error) => {
                tracing::debug!("a caller from {from} was turned away: {error}");
                rejected.fetch_add(1, Ordering::Relaxed);
            }
        };
        let prove = move |stream| prove(stream, &key, Side::Listener);
        if self.asked.ask(stream, from.ip(), prove, then).is_err() {
            self.rejected.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dial_back;
    use super::*;
    use crate::frame::encode;
    use std::io::{Read, Write};
    use std::time::Instant;

    const SOON: Duration = Duration::from_secs(120);

    #[test]
    fn who_was_invited_is_let_in() {
        let listener = RendezvousListener::open().expect("a port");
        let text = encode(&listener.ticket().expect("addresses")).expect("fits");
        let calling = thread::spawn(move || dial_back(&text[..], Some(Ipv4Addr::LOCALHOST.into())));
        let (_, mut ours) = listener.next(SOON).expect("it came");
        let mut theirs = calling.join().expect("joined").expect("let in");
        theirs.write_all(b"frames").expect("written");
        let mut heard = [0; 6];
        ours.read_exact(&mut heard).expect("read");
        assert_eq!((&heard, listener.rejected()), (b"frames", 0));
    }

    #[test]
    fn other_callers_are_turned_away_and_hold_up_nobody() {
        let listener = RendezvousListener::open().expect("a port");
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, listener.port));
        // Some callers say nothing, some send wrong data, more than are authenticated at once.
        let silent: Vec<_> = (0..ASKED_AT_ONCE + 40).filter_map(|_| TcpStream::connect(at).ok()).collect();
        let mut wrong = TcpStream::connect(at).expect("connected");
        let _ = wrong.write_all(&[7; 4096]);
        drop(silent);
        drop(wrong);
        let text = encode(&listener.ticket().expect("addresses")).expect("fits");
        let calling = thread::spawn(move || dial_back(&text[..], Some(Ipv4Addr::LOCALHOST.into())));
        assert!(listener.next(SOON).is_some(), "the agent got through");
        calling.join().expect("joined").expect("let in");
        // Each caller has a thread, which may get no CPU for a while.
        let until = Instant::now() + SOON;
        while listener.rejected() == 0 {
            assert!(Instant::now() < until, "nobody was turned away");
            thread::sleep(POLL_INTERVAL);
        }
    }

    #[test]
    fn a_door_that_is_dropped_is_shut() {
        let listener = RendezvousListener::open().expect("a port");
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, listener.port));
        drop(listener);
        assert!(TcpStream::connect(at).is_err(), "the port is still open");
    }

    #[test]
    fn what_is_no_invitation_is_told() {
        assert!(dial_back(&b""[..], None).unwrap_err().contains("standard input is empty"));
        assert!(
            dial_back(&b"hello, world"[..], None)
                .unwrap_err()
                .contains("not the address and key of the run: ")
        );
    }
}
