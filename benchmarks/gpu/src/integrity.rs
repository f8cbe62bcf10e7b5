//! Sums up the checks of copied words.

use seatrial_model::Integrity;

use crate::pattern::Wrong;

#[derive(Clone, Debug, Default)]
pub struct Checks {
    checked: u64,
    wrong: Option<(u64, String)>,
}

impl Checks {
    /// Adds a check of `bytes`, of which `wrong` words were wrong; `first` describes the first of them.
    pub fn note(&mut self, bytes: u64, wrong: u64, first: impl FnOnce() -> String) {
        self.checked += bytes;
        if wrong > 0 {
            self.wrong.get_or_insert_with(|| (0, first())).0 += wrong;
        }
    }

    /// Adds checks that were made before.
    pub fn add(&mut self, other: Self) {
        self.checked += other.checked;
        if let Some((wrong, first)) = other.wrong {
            self.wrong.get_or_insert((0, first)).0 += wrong;
        }
    }

    /// Adds a check of `bytes` that begin at byte `offset` of what `what` describes.
    pub fn note_words(
        &mut self,
        bytes: u64,
        wrong: Option<Wrong>,
        offset: u64,
        what: impl FnOnce() -> String,
    ) {
        let Wrong { count, first, .. } = wrong.unwrap_or_default();
        self.note(bytes, count, || {
            format!("{}: the first wrong word is at byte {}", what(), offset + 8 * first)
        });
    }

    pub fn integrity(&self) -> Integrity {
        match &self.wrong {
            Some((wrong, first)) => {
                Integrity::Corrupt { wrong: *wrong, of: self.checked / 8, first: first.clone() }
            }
            None if self.checked == 0 => Integrity::Unverified { why: "no copy finished".to_owned() },
            None => Integrity::Verified { checked: self.checked },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wrong_place_is_kept_and_all_wrong_words_count() {
        let mut checks = Checks::default();
        assert!(matches!(checks.integrity(), Integrity::Unverified { .. }));
        checks.note(80, 0, || unreachable!("nothing was wrong"));
        assert_eq!(checks.integrity(), Integrity::Verified { checked: 80 });
        checks.note(80, 2, || "here".to_owned());
        checks.note(80, 3, || "there".to_owned());
        assert_eq!(checks.integrity(), Integrity::Corrupt { wrong: 5, of: 30, first: "here".to_owned() });
    }

    #[test]
    fn the_first_wrong_word_is_told_as_a_byte_of_the_whole() {
        let mut checks = Checks::default();
        checks.note_words(80, None, 0, || unreachable!("nothing was wrong"));
        checks.note_words(80, Some(Wrong { count: 2, first: 3, bits: 1 }), 80, || "here".to_owned());
        let first = "here: the first wrong word is at byte 104".to_owned();
        assert_eq!(checks.integrity(), Integrity::Corrupt { wrong: 2, of: 20, first: first.clone() });
        let mut all = Checks::default();
        all.note(80, 0, || unreachable!("nothing was wrong"));
        all.add(checks);
        assert_eq!(all.integrity(), Integrity::Corrupt { wrong: 2, of: 30, first });
    }
}
