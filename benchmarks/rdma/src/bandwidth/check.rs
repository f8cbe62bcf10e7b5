//! Checks received data after the clock has stopped.

use seatrial_model::{Integrity, Reason};
use seatrial_sys::verbs::{GRH_BYTES, Transport, VerbKind};

use super::passes::{FIRST, LAST, source};
use seatrial_bench::verbs::RdmaEndpoint;
use seatrial_bench::verbs::pattern::{Found, POISON, SlotStamp, check};

#[derive(Debug, Default)]
struct Seen {
    checked: u64,
    slots: u64,
    wrong: u64,
    first: Option<String>,
}

/// Checks all memory that receives messages.
///
/// Over a reliable connection each slot that the last pass wrote holds that whole message, and the others hold older
/// messages, or none. Over other transports messages and parts of them may be missing, so each word must be of one of
/// the passes, or untouched.
pub fn came(endpoint: &RdmaEndpoint) -> Result<Integrity, Reason> {
    let config = &endpoint.config;
    let is_reliable = config.transport == Transport::Rc;
    let skip = if config.transport == Transport::Ud { GRH_BYTES } else { 0 };
    let bytes = config.largest() as usize;
    let mut seen = Seen::default();
    for (pair, own) in endpoint.pairs.iter().enumerate().filter(|(_, pair)| pair.far.is_source) {
        for slot in 0..endpoint.layout.slots {
            let found = endpoint.came(pair, slot, skip, bytes)?;
            let stamp =
                |generation| endpoint.stamp(false, pair, source(config.method.verb, slot), generation);
            seen.slots += 1;
            let wrong = if is_reliable {
                let (last, all) = (endpoint.layout.last_slots(), endpoint.layout.slots);
                match config.method.verb {
                    // The memory that is read was written once, before the trial.
                    VerbKind::Read if slot < last => whole(stamp(FIRST), &found),
                    // A send uses the next receive, whatever its slot, so any slot may hold any message.
                    VerbKind::Send if last < all => either(&[stamp(FIRST), stamp(LAST)], &found),
                    _ if slot < last => whole(stamp(LAST), &found),
                    _ => either(&[stamp(FIRST)], &found),
                }
            } else {
                seen.checked += found.iter().filter(|byte| **byte != POISON).count() as u64;
                words(&[stamp(FIRST), stamp(LAST)], &found)
            };
            seen.checked += if is_reliable && wrong.is_none() { bytes as u64 } else { 0 };
            if let Some(at) = wrong {
                seen.wrong += 1;
                let text = || {
                    format!(
                        "byte {at} of slot {slot} of {} is {:#04x}, a value that was never sent",
                        own.incoming(),
                        found[at]
                    )
                };
                seen.first.get_or_insert_with(text);
            }
        }
    }
    Ok(match seen {
        Seen { first: Some(first), wrong, slots, .. } => Integrity::Corrupt { wrong, of: slots, first },
        Seen { checked: 0, .. } => {
            Integrity::Unverified { why: "no message arrived that could be checked".to_owned() }
        }
        Seen { checked, .. } => Integrity::Verified { checked },
    })
}

/// Offset of the first difference to this whole content.
fn whole(stamp: SlotStamp, found: &[u8]) -> Option<usize> {
    match check(&[stamp], found) {
        Found::Content(count) if count == found.len() => None,
        Found::Content(at) | Found::Wrong(at) => Some(at),
        Found::Nothing => Some(0),
    }
}

/// Offset of the first difference, unless the slot is untouched or has one of these whole contents.
fn either(stamps: &[SlotStamp], found: &[u8]) -> Option<usize> {
    match check(stamps, found) {
        Found::Content(_) | Found::Nothing => None,
        Found::Wrong(at) => Some(at),
    }
}

/// Offset of the first word that is neither of these contents nor untouched.
fn words(stamps: &[SlotStamp], found: &[u8]) -> Option<usize> {
    let contents: Vec<Vec<u8>> = stamps
        .iter()
        .map(|stamp| {
            let mut content = vec![0; found.len()];
            stamp.fill(&mut content);
            content
        })
        .collect();
    let untouched = [POISON; 8];
    let is_wrong = |at: &usize| {
        let word = &found[*at..found.len().min(at + 8)];
        let is_one = contents.iter().any(|content| &content[*at..at + word.len()] == word);
        !is_one && word != &untouched[..word.len()]
    };
    (0..found.len()).step_by(8).find(is_wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: SlotStamp = SlotStamp { nonce: 1, pair: 0, slot: 0, generation: LAST };

    fn content(stamp: SlotStamp, bytes: usize) -> Vec<u8> {
        let mut content = vec![0; bytes];
        stamp.fill(&mut content);
        content
    }

    #[test]
    fn a_reliable_slot_must_be_the_last_pass_and_whole() {
        let mut slot = content(STAMP, 100);
        assert_eq!(whole(STAMP, &slot), None);
        slot[99] ^= 1;
        assert_eq!(whole(STAMP, &slot), Some(99));
        assert_eq!(
            whole(STAMP, &content(SlotStamp { generation: FIRST, ..STAMP }, 100)),
            Some(0),
            "the pass before"
        );
        assert_eq!(whole(STAMP, &[POISON; 100]), Some(0), "nothing came");
    }

    #[test]
    fn an_unreliable_slot_may_lack_pieces_and_hold_nothing_foreign() {
        let both = [SlotStamp { generation: FIRST, ..STAMP }, STAMP];
        let mut slot = content(both[0], 100);
        slot[..48].copy_from_slice(&content(STAMP, 48));
        slot[64..80].fill(POISON);
        assert_eq!(words(&both, &slot), None);
        slot[51] ^= 2;
        assert_eq!(words(&both, &slot), Some(48));
    }
}
