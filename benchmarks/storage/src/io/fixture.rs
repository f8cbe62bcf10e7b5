//! Files that the cases of a group share: filled by the first trial, found by later trials.
//!
//! Only files that are read are shared; any trial can verify their data against the pass that wrote them. Their
//! descriptors are in the [`FdStore`] that the agent lends its workers, and are closed with the agent and its last
//! worker.

use std::os::fd::OwnedFd;

use seatrial_model::Verification;
use seatrial_sys::Errno;
use seatrial_sys::storage::{FdStore, Hiding, MOST_FILES};
use serde::{Deserialize, Serialize};

use super::job::{JobSpec, Layout};
use super::made::Made;
use seatrial_bench::payload::GRANULE;

/// What must agree before another case can use the files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kind {
    directory: String,
    /// Number of files; 0 for one file that all threads share, which suits any number of threads.
    files: usize,
    /// Whether the descriptors have O_DIRECT, which all who receive them share.
    direct: bool,
    /// Share of zeros in the data, in percent.
    compressible: f64,
    verification: Verification,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Label {
    kind: Kind,
    run: u64,
    /// Bytes from the start of each file that are filled.
    covered: u64,
    nameless: bool,
    unreserved: Option<i32>,
}

#[derive(Debug)]
pub struct Found {
    label: Label,
    pub files: Vec<OwnedFd>,
}

impl Found {
    pub fn run(&self) -> u64 {
        self.label.run
    }

    pub fn covered(&self) -> u64 {
        self.label.covered
    }

    pub fn hiding(&self) -> Hiding {
        if self.label.nameless { Hiding::Nameless } else { Hiding::Unlinked }
    }

    pub fn unreserved(&self) -> Option<Errno> {
        self.label.unreserved.map(Errno::from_raw_os_error)
    }
}

/// Whether later trials can use the files of a case: only reads, blocks on the grid of the data, and few enough files
/// to hand over.
pub fn shares(job: &JobSpec) -> bool {
    let on_grid = job.block.is_multiple_of(GRANULE);
    !job.is_made_anew() && on_grid && job.file_count() <= MOST_FILES
}

fn kind(job: &JobSpec, directory: &str) -> Option<Kind> {
    shares(job).then(|| Kind {
        directory: directory.to_owned(),
        files: if job.layout == Layout::Own { job.threads } else { 0 },
        direct: job.direct,
        compressible: job.compressible,
        verification: job.verification,
    })
}

/// Takes the files that suit this case from the store. All others are dropped, for they would use up its room.
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
    // Put back at once, so that they outlive this process.
    let _ = fd_store.put(&label, &found.files);
    Some(found)
}

/// Puts filled files into the store in place of its contents. If the store refuses them, the next trial fills its
/// own.
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

/// Evidence word: whether the files were filled, found, or found and extended.
pub fn word(covered: u64, job: &JobSpec) -> &'static str {
    match covered {
        0 => "filled",
        covered if covered < job.file_bytes() => "found and filled up",
        _ => "found",
    }
}
