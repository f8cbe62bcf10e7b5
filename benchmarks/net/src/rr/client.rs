//! The requesting end, which takes the times.

use std::net::TcpStream;

use seatrial_model::{Integrity, Nanos, Phase, Reason};
use seatrial_sys::clock::now_ns;
use serde_json::json;

use super::config::RrConfig;
use super::load::Stream;
use super::request_loop::{LOST_AFTER, RequestLoop};
use super::wire::Wait;
use seatrial_bench::{Direction, REPLY_TIMEOUT, Running, Sink, Sliced, Stop, connection_evidence};

/// Channels of the samples: round trips of a slice, and their median.
pub const CHANNELS: [&str; 2] = ["round_trips", "median"];

pub struct RrClient {
    config: RrConfig,
    requests: RequestLoop,
    load: Option<Stream>,
    connection: serde_json::Value,
    latencies: Sliced,
}

impl RrClient {
    pub fn begin(streams: Vec<TcpStream>, config: RrConfig, load_cpu: Option<u32>) -> Result<Self, Reason> {
        let (stream, load) = config.streams(streams, Direction::Forward, load_cpu)?;
        let connection = connection_evidence(&stream);
        // With rate= a sleeping client would miss the time of the next request.
        let wait = if config.rate.is_some() { Wait::Spin } else { config.wait };
        let patience = if config.udp { LOST_AFTER } else { REPLY_TIMEOUT };
        let wire = config.wire(stream, wait, patience)?;
        let requests =
            RequestLoop::new(wire, config.request, config.response).verified_by(config.verification);
        Ok(Self { config, requests, load, connection, latencies: Sliced::new(CHANNELS) })
    }
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

    /// Every byte was checked on arrival; this only checks that the server still answers.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        let requests = &mut self.requests;
        let outcome = requests.once();
        let verified = Integrity::Verified { checked: requests.checked() };
        Integrity::of_check(outcome.map(|_| verified), requests.sent())
    }
}
