//! Samples of a running phase.

use seatrial_bench::Sink;
use seatrial_model::{Evidence, Phase, Reason, Sample};

use super::outbox::Outbox;

/// Samples that are held before some are sent, a few MiB. Sending takes system calls and CPU time during the
/// measurement, so up to this many samples are sent after the phase; beyond, sending bounds the memory.
const HELD: usize = 16_384;

pub(super) struct PhaseSink<'a> {
    keep: bool,
    held: Vec<Sample>,
    evidence: &'a mut Evidence,
    outbox: &'a mut Outbox,
    sent: Result<(), Reason>,
}

impl<'a> PhaseSink<'a> {
    pub(super) fn new(phase: Phase, evidence: &'a mut Evidence, outbox: &'a mut Outbox) -> Self {
        let keep = phase == Phase::Measure;
        // Room for a usual phase, so that a push seldom allocates during the measurement.
        let held = Vec::with_capacity(if keep { 4096 } else { 0 });
        Self { keep, held, evidence, outbox, sent: Ok(()) }
    }

    pub(super) fn finish(mut self) -> Result<(), Reason> {
        self.flush();
        self.sent
    }

    fn flush(&mut self) {
        if self.sent.is_ok() {
            self.sent = self.outbox.send_samples(&self.held);
        }
        self.held.clear();
    }
}

impl Sink for PhaseSink<'_> {
    fn sample(&mut self, sample: Sample) {
        if !self.keep {
            return;
        }
        if self.held.len() == HELD {
            self.flush();
        }
        self.held.push(sample);
    }

    fn evidence(&mut self, name: &str, value: serde_json::Value) {
        self.evidence.insert(name.to_owned(), value);
    }
}
