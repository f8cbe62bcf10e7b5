//! The bytes of a stream: each value follows from its position, so that any piece can be checked.

use seatrial_model::Integrity;

/// Period of the stream in bytes. It fits into the L1 or L2 cache, and messages of whole pages start at the beginning
/// of a page. A loss or duplicate of a multiple of the period is found by the byte count.
pub const PERIOD: usize = 64 << 10;

pub fn bytes(len: usize) -> Vec<u8> {
    let words = (0..PERIOD / 8).flat_map(|at| word(at).to_le_bytes());
    let period: Vec<u8> = words.collect();
    period.into_iter().cycle().take(len).collect()
}

/// The word at this position of the period: its number, mixed so that neighbours have nothing in common (the
/// finaliser of MurmurHash3 by A. Appleby, in the public domain).
fn word(at: usize) -> u64 {
    let mut mixed = at as u64 + 1;
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        mixed = (mixed ^ (mixed >> 33)).wrapping_mul(factor);
    }
    mixed ^ (mixed >> 33)
}

#[derive(Debug)]
pub struct Check {
    period: Vec<u8>,
    pub checked: u64,
    wrong: u64,
    first: Option<String>,
}

impl Check {
    pub fn new() -> Self {
        Self { period: bytes(PERIOD), checked: 0, wrong: 0, first: None }
    }

    /// Checks `piece`, which begins at byte `at` of the stream.
    pub fn check_bytes(&mut self, piece: &[u8], at: u64) {
        let mut rest = piece;
        let mut at = at;
        while !rest.is_empty() {
            let from = (at % PERIOD as u64) as usize;
            let wanted = &self.period[from..(from + rest.len()).min(PERIOD)];
            let (part, tail) = rest.split_at(wanted.len());
            if part != wanted {
                self.differs(part, from, at);
            }
            self.checked += part.len() as u64;
            at += part.len() as u64;
            rest = tail;
        }
    }

    fn differs(&mut self, part: &[u8], from: usize, at: u64) {
        let wanted = &self.period[from..from + part.len()];
        let mut pairs = part.iter().zip(wanted).enumerate().filter(|(_, (is, wanted))| is != wanted);
        if let Some((offset, (is, wanted))) = pairs.next() {
            self.wrong += 1 + pairs.count() as u64;
            let text = format!("byte {} of the stream is {is:#04x}, not {wanted:#04x}", at + offset as u64);
            self.first.get_or_insert(text);
        }
    }

    pub fn fault(&mut self, text: String) {
        self.wrong += 1;
        self.first.get_or_insert(text);
    }

    pub fn integrity(&self) -> Integrity {
        match self.first.clone() {
            Some(first) => Integrity::Corrupt { wrong: self.wrong, of: self.checked, first },
            None => Integrity::Verified { checked: self.checked },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_piece_can_be_checked_by_its_place() {
        let stream = bytes(3 * PERIOD + 100);
        let mut check = Check::new();
        for (from, to) in [(0, 10), (PERIOD - 3, PERIOD + 5), (17, 3 * PERIOD + 100)] {
            check.check_bytes(&stream[from..to], from as u64);
        }
        let checked = 10 + 8 + 3 * PERIOD as u64 + 83;
        assert_eq!(check.integrity(), Integrity::Verified { checked });
    }

    #[test]
    fn a_flipped_bit_is_found_with_its_place() {
        let mut piece = bytes(2 * PERIOD)[PERIOD - 10..PERIOD + 10].to_vec();
        piece[15] ^= 4;
        let mut check = Check::new();
        check.check_bytes(&piece, 7 * PERIOD as u64 - 10);
        let Integrity::Corrupt { wrong: 1, of: 20, first } = check.integrity() else { panic!("not found") };
        assert!(first.starts_with(&format!("byte {} of the stream", 7 * PERIOD + 5)), "{first}");
    }

    #[test]
    fn a_piece_from_another_place_is_noticed() {
        let stream = bytes(PERIOD);
        for shift in [1, 2, 7, 8, 64, 4096, 32 << 10] {
            let mut check = Check::new();
            check.check_bytes(&stream[..1000], shift);
            assert!(matches!(check.integrity(), Integrity::Corrupt { wrong, .. } if wrong > 900), "{shift}");
        }
    }
}
