//! The end that asks and holds the clock.

use seatrial_model::{Cause, Integrity, Nanos, Params, Phase, Place, Quantity, Sample, Unit};
use seatrial_sys::clock::now_ns;
use serde_json::json;

use super::asking::{Asking, LOST_AFTER, PATIENCE};
use super::load::Stream;
use super::part::{Load, Terms};
use super::wire::{Wait, Wire};
use crate::common::{Latencies, Reach, interface_of, pin};
use crate::{Error, Offer, Part, Sink, Stop};

/// Time of one slice: its median is a sample. Long enough for some dozens of round trips over a slow network, short
/// against what the scheduler does.
const SLICE: Nanos = Nanos::millis(10);

/// The asking part.
pub struct Client {
    terms: Terms,
    place: Place,
    asking: Option<Asking>,
    load: Option<Stream>,
    /// What the record shall say of the connection.
    connection: serde_json::Value,
    slice: Slice,
    all: Latencies,
}

/// The round trips of a slice that runs.
struct Slice {
    start: Nanos,
    latencies: Vec<u64>,
    /// All of them, when they are more than there is room for.
    count: u64,
}

impl Slice {
    fn add(&mut self, latency: Nanos) {
        self.count += 1;
        if self.latencies.len() < self.latencies.capacity() {
            self.latencies.push(latency.get());
        }
    }

    /// Its samples, how many and their median, and a new slice from `end` on.
    fn end(&mut self, end: Nanos, out: &mut dyn Sink) -> Result<(), Error> {
        let (start, count) = (self.start, self.count);
        (self.start, self.count) = (end, 0);
        if self.latencies.is_empty() {
            return Ok(());
        }
        let middle = self.latencies.len() / 2;
        let median = *self.latencies.select_nth_unstable(middle).1;
        self.latencies.clear();
        for (channel, value, unit) in
            [("round_trips", count as f64, Unit::Count), ("median", median as f64, Unit::Nanosecond)]
        {
            let amount =
                Quantity::new(value, unit).map_err(|error| Error::new(Cause::Protocol, error.to_string()))?;
            out.sample(Sample { channel: channel.to_owned(), at: Params::default(), start, end, amount });
        }
        Ok(())
    }
}

impl Client {
    pub fn new(terms: Terms, place: &Place) -> Self {
        Self {
            terms,
            place: place.clone(),
            asking: None,
            load: None,
            connection: serde_json::Value::Null,
            slice: Slice { start: Nanos(0), latencies: Vec::with_capacity(1 << 16), count: 0 },
            all: Latencies::default(),
        }
    }

    fn wire(&self, stream: std::net::TcpStream) -> Result<Wire, Error> {
        let wire = if self.terms.udp { Wire::udp(stream)? } else { Wire::tcp(stream) };
        // At a set rate the moment of sending must not be slept through.
        let wait = if self.terms.rate.is_some() { Wait::Spin } else { self.terms.wait };
        let patience = if wire.is_udp() { LOST_AFTER } else { PATIENCE };
        wire.set_wait(wait, patience)
            .map_err(|error| Error::new(Cause::IoError, format!("setting up the connection: {error}")))?;
        Ok(wire)
    }
}

impl Part for Client {
    fn prepare(&mut self) -> Result<Offer, Error> {
        if let Some(seat) = self.place.seats.first() {
            pin(seat.cpu)?;
        }
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        let offer = peers.iter().find(|offer| offer.part == "server");
        let offer = offer.ok_or_else(|| Error::new(Cause::Protocol, "no server among the peers"))?;
        let reach = Reach::read(&offer.data)?;
        let stream = reach.connect(&self.terms.endpoint(), 0)?;
        let ends = (stream.local_addr().ok(), stream.peer_addr().ok());
        self.connection = json!({ "interface": interface_of(&stream), "ends": ends });
        if let Some(load) = self.terms.load {
            let beside = reach.connect(&self.terms.endpoint(), 1)?;
            let cpu = self.place.seats.get(1).map(|seat| seat.cpu);
            self.load = Some(Stream::begin(beside, load == Load::Forward, cpu)?);
        }
        self.asking = Some(Asking::new(self.wire(stream)?, self.terms.request, self.terms.response));
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let asking = self
            .asking
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was connected"))?;
        self.all.clear();
        let before = (asking.sent(), asking.lost, self.load.as_ref().map_or(0, Stream::bytes));
        let start = Nanos(now_ns());
        self.slice.start = start;
        let (slice, all) = (&mut self.slice, &mut self.all);
        let mut told = Ok(());
        let mut each = |latency: Nanos, now: Nanos| {
            all.record(latency);
            slice.add(latency);
            if now.since(slice.start) >= SLICE {
                told = std::mem::replace(&mut told, Ok(())).and(slice.end(now, out));
            }
        };
        match self.terms.rate {
            Some(rate) => asking.at_rate(rate, stop, &mut each)?,
            None => {
                while !stop.is_over() {
                    if let Some(latency) = asking.once()? {
                        each(latency, Nanos(now_ns()));
                    }
                }
            }
        }
        told?;
        let end = Nanos(now_ns());
        slice.end(end, out)?;
        if phase == Phase::Measure {
            out.evidence("round_trips", all.to_evidence());
            out.evidence("asked", json!(asking.sent() - before.0));
            out.evidence("connection", self.connection.clone());
            if self.terms.udp {
                out.evidence("lost", json!(asking.lost - before.1));
                out.evidence("late", json!(asking.late));
            }
            if self.terms.rate.is_some() {
                out.evidence("behind_ns", json!(asking.behind.get()));
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
        let asking = self
            .asking
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to verify before it was connected"))?;
        match asking.once() {
            Ok(_) => Ok(Integrity::Verified { checked: asking.checked() }),
            Err(error) if error.cause == Cause::CorruptData => {
                Ok(Integrity::Corrupt { wrong: 1, of: asking.sent(), first: error.text })
            }
            Err(error) => Err(error),
        }
    }
}
