//! The two ends over TCP, and the choice of the transport.

use std::net::TcpStream;

use seatrial_model::{Case, PartPlacement, Reason};
use serde_json::{Value, json};
use socket2::SockRef;

use super::config::PingPongConfig;
use super::ends::{Following, Leading};
use super::layer::Layer;
use super::tcp::TcpTransport;
use super::{by_mpi, by_verbs};
use seatrial_bench::pingpong::{Follower, Leader};
use seatrial_bench::{Part, Prepared, call_over, connection_evidence, pin, second_handles, serve_over};

pub fn part(case: &Case, place: &PartPlacement) -> Part {
    match Layer::of(&case.params) {
        Layer::Mpi => by_mpi::part(case, place),
        Layer::Tcp | Layer::Verbs => Part::new(case, place, prepare),
    }
}

fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let config = PingPongConfig::of(case, place)?;
    let leads = place.part == "leader";
    if leads {
        place.cpu(0).map_or(Ok(()), pin)?;
    }
    match (leads, Layer::of(&case.params) == Layer::Verbs) {
        (true, true) => by_verbs::lead(config, case, place),
        (false, true) => by_verbs::follow(&config, case, place),
        (true, false) => lead(config, place),
        (false, false) => follow(&config, place),
    }
}

fn lead(config: PingPongConfig, place: &PartPlacement) -> Result<Prepared, Reason> {
    let buffers = config.buffers()?;
    let PingPongConfig { mode, sizes, paths, .. } = config;
    call_over(place, paths, move |streams| {
        let leader = Leader::new(TcpTransport::new(streams)?, buffers, mode, &sizes);
        Ok(Leading { leader, evidence: connection })
    })
}

fn connection(transport: &TcpTransport) -> (&'static str, Value) {
    let of = |stream: &TcpStream| {
        let (socket, mut connection) = (SockRef::from(stream), connection_evidence(stream));
        connection["send_buffer"] = json!(socket.send_buffer_size().ok());
        connection["receive_buffer"] = json!(socket.recv_buffer_size().ok());
        connection
    };
    let each: Vec<Value> = transport.over_each().iter().map(of).collect();
    let mut first = each[0].clone();
    if each.len() > 1 {
        first["rails"] = json!(each);
    }
    ("connection", first)
}

fn follow(config: &PingPongConfig, place: &PartPlacement) -> Result<Prepared, Reason> {
    let (cpu, buffers) = (place.cpu(0), config.buffers()?);
    serve_over(place, &config.paths, move |streams| {
        let own: Vec<Vec<TcpStream>> =
            streams.iter().map(|rail| second_handles(rail)).collect::<Result<_, _>>()?;
        let own = own.into_iter().flatten().collect();
        Following::start(own, cpu, move || Ok(Follower::new(TcpTransport::new(streams)?, buffers)))
    })
}
