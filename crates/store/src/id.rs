//! Run ids: the UTC second of the start and a few random letters.

use std::hash::{BuildHasher, RandomState};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The second in an id: sorts as text by time.
const FORM: &str = "%Y%m%d-%H%M%S";

/// Consonants, so that no id spells a word; without `l`, which resembles 1.
const LETTERS: &[u8] = b"bcdfghjkmnpqrstvwxz";

const COUNT: usize = 4;

/// An id for a run that starts at `started`, which sorts after `newest`, the newest existing id.
///
/// When the clock is not after the second of `newest` (clock set back, or two runs in one second), the id takes the
/// next second: ids order the runs, and `started` in `run.json` has the real time.
pub fn fresh(started: Timestamp, newest: Option<&str>) -> String {
    let mut second = started.as_second();
    if let Some(newest) = newest.and_then(second_of) {
        second = second.max(newest.saturating_add(1));
    }
    let time = Timestamp::from_second(second).unwrap_or(started);
    format!("{}-{}", time.to_zoned(TimeZone::UTC).strftime(FORM), letters())
}

pub fn is_id(name: &str) -> bool {
    second_of(name).is_some()
}

fn second_of(id: &str) -> Option<i64> {
    let (time, letters) = id.rsplit_once('-')?;
    let well_formed = letters.len() == COUNT && letters.bytes().all(|byte| LETTERS.contains(&byte));
    let time = jiff::civil::DateTime::strptime(FORM, time).ok()?;
    well_formed.then_some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

/// From the random seeds of the standard library's hash maps, which suffice: folders are created exclusively, and a
/// name in use is drawn again.
fn letters() -> String {
    let mut random = RandomState::new().hash_one(std::process::id());
    let base = LETTERS.len() as u64;
    (0..COUNT)
        .map(|_| {
            let letter = LETTERS[(random % base) as usize];
            random /= base;
            char::from(letter)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn an_id_tells_the_utc_second() {
        let id = fresh(at("2026-09-21T10:30:15.9+02:00"), None);
        assert!(id.starts_with("20260921-083015-"), "{id}");
        assert!(is_id(&id), "{id}");
    }

    #[test]
    fn ids_keep_their_order_when_the_clock_goes_back() {
        let newest = "20260921-083015-bcdf";
        for clock in ["2026-09-21T08:30:15Z", "2026-09-21T08:00:00Z", "1970-01-01T00:00:00Z"] {
            let id = fresh(at(clock), Some(newest));
            assert!(id.starts_with("20260921-083016-"), "{id}");
        }
    }

    #[test]
    fn other_names_are_no_ids() {
        for name in [
            "",
            "last",
            "20260921-083015",
            "20260921-083015-bcd",
            "20260921-083015-bcda",
            "20261321-083015-bcdf",
        ] {
            assert!(!is_id(name), "{name}");
        }
    }
}
