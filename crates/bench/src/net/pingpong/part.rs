//! The two ends.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seatrial_model::{Bytes, Case, Cause, Integrity, PartPlacement, Phase};
use serde_json::json;
use socket2::SockRef;

use super::tcp::Tcp;
use super::{by_verbs, plan};
use crate::common::pingpong::{Buffers, Follower, Leader, Mode, Transport};
use crate::common::{
    Endpoint, Listener, PeerAddress, ServerPart, ServerSide, ServerThread, ends, interface_of, pin,
};
use crate::{Error, Offer, Part, Sink, Stop};

/// What both ends know.
#[derive(Clone, Debug)]
pub struct PingPongConfig {
    pub mode: Mode,
    pub sizes: Vec<u64>,
    pub region: usize,
    socket_buffer: Option<Bytes>,
    interface: Option<String>,
    pub alone: bool,
}

/// The part of `case` at `place`.
pub fn part(case: &Case, place: &PartPlacement) -> Result<Box<dyn Part>, Error> {
    let region = case.chosen.bytes("region").ok().flatten();
    let config = PingPongConfig {
        mode: plan::mode(case)?,
        sizes: plan::sizes_of(case)?,
        region: region.map_or(0, |bytes| bytes.get() as usize),
        socket_buffer: case.params.bytes("socket_buffer")?,
        interface: ends::interface_for(case, place.index),
        alone: case.nodes.len() == 1,
    };
    if plan::is_by_verbs(&case.params) {
        let common = by_verbs::Common::new(config, case, place);
        return Ok(match place.part.as_str() {
            "leader" => Box::new(by_verbs::Leading::new(common)),
            _ => Box::new(by_verbs::Following::new(common)),
        });
    }
    Ok(match place.part.as_str() {
        "leader" => Box::new(Leading { config, place: place.clone(), buffers: None, leader: None }),
        _ => {
            let cpu = place.seats.first().map(|binding| binding.cpu);
            let end = Following { config, cpu, buffers: None, served: Arc::default() };
            Box::new(ServerPart::new(place, end))
        }
    })
}

impl PingPongConfig {
    fn endpoint<'a>(&'a self, options: &'a dyn Fn(SockRef<'_>) -> io::Result<()>) -> Endpoint<'a> {
        Endpoint { options, ..Endpoint::tcp(self.interface.as_deref(), self.alone) }
    }

    /// Sizes of buffers must be set before the connection is made: the window scale is agreed upon by them.
    fn set_buffers(&self, socket: &SockRef<'_>) -> io::Result<()> {
        let Some(bytes) = self.socket_buffer else { return Ok(()) };
        socket.set_send_buffer_size(bytes.get() as usize)?;
        socket.set_recv_buffer_size(bytes.get() as usize)
    }

    fn buffers(&self) -> Result<Buffers, Error> {
        Buffers::new(self.largest(), self.region, self.region > 0)
    }

    /// Bytes of the largest message.
    pub fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(1) as usize
    }

    /// One for everything, or in a stream one for the commands and a fresh one for each size.
    fn connections(&self) -> usize {
        if self.mode == Mode::Stream { 1 + self.sizes.len() } else { 1 }
    }
}

struct Leading {
    config: PingPongConfig,
    place: PartPlacement,
    buffers: Option<Buffers>,
    leader: Option<Leader<Tcp>>,
}

impl Leading {
    fn leader(&mut self) -> Result<&mut Leader<Tcp>, Error> {
        self.leader.as_mut().ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was connected"))
    }
}

impl Part for Leading {
    fn prepare(&mut self) -> Result<Offer, Error> {
        if let Some(binding) = self.place.seats.first() {
            pin(binding.cpu)?;
        }
        self.buffers = Some(self.config.buffers()?);
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        let address = PeerAddress::of(peers, "follower")?;
        let set = |socket: SockRef<'_>| self.config.set_buffers(&socket);
        let endpoint = self.config.endpoint(&set);
        let connect = |number: usize| address.connect(&endpoint, number as u32);
        let streams = (0..self.config.connections()).map(connect).collect::<Result<Vec<_>, _>>()?;
        let buffers = self.buffers.take().ok_or_else(without_memory)?;
        let transport = Tcp::new(streams)?;
        self.leader = Some(Leader::new(transport, buffers, self.config.mode, &self.config.sizes));
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let leader = self.leader()?;
        leader.run(stop, out)?;
        if phase == Phase::Measure {
            let stream = leader.transport().stream();
            let socket = SockRef::from(stream);
            let connection = json!({
                "interface": interface_of(stream),
                "ends": (stream.local_addr().ok(), stream.peer_addr().ok()),
                "send_buffer": socket.send_buffer_size().ok(),
                "receive_buffer": socket.recv_buffer_size().ok(),
            });
            out.evidence("connection", connection);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        led(self.leader()?)
    }
}

/// The leader's check of the data, which goes both ways.
///
/// # Errors
/// When the follower is gone.
pub fn led<T: Transport>(leader: &mut Leader<T>) -> Result<Integrity, Error> {
    match leader.check() {
        Ok(()) => Ok(Integrity::Verified { checked: leader.checked().1 }),
        Err(error) if error.cause == Cause::CorruptData => {
            Ok(Integrity::Corrupt { wrong: 1, of: leader.checked().0 + 1, first: error.text })
        }
        Err(error) => Err(error),
    }
}

struct Following {
    config: PingPongConfig,
    cpu: Option<u32>,
    buffers: Option<Buffers>,
    served: Arc<AtomicU64>,
}

impl ServerSide for Following {
    fn listen(&mut self) -> Result<Listener, Error> {
        let set = |socket: SockRef<'_>| self.config.set_buffers(&socket);
        let listener = Listener::open(&self.config.endpoint(&set))?;
        self.buffers = Some(self.config.buffers()?);
        Ok(listener)
    }

    fn begin(&mut self, listener: Listener) -> Result<ServerThread, Error> {
        let buffers = self.buffers.take().ok_or_else(without_memory)?;
        let streams = listener.accept(self.config.connections())?.streams;
        let own = streams.iter().map(TcpStream::try_clone).collect::<io::Result<Vec<_>>>();
        let own = own.map_err(|error| Error::new(Cause::IoError, error.to_string()))?;
        let counter = Arc::clone(&self.served);
        let follow = move |_: &AtomicBool| Follower::new(Tcp::new(streams)?, buffers).serve(&counter);
        ServerThread::start(own, self.cpu, follow)
    }

    fn tell(&self, _: &ServerThread, out: &mut dyn Sink) {
        out.evidence("served", json!(self.served.load(Ordering::Relaxed)));
    }

    fn verify(&mut self, server: Option<&mut ServerThread>) -> Result<Integrity, Error> {
        followed(server, &self.served)
    }
}

fn without_memory() -> Error {
    Error::new(Cause::Protocol, "told to connect before it had memory")
}

/// The leader's check goes both ways; here it is only asked whether one failed.
///
/// # Errors
/// When the thread failed otherwise.
pub fn followed(server: Option<&mut ServerThread>, served: &AtomicU64) -> Result<Integrity, Error> {
    let Some(server) = server else {
        return Ok(Integrity::Unverified { why: "there was no connection".to_owned() });
    };
    let served = served.load(Ordering::Relaxed);
    if server.is_finished() {
        match server.end() {
            Err(error) if error.cause == Cause::CorruptData => {
                return Ok(Integrity::Corrupt { wrong: 1, of: served + 1, first: error.text });
            }
            other => other?,
        }
    }
    Ok(Integrity::Unverified { why: "the leader looks at every byte that comes back".to_owned() })
}
