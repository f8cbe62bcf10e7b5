//! Compares the files of a data set with what they must hold.

use std::fs::{self, File};
use std::path::Path;

use seatrial_bench::Stop;
use seatrial_bench::directory::{failed, refused};
use seatrial_model::Reason;
use seatrial_sys::storage::{forget, read_whole};

use super::files::DataSet;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(pub String);

impl DataSet {
    /// Has the page cache drop the file of this number, so that it is read from its storage.
    pub fn forget_file(&self, folder: &Path, number: u64) -> Result<(), Reason> {
        let path = folder.join(self.path(number));
        let file = File::open(&path).map_err(|error| failed("opening", &path, &error))?;
        forget(&file)
            .map_err(|errno| refused(&format!("dropping the page cache of {}", path.display()), errno))
    }

    /// Reads the file of this number in `folder` and compares all of it; `None` when `stop` came before its end.
    pub fn check_file(
        &self,
        folder: &Path,
        number: u64,
        buffer: &mut [u8],
        stop: &Stop,
    ) -> Result<Option<Result<(), Wrong>>, Reason> {
        let path = folder.join(self.path(number));
        let fail = |error: std::io::Error| failed("reading", &path, &error);
        let wrong = |what: String| Ok(Some(Err(Wrong(format!("{}: {what}", path.display())))));
        let file = match File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return wrong("the file is not there".to_owned());
            }
            opened => opened.map_err(fail)?,
        };
        let (size, has) = (self.recipe.size_of(number), file.metadata().map_err(fail)?.len());
        if has != size {
            return wrong(format!("the file has {has} B instead of {size} B"));
        }
        for (block, bytes) in self.blocks(number) {
            if stop.is_over() {
                return Ok(None);
            }
            let piece = &mut buffer[..bytes];
            self.payload.poison(piece);
            read_whole(&file, piece, block.offset).map_err(|errno| fail(errno.into()))?;
            if let Err(fault) = self.payload.check(block, piece) {
                return wrong(fault.to_string());
            }
        }
        Ok(Some(Ok(())))
    }

    /// What is wrong with the number of files and directories in `folder`: those of the set, and so many `others`.
    pub fn miscounted(&self, folder: &Path, others: u64) -> Result<Option<Wrong>, Reason> {
        let (mut count, mut open) = (0_u64, vec![folder.to_owned()]);
        while let Some(path) = open.pop() {
            let listed = fs::read_dir(&path).map_err(|error| failed("listing", &path, &error))?;
            for entry in listed {
                let entry = entry.map_err(|error| failed("listing", &path, &error))?;
                count += 1;
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(entry.path());
                }
            }
        }
        let wanted = self.recipe.files + self.directories().len() as u64 + others;
        Ok((count != wanted).then(|| {
            Wrong(format!("{} has {count} files and directories instead of {wanted}", folder.display()))
        }))
    }
}
