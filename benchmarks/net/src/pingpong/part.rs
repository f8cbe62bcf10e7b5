//! The two ends.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase};
use serde_json::json;
use socket2::SockRef;

use super::config::PingPongConfig;
use super::outcome::{followed, led};
use super::tcp::Tcp;
use super::{by_verbs, plan};
use seatrial_bench::pingpong::{Buffers, Follower, Leader};
use seatrial_bench::{Error, Offer, Part, Sink, Stop};
use seatrial_bench::{Listener, PeerAddress, ServerPart, ServerSide, ServerThread, ends, interface_of, pin};

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
