//! One end of a stream of messages.

use std::sync::Arc;
use std::time::Duration;

use seatrial_model::{Case, Cause, Integrity, Phase, Place};
use seatrial_sys::clock::now_ns;
use seatrial_sys::memory::Pages;
use seatrial_sys::verbs::VerbKind;
use serde_json::json;

use super::check;
use super::counts::{Sampler, Tally};
use super::pump::{Orders, Pump};
use super::taker::Takers;
use crate::common::rdma::rig::{met, pages_of, pin, too_early};
use crate::common::rdma::{Method, Rig, Terms, Way};
use crate::{Error, Offer, Part, Sink, Stop};

/// How often the counts are looked at. Their times are those of the completions, so that looking more often would only take
/// time from the thread that sends, which has the same processor.
const LOOK: Duration = Duration::from_millis(5);

/// How often an end with nothing to count looks whether the phase is over.
const IDLE: Duration = Duration::from_millis(10);

/// How long nothing must come before it is taken for the end.
const QUIET: Duration = Duration::from_millis(25);

/// Looks for the end at most: 1 s.
const QUIET_LOOKS: u32 = 40;

/// The part of `case` at `place`.
///
/// # Errors
/// When the case was not planned by the same version.
pub fn part(method: Method, case: &Case, place: &Place) -> Result<Box<dyn Part>, Error> {
    let terms = Terms::of(method, case, place)?;
    let pages = pages_of(&case.params)?;
    Ok(Box::new(Streaming { place: place.clone(), terms, pages, takers: None, rig: None, sent: 0 }))
}

struct Streaming {
    place: Place,
    terms: Terms,
    pages: Vec<Pages>,
    // Before the rig, so that its threads are gone when the queue pairs are.
    takers: Option<Takers>,
    rig: Option<Rig>,
    /// Messages sent since the connection was made.
    sent: u64,
}

impl Part for Streaming {
    fn prepare(&mut self) -> Result<Offer, Error> {
        pin(&self.terms, 0)?;
        let rig = Rig::open(&self.terms, &self.pages)?;
        rig.poison_in()?;
        fill(&rig, check::FIRST, rig.layout.slots)?;
        if self.terms.answers() && self.terms.is_counted_there() {
            self.takers = Some(Takers::prepare(&rig)?);
        }
        let offer = Offer::new(&self.place, json!(rig.hand()));
        self.rig = Some(rig);
        Ok(offer)
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        met(&mut self.rig, &self.place, peers)?;
        self.takers.as_mut().map_or(Ok(()), Takers::start)
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let rig = self.rig.as_mut().ok_or_else(too_early)?;
        let takers = self.takers.as_ref();
        let mut samplers = Vec::new();
        let sizes = &self.terms.sizes;
        let pumped: Vec<Arc<Tally>> =
            (0..self.terms.threads).map(|_| Arc::new(Tally::new(sizes.len()))).collect();
        let (own, far) = (self.terms.own_way(), opposite(self.terms.own_way()));
        if self.terms.initiates() && !self.terms.is_counted_there() {
            let grouped = sizes.iter().map(|size| self.terms.moderation(*size) as u64).collect();
            samplers.push(Sampler::new(own, sizes, grouped, pumped.clone(), now_ns()));
        }
        if let Some(takers) = takers {
            let tallies = takers.tallies().to_vec();
            samplers.push(Sampler::new(far, sizes, vec![1; sizes.len()], tallies, now_ns()));
        }
        self.sent += move_messages(rig, takers, &pumped, &mut samplers, stop, out)?;
        samplers.iter_mut().for_each(|sampler| sampler.end(out));
        if phase == Phase::Measure {
            if self.terms.initiates() {
                self.sent += last_pass(rig)?;
            }
            if let Some(takers) = takers {
                until_quiet(takers)?;
                out.evidence("received", json!(takers.total()));
            }
            out.evidence("sent", json!(self.sent));
            for sampler in &samplers {
                out.evidence(&format!("moved_{}", sampler.way().word()), json!(sampler.moved().1));
            }
            let micros: Vec<f64> = rig.registrations.iter().map(|took| took.as_secs_f64() * 1e6).collect();
            out.evidence("registration_us", json!(micros));
            out.evidence("device", json!(rig.facts));
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        let rig = self.rig.as_ref().ok_or_else(too_early)?;
        if let Some(takers) = &self.takers {
            match takers.check() {
                Err(error) if error.cause == Cause::CorruptData => {
                    return Ok(Integrity::Corrupt { wrong: 1, of: takers.total() + 1, first: error.text });
                }
                other => other?,
            }
        }
        let comes = if self.terms.method.verb == VerbKind::Read {
            self.terms.initiates()
        } else {
            self.terms.answers()
        };
        if comes {
            return check::came(rig);
        }
        Ok(Integrity::Unverified { why: "what this end sent is looked at where it came to".to_owned() })
    }
}

const fn opposite(way: Way) -> Way {
    match way {
        Way::Forward => Way::Reverse,
        Way::Reverse => Way::Forward,
    }
}

/// Writes the content of this pass into the first `slots` that each queue pair sends from, or is read from.
fn fill(rig: &Rig, generation: u64, slots: u64) -> Result<(), Error> {
    rig.fill_out(generation, slots, |slot| check::source(rig.terms.method.verb, slot))
}

/// Lets all threads of this end work until the phase is over; how many messages they sent.
fn move_messages(
    rig: &Rig,
    takers: Option<&Takers>,
    tallies: &[Arc<Tally>],
    samplers: &mut [Sampler],
    stop: &Stop,
    out: &mut dyn Sink,
) -> Result<u64, Error> {
    let orders = Orders::default();
    let span = stop.left().max(Duration::from_nanos(1));
    let sizes = rig.terms.sizes.len();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        if rig.terms.initiates() {
            for (thread, tally) in tallies.iter().enumerate() {
                let (orders, stop) = (&orders, stop.clone());
                threads.push(scope.spawn(move || {
                    pin(&rig.terms, thread)?;
                    let sent = Pump::new(rig, thread).run(orders, &stop, tally);
                    if sent.is_err() {
                        stop.raise();
                    }
                    sent
                }));
            }
        }
        let mut seen = Ok(());
        let look = if threads.is_empty() && takers.is_none() { IDLE } else { LOOK };
        while !stop.is_over() && seen.is_ok() {
            let gone = 1.0 - stop.left().as_secs_f64() / span.as_secs_f64();
            orders.send(((gone * sizes as f64) as usize).min(sizes - 1));
            std::thread::sleep(look.min(stop.left()));
            let now = now_ns();
            samplers.iter_mut().for_each(|sampler| sampler.look(now, out));
            seen = takers.map_or(Ok(()), Takers::check);
        }
        if seen.is_err() {
            stop.raise();
        }
        let mut sent = 0;
        for thread in threads {
            sent += thread.join().map_err(|_| Error::new(Cause::Crash, "a thread that sends panicked"))??;
        }
        seen.map(|()| sent)
    })
}

/// Sends over all memory once more, or over as much of it as is not too much, with new content: what arrives now cannot have
/// been there before. What is read keeps its content, and the memory that it comes to is marked first.
fn last_pass(rig: &Rig) -> Result<u64, Error> {
    if rig.terms.method.verb == VerbKind::Read {
        rig.poison_in()?;
    } else {
        fill(rig, check::LAST, rig.layout.last_slots())?;
    }
    (0..rig.terms.threads).map(|thread| Pump::new(rig, thread).once()).sum()
}

/// Waits until nothing comes any more, so that what was received can be held against what was sent.
fn until_quiet(takers: &Takers) -> Result<(), Error> {
    let mut before = takers.total();
    for _ in 0..QUIET_LOOKS {
        std::thread::sleep(QUIET);
        takers.check()?;
        let now = takers.total();
        if now == before {
            return Ok(());
        }
        before = now;
    }
    Ok(())
}
