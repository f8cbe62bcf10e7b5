//! What the leader tells the follower before each round.

use seatrial_model::{Cause, Nanos, Reason};

/// Bytes of a command on the wire.
pub const LENGTH: usize = 32;

/// Tells a command from data that was taken for one.
const MARK: u64 = 0x5345_4154_5249_414c;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Send each message back.
    Echo,
    /// Take the messages, and [`around`](super::lead::around) them those that are not counted; then tell how long it took.
    Take,
    /// Send and receive at the same time.
    Exchange,
    /// Check one message against the pattern and send one of the next number back.
    Check,
}

const VERBS: [Verb; 4] = [Verb::Echo, Verb::Take, Verb::Exchange, Verb::Check];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub verb: Verb,
    /// Which connection the messages go over.
    pub connection: u32,
    /// Bytes of a message.
    pub size: u64,
    /// How many messages, or of a check the number of its pattern.
    pub count: u64,
}

/// What the follower tells of the messages that it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// From the end of the last message before those that count to the end of the last of these.
    pub took: Nanos,
    /// The time since.
    pub since: Nanos,
}

impl Taken {
    /// Bytes on the wire.
    pub const LENGTH: usize = 16;

    pub fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[..8].copy_from_slice(&self.took.get().to_le_bytes());
        bytes[8..].copy_from_slice(&self.since.get().to_le_bytes());
        bytes
    }

    pub fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        let nanos = |at: usize| Nanos(u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte])));
        Self { took: nanos(0), since: nanos(8) }
    }
}

impl Command {
    pub fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let verb = VERBS.iter().position(|verb| *verb == self.verb).unwrap_or(0) as u32;
        bytes[..8].copy_from_slice(&MARK.to_le_bytes());
        bytes[8..12].copy_from_slice(&verb.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.connection.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.size.to_le_bytes());
        bytes[24..].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    /// # Errors
    /// When these are no bytes of a command, or it asks for messages of more than `largest` bytes.
    pub fn from_bytes(bytes: &[u8; LENGTH], largest: u64) -> Result<Self, Reason> {
        let wide = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let narrow = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let verb = VERBS.get(narrow(8) as usize).copied();
        let command = verb.filter(|_| wide(0) == MARK && wide(16) <= largest).map(|verb| Self {
            verb,
            connection: narrow(12),
            size: wide(16),
            count: wide(24),
        });
        command.ok_or_else(|| {
            Reason::new(Cause::CorruptData, "a command of the other end came as something else".to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_messages_arrives_as_it_was_told() {
        let taken = Taken { took: Nanos(1 << 40), since: Nanos(7) };
        assert_eq!(Taken::from_bytes(taken.to_bytes()), taken);
    }

    #[test]
    fn a_command_arrives_as_it_was_sent_and_nothing_else_is_taken_for_one() {
        for verb in VERBS {
            let command = Command { verb, connection: 7, size: 1 << 26, count: 1 << 40 };
            let bytes = command.to_bytes();
            assert_eq!(Command::from_bytes(&bytes, 1 << 26).ok(), Some(command));
            assert!(Command::from_bytes(&bytes, (1 << 26) - 1).is_err(), "larger than there is memory for");
            for at in [0, 7, 9] {
                let mut flipped = bytes;
                flipped[at] ^= 0x40;
                assert!(Command::from_bytes(&flipped, 1 << 26).is_err(), "byte {at}");
            }
        }
    }
}
