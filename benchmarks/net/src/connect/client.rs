//! The connecting end, which takes the times.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::io::Errno;
use seatrial_model::{Cause, Integrity, Nanos, Phase, Reason};
use seatrial_sys::clock::now_ns;
use serde_json::json;
use socket2::{Domain, Socket, Type};

use crate::port::peer_port;
use seatrial_bench::{Endpoint, REPLY_TIMEOUT, Running, Sink, Sliced, Stop, beside, interface_of};

/// Bytes each way of an exchange: the connection's number.
pub const NUMBER: usize = 8;

pub const CHANNELS: [&str; 2] = ["connections", "median"];

pub struct ConnectClient {
    endpoint: Endpoint,
    exchange: bool,
    control: TcpStream,
    at: SocketAddr,
    made: u64,
    checked: u64,
    latencies: Sliced,
}

impl ConnectClient {
    pub fn begin(mut streams: Vec<TcpStream>, endpoint: Endpoint, exchange: bool) -> Result<Self, Reason> {
        let mut control = streams.remove(0);
        let at = control.set_read_timeout(Some(REPLY_TIMEOUT)).and_then(|()| peer_port(&mut control));
        let at = at.map_err(|error| beside("asking for the port", &error))?;
        let latencies = Sliced::new(CHANNELS);
        Ok(Self { endpoint, exchange, control, at, made: 0, checked: 0, latencies })
    }

    /// Time to establish a connection, including the answer with an exchange.
    fn connect(&mut self, exchange: bool) -> Result<Nanos, Reason> {
        let (at, number) = (self.at, self.made);
        let made = once(&self.endpoint, at, exchange.then_some(number));
        self.made += 1;
        self.checked += if exchange { NUMBER as u64 } else { 0 };
        made.map_err(|error| match error.kind() {
            ErrorKind::InvalidData => Reason::new(Cause::CorruptData, error.to_string()),
            ErrorKind::AddrNotAvailable => {
                let text = format!(
                    "connection {number} to {at}: {error}: all local ports wait for late packets of their last \
                     connection (TIME_WAIT); widen net.ipv4.ip_local_port_range"
                );
                Reason::new(Cause::NoSpace, text)
            }
            _ => Reason::new(Cause::IoError, format!("connection {number} to {at}: {error}")),
        })
    }
}

/// The timeout of a socket ends connect(2) with EINPROGRESS.
fn in_time(error: io::Error) -> io::Error {
    if error.raw_os_error() != Some(Errno::INPROGRESS.raw_os_error()) {
        return error;
    }
    io::Error::new(ErrorKind::TimedOut, format!("no answer for {} s", REPLY_TIMEOUT.as_secs()))
}

/// One connection from an endpoint; with a number also its exchange.
fn once(endpoint: &Endpoint, at: SocketAddr, number: Option<u64>) -> io::Result<Nanos> {
    let start = Nanos(now_ns());
    let socket = Socket::new(Domain::for_address(at), Type::STREAM, None)?;
    // Binding the address would also pick a port, before the kernel knows the destination.
    endpoint.bind_device(&socket);
    // The longest wait of connect(2) too (socket(7)), in one call, where a connection that does not block takes six.
    socket.set_write_timeout(Some(REPLY_TIMEOUT))?;
    socket.connect(&at.into()).map_err(in_time)?;
    let connected = Nanos(now_ns()).since(start);
    // Closes with a reset: an orderly close would keep the port in TIME_WAIT for a minute, and there are not enough
    // ports for that (RFC 9293, 3.10.4).
    let reset = |socket: &Socket| socket.set_linger(Some(Duration::ZERO));
    let Some(number) = number else { return reset(&socket).map(|()| connected) };
    let mut stream: TcpStream = socket.into();
    stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
    stream.write_all(&number.to_le_bytes())?;
    let mut answer = [0; NUMBER];
    stream.read_exact(&mut answer)?;
    let took = Nanos(now_ns()).since(start);
    reset(&stream.into())?;
    if u64::from_le_bytes(answer) == number {
        return Ok(took);
    }
    let text = format!("connection {number} was answered with {}", u64::from_le_bytes(answer));
    Err(io::Error::new(ErrorKind::InvalidData, text))
}

impl Running for ConnectClient {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let before = self.made;
        self.latencies.begin(Nanos(now_ns()));
        while !stop.is_over() {
            let took = self.connect(self.exchange)?;
            self.latencies.add(took, Nanos(now_ns()), out);
        }
        self.latencies.end(Nanos(now_ns()), out);
        if phase == Phase::Measure {
            out.evidence("connections", self.latencies.all().to_evidence());
            out.evidence("made", json!(self.made - before));
            let ends = (self.control.local_addr().ok().map(|own| own.ip()), self.at);
            out.evidence("connection", json!({ "interface": interface_of(&self.control), "ends": ends }));
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let made = self.connect(true);
        Integrity::of_check(made.map(|_| Integrity::Verified { checked: self.checked }), self.made)
    }
}
