//! The end that asks and holds the clock.

use std::net::TcpStream;

use seatrial_model::{Cause, Integrity, Nanos, PartPlacement, Phase, Reason};
use seatrial_sys::clock::now_ns;
use serde_json::json;

use super::config::RrConfig;
use super::load::Stream;
use super::request_loop::{LOST_AFTER, PATIENCE, RequestLoop};
use super::wire::{Wait, Wire};
use seatrial_bench::Direction;
use seatrial_bench::{PeerAddress, Sliced, interface_of, pin};
use seatrial_bench::{Prepared, Running, Sink, Stop};

/// Channels of the samples: how many round trips a slice has, and their median.
pub const CHANNELS: [&str; 2] = ["round_trips", "median"];

pub struct RrClient {
    config: RrConfig,
    requests: RequestLoop,
    load: Option<Stream>,
    /// What the record shall say of the connection.
    connection: serde_json::Value,
    latencies: Sliced,
}

impl RrClient {
    pub fn prepare(config: RrConfig, place: &PartPlacement) -> Result<Prepared, Reason> {
        if let Some(binding) = place.bindings.first() {
            pin(binding.cpu)?;
        }
        let load_cpu = place.bindings.get(1).map(|binding| binding.cpu);
        Prepared::new(place, (), move |peers| {
            let address = PeerAddress::of(peers, "server")?;
            let stream = address.connect(&config.endpoint(), 0)?;
            let ends = (stream.local_addr().ok(), stream.peer_addr().ok());
            let connection = json!({ "interface": interface_of(&stream), "ends": ends });
            let begin = |load| {
                let beside = address.connect(&config.endpoint(), 1)?;
                Stream::begin(beside, load == Direction::Forward, load_cpu)
            };
            let load = config.load.map(begin).transpose()?;
            let requests = RequestLoop::new(wire(&config, stream)?, config.request, config.response);
            Ok(Self { config, requests, load, connection, latencies: Sliced::new(CHANNELS) })
        })
    }
}

fn wire(config: &RrConfig, stream: TcpStream) -> Result<Wire, Reason> {
    let wire = if config.udp { Wire::udp(stream)? } else { Wire::tcp(stream) };
    // At a set rate the moment of sending must not be slept through.
    let wait = if config.rate.is_some() { Wait::Spin } else { config.wait };
    let patience = if wire.is_udp() { LOST_AFTER } else { PATIENCE };
    wire.set_wait(wait, patience)
        .map_err(|error| Reason::new(Cause::IoError, format!("setting up the connection: {error}")))?;
    Ok(wire)
}

impl Running for RrClient {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let requests = &mut self.requests;
        let before = (requests.sent(), requests.lost, self.load.as_ref().map_or(0, Stream::bytes));
        let start = Nanos(now_ns());
        let latencies = &mut self.latencies;
        latencies.begin(start);
        match self.config.rate {
            Some(rate) => {
                requests.at_rate(rate, stop, &mut |latency, now| latencies.add(latency, now, out))?;
            }
            None => {
                while !stop.is_over() {
                    if let Some(latency) = requests.once()? {
                        latencies.add(latency, Nanos(now_ns()), out);
                    }
                }
            }
        }
        let end = Nanos(now_ns());
        latencies.end(end, out);
        if phase == Phase::Measure {
            out.evidence("round_trips", latencies.all().to_evidence());
            out.evidence("asked", json!(requests.sent() - before.0));
            out.evidence("connection", self.connection.clone());
            if self.config.udp {
                out.evidence("lost", json!(requests.lost - before.1));
                out.evidence("late", json!(requests.late));
            }
            if self.config.rate.is_some() {
                out.evidence("behind_ns", json!(requests.behind.get()));
            }
            if let Some(load) = &self.load {
                let bits = (load.bytes() - before.2) as f64 * 8.0;
                out.evidence("load_gbit_s", json!(bits / end.since(start).get().max(1) as f64));
            }
        }
        Ok(())
    }

    /// Every byte was checked as it came; what is left to see is that the server still answers.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        let requests = &mut self.requests;
        match requests.once() {
            Ok(_) => Ok(Integrity::Verified { checked: requests.checked() }),
            Err(error) if error.cause == Cause::CorruptData => {
                Ok(Integrity::Corrupt { wrong: 1, of: requests.sent(), first: error.text })
            }
            Err(error) => Err(error),
        }
    }
}
