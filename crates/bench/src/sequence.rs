//! Bytes that repeat with a period that is no power of two, so that no shift by words or pages goes unseen. They are copied and
//! compared in long pieces, at the speed of memory.

const PERIOD: usize = 251;

/// Bytes of a piece, which is whole periods, so that all pieces of a message are alike.
const PIECE: usize = 256 * PERIOD;

#[derive(Debug)]
pub struct Sequence {
    /// A piece from each place of the period on.
    bytes: Vec<u8>,
}

impl Default for Sequence {
    fn default() -> Self {
        Self { bytes: (0..PERIOD + PIECE).map(|at| (at % PERIOD) as u8).collect() }
    }
}

impl Sequence {
    /// Fills `bytes` with the sequence from place `from` on.
    pub fn fill(&self, bytes: &mut [u8], from: u64) {
        for piece in bytes.chunks_mut(PIECE) {
            piece.copy_from_slice(self.window(from, piece.len()));
        }
    }

    /// Offset of the first byte that differs from [`Self::fill`].
    pub fn first_wrong(&self, bytes: &[u8], from: u64) -> Option<usize> {
        let mut pieces = bytes.chunks(PIECE).enumerate();
        let (number, piece) = pieces.find(|(_, piece)| *piece != self.window(from, piece.len()))?;
        let mut pairs = piece.iter().zip(self.window(from, piece.len()));
        pairs.position(|(byte, expected)| byte != expected).map(|at| number * PIECE + at)
    }

    fn window(&self, from: u64, len: usize) -> &[u8] {
        let from = (from % PERIOD as u64) as usize;
        &self.bytes[from..from + len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_byte_of_any_piece_can_be_checked() {
        let sequence = Sequence::default();
        for from in [0, 1, 250, 251, u64::MAX] {
            let mut bytes = vec![0; 2 * PIECE + 100];
            sequence.fill(&mut bytes, from);
            assert_eq!(sequence.first_wrong(&bytes, from), None);
            assert_eq!(sequence.first_wrong(&bytes, from.wrapping_add(2)), Some(0));
            let by_hand = |at: usize| ((from % 251 + at as u64) % 251) as u8;
            assert!(bytes.iter().enumerate().all(|(at, byte)| *byte == by_hand(at)));
            for at in [0, PIECE - 1, PIECE, 2 * PIECE + 99] {
                bytes[at] ^= 128;
                assert_eq!(sequence.first_wrong(&bytes, from), Some(at));
                bytes[at] ^= 128;
            }
        }
        assert_eq!(sequence.first_wrong(&[], 5), None);
    }
}
