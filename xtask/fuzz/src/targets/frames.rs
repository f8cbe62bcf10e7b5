//! What controllers, agents, relays and workers say to each other.

use seatrial_cluster::frame::{FrameReader, encode};
use seatrial_cluster::{Command, FromWorker, Hello, Report, ScriptFile, ToWorker, envelopes};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Target;

pub const TARGET: Target = Target { name: "frames", run, longest: 4096, most_allocated: 4 << 20 };

/// An input that begins as JSON is put into a frame.
fn run(input: &[u8]) {
    if input.first() == Some(&b'{') || input.first() == Some(&b'"') {
        let length = u32::try_from(input.len()).unwrap_or(u32::MAX).to_le_bytes();
        every_message(&[&length, input].concat());
        let _ = std::str::from_utf8(input).map(ScriptFile::parse);
    } else {
        every_message(input);
        envelopes(input);
    }
}

fn every_message(bytes: &[u8]) {
    all::<Hello>(bytes);
    all::<Command>(bytes);
    all::<Report>(bytes);
    all::<ToWorker>(bytes);
    all::<FromWorker>(bytes);
}

/// Reads message after message, each of which comes back as it was when it is written.
fn all<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
    let mut reader = FrameReader::new(bytes);
    while let Ok(Some(message)) = reader.read::<T>() {
        let frame = encode(&message).expect("what was read can be written");
        let again = FrameReader::new(frame.as_slice()).read::<T>().expect("what was written can be read");
        assert_eq!(again.as_ref(), Some(&message));
    }
}
