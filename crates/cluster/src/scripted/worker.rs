//! One simulated worker: its answers, and their times.

use seatrial_bench::Offer;
use seatrial_model::{Evidence, Nanos, PartPlacement, Phase, Sample};
use serde_json::json;

use super::fault::Fault;
use super::script::Script;
use crate::agent::signal_name;
use crate::fleet::NodeIndex;
use crate::message::{EndKind, FromWorker, ToWorker, WorkerEnd};

/// How long a real agent waits for a worker that no signal ends.
const GIVING_UP: Nanos = Nanos::millis(2500);

/// Samples per message, as of a real worker.
const BATCH: usize = 256;

#[derive(Debug)]
pub(super) struct Worker {
    pub(super) node: NodeIndex,
    place: PartPlacement,
    script: Script,
    running: Option<Running>,
    turn: u32,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    phase: Phase,
    since: Nanos,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Act {
    Say(FromWorker),
    /// The running phase ends, unless another turn has begun by then.
    EndPhase {
        at: Nanos,
        turn: u32,
    },
    End {
        at: Nanos,
        end: WorkerEnd,
    },
    LoseNode(String),
    EndJob(String),
}

impl Worker {
    /// The worker at `place`, and the effects of its start.
    pub(super) fn start(
        node: NodeIndex,
        place: PartPlacement,
        script: Script,
        now: Nanos,
    ) -> (Self, Vec<Act>) {
        let acts = match &script.fault {
            Some(Fault::NotStarted { why }) => vec![ends(now, EndKind::NotStarted { why: why.clone() })],
            _ => Vec::new(),
        };
        (Self { node, place, script, running: None, turn: 0 }, acts)
    }

    pub(super) fn hear(&mut self, message: ToWorker, now: Nanos) -> Vec<Act> {
        let phase = match &message {
            ToWorker::Prepare => Some(Phase::Prepare),
            ToWorker::Connect { .. } => Some(Phase::Connect),
            ToWorker::WarmUp { .. } => Some(Phase::WarmUp),
            ToWorker::Measure { .. } => Some(Phase::Measure),
            ToWorker::Verify => Some(Phase::Verify),
            ToWorker::Task { .. } | ToWorker::Stop | ToWorker::Finish => None,
        };
        if let Some(fault) =
            self.script.fault.as_ref().filter(|fault| phase.is_some() && fault.phase() == phase)
        {
            return struck(fault, now);
        }
        match message {
            ToWorker::Task { .. } => Vec::new(),
            ToWorker::Prepare => {
                let peers = self.script.peers.take();
                let offer = Offer { peers, ..Offer::new(&self.place, self.script.offer.clone()) };
                vec![Act::Say(FromWorker::Prepared { offer })]
            }
            ToWorker::Connect { .. } => vec![Act::Say(FromWorker::Connected)],
            ToWorker::WarmUp { span } => self.run(Phase::WarmUp, now, span),
            ToWorker::Measure { span, .. } => self.run(Phase::Measure, now, span),
            ToWorker::Stop if self.running.is_some() => {
                let since = self.running.map_or(now, |running| running.since);
                self.script.samples.retain(|sample| sample.end <= now.since(since));
                self.turn += 1;
                vec![Act::EndPhase { at: now, turn: self.turn }]
            }
            ToWorker::Stop => Vec::new(),
            ToWorker::Verify => {
                let Script { integrity, evidence, .. } = &self.script;
                vec![Act::Say(FromWorker::Verified {
                    integrity: integrity.clone(),
                    evidence: evidence.clone(),
                })]
            }
            ToWorker::Finish => vec![ends(now, EndKind::Exited { code: 0 })],
        }
    }

    fn run(&mut self, phase: Phase, now: Nanos, span: Nanos) -> Vec<Act> {
        self.running = Some(Running { phase, since: now });
        self.turn += 1;
        vec![Act::EndPhase { at: now.plus(span), turn: self.turn }]
    }

    /// Messages at the end of the running phase, if `turn` is still current.
    pub(super) fn end_phase(&mut self, turn: u32) -> Vec<FromWorker> {
        let Some(Running { phase, since }) = self.running.take_if(|_| turn == self.turn) else {
            return Vec::new();
        };
        if phase == Phase::WarmUp {
            return vec![FromWorker::WarmedUp];
        }
        let samples = std::mem::take(&mut self.script.samples);
        let shifted: Vec<Sample> = samples
            .into_iter()
            .map(|sample| Sample { start: sample.start.plus(since), end: sample.end.plus(since), ..sample })
            .collect();
        let batches = shifted.chunks(BATCH).map(|batch| FromWorker::Samples { batch: batch.to_vec() });
        batches.chain([FromWorker::Measured]).collect()
    }

    pub(super) fn kill(&self, now: Nanos) -> Act {
        let seen =
            |state: &str| Evidence::from([(WorkerEnd::WHEN_KILLED.to_owned(), json!({ "state": state }))]);
        match self.script.fault {
            Some(Fault::Sticks { .. }) => {
                let end = WorkerEnd {
                    how: EndKind::Abandoned,
                    output: String::new(),
                    evidence: seen("D (uninterruptible sleep)"),
                };
                Act::End { at: now.plus(GIVING_UP), end }
            }
            _ => {
                let how = EndKind::Signalled { signal: libc::SIGTERM, name: signal_name(libc::SIGTERM) };
                Act::End {
                    at: now,
                    end: WorkerEnd { how, output: String::new(), evidence: seen("S (sleeping)") },
                }
            }
        }
    }
}

fn struck(fault: &Fault, now: Nanos) -> Vec<Act> {
    match fault {
        Fault::NotStarted { .. } | Fault::Hangs { .. } | Fault::Sticks { .. } => Vec::new(),
        Fault::Fails { reason, .. } => {
            let failed = FromWorker::Failed { reason: reason.clone() };
            vec![Act::Say(failed), ends(now, EndKind::Exited { code: 1 })]
        }
        Fault::Crashes { signal, .. } => {
            vec![ends(now, EndKind::Signalled { signal: *signal, name: signal_name(*signal) })]
        }
        Fault::Exits { code, .. } => vec![ends(now, EndKind::Exited { code: *code })],
        Fault::Garbles { .. } => {
            let why = "the frame is not a message: scripted garbage".to_owned();
            vec![ends(now, EndKind::Garbled { why })]
        }
        Fault::AgentLost { why, .. } => vec![Act::LoseNode(why.clone())],
        Fault::JobEnded { why, .. } => vec![Act::EndJob(why.clone())],
    }
}

fn ends(at: Nanos, how: EndKind) -> Act {
    Act::End { at, end: WorkerEnd { how, output: String::new(), evidence: Evidence::new() } }
}
