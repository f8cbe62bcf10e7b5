//! Messages between a controller and a relay: an address as little-endian `u32`, then a frame. The address [`OWN`] is
//! the relay itself.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::fleet::LaunchError;
use crate::frame::{FrameError, FrameReader, encode};
use crate::launch::ssh::Share;
use crate::message::{Command, Report};

const OWN: u32 = u32::MAX;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Down {
    Command(u32, Command),
    Order(Order),
}

/// Messages to a relay. The first is its share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    Serve(Share),
    Close { child: u32 },
    Alive,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Up {
    Report(u32, Report),
    Word(Word),
}

/// Messages of a relay. The first is `Ready`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    Ready { protocol: u32, build: String },
    Copying,
    NeverCame { child: u32, why: LaunchError },
    Lost { child: u32, why: String },
}

pub(super) struct Sender<W>(pub(super) W);

impl<W: Write> Sender<W> {
    pub(super) fn down(&mut self, message: &Down) -> Result<(), FrameError> {
        match message {
            Down::Command(child, command) => self.put(*child, command),
            Down::Order(order) => self.put(OWN, order),
        }
    }

    pub(super) fn up(&mut self, message: &Up) -> Result<(), FrameError> {
        match message {
            Up::Report(child, report) => self.put(*child, report),
            Up::Word(word) => self.put(OWN, word),
        }
    }

    fn put(&mut self, address: u32, message: &impl Serialize) -> Result<(), FrameError> {
        let frame = encode(message)?;
        self.0.write_all(&[&address.to_le_bytes()[..], &frame].concat())?;
        Ok(self.0.flush()?)
    }
}

pub(super) struct Receiver<R>(pub(super) R);

impl<R: Read> Receiver<R> {
    /// The next message of a controller; `None` at the end of the stream.
    pub(super) fn down(&mut self) -> Result<Option<Down>, FrameError> {
        Ok(match self.address()? {
            None => None,
            Some(OWN) => Some(Down::Order(self.message()?)),
            Some(child) => Some(Down::Command(child, self.message()?)),
        })
    }

    /// The next message of a relay; `None` at the end of the stream.
    pub(super) fn up(&mut self) -> Result<Option<Up>, FrameError> {
        Ok(match self.address()? {
            None => None,
            Some(OWN) => Some(Up::Word(self.message()?)),
            Some(child) => Some(Up::Report(child, self.message()?)),
        })
    }

    fn address(&mut self) -> Result<Option<u32>, FrameError> {
        let mut bytes = [0; size_of::<u32>()];
        let mut got = 0;
        while got < bytes.len() {
            match self.0.read(&mut bytes[got..]) {
                Ok(0) if got == 0 => return Ok(None),
                Ok(0) => return Err(FrameError::Truncated { got, of: bytes.len() }),
                Ok(more) => got += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(u32::from_le_bytes(bytes)))
    }

    fn message<T: DeserializeOwned>(&mut self) -> Result<T, FrameError> {
        let message = FrameReader::new(&mut self.0).read()?;
        message.ok_or(FrameError::Truncated { got: 0, of: size_of::<u32>() })
    }
}

/// Parses `bytes` as messages of both directions, for fuzz targets.
pub fn envelopes(bytes: &[u8]) {
    let (mut down, mut up) = (Receiver(bytes), Receiver(bytes));
    while let Ok(Some(_)) = down.down() {}
    while let Ok(Some(_)) = up.up() {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use seatrial_model::{Nanos, Quantity, Sample, Unit};

    use super::*;
    use crate::frame::MAX_FRAME;
    use crate::message::{FromWorker, WorkerId};

    fn message() -> impl Strategy<Value = Up> {
        let child = 0..OWN;
        prop_oneof![
            (child.clone(), any::<u32>(), any::<u32>()).prop_map(|(child, round, clock)| {
                let clock = Nanos(clock.into());
                Up::Report(child, Report::Pong { round, clock, time_of_day: clock })
            }),
            (child.clone(), ".{0,200}").prop_map(|(child, why)| Up::Word(Word::Lost { child, why })),
            (child, "[a-z]{1,9}", ".{0,99}").prop_map(|(child, node, why)| {
                Up::Word(Word::NeverCame { child, why: LaunchError::NoHello { node, why } })
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(4), ..Default::default() })]

        #[test]
        fn messages_of_many_children_come_out_as_they_went_in(sent in prop::collection::vec(message(), 0..20)) {
            let mut bytes = Sender(Vec::new());
            for message in &sent {
                bytes.up(message).expect("fits");
            }
            let mut receiver = Receiver(&bytes.0[..]);
            let received: Vec<Up> = std::iter::from_fn(|| receiver.up().expect("whole")).collect();
            prop_assert_eq!(received, sent);
        }

        #[test]
        fn a_stream_that_was_cut_is_an_error_unless_between_two_messages(
            sent in prop::collection::vec(message(), 1..4), cut in any::<prop::sample::Index>()
        ) {
            let mut bytes = Sender(Vec::new());
            let mut ends = vec![0];
            for message in &sent {
                bytes.up(message).expect("fits");
                ends.push(bytes.0.len());
            }
            let cut = cut.index(bytes.0.len());
            let mut receiver = Receiver(&bytes.0[..cut]);
            let mut whole = 0;
            let end = loop {
                match receiver.up() {
                    Ok(Some(message)) => { prop_assert_eq!(&message, &sent[whole]); whole += 1; }
                    other => break other,
                }
            };
            prop_assert_eq!(end.is_ok(), ends.contains(&cut));
            prop_assert_eq!(whole, ends.iter().filter(|end| **end <= cut).count() - 1);
        }

        #[test]
        fn garbage_is_an_error_and_takes_no_memory(bytes in prop::collection::vec(any::<u8>(), 1..64)) {
            let mut receiver = Receiver(&bytes[..]);
            while let Ok(Some(_)) = receiver.down() {}
        }
    }

    #[test]
    fn what_just_fits_a_frame_fits_through_a_relay() {
        let report = |letters: usize| {
            let amount = Quantity::new(1.0, Unit::Byte).expect("finite");
            let (start, end, at) = (Nanos(1), Nanos(2), Default::default());
            let sample = Sample { channel: "x".repeat(letters), at, start, end, amount };
            Report::Said { worker: WorkerId(7), message: FromWorker::Samples { batch: vec![sample] } }
        };
        let around = encode(&report(0)).expect("fits").len() - size_of::<u32>();
        let largest = Up::Report(3, report(MAX_FRAME - around));
        let mut bytes = Sender(Vec::new());
        bytes.up(&largest).expect("fits");
        assert!(Receiver(&bytes.0[..]).up().expect("whole") == Some(largest), "it came out as another");
        let too_large = bytes.up(&Up::Report(3, report(MAX_FRAME - around + 1)));
        assert!(matches!(too_large, Err(FrameError::TooLarge { .. })), "{too_large:?}");
        let length = bytes.0.len();
        assert_eq!(length, size_of::<u32>() * 2 + MAX_FRAME, "nothing of it was written");
    }
}
