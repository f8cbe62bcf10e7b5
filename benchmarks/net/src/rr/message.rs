//! The byte pattern of requests and responses.

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

/// Fills a message so that its number and every byte can be checked: a counter, followed by a sequence whose period
/// is no power of two.
pub fn fill(message: &mut [u8], number: u64) {
    for (at, byte) in message.iter_mut().enumerate() {
        *byte = expected(at, number);
    }
}

/// Offset of the first byte of `message` that differs from [`fill`].
pub fn first_wrong(message: &[u8], number: u64) -> Option<usize> {
    message.iter().enumerate().position(|(at, byte)| *byte != expected(at, number))
}

/// The number of this message, if it is `from` or a later one; of one shorter than its counter, if it is one of the next
/// `WINDOW` numbers.
pub fn number_after(message: &[u8], from: u64) -> Option<u64> {
    let mut ahead = match counter(message) {
        Some(number) if (from..from + FURTHEST).contains(&number) => number..number + 1,
        Some(_) => return None,
        None => from..from + WINDOW,
    };
    ahead.find(|number| first_wrong(message, *number).is_none())
}

/// Whether this is a message before `from`; of one shorter than its counter, whether it is one of the last `WINDOW`.
pub fn is_before(message: &[u8], from: u64) -> bool {
    let mut before = match counter(message) {
        Some(number) if number < from => number..number + 1,
        Some(_) => return false,
        None => from.saturating_sub(WINDOW)..from,
    };
    before.any(|number| first_wrong(message, number).is_none())
}

fn counter(message: &[u8]) -> Option<u64> {
    message.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

fn expected(at: usize, number: u64) -> u8 {
    match number.to_le_bytes().get(at) {
        Some(byte) => *byte,
        None => ((at as u64 + number) % 251) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_message_can_be_checked() {
        let mut message = vec![0; 300];
        fill(&mut message, 7_000);
        assert_eq!(first_wrong(&message, 7_000), None);
        assert!(first_wrong(&message, 7_001).is_some(), "an old message is noticed");
        for at in [0, 7, 8, 150, 299] {
            let mut flipped = message.clone();
            flipped[at] ^= 4;
            assert_eq!(first_wrong(&flipped, 7_000), Some(at));
        }
    }

    #[test]
    fn lost_and_late_messages_are_told_apart_even_of_one_byte() {
        let mut message = [0];
        fill(&mut message, 1000);
        assert_eq!(number_after(&message, 1000), Some(1000));
        assert_eq!(number_after(&message, 990), Some(1000), "ten were lost before it");
        assert_eq!(number_after(&message, 1001), None);
        assert!(is_before(&message, 1001) && !is_before(&message, 1000));
    }

    #[test]
    fn any_number_of_lost_and_late_messages_is_told_of_those_that_hold_their_counter() {
        for len in [8, 300] {
            let mut message = vec![0; len];
            fill(&mut message, 1000);
            assert_eq!(number_after(&message, 0), Some(1000));
            assert_eq!(number_after(&message, 1001), None);
            assert!(is_before(&message, 100_000) && !is_before(&message, 1000));
            fill(&mut message, 1 << 60);
            assert_eq!(number_after(&message, 1000), None, "a number that nobody reaches");
        }
        let mut message = [0; 300];
        fill(&mut message, 1000);
        message[299] ^= 1;
        assert!(number_after(&message, 0).is_none() && !is_before(&message, 100_000), "wrong data");
    }
}
