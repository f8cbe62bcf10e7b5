//! Kinds of data corruption, and how they are told apart.

use std::fmt;

use super::stamp::{BlockStamp, STAMP};
use super::{POISON, POISONED, Payload, SECTOR};

/// A granule that is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of its file.
    pub file: u32,
    /// Where the granule begins in it, in bytes.
    pub offset: u64,
    /// The generation that it must be of.
    pub generation: u64,
    pub kind: FaultKind,
}

/// What is wrong with a granule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The right stamp, with flipped bits.
    Flipped {
        byte: usize,
        /// Flipped bits in the granule.
        bits: u32,
    },
    /// Another block of this run.
    Elsewhere {
        file: u32,
        offset: u64,
        generation: u64,
    },
    /// An older generation, or one newer than possible.
    Stale {
        generation: u64,
    },
    Zeroed,
    /// The buffer still holds its poison from this byte on: the read skipped it.
    Unread {
        byte: usize,
    },
    /// Data that this run did not write.
    Foreign,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, offset, generation, kind } = self;
        write!(f, "file {file}, offset {offset}: ")?;
        match kind {
            FaultKind::Flipped { byte, bits: 1 } => {
                write!(f, "a flipped bit in byte {}", offset + *byte as u64)
            }
            FaultKind::Flipped { byte, bits } => {
                write!(f, "{bits} flipped bits from byte {} on", offset + *byte as u64)
            }
            FaultKind::Elsewhere { file: other, offset: at, generation: of } => {
                write!(f, "a swapped block: it is that of file {other}, offset {at} (generation {of})")
            }
            FaultKind::Stale { generation: found } => {
                write!(f, "a stale block: generation {found} instead of {generation}")
            }
            FaultKind::Zeroed => f.write_str("a zeroed block"),
            FaultKind::Unread { byte } => {
                write!(f, "not read: the buffer was left as it was from byte {} on", offset + *byte as u64)
            }
            FaultKind::Foreign => f.write_str("data that this run did not write"),
        }
    }
}

impl Payload {
    /// Classifies a granule with wrong content.
    pub(super) fn fault(&self, stamp: &BlockStamp, granule: &[u8]) -> Fault {
        let BlockStamp { file, offset, generation } = *stamp;
        Fault { file, offset, generation, kind: self.kind(stamp, granule) }
    }

    fn kind(&self, stamp: &BlockStamp, granule: &[u8]) -> FaultKind {
        if granule.iter().all(|byte| *byte == 0) {
            return FaultKind::Zeroed;
        }
        let marked = |sector: &[u8]| sector.iter().take(POISONED).all(|byte| *byte == POISON);
        if let Some(number) =
            granule.chunks(SECTOR).position(|sector| sector.len() >= POISONED && marked(sector))
        {
            return FaultKind::Unread { byte: number * SECTOR };
        }
        let mut right = vec![0; granule.len()];
        self.fill_one(stamp, &mut right);
        let differ = || granule.iter().zip(&right).map(|(is, must)| (is ^ must).count_ones());
        let bits = differ().sum();
        let byte = differ().position(|bits| bits > 0).unwrap_or(0);
        match granule.first_chunk::<STAMP>().and_then(|bytes| BlockStamp::read(self.run, bytes)) {
            Some(told) if (told.file, told.offset) != (stamp.file, stamp.offset) => {
                FaultKind::Elsewhere { file: told.file, offset: told.offset, generation: told.generation }
            }
            Some(told) if told.generation != stamp.generation => {
                FaultKind::Stale { generation: told.generation }
            }
            Some(_) => FaultKind::Flipped { byte, bits },
            // A corrupted stamp: in data of another writer, half of the bits would differ.
            None if bits as usize <= granule.len() => FaultKind::Flipped { byte, bits },
            None => FaultKind::Foreign,
        }
    }

    fn fill_one(&self, stamp: &BlockStamp, granule: &mut [u8]) {
        let BlockStamp { file, offset, generation } = *stamp;
        self.fill(super::Block { file, offset, generation }, granule);
    }
}
