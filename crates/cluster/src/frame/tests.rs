//! Round trips, truncations and random bytes.

use std::cell::Cell;
use std::rc::Rc;

use proptest::prelude::*;
use seatrial_model::{Cause, Nanos, Quantity, Reason, Sample, Unit};

use super::*;
use crate::message::FromWorker;

struct Counted<R> {
    from: R,
    taken: Rc<Cell<usize>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let got = self.from.read(into)?;
        self.taken.set(self.taken.get() + got);
        Ok(got)
    }
}

fn message() -> impl Strategy<Value = FromWorker> {
    let sample =
        (".{0,12}", any::<u32>(), any::<u32>(), -1e18..1e18f64).prop_map(|(channel, start, span, amount)| {
            let (start, end) = (Nanos(u64::from(start)), Nanos(u64::from(start) + u64::from(span)));
            let amount = Quantity::new(amount, Unit::Byte).expect("finite");
            Sample { channel, at: Default::default(), start, end, amount }
        });
    prop_oneof![
        Just(FromWorker::Connected),
        ".{0,60}".prop_map(|text| FromWorker::Failed { reason: Reason::new(Cause::IoError, text) }),
        prop::collection::vec(sample, 0..20).prop_map(|batch| FromWorker::Samples { batch }),
    ]
}

fn frames(messages: &[FromWorker]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut writer = FrameWriter::new(&mut stream);
    for message in messages {
        writer.write(message).expect("small enough");
    }
    stream
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(messages in prop::collection::vec(message(), 0..6)) {
        let stream = frames(&messages);
        let mut reader = FrameReader::new(&stream[..]);
        for message in &messages {
            let read = reader.read::<FromWorker>().expect("whole");
            prop_assert_eq!(read.as_ref(), Some(message));
        }
        prop_assert!(reader.read::<FromWorker>().expect("clean end").is_none());
    }

    #[test]
    fn any_cut_is_a_clean_end_or_truncated(messages in prop::collection::vec(message(), 1..4), at in any::<prop::sample::Index>()) {
        let stream = frames(&messages);
        let borders: Vec<usize> = (0..=messages.len()).map(|count| frames(&messages[..count]).len()).collect();
        let cut = at.index(stream.len());
        let mut reader = FrameReader::new(&stream[..cut]);
        let end = loop {
            match reader.read::<FromWorker>() {
                Ok(Some(_)) => {}
                other => break other,
            }
        };
        match end {
            Ok(None) => prop_assert!(borders.contains(&cut)),
            Err(FrameError::Truncated { got, of }) => prop_assert!(got < of && !borders.contains(&cut)),
            other => prop_assert!(false, "cut at {cut}: {other:?}"),
        }
    }

    #[test]
    fn random_bytes_never_panic_nor_grow_the_buffer(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut reader = FrameReader::new(&bytes[..]);
        while let Ok(Some(_)) = reader.read::<FromWorker>() {}
        prop_assert!(reader.buffer.capacity() <= 4096, "{}", reader.buffer.capacity());
    }
}

#[test]
fn a_length_above_the_limit_is_refused_unread() {
    let taken = Rc::new(Cell::new(0));
    let text = b"Last login: Tue on pts/0, have a nice day";
    let mut reader = FrameReader::new(Counted { from: &text[..], taken: taken.clone() });
    let error = reader.read::<FromWorker>().expect_err("no frame");
    assert!(
        matches!(error, FrameError::TooLarge { bytes } if bytes == u32::from_le_bytes(*b"Last") as usize)
    );
    assert_eq!((taken.get(), error.is_hang_up()), (HEADER, false));
}

#[test]
fn a_header_that_lies_costs_no_memory() {
    let mut stream = (MAX_FRAME as u32).to_le_bytes().to_vec();
    stream.extend_from_slice(b"xyz");
    let mut reader = FrameReader::new(&stream[..]);
    let error = reader.read::<FromWorker>().expect_err("cut");
    assert!(matches!(error, FrameError::Truncated { got: 3, of: MAX_FRAME }), "{error}");
    assert!(reader.buffer.capacity() < 4096);
}

#[test]
fn the_limit_itself_passes_and_one_more_does_not() {
    let fits = "x".repeat(MAX_FRAME - 2);
    let frame = encode(&fits).expect("exactly the limit, with its quotes");
    assert_eq!(FrameReader::new(&frame[..]).read::<String>().expect("read").as_deref(), Some(fits.as_str()));
    let mut sink = Vec::new();
    let error = FrameWriter::new(&mut sink).write(&"x".repeat(MAX_FRAME - 1)).expect_err("one above");
    assert!(matches!(error, FrameError::TooLarge { .. }) && sink.is_empty(), "{error}");
}

#[test]
fn nested_brackets_and_wrong_messages_are_garbage() {
    for text in ["[".repeat(200_000), "{}".to_owned(), String::new(), r#""connected" x"#.to_owned()] {
        let mut frame = (text.len() as u32).to_le_bytes().to_vec();
        frame.extend_from_slice(text.as_bytes());
        let error = FrameReader::new(&frame[..]).read::<FromWorker>().expect_err("no message");
        assert!(matches!(error, FrameError::Garbage { .. }), "{error}");
    }
}

#[test]
fn messages_from_a_newer_side_may_hold_more_fields() {
    let text = br#"{"failed":{"reason":{"cause":"hang","text":"x","since":"1 s"},"new":1}}"#;
    let mut frame = (text.len() as u32).to_le_bytes().to_vec();
    frame.extend_from_slice(text);
    let message = FrameReader::new(&frame[..]).read::<FromWorker>().expect("read");
    assert_eq!(message, Some(FromWorker::Failed { reason: Reason::new(Cause::Hang, "x") }));
}
