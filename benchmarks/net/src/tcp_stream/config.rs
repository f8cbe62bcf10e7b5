//! The configuration of both ends, read from the case.

use std::fmt;
use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use seatrial_model::{Binding, Case, Cause, PartPlacement, Reason, Value};
use seatrial_sys::net;
use socket2::SockRef;

use super::method::{Method, Receiving, Sending};
use seatrial_bench::Direction;
use seatrial_bench::{Endpoint, ends};

use crate::{max_segment, protocol, rails};

/// Default message size in bytes: large enough that system calls do not matter, small enough for the L2 cache.
pub const MESSAGE: usize = 128 << 10;

/// Least bytes of a receive buffer per call. A call may return fewer.
const ROOM: usize = 128 << 10;

/// Receive buffer of SCTP, which the kernel does not enlarge by itself as it does TCP's. The default of 208 KiB holds three
/// packets of 32 KiB over the loopback, where each takes twice its size; the kernel drops what comes beyond, and the sender
/// waits for a timer of a second.
const SCTP_BUFFER: u64 = 4 << 20;

/// Time of a slice in a trial of usual length, in nanoseconds.
const SLICE_NS: u64 = 10_000_000;

/// Slices of a flow per trial; longer trials have longer slices.
const SLICES: u64 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    pub direction: Direction,
    /// Number within the direction, from 0.
    pub flow: u32,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flow {} {}", self.flow, self.direction.word())
    }
}

#[derive(Clone, Debug)]
pub struct TcpStreamConfig {
    pub client: bool,
    pub flows: Vec<Name>,
    pub message: usize,
    pub room: usize,
    pub buffer: Option<usize>,
    /// MTU in bytes that packets keep to, if the path allows more.
    pub mtu: Option<u32>,
    pub congestion: Option<String>,
    pub nodelay: bool,
    pub pacing: Option<u64>,
    /// `None`: the warm-up tries all methods.
    pub send: Option<Sending>,
    pub receive: Option<Receiving>,
    pub protocol: String,
    pub interface: Option<String>,
    /// Interfaces of this end that the flows are distributed over; empty if there is one path.
    pub rails: Vec<String>,
    /// Whether they lead to other rails of the other node.
    pub crossed: bool,
    pub alone: bool,
    pub bindings: Vec<Binding>,
    pub slice_ns: u64,
    /// Slices per trial, with room for a trial that ends late.
    pub slices: usize,
    /// Rest after each receive call: stands in for a slow program in tests.
    pub rest: Duration,
}

impl TcpStreamConfig {
    pub fn of(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let params = &case.params;
        let word = |name: &str| params.text(name).map(|word| Some(word).filter(|word| *word != "auto"));
        let protocol = params.text("protocol")?.to_owned();
        let tcp = protocol == "tcp";
        let flows = params.count("flows")? as u32;
        let directions = Direction::asked(params).iter().copied();
        let message = params.bytes("message")?.map_or(MESSAGE, |bytes| bytes.get() as usize);
        let pacing = match params.get("pacing") {
            Some(Value::Number(mbit)) => Some((mbit * 125_000.0) as u64),
            Some(Value::Count(mbit)) => Some(mbit * 125_000),
            _ => None,
        };
        let slice_ns = (case.budget.measure.get() / SLICES).max(SLICE_NS);
        Ok(Self {
            client: place.part == "client",
            flows: directions
                .flat_map(|direction| (0..flows).map(move |flow| Name { direction, flow }))
                .collect(),
            message,
            room: message.max(ROOM),
            buffer: params.bytes("buffer")?.map(|bytes| bytes.get() as usize),
            mtu: max_segment::asked(params),
            congestion: word("congestion")?.map(str::to_owned),
            nodelay: params.flag("nodelay")?,
            pacing,
            // Other protocols lack most methods, so they use write and read by default.
            send: word("send")?.and_then(Sending::find).or((!tcp).then_some(Sending::Write)),
            receive: word("receive")?.and_then(Receiving::find).or((!tcp).then_some(Receiving::Read)),
            protocol,
            interface: ends::interface_for(case, place.index),
            rails: rails::at(case, place),
            crossed: rails::are_crossed(case),
            alone: case.nodes.len() == 1,
            bindings: place.bindings.clone(),
            slice_ns,
            slices: (case.budget.measure.get() / slice_ns) as usize * 2 + 64,
            rest: Duration::ZERO,
        })
    }

    pub fn sends(&self, name: Name) -> bool {
        (name.direction == Direction::Forward) == self.client
    }

    /// The endpoints of the paths, each with its number of flows.
    pub fn paths(&self) -> Vec<(Endpoint, usize)> {
        if self.rails.is_empty() {
            return vec![(self.endpoint(self.interface.clone()), self.flows.len())];
        }
        let count = |rail: usize| self.flows.iter().filter(|name| self.rail_of(**name) == rail).count();
        let path = |(rail, name): (usize, &String)| {
            let endpoint = self.endpoint(Some(name.clone()));
            (if self.crossed { rails::strict(endpoint) } else { endpoint }, count(rail))
        };
        self.rails.iter().enumerate().map(path).collect()
    }

    pub fn rail_of(&self, name: Name) -> usize {
        rails::rail_of(name.flow, self.rails.len())
    }

    /// Puts values that were made path by path into the order of the flows.
    pub fn in_order<T>(&self, by_path: Vec<Vec<T>>) -> Vec<T> {
        let mut by_path: Vec<_> = by_path.into_iter().map(Vec::into_iter).collect();
        self.flows.iter().filter_map(|name| by_path.get_mut(self.rail_of(*name))?.next()).collect()
    }

    /// An end of a path, with the options that must be set before a connection exists.
    fn endpoint(&self, interface: Option<String>) -> Endpoint {
        let config = self.clone();
        Endpoint {
            interface,
            alone: self.alone,
            protocol: protocol::of(&self.protocol),
            options: Arc::new(move |socket| config.set_options(&socket)),
        }
    }

    fn set_options(&self, socket: &SockRef<'_>) -> io::Result<()> {
        if let Some(bytes) = self.buffer {
            socket.set_recv_buffer_size(bytes)?;
            socket.set_send_buffer_size(bytes)?;
        } else if self.protocol == "sctp" {
            net::datagram::grant_receive_buffer(&**socket, Some(SCTP_BUFFER))?;
        }
        if let Some(mtu) = self.mtu.filter(|_| self.client) {
            max_segment::set(socket, mtu)?;
        }
        match &self.congestion {
            Some(name) => socket.set_tcp_congestion(name.as_bytes()),
            None => Ok(()),
        }
    }

    /// Sets the options of a connection, with timeouts so short that the end of a phase is noticed in time.
    pub fn set_up(&self, name: Name, stream: &TcpStream) -> Result<(), Reason> {
        let failed = |what: &str, error: io::Error| {
            Reason::new(Cause::IoError, format!("{name}: setting {what}: {error}"))
        };
        let while_blocked = Some(Duration::from_millis(10));
        let deadlines = || {
            stream.set_read_timeout(while_blocked)?;
            stream.set_write_timeout(while_blocked)
        };
        deadlines().map_err(|error| failed("deadlines", error))?;
        match self.protocol.as_str() {
            "sctp" => net::set_sctp_nodelay(stream, self.nodelay).map_err(io::Error::from),
            _ => stream.set_nodelay(self.nodelay),
        }
        .map_err(|error| failed("no-delay", error))?;
        if let Some(rate) = self.pacing.filter(|_| self.sends(name)) {
            net::set_max_pacing_rate(stream, rate).map_err(|error| failed("a pacing rate", error.into()))?;
        }
        Ok(())
    }

    /// Fails if the kernel does not offer the requested congestion control.
    pub fn require_congestion_control(&self) -> Result<(), Reason> {
        let Some(name) = &self.congestion else { return Ok(()) };
        let tried = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)
            .and_then(|socket| socket.set_tcp_congestion(name.as_bytes()));
        tried.map_err(|error| {
            let root = seatrial_sys::root::SysRoot::live();
            let available = net::available_congestion_controls(&root)
                .map_or_else(|error| error.to_string(), |names| names.join(", "));
            let cause = match error.kind() {
                io::ErrorKind::PermissionDenied => Cause::Denied,
                _ => Cause::Missing,
            };
            let text = format!("congestion={name}: {error}; available here: {available}");
            Reason::new(cause, text)
        })
    }
}
