//! Counts of checked words, and the first that is wrong.

use seatrial_model::Integrity;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    pub checked: u64,
    pub wrong: u64,
    /// Description of the first wrong word; empty when all are right.
    pub first: String,
}

impl Check {
    pub fn word(&mut self, is_right: bool, describe: impl FnOnce() -> String) {
        self.checked += 1;
        if !is_right {
            if self.wrong == 0 {
                self.first = describe();
            }
            self.wrong += 1;
        }
    }

    pub fn integrity(self) -> Integrity {
        match self {
            Self { checked: 0, .. } => Integrity::Unverified { why: "no word was processed".to_owned() },
            Self { checked, wrong: 0, .. } => {
                Integrity::Verified { checked: checked * size_of::<u64>() as u64 }
            }
            Self { checked, wrong, first } => Integrity::Corrupt { wrong, of: checked, first },
        }
    }
}
