//! The format of a datagram: a header with its flow and number, and a body that can be checked.

use super::config::HEADER;

/// The first bytes of every datagram, in little-endian order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// A secret of the trial; datagrams without it are foreign.
    pub cookie: u64,
    /// Counts the datagrams of a flow in a phase, from 0.
    pub sequence: u64,
    /// Send time on the sender's clock; all datagrams of one call have the same.
    pub sent_ns: u64,
    pub flow: u16,
    /// The phase: datagrams of the warm-up do not count in the measurement.
    pub phase: u16,
    pub message: u32,
}

impl Header {
    pub fn write(&self, datagram: &mut [u8]) {
        datagram[0..8].copy_from_slice(&self.cookie.to_le_bytes());
        datagram[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        datagram[16..24].copy_from_slice(&self.sent_ns.to_le_bytes());
        datagram[24..26].copy_from_slice(&self.flow.to_le_bytes());
        datagram[26..28].copy_from_slice(&self.phase.to_le_bytes());
        datagram[28..HEADER].copy_from_slice(&self.message.to_le_bytes());
    }

    pub fn read(datagram: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER] = datagram.first_chunk()?;
        let eight = |at: usize| u64::from_le_bytes(std::array::from_fn(|offset| bytes[at + offset]));
        Some(Self {
            cookie: eight(0),
            sequence: eight(8),
            sent_ns: eight(16),
            flow: u16::from_le_bytes([bytes[24], bytes[25]]),
            phase: u16::from_le_bytes([bytes[26], bytes[27]]),
            message: u32::from_le_bytes([bytes[28], bytes[29], bytes[30], bytes[31]]),
        })
    }
}

/// The bodies of datagrams: bytes that follow from the cookie and from the slot in the sender's memory, which is the
/// sequence number modulo the number of slots. A sender fills its memory once, and a receiver can compute each body.
#[derive(Clone, Debug)]
pub struct Pattern {
    body: usize,
    slots: usize,
    bytes: Vec<u8>,
}

impl Pattern {
    pub fn new(cookie: u64, message: usize, slots: usize) -> Self {
        let body = message - HEADER;
        let mut bytes = vec![0; body * slots];
        let mut state = cookie | 1;
        for word in bytes.chunks_mut(8) {
            // xorshift64 (Marsaglia 2003): its period is longer than any such memory.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes()[..word.len()]);
        }
        Self { body, slots, bytes }
    }

    pub fn of(&self, sequence: u64) -> &[u8] {
        let slot = (sequence % self.slots as u64) as usize;
        &self.bytes[slot * self.body..][..self.body]
    }

    pub fn first_wrong(&self, datagram: &[u8], sequence: u64) -> Option<usize> {
        let (found, wanted) = (&datagram[HEADER..], self.of(sequence));
        // Comparing slices is one memcmp; only a difference is searched for its position.
        if found == wanted {
            return None;
        }
        let at = found.iter().zip(wanted).position(|(found, wanted)| found != wanted);
        Some(HEADER + at.unwrap_or(found.len().min(wanted.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let header = Header {
            cookie: u64::MAX - 1,
            sequence: 1 << 40,
            sent_ns: 7,
            flow: 300,
            phase: 2,
            message: 65_507,
        };
        let mut bytes = [0; 40];
        header.write(&mut bytes);
        assert_eq!(Header::read(&bytes), Some(header));
        assert_eq!(Header::read(&bytes[..HEADER - 1]), None);
    }

    #[test]
    fn every_byte_of_a_body_follows_from_cookie_and_number() {
        let (message, slots) = (109, 5);
        let pattern = Pattern::new(77, message, slots);
        for sequence in 0..10 {
            let mut datagram = vec![0; message];
            datagram[HEADER..].copy_from_slice(pattern.of(sequence));
            assert_eq!(pattern.first_wrong(&datagram, sequence + 5), None, "it comes round");
            assert!(pattern.first_wrong(&datagram, sequence + 1).is_some(), "another one is noticed");
            for at in HEADER..message {
                datagram[at] ^= 1;
                assert_eq!(pattern.first_wrong(&datagram, sequence), Some(at));
                datagram[at] ^= 1;
            }
            assert_eq!(pattern.first_wrong(&datagram[..message - 1], sequence), Some(message - 1));
        }
        assert!(Pattern::new(78, message, slots).of(0) != pattern.of(0));
        assert!(Pattern::new(7, HEADER, 3).of(1).is_empty());
    }
}
