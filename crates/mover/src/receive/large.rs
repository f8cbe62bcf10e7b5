//! Large files, whose pieces come over all connections in any order.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::block::{BLOCK, BlockHash, block_hash};
use crate::entry::Stamp;
use crate::failure::{Failure, explained};
use crate::record::Record;
use crate::stored::Stored;
use crate::target::{Attributes, Folders, Temporary, set_attributes};
use crate::wire::Fields;

/// Blocks of a partial file that are compared: more fit into no frame. Of 1 TiB, the rest is sent again.
const MOST_BLOCKS: u64 = 900_000;

/// The large files that are under way, by the sender's number. None is one that was given up, of which pieces may still come
/// over other connections.
#[derive(Debug, Default)]
pub struct LargeFiles(Mutex<HashMap<u64, Option<Arc<LargeTarget>>>>);

#[derive(Debug)]
struct LargeTarget {
    path: Vec<u8>,
    stamp: Stamp,
    attributes: Attributes,
    file: File,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// None when the file has its name, or was given up.
    temporary: Option<Temporary>,
    written: u64,
    /// All pieces of the file, once the sender has told.
    all: Option<u64>,
}

impl LargeFiles {
    /// Makes the temporary file, or takes a partial one over; returns the hashes of the blocks that it has.
    pub fn begin(
        &self,
        content: &[u8],
        folders: &mut Folders,
    ) -> io::Result<Result<Vec<BlockHash>, Failure>> {
        let mut fields = Fields(content);
        let id = fields.u64()?;
        let record = Record::read(&mut fields)?;
        let opened = (|| {
            let temporary = Temporary::open(folders.spot(record.path, true)?)?;
            let size = record.stamp.size;
            let hashes = if temporary.is_left_over { hashes(&temporary.file, size)? } else { Vec::new() };
            if hashes.is_empty() {
                // The sender takes the file for a new one and leaves its holes out: nothing old may stay in them.
                temporary.file.set_len(0)?;
            }
            temporary.file.set_len(size)?;
            Ok((temporary.file.try_clone()?, temporary, hashes))
        })();
        let (file, temporary, hashes) = match opened {
            Ok(opened) => opened,
            Err(error) => return Ok(Err(failure(record.path, &error))),
        };
        let Record { path, stamp, attributes, .. } = record;
        let state = Mutex::new(State { temporary: Some(temporary), written: 0, all: None });
        let large = LargeTarget { path: path.to_vec(), stamp, attributes, file, state };
        self.all().insert(id, Some(Arc::new(large)));
        Ok(Ok(hashes))
    }

    /// Writes a piece to its place.
    pub fn piece(&self, content: &[u8], preserve: bool) -> io::Result<Stored> {
        let mut fields = Fields(content);
        let (id, offset) = (fields.u64()?, fields.u64()?);
        let Some(large) = self.of(id)? else { return Ok(Stored::default()) };
        let is_inside = offset.checked_add(fields.0.len() as u64).is_some_and(|end| end <= large.stamp.size);
        if !is_inside {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a piece beyond the end of its file"));
        }
        if let Err(error) = large.file.write_all_at(fields.0, offset) {
            // One failure a file: the sender gives the file up, and what it has sent until then is dropped.
            let is_first = large.state().temporary.take().is_some();
            return Ok(if is_first {
                Stored::failed(failure(&large.path, &error))
            } else {
                Stored::default()
            });
        }
        let mut state = large.state();
        state.written += 1;
        let mut stored = self.completed(id, &large, &mut state, preserve);
        stored.bytes += fields.0.len() as u64;
        Ok(stored)
    }

    /// Notes how many pieces the file has.
    pub fn commit(&self, content: &[u8], preserve: bool) -> io::Result<Stored> {
        let mut fields = Fields(content);
        let id = fields.u64()?;
        let Some(large) = self.of(id)? else { return Ok(Stored::default()) };
        let mut state = large.state();
        state.all = Some(fields.u64()?);
        Ok(self.completed(id, &large, &mut state, preserve))
    }

    /// Gives the file up; what is there stays for the next copy.
    pub fn abort(&self, content: &[u8]) -> io::Result<Stored> {
        let id = Fields(content).u64()?;
        if let Some(large) = self.of(id)? {
            large.state().temporary = None;
        }
        self.all().insert(id, None);
        Ok(Stored::default())
    }

    /// Gives the file its attributes and its name if all pieces are written.
    fn completed(&self, id: u64, large: &LargeTarget, state: &mut State, preserve: bool) -> Stored {
        if state.all != Some(state.written) {
            return Stored::default();
        }
        self.all().remove(&id);
        let Some(temporary) = state.temporary.take() else { return Stored::default() };
        let done = set_attributes(&large.file, &large.stamp, &large.attributes, preserve)
            .and_then(|()| temporary.finish());
        match done {
            Ok(()) => Stored { files: 1, ..Stored::default() },
            Err(error) => Stored::failed(failure(&large.path, &error)),
        }
    }

    fn of(&self, id: u64) -> io::Result<Option<Arc<LargeTarget>>> {
        let unknown = || io::Error::new(io::ErrorKind::InvalidData, "a piece of an unknown file");
        self.all().get(&id).cloned().ok_or_else(unknown)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<u64, Option<Arc<LargeTarget>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LargeTarget {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn failure(path: &[u8], error: &io::Error) -> Failure {
    Failure::new(path, explained("storing the file in the target", error))
}

/// The hashes of the blocks that a partial file of `size` bytes has.
fn hashes(file: &File, size: u64) -> io::Result<Vec<BlockHash>> {
    let there = file.metadata()?.len().min(size);
    let mut block = vec![0; BLOCK as usize];
    let mut hashes = Vec::new();
    for number in 0..there.div_ceil(BLOCK).min(MOST_BLOCKS) {
        let offset = number * BLOCK;
        let length = (size - offset).min(BLOCK);
        if offset + length > there {
            break;
        }
        let block = &mut block[..length as usize];
        file.read_exact_at(block, offset)?;
        hashes.push(block_hash(block));
    }
    Ok(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_that_are_whole_have_a_hash() {
        let file = tempfile::tempfile().expect("a file");
        for (there, size, count) in
            [(0, 5, 0), (5, 5, 1), (4, 5, 0), (BLOCK + 1, 2 * BLOCK, 1), (2 * BLOCK, BLOCK + 7, 2)]
        {
            file.set_len(there).expect("set");
            let hashes = hashes(&file, size).expect("read");
            assert_eq!(hashes.len(), count, "{there} of {size}");
        }
    }

    #[test]
    fn a_piece_beyond_the_end_or_of_an_unknown_file_ends_the_connection() {
        let files = LargeFiles::default();
        let content: Vec<u8> = [7_u64.to_le_bytes(), 0_u64.to_le_bytes()].concat();
        assert!(files.piece(&content, false).is_err());
        assert!(files.commit(&content, false).is_err() && files.abort(&content).is_err());
    }

    #[test]
    fn a_piece_of_a_file_that_was_given_up_is_dropped() {
        let files = LargeFiles::default();
        let content: Vec<u8> = [7_u64.to_le_bytes(), 0_u64.to_le_bytes()].concat();
        files.all().insert(7, None);
        assert_eq!(files.piece(&content, false).expect("dropped").bytes, 0);
    }
}
