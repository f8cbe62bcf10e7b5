//! The end that connects and holds the clock.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use seatrial_model::{Cause, Integrity, Nanos, PartPlacement, Phase, Reason};
use seatrial_sys::clock::now_ns;
use serde_json::json;
use socket2::{Domain, Socket, Type};

use super::config::{ConnectConfig, NUMBER};
use seatrial_bench::{PeerAddress, Sliced, beside, interface_of, pin};
use seatrial_bench::{Prepared, Running, Sink, Stop};

/// A connection that takes longer is not made: TCP has sent its first segment three times by then (RFC 6298, 2.1).
const PATIENCE: Duration = Duration::from_secs(5);

/// Channels of the samples.
pub const CHANNELS: [&str; 2] = ["connections", "median"];

pub struct ConnectClient {
    config: ConnectConfig,
    /// The connection that the two met on.
    control: TcpStream,
    /// Where the others go.
    at: SocketAddr,
    made: u64,
    checked: u64,
    latencies: Sliced,
}

impl ConnectClient {
    pub fn prepare(config: ConnectConfig, place: &PartPlacement) -> Result<Prepared, Reason> {
        if let Some(binding) = place.bindings.first() {
            pin(binding.cpu)?;
        }
        Prepared::new(place, (), |peers| {
            let mut control = PeerAddress::of(peers, "server")?.connect(&config.endpoint(), 0)?;
            let mut port = [0; 2];
            let met = control.set_read_timeout(Some(PATIENCE)).and_then(|()| control.read_exact(&mut port));
            let at = met.and_then(|()| control.peer_addr());
            let at = at.map_err(|error| beside("asking for the port", &error))?;
            let at = SocketAddr::new(at.ip(), u16::from_le_bytes(port));
            Ok(Self { config, control, at, made: 0, checked: 0, latencies: Sliced::new(CHANNELS) })
        })
    }

    /// Makes a connection and gives how long it took until it stood, the answer included if there is an exchange.
    fn connect(&mut self, exchange: bool) -> Result<Nanos, Reason> {
        let (at, number) = (self.at, self.made);
        let interface = self.config.interface.as_deref();
        let made = once(interface, at, exchange.then_some(number));
        self.made += 1;
        self.checked += if exchange { NUMBER as u64 } else { 0 };
        made.map_err(|error| match error.kind() {
            ErrorKind::InvalidData => Reason::new(Cause::CorruptData, error.to_string()),
            ErrorKind::AddrNotAvailable => {
                let text = format!(
                    "connection {number} to {at}: {error}: every local port waits for late packets of its last \
                     connection; widen net.ipv4.ip_local_port_range"
                );
                Reason::new(Cause::NoSpace, text)
            }
            _ => Reason::new(Cause::IoError, format!("connection {number} to {at}: {error}")),
        })
    }
}

/// One connection from an interface, with its number there and back if there is one.
fn once(interface: Option<&str>, at: SocketAddr, number: Option<u64>) -> io::Result<Nanos> {
    let start = Nanos(now_ns());
    let socket = Socket::new(Domain::for_address(at), Type::STREAM, None)?;
    // Closing sends a reset: a connection that is closed in order keeps its port for a minute, and there are not enough
    // ports for that (RFC 9293, 3.10.4).
    socket.set_linger(Some(Duration::ZERO))?;
    if let Some(interface) = interface {
        // Its address alone would take a port with it, before the kernel knows whom the port must be free for. Needs no
        // privilege since Linux 5.7; before, the route decides.
        let _ = socket.bind_device(Some(interface.as_bytes()));
    }
    socket.connect_timeout(&at.into(), PATIENCE)?;
    let Some(number) = number else { return Ok(Nanos(now_ns()).since(start)) };
    let mut stream: TcpStream = socket.into();
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&number.to_le_bytes())?;
    let mut answer = [0; NUMBER];
    stream.read_exact(&mut answer)?;
    let took = Nanos(now_ns()).since(start);
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
            let took = self.connect(self.config.exchange)?;
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

    /// One more connection, whose number must come back.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        match self.connect(true) {
            Ok(_) => Ok(Integrity::Verified { checked: self.checked }),
            Err(error) if error.cause == Cause::CorruptData => {
                Ok(Integrity::Corrupt { wrong: 1, of: self.made, first: error.text })
            }
            Err(error) => Err(error),
        }
    }
}
