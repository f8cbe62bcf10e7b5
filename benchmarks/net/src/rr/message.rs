//! The byte pattern of requests and responses.

use seatrial_bench::Sequence;
use seatrial_model::Verification;

/// Bytes of the counter that a message begins with.
pub const NUMBERED: usize = size_of::<u64>();

/// Most messages in flight that can be told apart, where they are shorter than their counter.
pub const WINDOW: u64 = 64;

/// A number further ahead than this is wrong data: nobody sends so many in vain.
const FURTHEST: u64 = 1 << 32;

/// Bytes of a message of `len` bytes that are made anew and checked: without verification the counter alone.
pub fn verified_bytes(verification: Verification, len: usize) -> usize {
    if verification == Verification::None { len.min(NUMBERED) } else { len }
}

/// What messages consist of: a counter, followed by a sequence that begins at another place for each number.
#[derive(Default)]
pub struct MessagePattern {
    sequence: Sequence,
}

impl MessagePattern {
    /// Fills a message so that its number and every byte can be checked.
    pub fn fill(&self, message: &mut [u8], number: u64) {
        let (counter, rest) = message.split_at_mut(NUMBERED.min(message.len()));
        counter.copy_from_slice(&number.to_le_bytes()[..counter.len()]);
        self.sequence.fill(rest, number);
    }

    /// Offset of the first byte of `message` that differs from [`Self::fill`].
    pub fn first_wrong(&self, message: &[u8], number: u64) -> Option<usize> {
        let (counter, rest) = message.split_at(NUMBERED.min(message.len()));
        let in_counter =
            counter.iter().zip(number.to_le_bytes()).position(|(byte, expected)| *byte != expected);
        in_counter.or_else(|| self.sequence.first_wrong(rest, number).map(|at| counter.len() + at))
    }

    /// Whether this is a message before `from`; of one shorter than its counter, whether it is one of the last `WINDOW`.
    pub fn is_before(&self, message: &[u8], from: u64) -> bool {
        let mut before = match counter(message) {
            Some(number) if number < from => number..number + 1,
            Some(_) => return false,
            None => from.saturating_sub(WINDOW)..from,
        };
        before.any(|number| self.first_wrong(message, number).is_none())
    }
}

/// Whether a message begins with this number, or with as much of it as the message is long.
pub fn is_numbered(message: &[u8], number: u64) -> bool {
    let len = message.len().min(NUMBERED);
    message[..len] == number.to_le_bytes()[..len]
}

/// The number of this message, if it is `from` or a later one; of one shorter than its counter, if it is one of the next
/// `WINDOW` numbers. Nothing else of the message is looked at.
pub fn number_after(message: &[u8], from: u64) -> Option<u64> {
    match counter(message) {
        Some(number) => (from..from + FURTHEST).contains(&number).then_some(number),
        None => (from..from + WINDOW).find(|number| is_numbered(message, *number)),
    }
}

fn counter(message: &[u8]) -> Option<u64> {
    message.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_message_can_be_checked() {
        let pattern = MessagePattern::default();
        for len in [1, 8, 300, 600] {
            let mut message = vec![0; len];
            pattern.fill(&mut message, 7_000);
            assert_eq!(pattern.first_wrong(&message, 7_000), None);
            assert_eq!(pattern.first_wrong(&message, 7_001), Some(0), "an old message is noticed");
            for at in [0, 7, 8, 150, 299, 599].into_iter().filter(|at| *at < len) {
                let mut flipped = message.clone();
                flipped[at] ^= 4;
                assert_eq!(pattern.first_wrong(&flipped, 7_000), Some(at));
            }
        }
    }

    #[test]
    fn neighbouring_messages_differ_at_every_place() {
        let pattern = MessagePattern::default();
        let mut messages = [[0; 64]; 2];
        pattern.fill(&mut messages[0], 500);
        pattern.fill(&mut messages[1], 501);
        assert!(messages[0][8..].iter().zip(&messages[1][8..]).all(|(one, next)| one != next));
        assert_eq!(messages[0][9..], messages[1][8..63], "one sequence, which begins one byte further on");
        assert_ne!(messages[0][8..16], messages[0][16..24]);
    }

    #[test]
    fn lost_and_late_messages_are_told_apart_even_of_one_byte() {
        let (pattern, mut message) = (MessagePattern::default(), [0]);
        pattern.fill(&mut message, 1000);
        assert_eq!(number_after(&message, 1000), Some(1000));
        assert_eq!(number_after(&message, 990), Some(1000), "ten were lost before it");
        assert_eq!(number_after(&message, 1001), None);
        assert!(pattern.is_before(&message, 1001) && !pattern.is_before(&message, 1000));
    }

    #[test]
    fn any_number_of_lost_and_late_messages_is_told_of_those_that_hold_their_counter() {
        let pattern = MessagePattern::default();
        for len in [8, 300] {
            let mut message = vec![0; len];
            pattern.fill(&mut message, 1000);
            assert_eq!(number_after(&message, 0), Some(1000));
            assert_eq!(number_after(&message, 1001), None);
            assert!(pattern.is_before(&message, 100_000) && !pattern.is_before(&message, 1000));
            pattern.fill(&mut message, 1 << 60);
            assert_eq!(number_after(&message, 1000), None, "a number that nobody reaches");
        }
        let mut message = [0; 300];
        pattern.fill(&mut message, 1000);
        message[299] ^= 1;
        assert!(!pattern.is_before(&message, 100_000), "wrong data");
        assert_eq!(pattern.first_wrong(&message, 1000), Some(299));
    }
}
