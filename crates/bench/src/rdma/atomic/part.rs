//! The end that asks for atomics, and the end whose card does them.

use std::time::Duration;

use seatrial_model::{Case, Integrity, Nanos, Params, Phase, Place, Quantity, Sample, Unit};
use seatrial_sys::clock::now_ns;
use seatrial_sys::memory::Pages;
use serde_json::json;

use super::run::{Operation, Words};
use crate::common::Sliced;
use crate::common::rdma::rig::{met, pin, too_early};
use crate::common::rdma::{Method, Rig, Side, Terms};
use crate::{Error, Offer, Part, Sink, Stop};

/// How often the end that rests looks whether the phase is over.
const LOOK: Duration = Duration::from_millis(5);

/// A sample of the rate lasts so long at least.
const SLICE: u64 = 10_000_000;

/// Channels: operations of a slice with many under way; of a slice one after the other, how many and their median.
pub const MANY: &str = "many";
pub const ONE: [&str; 2] = ["one", "median"];

/// The part of `case` at `place`.
pub fn part(method: Method, case: &Case, place: &Place) -> Result<Box<dyn Part>, Error> {
    let operation = match case.params.text(super::OPERATION.name)? {
        "compare_swap" => Operation::CompareSwap,
        _ => Operation::FetchAdd,
    };
    let terms = Terms::of(method, case, place)?;
    Ok(Box::new(Counting { place: place.clone(), terms, operation, words: None, rig: None }))
}

struct Counting {
    place: Place,
    terms: Terms,
    operation: Operation,
    words: Option<Words>,
    rig: Option<Rig>,
}

impl Part for Counting {
    fn prepare(&mut self) -> Result<Offer, Error> {
        pin(&self.terms, 0)?;
        let rig = Rig::open(&self.terms, &[Pages::Base])?;
        for pair in 0..rig.pairs.len() {
            rig.region.set_word(rig.layout.at(pair, Side::In, 0) as usize, 0);
        }
        let offer = Offer::new(&self.place, json!(rig.hand()));
        self.rig = Some(rig);
        Ok(offer)
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        let rig = met(&mut self.rig, &self.place, peers)?;
        if self.terms.initiates() {
            self.words = Some(Words::new(rig, self.operation)?);
        }
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let rig = self.rig.as_ref().ok_or_else(too_early)?;
        let Some(words) = &mut self.words else {
            while !stop.is_over() {
                std::thread::sleep(LOOK.min(stop.left()));
            }
            return Ok(());
        };
        // Half of the time with many under way, half with one.
        let until = now_ns() + stop.left().as_nanos() as u64 / 2;
        let (mut start, mut done) = (now_ns(), 0);
        words.many(rig, stop, until, &mut |count, now| {
            done += count;
            if now - start >= SLICE {
                out.sample(sample(start, now, done));
                (start, done) = (now, 0);
            }
        })?;
        let mut latencies = Sliced::new(ONE);
        latencies.begin(Nanos(now_ns()));
        while !stop.is_over() {
            let (start, end) = words.one(rig)?;
            latencies.add(Nanos(end - start), Nanos(end), out);
        }
        latencies.end(Nanos(now_ns()), out);
        if phase == Phase::Measure {
            out.evidence("one_by_one", latencies.all().to_evidence());
            out.evidence("device", json!(rig.facts));
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        let Some(words) = &self.words else {
            return Ok(Integrity::Unverified {
                why: "the end that asked has looked at every result".to_owned(),
            });
        };
        let (done, wrong, first) = words.results();
        Ok(match first {
            Some(first) => Integrity::Corrupt { wrong, of: done, first: first.to_owned() },
            None => Integrity::Verified { checked: 8 * done },
        })
    }
}

fn sample(start: u64, end: u64, count: u64) -> Sample {
    let amount = Quantity::new(count as f64, Unit::Count).expect("a count is finite");
    Sample { channel: MANY.to_owned(), at: Params::default(), start: Nanos(start), end: Nanos(end), amount }
}
