//! What the check of received data found.

use seatrial_model::Integrity;

/// Words that were compared, and the first wrong one.
#[derive(Debug, Default)]
pub struct Comparison {
    bytes: u64,
    words: u64,
    wrong: u64,
    first: Option<String>,
}

impl Comparison {
    /// Counts a word of so many bytes; `told` says where a wrong one is and what it should be.
    pub fn word(&mut self, bytes: usize, is_right: bool, told: impl FnOnce() -> String) {
        self.bytes += bytes as u64;
        self.words += 1;
        if !is_right {
            self.wrong += 1;
            self.first.get_or_insert_with(told);
        }
    }

    pub fn integrity(self) -> Integrity {
        match self.first {
            None => Integrity::Verified { checked: self.bytes },
            Some(first) => Integrity::Corrupt { wrong: self.wrong, of: self.words, first },
        }
    }
}
