//! The end that is connected to. It accepts from a thread of its own, from the meeting to the end.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seatrial_model::{Cause, Integrity, Phase, Place};
use serde_json::json;
use socket2::{Domain, Socket, Type};

use super::part::{NUMBER, Terms};
use crate::common::{Listening, pin};
use crate::{Error, Offer, Part, Sink, Stop};

/// How often a phase looks whether it is over.
const LOOK: Duration = Duration::from_millis(5);

/// A number that was announced comes within this, or the connection is given up.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connections that may wait to be accepted; the kernel allows at most `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// The accepting part.
pub struct Server {
    terms: Terms,
    place: Place,
    listening: Option<Listening>,
    serving: Option<Serving>,
}

struct Serving {
    control: TcpStream,
    thread: Option<JoinHandle<Result<(), Error>>>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    accepted: AtomicU64,
    strangers: AtomicU64,
    over: AtomicBool,
}

impl Server {
    pub fn new(terms: Terms, place: &Place) -> Self {
        Self { terms, place: place.clone(), listening: None, serving: None }
    }
}

impl Part for Server {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let listening = Listening::open(&self.terms.endpoint())?;
        let reach = listening.reach()?;
        self.listening = Some(listening);
        Ok(Offer::new(&self.place, json!(reach)))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        let listening = self
            .listening
            .take()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to connect before it listened"))?;
        let mut control = listening.accept(1)?.only()?;
        let failed = |error: io::Error| Error::new(Cause::IoError, format!("opening a port: {error}"));
        let (listener, client) = open(&mut control).map_err(failed)?;
        let shared = Arc::new(Shared::default());
        let (cpu, told) = (self.place.seats.first().map(|seat| seat.cpu), Arc::clone(&shared));
        let serve = move || {
            if let Some(cpu) = cpu {
                pin(cpu)?;
            }
            serve(&listener, client, &told)
                .map_err(|error| Error::new(Cause::IoError, format!("accepting connections: {error}")))
        };
        let thread = std::thread::Builder::new().name("serve".to_owned()).spawn(serve).map_err(|error| {
            Error::new(Cause::Denied, format!("cannot start a thread that serves: {error}"))
        })?;
        self.serving = Some(Serving { control, thread: Some(thread), shared });
        Ok(())
    }

    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let serving = self
            .serving
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was connected"))?;
        while !stop.is_over() {
            if serving.is_deserted() {
                let lost = Error::new(Cause::PartnerLost, "the client closed the connection");
                return serving.end().and(Err(lost));
            }
            std::thread::sleep(LOOK.min(stop.left()));
        }
        out.evidence("accepted", json!(serving.shared.accepted.load(Ordering::Relaxed)));
        out.evidence("strangers", json!(serving.shared.strangers.load(Ordering::Relaxed)));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        Ok(Integrity::Unverified { why: "the client sees whether its number comes back".to_owned() })
    }
}

impl Serving {
    fn is_deserted(&self) -> bool {
        let mut byte = [0];
        let hung_up =
            self.control.set_nonblocking(true).is_ok() && matches!(self.control.peek(&mut byte), Ok(0));
        hung_up || self.thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    fn end(&mut self) -> Result<(), Error> {
        self.shared.over.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(Error::new(Cause::Crash, "the serving thread panicked")),
            None => Ok(()),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.control.shutdown(Shutdown::Both);
        let _ = self.end();
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
fn serve(listener: &TcpListener, client: IpAddr, shared: &Shared) -> io::Result<()> {
    let at_most = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while !shared.over.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, from)) if from.ip() == client => {
                shared.accepted.fetch_add(1, Ordering::Relaxed);
                send_back(stream, shared);
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
fn send_back(mut stream: TcpStream, shared: &Shared) {
    let mut number = [0; NUMBER];
    let answered = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_read_timeout(Some(PATIENCE)))
        .and_then(|()| stream.read_exact(&mut number))
        .and_then(|()| stream.write_all(&number));
    // Without an exchange the client closes at once, and there is nothing to answer.
    if answered.is_ok() && !shared.over.load(Ordering::Relaxed) {
        // The client closes first, so that no port of ours waits either.
        let _ = stream.read(&mut [0]);
    }
}
