//! The pattern that requests and responses are made of.

/// Messages that may be under way at the same time, as far as telling them apart goes.
const WINDOW: u64 = 64;

/// Fills a message so that its place in the conversation and every byte of it can be checked: a counter, and from it on
/// a sequence that repeats with no power of two.
pub fn fill(message: &mut [u8], number: u64) {
    for (at, byte) in message.iter_mut().enumerate() {
        *byte = expected(at, number);
    }
}

/// The first byte of `message` that is not what [`fill`] wrote.
pub fn first_wrong(message: &[u8], number: u64) -> Option<usize> {
    message.iter().enumerate().position(|(at, byte)| *byte != expected(at, number))
}

/// Which of the messages after `from` this one is, `from` included; none when it is none of the next ones.
pub fn number_after(message: &[u8], from: u64) -> Option<u64> {
    (from..from + WINDOW).find(|number| first_wrong(message, *number).is_none())
}

/// Whether it is one of the messages before `from`.
pub fn is_before(message: &[u8], from: u64) -> bool {
    (from.saturating_sub(WINDOW)..from).any(|number| first_wrong(message, number).is_none())
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
}
