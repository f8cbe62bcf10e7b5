//! The end that is connected to. It accepts from a thread of its own, from the meeting to the end.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seatrial_model::{Cause, Integrity, PartPlacement, Reason};
use serde_json::json;
use socket2::{Domain, Socket, Type};

use super::config::{ConnectConfig, NUMBER};
use seatrial_bench::Sink;
use seatrial_bench::{Listener, ServerSide, ServerThread};

/// A number that was announced comes within this, or the connection is given up.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connections that may wait to be accepted; the kernel allows at most `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

pub struct ConnectServer {
    config: ConnectConfig,
    cpu: Option<u32>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    accepted: AtomicU64,
    strangers: AtomicU64,
}

impl ConnectServer {
    pub fn new(config: ConnectConfig, place: &PartPlacement) -> Self {
        let cpu = place.bindings.first().map(|binding| binding.cpu);
        Self { config, cpu, shared: Arc::default() }
    }
}

impl ServerSide for ConnectServer {
    fn listen(&mut self) -> Result<Listener, Reason> {
        Listener::open(&self.config.endpoint())
    }

    fn begin(&mut self, listener: Listener) -> Result<ServerThread, Reason> {
        let mut control = listener.accept(1)?.only()?;
        let failed = |error: io::Error| Reason::new(Cause::IoError, format!("opening a port: {error}"));
        let (listener, client) = open(&mut control).map_err(failed)?;
        let shared = Arc::clone(&self.shared);
        let work = move |over: &AtomicBool| {
            serve(&listener, client, &shared, over)
                .map_err(|error| Reason::new(Cause::IoError, format!("accepting connections: {error}")))
        };
        ServerThread::start(vec![control], self.cpu, work)
    }

    fn is_deaf(&self) -> bool {
        true
    }

    fn tell(&self, _: &ServerThread, out: &mut dyn Sink) {
        out.evidence("accepted", json!(self.shared.accepted.load(Ordering::Relaxed)));
        out.evidence("strangers", json!(self.shared.strangers.load(Ordering::Relaxed)));
    }

    fn verify(&mut self, _: &mut ServerThread) -> Result<Integrity, Reason> {
        Ok(Integrity::Unverified { why: "the client sees whether its number comes back".to_owned() })
    }
}

/// A port on the address of the connection, of which the client is told; and where the client is.
fn open(control: &mut TcpStream) -> io::Result<(TcpListener, IpAddr)> {
    let own = control.local_addr()?;
    let socket = Socket::new(Domain::for_address(own), Type::STREAM, None)?;
    socket.bind(&std::net::SocketAddr::new(own.ip(), 0).into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    let listener: TcpListener = socket.into();
    control.write_all(&listener.local_addr()?.port().to_le_bytes())?;
    Ok((listener, control.peer_addr()?.ip()))
}

/// Accepts until nobody wants it any more. A number that comes is sent back.
fn serve(listener: &TcpListener, client: IpAddr, shared: &Shared, over: &AtomicBool) -> io::Result<()> {
    let at_most = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while !over.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, from)) if from.ip() == client => {
                shared.accepted.fetch_add(1, Ordering::Relaxed);
                send_back(stream, over);
            }
            Ok(_) => _ = shared.strangers.fetch_add(1, Ordering::Relaxed),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&at_most)) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            // One that was reset before it was accepted.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What becomes of one connection is the client's to tell.
fn send_back(mut stream: TcpStream, over: &AtomicBool) {
    let mut number = [0; NUMBER];
    let answered = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_read_timeout(Some(PATIENCE)))
        .and_then(|()| stream.read_exact(&mut number))
        .and_then(|()| stream.write_all(&number));
    // Without an exchange the client closes at once, and there is nothing to answer.
    if answered.is_ok() && !over.load(Ordering::Relaxed) {
        // The client closes first, so that no port of ours waits either.
        let _ = stream.read(&mut [0]);
    }
}
