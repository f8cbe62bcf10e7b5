//! The accepting end. Its thread runs from the connection to its end.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seatrial_model::{Cause, Integrity, Reason};
use serde_json::json;
use socket2::{Domain, Socket, Type};

use super::client::NUMBER;
use crate::port::tell_port;
use seatrial_bench::{REPLY_TIMEOUT, ServerEnd, ServerThread, Serving, Sink};

/// Connections that may wait to be accepted; the kernel allows at most `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

pub struct ConnectServer(Arc<Counts>);

#[derive(Default)]
struct Counts {
    accepted: AtomicU64,
    foreign: AtomicU64,
}

pub fn begin(mut streams: Vec<TcpStream>, cpu: Option<u32>) -> Result<Serving<ConnectServer>, Reason> {
    let failed = |error: io::Error| Reason::new(Cause::IoError, format!("opening a port: {error}"));
    let (listener, client) = open(&mut streams[0]).map_err(failed)?;
    let counts = Arc::<Counts>::default();
    let own = Arc::clone(&counts);
    let work = move |over: &AtomicBool| {
        serve(&listener, client, &own, over)
            .map_err(|error| Reason::new(Cause::IoError, format!("accepting connections: {error}")))
    };
    Ok(Serving { server: ServerThread::start(streams, cpu, work)?, end: ConnectServer(counts) })
}

impl ServerEnd for ConnectServer {
    fn is_deaf(&self) -> bool {
        true
    }

    fn tell(&self, _: &ServerThread, out: &mut dyn Sink) {
        out.evidence("accepted", json!(self.0.accepted.load(Ordering::Relaxed)));
        out.evidence("foreign", json!(self.0.foreign.load(Ordering::Relaxed)));
    }

    fn verify(&mut self, _: &mut ServerThread) -> Result<Integrity, Reason> {
        Ok(Integrity::Unverified { why: "the client checks that its number comes back".to_owned() })
    }
}

/// Opens a port on the address of the connection and sends it to the client; also returns the client's address.
fn open(control: &mut TcpStream) -> io::Result<(TcpListener, IpAddr)> {
    let own = control.local_addr()?;
    let socket = Socket::new(Domain::for_address(own), Type::STREAM, None)?;
    socket.bind(&std::net::SocketAddr::new(own.ip(), 0).into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    let listener: TcpListener = socket.into();
    tell_port(control, listener.local_addr()?.port())?;
    Ok((listener, control.peer_addr()?.ip()))
}

fn serve(listener: &TcpListener, client: IpAddr, counts: &Counts, over: &AtomicBool) -> io::Result<()> {
    let at_most = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while !over.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, from)) if from.ip() == client => {
                counts.accepted.fetch_add(1, Ordering::Relaxed);
                send_back(stream, over);
            }
            Ok(_) => _ = counts.foreign.fetch_add(1, Ordering::Relaxed),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&at_most)) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            // A connection that was reset before it was accepted.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Errors of one connection are reported by the client.
fn send_back(mut stream: TcpStream, over: &AtomicBool) {
    let mut number = [0; NUMBER];
    // Its calls block, as accept(2) of Linux inherits no such flag from the listener.
    let answered = stream
        .set_read_timeout(Some(REPLY_TIMEOUT))
        .and_then(|()| stream.read_exact(&mut number))
        .and_then(|()| stream.write_all(&number));
    // Without an exchange the client closes at once, and there is nothing to answer.
    if answered.is_ok() && !over.load(Ordering::Relaxed) {
        // The client closes first, so that no server port stays in TIME_WAIT.
        let _ = stream.read(&mut [0]);
    }
}
