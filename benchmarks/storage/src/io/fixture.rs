//! Files that the cases of a group share: filled by the first trial, found by every later one.
//!
//! Only what is read is shared: nothing changes it, so whoever finds it verifies it against the pass that wrote it. The
//! files stand on the [`FdStore`] that the agent lends its workers, and are gone with the agent and its last worker.

use std::os::fd::OwnedFd;

use seatrial_sys::Errno;
use seatrial_sys::storage::{FdStore, Hiding, MOST_FILES};
use serde::{Deserialize, Serialize};

use super::job::JobSpec;
use super::made::Made;
use seatrial_bench::payload::GRANULE;

/// What must agree for files to be of use to another case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kind {
    /// As it was asked for.
    directory: String,
    /// As many as files; 0 for one file that all share, in which every case finds its own parts.
    files: usize,
    /// Whether the descriptors go past the page cache, which all that have them share.
    direct: bool,
    /// Percent of the data that are zeros.
    compressible: f64,
}

/// What is written on the files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Label {
    kind: Kind,
    /// What the data follows from.
    run: u64,
    /// Bytes from the beginning of each file that hold it.
    covered: u64,
    nameless: bool,
    unreserved: Option<i32>,
}

/// Files that an earlier trial filled.
#[derive(Debug)]
pub struct Found {
    label: Label,
    pub files: Vec<OwnedFd>,
}

impl Found {
    /// What their data follows from.
    pub fn run(&self) -> u64 {
        self.label.run
    }

    /// Bytes from the beginning of each file that hold it; a case that needs more fills the rest.
    pub fn covered(&self) -> u64 {
        self.label.covered
    }

    /// How they are hidden.
    pub fn hiding(&self) -> Hiding {
        if self.label.nameless { Hiding::Nameless } else { Hiding::Unlinked }
    }

    /// Why their space could not be reserved, if it could not.
    pub fn unreserved(&self) -> Option<Errno> {
        self.label.unreserved.map(Errno::from_raw_os_error)
    }
}

/// Whether the files of a case are for later trials too: not when it writes, when its blocks do not lie on the grid that the
/// data has, or when the files are more than can be handed over.
pub fn shares(job: &JobSpec) -> bool {
    let on_grid = job.block.is_multiple_of(GRANULE);
    !job.operation.writes() && on_grid && job.file_count() <= MOST_FILES
}

/// What a case in `directory` shares, if it does.
fn kind(job: &JobSpec, directory: &str) -> Option<Kind> {
    shares(job).then(|| Kind {
        directory: directory.to_owned(),
        files: if job.shared { 0 } else { job.threads },
        direct: job.direct,
        compressible: job.compressible,
    })
}

/// The files on the store, where they are of use to this case. All others go: they would take its room.
pub fn take(fd_store: &FdStore, job: &JobSpec, directory: &str) -> Option<Found> {
    let wanted = kind(job, directory);
    let mut found = None;
    while let Some(item) = fd_store.take() {
        let label: Option<Label> = serde_json::from_slice(&item.label).ok();
        let fits = label.filter(|label| Some(&label.kind) == wanted.as_ref());
        if let Some(label) = fits.filter(|_| item.files.len() == job.file_count()) {
            found = Some((item.label, Found { label, files: item.files }));
        }
    }
    let (label, found) = found?;
    // Back at once, so that they are not lost with this process.
    let _ = fd_store.put(&label, &found.files);
    Some(found)
}

/// Leaves filled files to later trials, in the place of what stands there. What the store does not take, the next trial
/// makes anew.
pub fn leave(fd_store: &FdStore, job: &JobSpec, directory: &str, run: u64, covered: u64, made: &Made) {
    fd_store.clear();
    let Some(kind) = kind(job, directory) else { return };
    let covered = covered.max(job.file_bytes());
    let nameless = made.hiding == Hiding::Nameless;
    let unreserved = made.unreserved.map(Errno::raw_os_error);
    let label = Label { kind, run, covered, nameless, unreserved };
    if let Ok(label) = serde_json::to_vec(&label) {
        let _ = fd_store.put(&label, &made.files);
    }
}

/// What the record says of files that are shared.
pub fn word(covered: u64, job: &JobSpec) -> &'static str {
    match covered {
        0 => "filled",
        covered if covered < job.file_bytes() => "found and filled up",
        _ => "found",
    }
}
