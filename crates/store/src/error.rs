//! Errors of homes and run folders, with what the user can do.

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be stored, found or read.
///
/// Errors with different remedies are different variants. Before a run they are errors of usage or environment;
/// during a run they mean that results would be lost, so the run stops.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system, a quota or a file size limit is exhausted (ENOSPC, EDQUOT, EFBIG).
    #[error("{tried} {}: {source}; free space there, or set SEATRIAL_HOME to a folder on another file system", path.display())]
    NoSpace {
        /// The action, for example `appending to`.
        tried: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The file system is mounted read-only (EROFS).
    #[error("{tried} {}: {source}; set SEATRIAL_HOME to a folder that can be written", path.display())]
    ReadOnly { tried: &'static str, path: PathBuf, source: io::Error },
    /// Permission denied (EACCES, EPERM).
    #[error("{tried} {}: {source}; change its owner or mode, or set SEATRIAL_HOME to a folder of your own", path.display())]
    Denied { tried: &'static str, path: PathBuf, source: io::Error },
    /// Any other error of the system.
    #[error("{tried} {}: {source}", path.display())]
    Io { tried: &'static str, path: PathBuf, source: io::Error },
    /// A value without JSON form: a defect of its creator.
    #[error("writing {}: {source}", path.display())]
    Unwritable { path: PathBuf, source: serde_json::Error },
    /// No environment variable names a home.
    #[error(
        "no folder for runs: none of SEATRIAL_HOME, XDG_DATA_HOME and HOME is set; set SEATRIAL_HOME to a \
         folder"
    )]
    NoHome,
    #[error("there is no run in {} yet: `seatrial check` and `seatrial run` make one", home.display())]
    NoRunYet { home: PathBuf },
    #[error("no run '{typed}' in {} (`seatrial history` lists the runs){}", home.display(), seatrial_model::name::did_you_mean(nearest))]
    NoSuchRun { typed: String, home: PathBuf, nearest: Option<String> },
    #[error("'{typed}' matches several runs: {}; type more of the id", ids.join(", "))]
    Ambiguous { typed: String, ids: Vec<String> },
    #[error("{} is not a run folder: it has no run.json", path.display())]
    NotARun { path: PathBuf },
    /// The run folder belongs to another user.
    #[error("{} belongs to another user; copy it to a folder of your own to resume it", path.display())]
    NotOwn { path: PathBuf },
    #[error("run {id} is still running; wait for it to end, or stop it")]
    Running { id: String },
    /// The file system has no locks, so it is unknown whether another process still writes the run.
    #[error("cannot tell whether run {id} is still running: locking {}: {source}; copy the folder to a local \
             file system to resume it", path.display())]
    NoLocks { id: String, path: PathBuf, source: io::Error },
    #[error("{} has schema {schema}, this Seatrial reads up to {known}; use the version that wrote it", path.display())]
    TooNew { path: PathBuf, schema: u32, known: u32 },
    /// A file that is needed to resume is missing or damaged.
    #[error("run {id} cannot be used: {why}")]
    Unreadable { id: String, why: String },
}

impl StoreError {
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
