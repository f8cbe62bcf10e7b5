//! The thread that reads the supervisor's messages while the part is busy.

use std::os::unix::net::UnixStream;
use std::sync::mpsc::Sender;
use std::time::Duration;

use seatrial_bench::Offer;
use seatrial_model::{Nanos, Phase};
use seatrial_sys::lifetime;

use super::phase_stop::PhaseStop;
use crate::frame::FrameReader;
use crate::message::ToWorker;

pub(super) enum WorkerOrder {
    Prepare,
    Connect(Vec<Offer>),
    /// Run a phase for a time at most, from a moment of the monotonic clock or from now.
    Run(Phase, Duration, Option<Nanos>),
    Verify,
    Finish,
}

pub(super) struct Control {
    frames: FrameReader<UnixStream>,
    orders: Sender<WorkerOrder>,
    phase_stop: PhaseStop,
}

impl Control {
    pub(super) fn new(
        frames: FrameReader<UnixStream>,
        orders: Sender<WorkerOrder>,
        phase_stop: PhaseStop,
    ) -> Self {
        Self { frames, orders, phase_stop }
    }

    /// Passes orders on until the supervisor is gone, then kills the process: its load would disturb the next
    /// measurement.
    pub(super) fn listen(mut self) -> ! {
        loop {
            match self.frames.read::<ToWorker>() {
                Ok(Some(message)) => self.obey(message),
                Ok(None) | Err(_) => lifetime::die_with_group(),
            }
        }
    }

    fn obey(&self, message: ToWorker) {
        let order = match message {
            ToWorker::Prepare => WorkerOrder::Prepare,
            ToWorker::Connect { offers } => WorkerOrder::Connect(offers.into_vec()),
            ToWorker::WarmUp { span } => self.run(Phase::WarmUp, span, None),
            ToWorker::Measure { span, at } => self.run(Phase::Measure, span, at),
            ToWorker::Verify => WorkerOrder::Verify,
            ToWorker::Finish => WorkerOrder::Finish,
            ToWorker::Stop => return self.phase_stop.stop(),
            // A second task: worker and supervisor are out of sync.
            ToWorker::Task { .. } => lifetime::die_with_group(),
        };
        // The part may have failed and its thread be gone; the supervisor knows.
        let _ = self.orders.send(order);
    }

    /// Here and not on the part's thread, so that a `Stop` right after the order is not lost.
    fn run(&self, phase: Phase, span: Nanos, at: Option<Nanos>) -> WorkerOrder {
        self.phase_stop.order();
        WorkerOrder::Run(phase, span.into(), at)
    }
}
