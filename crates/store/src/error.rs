//! What can go wrong with a home or a run folder, and what a person can do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be kept, found or read.
///
/// The kinds that a person remedies in different ways are variants of their own. All of them are errors of usage or
/// environment before anything is measured; in mid-run they mean that numbers would be lost, so the run must stop.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system, a quota or a limit on file sizes leaves no room (ENOSPC, EDQUOT, EFBIG).
    #[error("{tried} {}: {source}; free space there, or set SEATRIAL_HOME to a folder on another file system", path.display())]
    NoSpace {
        /// What was tried, for example `appending to`.
        tried: &'static str,
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The file system is mounted read-only (EROFS).
    #[error("{tried} {}: {source}; set SEATRIAL_HOME to a folder that can be written", path.display())]
    ReadOnly {
        tried: &'static str,
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// The permissions do not allow it (EACCES, EPERM).
    #[error("{tried} {}: {source}; change its owner or mode, or set SEATRIAL_HOME to a folder of your own", path.display())]
    Denied {
        tried: &'static str,
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Anything else that the system answered.
    #[error("{tried} {}: {source}", path.display())]
    Io {
        tried: &'static str,
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// A value that JSON cannot say; a defect of whoever made it.
    #[error("writing {}: {source}", path.display())]
    Unwritable {
        /// The file it was for.
        path: PathBuf,
        source: serde_json::Error,
    },
    /// No environment variable says where runs are kept.
    #[error(
        "no place to keep runs: none of SEATRIAL_HOME, XDG_DATA_HOME and HOME is set; set SEATRIAL_HOME to a folder"
    )]
    NoHome,
    /// No run goes by that name.
    #[error("no run '{typed}' in {} (`seatrial history` lists the runs){}", home.display(), seatrial_model::name::did_you_mean(nearest))]
    NoSuchRun {
        typed: String,
        /// Where it was looked for.
        home: PathBuf,
        nearest: Option<String>,
    },
    /// Several runs go by that name.
    #[error("'{typed}' could be any of {}; type more of it", ids.join(", "))]
    Ambiguous {
        typed: String,
        /// The ids it could be.
        ids: Vec<String>,
    },
    /// A path that holds no run.
    #[error("{} is not a run folder: it has no run.json", path.display())]
    NotARun { path: PathBuf },
    /// A run folder that belongs to another user.
    #[error("{} belongs to another user; copy it to a folder of your own to go on with it", path.display())]
    NotOwn { path: PathBuf },
    /// The run is still being written by another process.
    #[error("run {id} is still running; wait for it to end, or stop it")]
    Running { id: String },
    /// Whether the run is still being written cannot be told, since the file system does not lock.
    #[error("cannot tell whether run {id} is still running: locking {}: {source}; copy the folder to a local file system to go on with it", path.display())]
    NoLocks {
        id: String,
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Written by a version whose files this one would misread.
    #[error("{} has schema {schema}, this Seatrial reads up to {known}; use the version that wrote it", path.display())]
    TooNew {
        path: PathBuf,
        schema: u32,
        /// The newest schema known here.
        known: u32,
    },
    /// A file without which there is nothing to go on with is missing or damaged.
    #[error("run {id} cannot be used: {why}")]
    Unreadable {
        id: String,
        /// Which file, and what is wrong with it.
        why: String,
    },
}

impl StoreError {
    /// The error for what the system answered when `tried` was done on `path`.
    pub(crate) fn io(tried: &'static str, path: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let path = path.to_owned();
        match source.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => StoreError::NoSpace { tried, path, source },
            ReadOnlyFilesystem => StoreError::ReadOnly { tried, path, source },
            PermissionDenied => StoreError::Denied { tried, path, source },
            _ => StoreError::Io { tried, path, source },
        }
    }
}
