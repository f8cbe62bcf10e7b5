//! Files, directories and links to copy.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Stat};

/// What is preserved of every file, and recognises a file that was copied before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Time of the last change of the content: seconds since 1970.
    pub seconds: i64,
    /// Its nanoseconds.
    pub nanoseconds: u32,
    /// Type and permissions, as in `st_mode`.
    pub mode: u32,
    pub user: u32,
    pub group: u32,
}

impl Stamp {
    pub fn of(stat: &Stat) -> Self {
        Self {
            size: stat.st_size.cast_unsigned(),
            seconds: stat.st_mtime,
            nanoseconds: stat.st_mtime_nsec as u32,
            mode: stat.st_mode,
            user: stat.st_uid,
            group: stat.st_gid,
        }
    }

    pub fn file_type(&self) -> FileType {
        FileType::from_raw_mode(self.mode)
    }

    /// Whether size and time are alike: then the content counts as alike.
    pub fn has_content_of(&self, other: &Self) -> bool {
        (self.size, self.seconds, self.nanoseconds) == (other.size, other.seconds, other.nanoseconds)
    }
}

/// One of the sources: where it is read, and where its name begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The directory that paths of entries begin in.
    pub base: PathBuf,
    /// The path below the target that the source gets; empty for the contents of a directory.
    pub name: Vec<u8>,
}

/// Something to copy.
#[derive(Clone, Debug)]
pub struct Entry {
    pub root: Arc<Root>,
    /// Path below the source; empty for the source itself.
    pub path: Vec<u8>,
    pub stamp: Stamp,
    /// Whether the file has fewer blocks than bytes, so that it may have holes.
    pub is_sparse: bool,
}

impl Entry {
    /// Where it is read.
    pub fn source(&self) -> PathBuf {
        if self.path.is_empty() {
            return self.root.base.clone();
        }
        self.root.base.join(Path::new(OsStr::from_bytes(&self.path)))
    }

    /// Where it goes, below the target.
    pub fn target(&self) -> Vec<u8> {
        match (self.root.name.is_empty(), self.path.is_empty()) {
            (_, true) => self.root.name.clone(),
            (true, false) => self.path.clone(),
            (false, false) => [&self.root.name[..], b"/", &self.path].concat(),
        }
    }
}
