//! The two ends of a conversation.

use std::time::Duration;

use seatrial_model::{Case, Cause, Integrity, Phase, Place};
use seatrial_sys::memory::Pages;
use seatrial_sys::verbs::{GRH_BYTES, ReceiveList, Transport, VerbKind};
use serde_json::json;

use super::answer::Answering;
use super::ask::Asking;
use super::voice::Voice;
use crate::common::rdma::pattern::POISON;
use crate::common::rdma::rig::{met, pages_of, pin, too_early};
use crate::common::rdma::system::System;
use crate::common::rdma::{Method, Notice, Rig, Terms};
use crate::{Error, Offer, Part, Sink, Stop};

/// How often the answering end looks whether it is wanted any more.
const LOOK: Duration = Duration::from_millis(5);

/// Written before the trial, and after its clock stopped.
const FIRST: u64 = 0;
const LAST: u64 = 1;

/// The part of `case` at `place`.
///
/// # Errors
/// When the case was not planned by the same version.
pub fn part(method: Method, case: &Case, place: &Place) -> Result<Box<dyn Part>, Error> {
    part_on(method, case, place, &System::live())
}

/// The same with the library and the kernel's files of `system`.
///
/// # Errors
/// As [`part`].
pub fn part_on(method: Method, case: &Case, place: &Place, system: &System) -> Result<Box<dyn Part>, Error> {
    let mut terms = Terms::of(method, case, place)?;
    terms.system = system.clone();
    let pages = pages_of(&case.params)?;
    let place = place.clone();
    Ok(Box::new(Talking { place, terms, pages, role: Role::None, receives: None, rig: None }))
}

enum Role {
    None,
    Asks(Box<Asking>),
    Answers(Answering),
    /// Its card does everything.
    Rests,
}

struct Talking {
    place: Place,
    terms: Terms,
    pages: Vec<Pages>,
    // Before the rig, so that its thread is gone when the queue pair is.
    role: Role,
    receives: Option<ReceiveList>,
    rig: Option<Rig>,
}

impl Part for Talking {
    fn prepare(&mut self) -> Result<Offer, Error> {
        pin(&self.terms, 0)?;
        let rig = Rig::open(&self.terms, &self.pages)?;
        rig.poison_in()?;
        rig.fill_out(FIRST, rig.layout.slots, |slot| slot)?;
        if self.terms.notice() == Notice::Completion {
            self.receives = Some(Voice::listen(&rig)?);
        }
        let offer = Offer::new(&self.place, json!(rig.hand()));
        self.rig = Some(rig);
        Ok(offer)
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        let rig = met(&mut self.rig, &self.place, peers)?;
        let mut voice = Voice::new(rig)?;
        if let Some(receives) = self.receives.take() {
            voice.hear_with(receives);
        }
        let (notice, sizes) = (self.terms.notice(), &self.terms.sizes);
        self.role = match (self.terms.initiates(), notice) {
            (true, _) => Role::Asks(Box::new(Asking::new(voice, notice, sizes))),
            (false, Notice::Nothing) => Role::Rests,
            (false, _) => Role::Answers(Answering::start(voice, &self.terms)?),
        };
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let rig = self.rig.as_ref().ok_or_else(too_early)?;
        match &mut self.role {
            Role::None => return Err(too_early()),
            Role::Asks(asking) => {
                let before = asking.counts();
                let histograms = asking.run(stop, out)?;
                if phase == Phase::Measure {
                    let after = asking.counts();
                    out.evidence("by_size", histograms);
                    out.evidence("asked", json!(after.0 - before.0));
                    out.evidence("lost", json!(after.1 - before.1));
                    rig.poison_in()?;
                    if self.terms.method.verb != VerbKind::Read {
                        rig.fill_out(LAST, rig.layout.slots, |slot| slot)?;
                    }
                    asking.last()?;
                }
            }
            Role::Answers(answering) => {
                while !stop.is_over() {
                    answering.check()?;
                    std::thread::sleep(LOOK.min(stop.left()));
                }
                out.evidence("served", json!(answering.served()));
            }
            Role::Rests => {
                while !stop.is_over() {
                    std::thread::sleep(LOOK.min(stop.left()));
                }
            }
        }
        if phase == Phase::Measure {
            out.evidence("device", json!(rig.facts));
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        let rig = self.rig.as_ref().ok_or_else(too_early)?;
        match &self.role {
            Role::Answers(answering) => match answering.check() {
                Err(error) if error.cause == Cause::CorruptData => {
                    return Ok(Integrity::Corrupt {
                        wrong: 1,
                        of: answering.served() + 1,
                        first: error.text,
                    });
                }
                other => other?,
            },
            Role::Rests | Role::None => {
                return Ok(Integrity::Unverified {
                    why: "what this end holds is looked at where it came to".to_owned(),
                });
            }
            Role::Asks(_) => {}
        }
        // The answers are as they were from the beginning; what asks was written anew for the last message.
        let pass = if self.terms.initiates() { FIRST } else { LAST };
        came(rig, pass)
    }
}

/// Looks at the last message, which was one of the largest size.
fn came(rig: &Rig, pass: u64) -> Result<Integrity, Error> {
    let (terms, largest, stride) = (&rig.terms, rig.terms.largest() as usize, rig.layout.stride as usize);
    // Where the far end looks at memory, the content ends with a mark, which was looked at in every round.
    let (skip, from, bytes) = match (terms.notice(), terms.transport) {
        (Notice::Memory, _) => (0, stride - largest, stride - 1),
        (_, Transport::Ud) => (GRH_BYTES, 0, largest),
        _ => (0, 0, largest),
    };
    let found = rig.came(0, 0, skip, bytes)?;
    let stamp = rig.stamp(false, 0, 0, pass);
    let mut wanted = vec![0; bytes];
    stamp.fill(&mut wanted);
    if found[from..] == wanted[from..] {
        return Ok(Integrity::Verified { checked: (largest as u64).max(1) });
    }
    if terms.transport != Transport::Rc && found[from..].iter().all(|byte| *byte == POISON) {
        return Ok(Integrity::Unverified { why: "the last message was lost".to_owned() });
    }
    let wrong = |(found, wanted): (&u8, &u8)| found != wanted;
    let at = found[from..].iter().zip(&wanted[from..]).position(wrong).unwrap_or(0);
    let text = format!("byte {at} of the last message of {largest} B is not what was sent");
    Ok(Integrity::Corrupt { wrong: 1, of: 1, first: text })
}
