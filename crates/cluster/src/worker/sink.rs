//! Where the samples of a running phase go.

use seatrial_bench::Sink;
use seatrial_model::{Evidence, Phase, Reason, Sample};

use super::outbox::Outbox;

/// Samples that are held before some are sent, a few MiB.
///
/// Sending takes system calls and a core, which a part must not notice while its clock runs. Up to this many samples
/// nothing is sent before the phase is over; a part that makes more pays for it, and memory stays bounded.
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
        // Room for a usual phase from the start, so that a push seldom allocates while the clock runs.
        let held = Vec::with_capacity(if keep { 4096 } else { 0 });
        Self { keep, held, evidence, outbox, sent: Ok(()) }
    }

    /// Sends what is still held.
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
