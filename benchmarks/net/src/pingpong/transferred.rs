//! Bytes sent between the ends, which prove that the chosen interfaces carried them.

use std::iter;

use seatrial_model::{Bytes, PartRecord, Sample};

use super::layer::Layer;
use super::tcp::piece;
use seatrial_bench::Transferred;
use seatrial_bench::pingpong::{CHANNEL, Mode, sent};
use seatrial_mpi_job::between_nodes::PairBytes;

/// Headers of IPv4 and TCP without options. In pingpong mode a message has its own segment at least.
const HEADERS: u64 = 40;

/// The messages of all slices with a sample, over each of `rails` interfaces. Verbs have other headers, and the port counters may
/// leave them out.
pub fn transferred(parts: &[PartRecord], mode: Mode, rails: usize, layer: Layer) -> Vec<Transferred> {
    let headers = if layer == Layer::Tcp { HEADERS } else { 0 };
    let mut moved = vec![Transferred::default(); rails];
    let slices = parts.iter().flat_map(|part| &part.samples).filter(|sample| sample.channel == CHANNEL);
    for slice in slices {
        let (size, messages) = (size(slice) as usize, slice.amount.value() as u64);
        let piece = piece(size, rails);
        let pieces = iter::successors(Some(size), |left| left.checked_sub(piece));
        for (moved, left) in moved.iter_mut().zip(pieces.take_while(|left| *left > 0)) {
            let bytes = left.min(piece) as u64;
            match mode {
                // In stream mode small messages share segments.
                Mode::Stream => moved.forward += sent(messages) * bytes,
                // A slice counts messages there and back.
                Mode::PingPong | Mode::Both => {
                    moved.forward += messages / 2 * (bytes + headers);
                    moved.reverse += messages / 2 * (bytes + headers);
                }
            }
        }
    }
    moved
}

/// The messages of a slice between the ranks of an MPI job, without headers.
pub fn between_ranks(slice: &Sample, mode: Mode) -> PairBytes {
    let (size, messages) = (size(slice), slice.amount.value() as u64);
    match mode {
        Mode::Stream => PairBytes { forward: sent(messages) * size, back: 0 },
        Mode::PingPong | Mode::Both => PairBytes { forward: messages / 2 * size, back: messages / 2 * size },
    }
}

fn size(slice: &Sample) -> u64 {
    slice.at.bytes("size").ok().flatten().map_or(0, Bytes::get)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Nanos, Params, Quantity, Unit};

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
            ..seatrial_testkit::part(vec![slice(1, 20.0), slice(1000, 4.0)])
        };
        let each = 10 * 41 + 2 * 1040;
        for mode in [Mode::PingPong, Mode::Both] {
            let wanted = Transferred { forward: each, reverse: each, buffered: 0 };
            assert_eq!(transferred(std::slice::from_ref(&part), mode, 1, Layer::Tcp), [wanted]);
        }
        let wanted = Transferred { forward: 2 * (20 + 4000), reverse: 0, buffered: 0 };
        assert_eq!(transferred(std::slice::from_ref(&part), Mode::Stream, 1, Layer::Tcp), [wanted]);
        let moved = between_ranks(&slice(1000, 4.0), Mode::PingPong);
        assert_eq!((moved.forward, moved.back), (2000, 2000));
        let moved = between_ranks(&slice(1000, 4.0), Mode::Stream);
        assert_eq!((moved.forward, moved.back), (8000, 0));
        let second = PartRecord { samples: vec![slice(10_001, 2.0), slice(4096, 2.0)], ..part };
        let of_rails = transferred(&[second], Mode::Stream, 3, Layer::Tcp);
        let forward: Vec<u64> = of_rails.iter().map(|moved| moved.forward).collect();
        assert_eq!(forward, [4 * 4096 + 4 * 4096, 4 * 4096, 4 * 1809], "pieces of 4 KiB at least");
    }
}
