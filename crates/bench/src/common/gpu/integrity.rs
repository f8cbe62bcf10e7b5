//! What the check of copied words comes to.

use seatrial_model::Integrity;

/// Of `checked` bytes, with the number of wrong words and a sentence on the first of them where there are any.
pub fn integrity(wrong: Option<&(u64, String)>, checked: u64) -> Integrity {
    match wrong {
        Some((wrong, first)) => Integrity::Corrupt { wrong: *wrong, of: checked / 8, first: first.clone() },
        None if checked == 0 => Integrity::Unverified { why: "no copy came to its end".to_owned() },
        None => Integrity::Verified { checked },
    }
}
