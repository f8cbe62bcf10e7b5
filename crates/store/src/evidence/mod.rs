//! An evidence file: one run with everything that its verdicts rest on, in a form in which a changed byte is found.
//!
//! It is a tar archive compressed by gzip, so that anybody can look into it without Seatrial (`tar -xzf FILE`); older builds
//! compressed by zstd, which is still read. Three things keep it honest:
//!
//! - `manifest.json`, its first file, has the size and the SHA-256 sum of every other one;
//! - every byte of the archive follows from the manifest and the contents (sorted names, one time, no owner), so that the
//!   same run gives the same file, and a reader can hold each header against the one that the writer would have written:
//!   a link, a path that leads elsewhere, a file twice, one too many or too few cannot be in it;
//! - the seal at its end is the SHA-256 sum of everything before it, in a form that decompressors pass over.
//!
//! That tells whether anything was changed since, not who made it: whoever can change a file can make new sums. A site that
//! must know signs the file.

mod contents;
mod form;
mod manifest;
mod read;
mod seal;
#[cfg(test)]
mod tests;
mod unpack;
mod write;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub use contents::{Contents, Samples, judged_text};
pub use manifest::{Listed, Manifest};
pub use read::{Looked, look};
pub(crate) use seal::sum_of;
pub use write::{Exported, export};

use crate::StoreError;

/// Why an evidence file could not be written or read at all. What is wrong inside of one is a [`Fault`].
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// The run cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{tried} {}: {source}", path.display())]
    Io {
        tried: &'static str,
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Where the evidence file is to go takes no more.
    #[error("writing the evidence file: {0}")]
    Out(io::Error),
    /// The run folder holds something that cannot be evidence.
    #[error("{} cannot go into an evidence file: {why}", path.display())]
    Unfit {
        path: PathBuf,
        /// Why not, as a fragment.
        why: String,
    },
}

impl EvidenceError {
    fn io(tried: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { tried, path: path.to_owned(), source }
    }
}

/// Something that is not as it was exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file in the archive, where one is concerned; none for the archive as a whole.
    pub file: Option<String>,
    /// What is wrong, as a sentence without its full stop.
    pub text: String,
}

impl Fault {
    fn of(file: &str, text: impl Into<String>) -> Self {
        Self { file: Some(file.to_owned()), text: text.into() }
    }

    fn whole(text: impl Into<String>) -> Self {
        Self { file: None, text: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{file}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}
