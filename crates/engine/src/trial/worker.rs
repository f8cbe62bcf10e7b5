//! The controller's state of one worker of a trial.

use std::sync::Arc;

use seatrial_bench::Offer;
use seatrial_cluster::{EndKind, FromWorker, NodeIndex, WorkerEnd, WorkerId};
use seatrial_model::{Cause, Evidence, Integrity, PartPlacement, PartRecord, Phase, Reason, Sample};

/// Largest number of samples of one worker in one trial: with more the worker is considered broken.
const MOST_SAMPLES: usize = 4_000_000;

#[derive(Debug)]
pub struct Worker {
    pub id: WorkerId,
    pub node: NodeIndex,
    pub place: PartPlacement,
    pub offer: Option<Arc<Offer>>,
    /// The parts whose offers this one asked for; none for all.
    pub peers: Option<Vec<u32>>,
    pub samples: Vec<Sample>,
    pub integrity: Option<Integrity>,
    pub evidence: Evidence,
    pub answered: bool,
    /// Whether the worker was killed, so that its death is no failure.
    pub killed: bool,
    pub gone: bool,
    /// Why the worker cannot continue; the first reason counts.
    pub reason: Option<Reason>,
}

impl Worker {
    pub fn new(id: WorkerId, node: NodeIndex, place: PartPlacement) -> Self {
        Self {
            id,
            node,
            place,
            offer: None,
            peers: None,
            samples: Vec::new(),
            integrity: None,
            evidence: Evidence::new(),
            answered: false,
            killed: false,
            gone: false,
            reason: None,
        }
    }

    /// Takes in a message; the answer must be the one that `phase` waits for.
    pub fn hear(&mut self, phase: Phase, message: FromWorker) {
        match (phase, message) {
            (Phase::Prepare, FromWorker::Prepared { mut offer }) => {
                self.peers = offer.peers.take();
                self.offer = Some(Arc::new(offer));
            }
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
                let text = format!("{self} sent {other:.80?} when it was to {}", phase.word());
                self.give(Cause::Protocol, text);
            }
        }
        self.answered = true;
    }

    /// Takes in the end of the process. An unrequested end is a failure.
    pub fn end(&mut self, phase: Option<Phase>, end: WorkerEnd) {
        self.gone = true;
        // The kernel kills too, where memory is short.
        let was_ended = end.evidence.contains_key(WorkerEnd::WHEN_KILLED);
        let during = phase.map_or("at its end".to_owned(), |phase| format!("during {}", phase.word()));
        let said = if end.output.trim().is_empty() {
            String::new()
        } else {
            format!("; it last wrote: {}", end.output.trim())
        };
        match end.how {
            EndKind::Exited { code: 0 } if phase.is_none() => {}
            // After a kill only a signal that we do not send is a failure: the partner of a crashed worker may have
            // complained first.
            EndKind::Exited { .. } if self.killed => {}
            EndKind::Signalled { ref name, .. }
                if self.killed && (name == "SIGTERM" || name == "SIGKILL" && was_ended) => {}
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
                let text = format!("{self} did not exit after SIGKILL ({during}) and was left running");
                self.give(Cause::Hang, text);
            }
        }
        self.evidence.extend(end.evidence);
    }

    /// The phase's deadline passed without an answer.
    pub fn overdue(&mut self, phase: Phase, allowed: seatrial_model::Nanos) {
        // Whole milliseconds are exact enough.
        let allowed = seatrial_model::Nanos::millis(allowed.get() / 1_000_000);
        let text = format!("{self} did not finish to {} within {allowed}", phase.word());
        self.give(Cause::Hang, text);
    }

    pub fn give(&mut self, cause: Cause, text: String) {
        self.reason.get_or_insert(Reason { cause, text });
    }

    /// The worker's node is lost. Earlier reports of the worker were consequences of that, unless it was told to
    /// stop.
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
