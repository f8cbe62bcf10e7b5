//! The end that asks and holds the clock.

use seatrial_model::{Cause, Integrity, Nanos, PartPlacement, Phase};
use seatrial_sys::clock::now_ns;
use serde_json::json;

use super::config::RrConfig;
use super::load::Stream;
use super::request_loop::{LOST_AFTER, PATIENCE, RequestLoop};
use super::wire::{Wait, Wire};
use seatrial_bench::Direction;
use seatrial_bench::{Error, Offer, Part, Sink, Stop};
use seatrial_bench::{PeerAddress, Sliced, interface_of, pin};

/// Channels of the samples: how many round trips a slice has, and their median.
pub const CHANNELS: [&str; 2] = ["round_trips", "median"];

pub struct Client {
    config: RrConfig,
    place: PartPlacement,
    requests: Option<RequestLoop>,
    load: Option<Stream>,
    /// What the record shall say of the connection.
    connection: serde_json::Value,
    latencies: Sliced,
}

impl Client {
    pub fn new(config: RrConfig, place: &PartPlacement) -> Self {
        Self {
            config,
            place: place.clone(),
            requests: None,
            load: None,
            connection: serde_json::Value::Null,
            latencies: Sliced::new(CHANNELS),
        }
    }

    fn wire(&self, stream: std::net::TcpStream) -> Result<Wire, Error> {
        let wire = if self.config.udp { Wire::udp(stream)? } else { Wire::tcp(stream) };
        // At a set rate the moment of sending must not be slept through.
        let wait = if self.config.rate.is_some() { Wait::Spin } else { self.config.wait };
        let patience = if wire.is_udp() { LOST_AFTER } else { PATIENCE };
        wire.set_wait(wait, patience)
            .map_err(|error| Error::new(Cause::IoError, format!("setting up the connection: {error}")))?;
        Ok(wire)
    }
}

impl Part for Client {
    fn prepare(&mut self) -> Result<Offer, Error> {
        if let Some(binding) = self.place.seats.first() {
            pin(binding.cpu)?;
        }
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        let address = PeerAddress::of(peers, "server")?;
        let stream = address.connect(&self.config.endpoint(), 0)?;
        let ends = (stream.local_addr().ok(), stream.peer_addr().ok());
        self.connection = json!({ "interface": interface_of(&stream), "ends": ends });
        if let Some(load) = self.config.load {
            let beside = address.connect(&self.config.endpoint(), 1)?;
            let cpu = self.place.seats.get(1).map(|binding| binding.cpu);
            self.load = Some(Stream::begin(beside, load == Direction::Forward, cpu)?);
        }
        self.requests = Some(RequestLoop::new(self.wire(stream)?, self.config.request, self.config.response));
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let requests = self
            .requests
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was connected"))?;
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
    fn verify(&mut self) -> Result<Integrity, Error> {
        let requests = self
            .requests
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to verify before it was connected"))?;
        match requests.once() {
            Ok(_) => Ok(Integrity::Verified { checked: requests.checked() }),
            Err(error) if error.cause == Cause::CorruptData => {
                Ok(Integrity::Corrupt { wrong: 1, of: requests.sent(), first: error.text })
            }
            Err(error) => Err(error),
        }
    }
}
