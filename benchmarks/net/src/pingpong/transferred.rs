//! Bytes sent between the ends, which prove that the chosen interfaces carried them.

use seatrial_model::{Bytes, PartRecord, Sample};

use seatrial_bench::Transferred;
use seatrial_bench::pingpong::{CHANNEL, Mode};

/// Headers of IPv4 and TCP without options. In pingpong mode a message has its own segment at least.
const HEADERS: u64 = 40;

/// The messages of all timed slices. Verbs have other headers, and the port counters may leave them out.
pub fn transferred(parts: &[PartRecord], mode: Mode, is_by_verbs: bool) -> Transferred {
    let headers = if is_by_verbs { 0 } else { HEADERS };
    let mut moved = Transferred::default();
    let slices = parts.iter().flat_map(|part| &part.samples).filter(|sample| sample.channel == CHANNEL);
    for slice in slices {
        let (size, messages) = (size(slice), slice.amount.value() as u64);
        match mode {
            // In stream mode small messages share segments.
            Mode::Stream => moved.forward += messages * size,
            // A slice counts messages there and back.
            Mode::PingPong | Mode::Both => {
                moved.forward += messages / 2 * (size + headers);
                moved.reverse += messages / 2 * (size + headers);
            }
        }
    }
    moved
}

fn size(slice: &Sample) -> u64 {
    slice.at.bytes("size").ok().flatten().map_or(0, Bytes::get)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Integrity, Nanos, Params, Quantity, Unit};

    #[test]
    fn messages_there_and_back_are_a_segment_each_and_those_one_way_are_not() {
        let slice = |bytes: u64, messages: f64| {
            let mut at = Params::default();
            at.set("size", Bytes(bytes));
            let amount = Quantity::new(messages, Unit::Count).expect("finite");
            Sample { channel: CHANNEL.to_owned(), at, start: Nanos(0), end: Nanos(1), amount }
        };
        let part = PartRecord {
            part: "leader".to_owned(),
            index: 0,
            node: "n1".to_owned(),
            trial: 0,
            samples: vec![slice(1, 20.0), slice(1000, 4.0)],
            integrity: Integrity::Verified { checked: 1 },
            evidence: Default::default(),
        };
        let each = 10 * 41 + 2 * 1040;
        for mode in [Mode::PingPong, Mode::Both] {
            let wanted = Transferred { forward: each, reverse: each, buffered: 0 };
            assert_eq!(transferred(std::slice::from_ref(&part), mode, false), wanted);
        }
        let wanted = Transferred { forward: 20 + 4000, reverse: 0, buffered: 0 };
        assert_eq!(transferred(&[part], Mode::Stream, false), wanted);
    }
}
