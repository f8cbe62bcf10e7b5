//! Evidence files: one run with everything that its verdicts rest on, in which every changed byte is found.
//!
//! A tar archive compressed by gzip, readable without Seatrial (`tar -xzf FILE`); older builds compressed by zstd,
//! which is still read. Three things protect it:
//!
//! - `manifest.json`, its first file, has size and SHA-256 of every other file;
//! - every byte of the archive follows from the manifest and the contents (sorted names, one time, no owner): the
//!   same run gives the same file, and the reader compares each header with the one it would write, so links, foreign
//!   paths, duplicate, missing and extra files are found;
//! - the seal at the end is the SHA-256 of everything before, in a form that decompressors ignore.
//!
//! This shows whether anything was changed, not who made it: anybody can compute new checksums. A site that must know
//! signs the file.

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
pub use write::{Exported, evidence_sha256, export};

use crate::StoreError;

/// Why an evidence file could not be written or read. Errors inside a file are [`Fault`]s.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{tried} {}: {source}", path.display())]
    Io { tried: &'static str, path: PathBuf, source: io::Error },
    /// The target of the evidence file cannot be written.
    #[error("writing the evidence file: {0}")]
    Out(io::Error),
    /// The run folder holds something that cannot be evidence.
    #[error("{} cannot go into an evidence file: {why}", path.display())]
    Unfit { path: PathBuf, why: String },
}

impl EvidenceError {
    fn io(tried: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { tried, path: path.to_owned(), source }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file in the archive; `None` for the archive as a whole.
    pub file: Option<String>,
    /// What is wrong, as a sentence without full stop.
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
