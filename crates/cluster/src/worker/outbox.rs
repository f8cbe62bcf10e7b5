//! Messages of the worker to its supervisor.

use std::os::unix::net::UnixStream;

use seatrial_model::{Cause, Reason, Sample};
use seatrial_sys::lifetime;
use serde::Serialize;

use crate::frame::{FrameError, FrameWriter};
use crate::message::FromWorker;

/// Samples per frame: about 40 kB at 150 bytes each, so that a shared pipe is not blocked for long.
const BATCH: usize = 256;

/// The stream to the supervisor. A send blocks while the supervisor does not read: back-pressure.
pub(super) struct Outbox(FrameWriter<UnixStream>);

/// [`FromWorker::Samples`] with borrowed samples.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Lent<'a> {
    Samples { batch: &'a [Sample] },
}

impl Outbox {
    pub(super) fn new(channel: UnixStream) -> Self {
        Self(FrameWriter::new(channel))
    }

    pub(super) fn send(&mut self, message: &FromWorker) -> Result<(), Reason> {
        self.write(message).map_err(|error| refused("a message", &error))
    }

    pub(super) fn send_samples(&mut self, samples: &[Sample]) -> Result<(), Reason> {
        samples
            .chunks(BATCH)
            .try_for_each(|batch| self.send_batch(batch))
            .map_err(|error| refused("a sample", &error))
    }

    fn send_batch(&mut self, batch: &[Sample]) -> Result<(), FrameError> {
        match self.write(&Lent::Samples { batch }) {
            Err(FrameError::TooLarge { .. }) if batch.len() > 1 => {
                let (first, second) = batch.split_at(batch.len() / 2);
                self.send_batch(first)?;
                self.send_batch(second)
            }
            sent => sent,
        }
    }

    fn write(&mut self, message: &impl Serialize) -> Result<(), FrameError> {
        match self.0.write(message) {
            Err(error) if error.is_hang_up() => lifetime::die_with_group(),
            sent => sent,
        }
    }
}

fn refused(what: &str, error: &FrameError) -> Reason {
    Reason::new(Cause::Protocol, format!("the worker cannot send {what}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use seatrial_model::{Nanos, Quantity, Unit};

    use super::*;
    use crate::frame::{FrameReader, MAX_FRAME};

    fn sample(channel: String) -> Sample {
        let amount = Quantity::new(1.5, Unit::Byte).expect("finite");
        Sample { channel, at: Default::default(), start: Nanos(1), end: Nanos(2), amount }
    }

    fn sent_and_received(samples: Vec<Sample>) -> (Result<(), Reason>, Vec<Vec<Sample>>) {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let sender = thread::spawn(move || Outbox::new(ours).send_samples(&samples));
        let mut frames = FrameReader::new(theirs);
        let mut batches = Vec::new();
        while let Some(message) = frames.read().expect("whole frames") {
            let FromWorker::Samples { batch } = message else { panic!("only samples were sent") };
            batches.push(batch);
        }
        (sender.join().expect("joined"), batches)
    }

    #[test]
    fn samples_arrive_in_order_in_batches() {
        let samples: Vec<Sample> = (0..BATCH * 2 + 1).map(|number| sample(number.to_string())).collect();
        let (sent, batches) = sent_and_received(samples.clone());
        assert_eq!(sent, Ok(()));
        assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [BATCH, BATCH, 1]);
        assert_eq!(batches.concat(), samples);
    }

    #[test]
    fn a_batch_too_large_for_a_frame_goes_in_halves() {
        let samples: Vec<Sample> =
            ["a", "b", "c"].map(|letter| sample(letter.repeat(MAX_FRAME / 2))).to_vec();
        let (sent, batches) = sent_and_received(samples.clone());
        assert_eq!((sent, batches.len()), (Ok(()), 3));
        assert!(batches.concat() == samples, "the order is another one");
    }

    #[test]
    fn a_sample_too_large_for_a_frame_is_an_error() {
        let (sent, batches) = sent_and_received(vec![sample("x".repeat(MAX_FRAME))]);
        assert_eq!(sent.expect_err("too large").cause, Cause::Protocol);
        assert!(batches.is_empty());
    }
}
