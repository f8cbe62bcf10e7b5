//! The end that asks and holds the clock.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use seatrial_model::{Cause, Integrity, Nanos, Params, Phase, Place, Quantity, Sample, Unit};
use seatrial_sys::clock::now_ns;
use serde_json::json;

use super::part::{Terms, fill, first_wrong};
use crate::common::{Latencies, Reach, interface_of, pin};
use crate::{Error, Offer, Part, Sink, Stop};

/// Time of one slice: its median is a sample. Long enough for some dozens of round trips over a slow network, short
/// against what the scheduler does.
const SLICE: Nanos = Nanos::millis(10);

/// A response that takes longer is lost: the connection is dead, whatever TCP still hopes for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The asking part.
pub struct Client {
    terms: Terms,
    place: Place,
    stream: Option<TcpStream>,
    request: Vec<u8>,
    response: Vec<u8>,
    /// Round trips so far; numbers the requests.
    done: u64,
    /// Of the slice that runs.
    slice: Vec<u64>,
    all: Latencies,
}

impl Client {
    pub fn new(terms: Terms, place: &Place) -> Self {
        let (request, response) = (vec![0; terms.request], vec![0; terms.response]);
        Self {
            terms,
            place: place.clone(),
            stream: None,
            request,
            response,
            done: 0,
            slice: Vec::with_capacity(1 << 16),
            all: Latencies::default(),
        }
    }

    /// One round trip in nanoseconds. The pattern is filled in before and checked after the clock.
    fn ask(&mut self) -> Result<Nanos, Error> {
        let number = self.done;
        let stream = self
            .stream
            .as_mut()
            .ok_or_else(|| Error::new(Cause::Protocol, "told to run before it was connected"))?;
        fill(&mut self.request, number);
        let start = now_ns();
        let asked = stream.write_all(&self.request).and_then(|()| stream.read_exact(&mut self.response));
        let took = Nanos(now_ns() - start);
        asked.map_err(|error| {
            let text = format!("round trip {number} after {} ms: {error}", took.get() / 1_000_000);
            Error::new(Cause::IoError, text)
        })?;
        if let Some(at) = first_wrong(&self.response, number) {
            let text = format!("byte {at} of response {number} is {:#04x}", self.response[at]);
            return Err(Error::new(Cause::CorruptData, text));
        }
        self.done += 1;
        Ok(took)
    }

    /// Asks for a slice and gives its samples: how many, and their median.
    fn slice(&mut self, stop: &Stop) -> Result<Option<[Sample; 2]>, Error> {
        self.slice.clear();
        let start = Nanos(now_ns());
        let mut end = start;
        while end.since(start) < SLICE && !stop.is_over() {
            let took = self.ask()?;
            self.all.record(took);
            if self.slice.len() < self.slice.capacity() {
                self.slice.push(took.get());
            }
            end = Nanos(now_ns());
        }
        if self.slice.is_empty() {
            return Ok(None);
        }
        let middle = self.slice.len() / 2;
        let median = *self.slice.select_nth_unstable(middle).1;
        let sample = |channel: &str, value: f64, unit| -> Result<Sample, Error> {
            let amount =
                Quantity::new(value, unit).map_err(|error| Error::new(Cause::Protocol, error.to_string()))?;
            Ok(Sample { channel: channel.to_owned(), at: Params::default(), start, end, amount })
        };
        Ok(Some([
            sample("round_trips", self.slice.len() as f64, Unit::Count)?,
            sample("median", median as f64, Unit::Nanosecond)?,
        ]))
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
        let stream = Reach::read(&offer.data)?.connect(&self.terms.endpoint(), 0)?;
        let limits =
            stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        limits.map_err(|error| Error::new(Cause::IoError, format!("setting up the connection: {error}")))?;
        self.stream = Some(stream);
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        self.all.clear();
        while !stop.is_over() {
            if let Some(samples) = self.slice(stop)? {
                samples.into_iter().for_each(|sample| out.sample(sample));
            }
        }
        if phase == Phase::Measure {
            out.evidence("round_trips", self.all.to_evidence());
            out.evidence("asked", json!(self.done));
            if let Some(stream) = &self.stream {
                let ends = (stream.local_addr().ok(), stream.peer_addr().ok());
                out.evidence("connection", json!({ "interface": interface_of(stream), "ends": ends }));
            }
        }
        Ok(())
    }

    /// Every byte was checked as it came; what is left to see is that the server still answers.
    fn verify(&mut self) -> Result<Integrity, Error> {
        match self.ask() {
            Ok(_) => Ok(Integrity::Verified { checked: self.done * self.terms.response as u64 }),
            Err(error) if error.cause == Cause::CorruptData => {
                Ok(Integrity::Corrupt { wrong: 1, of: self.done + 1, first: error.text })
            }
            Err(error) => Err(error),
        }
    }
}
