//! The two ends.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase, Reason};
use serde_json::json;
use socket2::SockRef;

use super::config::PingPongConfig;
use super::outcome::{followed, led};
use super::tcp::TcpTransport;
use super::{by_verbs, plan};
use seatrial_bench::pingpong::{Buffers, Follower, Leader};
use seatrial_bench::{Listener, PeerAddress, ServerSide, ServerThread, ends, interface_of, pin};
use seatrial_bench::{Prepared, Running, Sink, Stop};

/// The part of `case` at `place`.
pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let region = case.planned.bytes("region").ok().flatten();
    let config = PingPongConfig {
        mode: plan::mode(case)?,
        sizes: plan::sizes_of(case)?,
        region: region.map_or(0, |bytes| bytes.get() as usize),
        socket_buffer: case.params.bytes("socket_buffer")?,
        interface: ends::interface_for(case, place.index),
        alone: case.nodes.len() == 1,
    };
    let cpu = place.bindings.first().map(|binding| binding.cpu);
    match (place.part.as_str(), plan::is_by_verbs(&case.params)) {
        ("leader", true) => by_verbs::lead(config, case, place),
        (_, true) => by_verbs::follow(&config, case, place),
        ("leader", false) => lead(config, place),
        _ => {
            Following { buffers: Some(config.buffers()?), config, cpu, served: Arc::default() }.prepare(place)
        }
    }
}

fn lead(config: PingPongConfig, place: &PartPlacement) -> Result<Prepared, Reason> {
    if let Some(binding) = place.bindings.first() {
        pin(binding.cpu)?;
    }
    let buffers = config.buffers()?;
    Prepared::new(place, (), move |peers| {
        let address = PeerAddress::of(peers, "follower")?;
        let set = |socket: SockRef<'_>| config.set_buffers(&socket);
        let endpoint = config.endpoint(&set);
        let connect = |number: usize| address.connect(&endpoint, number as u32);
        let streams = (0..config.connections()).map(connect).collect::<Result<Vec<_>, _>>()?;
        Ok(Leading(Leader::new(TcpTransport::new(streams)?, buffers, config.mode, &config.sizes)))
    })
}

struct Leading(Leader<TcpTransport>);

impl Running for Leading {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let leader = &mut self.0;
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

    fn verify(&mut self) -> Result<Integrity, Reason> {
        led(&mut self.0)
    }
}

struct Following {
    config: PingPongConfig,
    cpu: Option<u32>,
    buffers: Option<Buffers>,
    served: Arc<AtomicU64>,
}

impl ServerSide for Following {
    fn listen(&mut self) -> Result<Listener, Reason> {
        let set = |socket: SockRef<'_>| self.config.set_buffers(&socket);
        Listener::open(&self.config.endpoint(&set))
    }

    fn begin(&mut self, listener: Listener) -> Result<ServerThread, Reason> {
        let again = || Reason::new(Cause::Protocol, "it serves already");
        let buffers = self.buffers.take().ok_or_else(again)?;
        let streams = listener.accept(self.config.connections())?.streams;
        let own = streams.iter().map(TcpStream::try_clone).collect::<io::Result<Vec<_>>>();
        let own = own.map_err(|error| Reason::new(Cause::IoError, error.to_string()))?;
        let counter = Arc::clone(&self.served);
        let follow =
            move |_: &AtomicBool| Follower::new(TcpTransport::new(streams)?, buffers).serve(&counter);
        ServerThread::start(own, self.cpu, follow)
    }

    fn tell(&self, _: &ServerThread, out: &mut dyn Sink) {
        out.evidence("served", json!(self.served.load(Ordering::Relaxed)));
    }

    fn verify(&mut self, server: &mut ServerThread) -> Result<Integrity, Reason> {
        followed(server, &self.served)
    }
}
