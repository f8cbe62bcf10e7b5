//! A large file, whose pieces all connections send.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::block::{BLOCK, BlockHash};
use crate::source::{OpenedSource, data_from};

#[derive(Debug)]
pub struct LargeSource {
    pub id: u64,
    pub source: OpenedSource,
    /// Hashes of the blocks that the target's partial file has; set before the first piece is taken.
    pub known: OnceLock<Vec<BlockHash>>,
    /// Set when the target cannot store the file, or the source cannot be read: no further piece is sent.
    pub is_given_up: AtomicBool,
    pieces: AtomicU64,
    cursor: Mutex<Cursor>,
}

#[derive(Debug, Default)]
struct Cursor {
    next: u64,
    /// The end of the range of data that was found last. Looking for it takes as long as the range has pages, on tmpfs for
    /// one, so each is looked for once.
    data_end: u64,
    /// Pieces that a connection is reading or sending.
    under_way: u32,
    is_closed: bool,
}

/// The next piece of a file, or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextPiece {
    Piece {
        offset: u64,
        length: usize,
    },
    /// All pieces are taken; whoever is told so with `closes` closes the file.
    End {
        closes: bool,
    },
}

impl LargeSource {
    pub fn new(id: u64, source: OpenedSource) -> Self {
        Self {
            id,
            source,
            known: OnceLock::new(),
            is_given_up: AtomicBool::new(false),
            pieces: AtomicU64::new(0),
            cursor: Mutex::default(),
        }
    }

    pub fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    /// Counts a piece that goes to the target; before [`Self::sent`].
    pub fn count_piece(&self) {
        self.pieces.fetch_add(1, Ordering::Relaxed);
    }

    /// Pieces that went to the target.
    pub fn pieces(&self) -> u64 {
        self.pieces.load(Ordering::Relaxed)
    }

    /// The next range that has data. A file that the target has a part of is gone through without regard to holes, so that
    /// nothing old stays in them.
    pub fn take(&self) -> NextPiece {
        let mut cursor = self.cursor();
        let size = self.source.stamp.size;
        let is_resumed = self.known.get().is_some_and(|known| !known.is_empty());
        let range = match is_resumed {
            _ if self.is_given_up.load(Ordering::Relaxed) => None,
            true => (cursor.next < size).then_some((cursor.next, size)),
            false if cursor.next < cursor.data_end => Some((cursor.next, cursor.data_end)),
            false => data_from(&self.source.file, cursor.next, size),
        };
        let Some((offset, end)) = range else {
            cursor.next = size;
            return NextPiece::End { closes: cursor.closes(size) };
        };
        cursor.data_end = end;
        let end = end.min((offset / BLOCK + 1) * BLOCK);
        cursor.next = end;
        cursor.under_way += 1;
        NextPiece::Piece { offset, length: (end - offset) as usize }
    }

    /// A piece was sent; true for whoever has to close the file.
    pub fn sent(&self) -> bool {
        let mut cursor = self.cursor();
        cursor.under_way -= 1;
        cursor.closes(self.source.stamp.size)
    }

    /// The hash of the block at `offset` in the target's partial file, if it is there.
    pub fn known_hash(&self, offset: u64) -> Option<&BlockHash> {
        self.known.get()?.get(usize::try_from(offset / BLOCK).ok()?)
    }

    fn cursor(&self) -> MutexGuard<'_, Cursor> {
        self.cursor.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cursor {
    fn closes(&mut self, size: u64) -> bool {
        let closes = self.next >= size && self.under_way == 0 && !self.is_closed;
        self.is_closed |= closes;
        closes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn large(size: u64) -> (tempfile::TempDir, LargeSource) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::File::create(&path).expect("made").set_len(size).expect("set");
        let source = OpenedSource::open(path).expect("opened");
        (folder, LargeSource::new(1, source))
    }

    #[test]
    fn a_resumed_file_is_taken_whole_and_closed_once() {
        let (_folder, file) = large(2 * BLOCK + 5);
        file.known.set(vec![[0; crate::block::HASH]]).expect("first");
        let mut lengths = Vec::new();
        while let NextPiece::Piece { offset, length } = file.take() {
            assert_eq!(offset, lengths.iter().sum::<usize>() as u64);
            lengths.push(length);
        }
        assert_eq!(lengths, [BLOCK as usize, BLOCK as usize, 5]);
        assert_eq!(file.take(), NextPiece::End { closes: false });
        assert_eq!([file.sent(), file.sent(), file.sent()], [false, false, true]);
        assert_eq!(file.take(), NextPiece::End { closes: false });
    }

    #[test]
    fn every_range_of_data_is_taken_once_in_pieces_within_blocks() {
        use std::os::unix::fs::FileExt;
        let (folder, _) = large(6 * BLOCK);
        let path = folder.path().join("file");
        let written = std::fs::OpenOptions::new().write(true).open(&path).expect("opened");
        let data = [(BLOCK, vec![1; 2 * BLOCK as usize]), (5 * BLOCK + 4096, vec![2; 10])];
        for (offset, bytes) in &data {
            written.write_all_at(bytes, *offset).expect("written");
        }
        let file = LargeSource::new(1, OpenedSource::open(path).expect("opened"));
        let mut taken: Vec<(u64, u64)> = Vec::new();
        while let NextPiece::Piece { offset, length } = file.take() {
            let end = offset + length as u64;
            assert!(taken.last().is_none_or(|last| offset >= last.1) && end <= 6 * BLOCK, "{taken:?}");
            assert_eq!(offset / BLOCK, (end - 1) / BLOCK);
            taken.push((offset, end));
        }
        let is_taken = |at: u64| taken.iter().any(|(from, end)| (*from..*end).contains(&at));
        for (offset, bytes) in &data {
            assert!((*offset..offset + bytes.len() as u64).step_by(5).all(is_taken), "{taken:?}");
        }
    }

    #[test]
    fn a_file_that_is_a_hole_or_given_up_is_closed_without_a_piece() {
        let (_folder, hole) = large(0);
        assert_eq!(hole.take(), NextPiece::End { closes: true });
        let (_folder, file) = large(3 * BLOCK);
        file.known.set(vec![[0; crate::block::HASH]]).expect("first");
        assert!(matches!(file.take(), NextPiece::Piece { .. }));
        file.give_up();
        assert_eq!(file.take(), NextPiece::End { closes: false });
        assert!(file.sent());
    }
}
