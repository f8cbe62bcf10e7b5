//! Makes the directories and files of a data set.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use rustix::fs::syncfs;
use seatrial_bench::Stop;
use seatrial_bench::directory::{failed, refused};
use seatrial_bench::payload::Block;
use seatrial_model::Reason;
use seatrial_sys::storage::write_whole;

use super::files::DataSet;

/// Bytes per write and per read.
pub const PIECE: usize = 1 << 20;

impl DataSet {
    /// Makes all directories in `folder`.
    pub fn make_directories(&self, folder: &Path) -> Result<(), Reason> {
        self.directories().iter().try_for_each(|path| {
            let path = folder.join(path);
            fs::create_dir(&path).map_err(|error| failed("making the directory", &path, &error))
        })
    }

    /// Makes the file of this number in `folder`; false when `stop` came before its end. `buffer` has [`PIECE`] bytes.
    pub fn make_file(
        &self,
        folder: &Path,
        number: u64,
        buffer: &mut [u8],
        stop: &Stop,
    ) -> Result<bool, Reason> {
        let path = folder.join(self.path(number));
        let fail = |error: io::Error| failed("writing the file", &path, &error);
        let file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(fail)?;
        for (block, bytes) in self.blocks(number) {
            if stop.is_over() {
                return Ok(false);
            }
            let piece = &mut buffer[..bytes];
            self.payload.fill(block, piece);
            write_whole(&file, piece, block.offset).map_err(|errno| fail(errno.into()))?;
        }
        Ok(true)
    }

    /// The blocks of a file, with their bytes.
    pub(super) fn blocks(&self, number: u64) -> impl Iterator<Item = (Block, usize)> + use<> {
        let size = self.recipe.size_of(number);
        (0..size).step_by(PIECE).map(move |offset| {
            let block = Block { file: number as u32, offset, generation: 0 };
            (block, (size - offset).min(PIECE as u64) as usize)
        })
    }
}

/// Flushes the file system that `folder` is on.
pub fn flush(folder: &Path) -> Result<(), Reason> {
    let opened = File::open(folder).map_err(|error| failed("opening", folder, &error))?;
    syncfs(&opened).map_err(|errno| refused("flushing the file system", errno))
}
