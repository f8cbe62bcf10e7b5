//! What the controller knows of one worker of a trial.

use seatrial_bench::Offer;
use seatrial_cluster::{EndKind, FromWorker, NodeIndex, WorkerEnd, WorkerId};
use seatrial_model::{Cause, Evidence, Integrity, PartPlacement, PartRecord, Phase, Reason, Sample};

/// Samples of one worker in one trial at most: beyond it a worker is taken for broken, not for thorough.
const MOST_SAMPLES: usize = 4_000_000;

/// One worker: where it is, how far it came, what it said.
#[derive(Debug)]
pub struct Worker {
    pub id: WorkerId,
    pub node: NodeIndex,
    pub place: PartPlacement,
    pub offer: Option<Offer>,
    pub samples: Vec<Sample>,
    pub integrity: Option<Integrity>,
    pub evidence: Evidence,
    /// Whether the present phase is answered.
    pub answered: bool,
    /// Whether it was told to die, so that its death says nothing.
    pub killed: bool,
    /// Whether nothing more will come from it.
    pub gone: bool,
    /// Why it cannot go on, the first reason it gave.
    pub reason: Option<Reason>,
}

impl Worker {
    pub fn new(id: WorkerId, node: NodeIndex, place: PartPlacement) -> Self {
        Self {
            id,
            node,
            place,
            offer: None,
            samples: Vec::new(),
            integrity: None,
            evidence: Evidence::new(),
            answered: false,
            killed: false,
            gone: false,
            reason: None,
        }
    }

    /// Takes a message in; the answer must be the one that `phase` waits for.
    pub fn hear(&mut self, phase: Phase, message: FromWorker) {
        match (phase, message) {
            (Phase::Prepare, FromWorker::Prepared { offer }) => self.offer = Some(offer),
            (Phase::Connect, FromWorker::Connected)
            | (Phase::WarmUp, FromWorker::WarmedUp)
            | (Phase::Measure, FromWorker::Measured) => {}
            (Phase::Measure, FromWorker::Samples { batch }) => {
                if self.samples.len() + batch.len() > MOST_SAMPLES {
                    self.give(
                        Cause::Protocol,
                        format!("{self} sent more than {MOST_SAMPLES} samples in one trial"),
                    );
                }
                self.samples.extend(batch);
                return;
            }
            (Phase::Verify, FromWorker::Verified { integrity, evidence }) => {
                if let Integrity::Corrupt { wrong, of, first } = &integrity {
                    let text =
                        format!("{self} found {wrong} of {of} words wrong after the clock stopped; {first}");
                    self.give(Cause::CorruptData, text);
                }
                self.integrity = Some(integrity);
                self.evidence = evidence;
            }
            (_, FromWorker::Failed { reason }) => self.give(reason.cause, format!("{self}: {}", reason.text)),
            (phase, other) => {
                let text = format!("{self} said {other:.80?} while it was to {}", phase.word());
                self.give(Cause::Protocol, text);
            }
        }
        self.answered = true;
    }

    /// Takes its end in. An end that nobody asked for is a reason of its own.
    pub fn end(&mut self, phase: Option<Phase>, end: WorkerEnd) {
        self.gone = true;
        let during = phase.map_or("at its end".to_owned(), |phase| format!("during {}", phase.word()));
        let said = if end.output.trim().is_empty() {
            String::new()
        } else {
            format!("; it last wrote: {}", end.output.trim())
        };
        match end.how {
            EndKind::Exited { code: 0 } if phase.is_none() => {}
            // After a kill only a signal that we do not send says something: the partner of a worker that crashed may
            // have complained first.
            EndKind::Exited { .. } if self.killed => {}
            EndKind::Signalled { ref name, .. }
                if self.killed && matches!(name.as_str(), "SIGTERM" | "SIGKILL") => {}
            EndKind::Exited { code } => {
                let text = format!("{self} exited with code {code} {during}, before it was done{said}");
                self.give(Cause::Crash, text);
            }
            EndKind::Signalled { signal, name } => {
                self.give(
                    Cause::Crash,
                    format!("{self} was ended by {name} (signal {signal}) {during}{said}"),
                );
            }
            EndKind::NotStarted { why } => {
                self.give(Cause::Launcher, format!("{self} could not be started: {why}"));
            }
            EndKind::Garbled { why } => {
                let text = format!("{self} sent something that is not a message {during}: {why}{said}");
                self.give(Cause::Protocol, text);
            }
            EndKind::Abandoned => {
                let text = format!("{self} does not die even by SIGKILL ({during}) and was left behind");
                self.give(Cause::Hang, text);
            }
        }
        self.evidence.extend(end.evidence);
    }

    /// Notes that the phase's deadline passed without an answer.
    pub fn overdue(&mut self, phase: Phase, allowed: seatrial_model::Nanos) {
        // A whole number of milliseconds is as much as anybody reads.
        let allowed = seatrial_model::Nanos::millis(allowed.get() / 1_000_000);
        let text = format!("{self} did not finish to {} within {allowed}", phase.word());
        self.give(Cause::Hang, text);
    }

    /// Notes a reason; the first one stands.
    pub fn give(&mut self, cause: Cause, text: String) {
        self.reason.get_or_insert(Reason { cause, text });
    }

    /// Notes that its node is gone. What the worker said before was a consequence of that, unless it was told to stop.
    pub fn vanish(&mut self, text: String) {
        self.gone = true;
        match &mut self.reason {
            Some(reason) if matches!(reason.cause, Cause::Hang | Cause::PartnerLost) => {
                let text = format!("{text}; before that: {}", reason.text);
                *reason = Reason { cause: Cause::Vanished, text };
            }
            Some(_) => {}
            None => self.give(Cause::Vanished, text),
        }
    }

    /// What it said, as a record.
    pub fn record(self, trial: u32) -> PartRecord {
        let nothing =
            || Integrity::Unverified { why: "the trial ended before the data was checked".to_owned() };
        PartRecord {
            part: self.place.part,
            index: self.place.index,
            node: self.place.node,
            trial,
            samples: self.samples,
            integrity: self.integrity.unwrap_or_else(nothing),
            evidence: self.evidence,
        }
    }
}

impl std::fmt::Display for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} on {}", self.place.part, self.place.index, self.place.node)
    }
}
