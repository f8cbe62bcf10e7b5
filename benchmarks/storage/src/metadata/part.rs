//! The worker of `storage.metadata`: a folder with files, and threads that work on them.

use std::os::fd::OwnedFd;
use std::path::Path;

use seatrial_model::{
    Binding, Case, Cause, Integrity, Nanos, PartPlacement, Phase, Quantity, Reason, Sample,
};
use seatrial_sys::clock::now_ns;
use serde_json::json;

use super::ID;
use super::team::{ByOperation, run};
use super::work::{FileOperation, Files};
use crate::folder::{Folder, Leftovers};
use crate::io::files::opened;
use seatrial_bench::Latencies;
use seatrial_bench::space::lacking;
use seatrial_bench::{Running, Sink, Stop};

pub const CHANNEL: &str = "operations";

#[derive(Debug)]
pub struct MetadataWorker {
    bindings: Vec<Binding>,
    files: u64,
    by_thread: Vec<Files>,
    /// Dropped after the files: their open descriptors do not prevent removal.
    folder: Option<Folder>,
    left: Leftovers,
}

impl MetadataWorker {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let params = &case.params;
        let (threads, files) = (params.count("threads")?, params.count("files")?);
        let size = params.bytes("size")?.map_or(0, |bytes| bytes.get() as usize);
        let (path, at) = opened(params.text("directory")?)?;
        require_room(&at, &path, files * threads, size)?;
        let left = Leftovers::remove(&path);
        let folder = Folder::new(&path, ID)?;
        let is_shared = params.text("folder")? == "shared";
        let shared = if is_shared { Some(folder.inner("shared")?) } else { None };
        let mut by_thread = Vec::new();
        for thread in 0..threads {
            let own = match &shared {
                Some(path) => path.clone(),
                None => folder.inner(&format!("thread.{thread}"))?,
            };
            let sharing = if is_shared { threads } else { 1 };
            by_thread.push(Files::new(thread, &own, sharing, size)?);
        }
        Ok(Self { bindings: place.bindings.clone(), files, by_thread, folder: Some(folder), left })
    }
}

/// Refuses `count` files of `size` bytes that do not fit, before the file system is filled.
fn require_room(at: &OwnedFd, path: &Path, count: u64, size: usize) -> Result<(), Reason> {
    let Ok(told) = rustix::fs::fstatvfs(at) else { return Ok(()) };
    // File systems without an inode count report 0 of 0.
    if told.f_files > 0 && told.f_favail < count {
        let (path, left) = (path.display(), told.f_favail);
        let text = format!("{count} files do not fit into {path}: {left} inodes are free; lower files=");
        return Err(Reason::new(Cause::NoSpace, text));
    }
    let bytes = |blocks: u64| blocks.saturating_mul(told.f_frsize);
    let place = path.display().to_string();
    let wanted = count * size as u64;
    // Empty files need no known amount of space.
    let text = (wanted > 0 && told.f_blocks > 0)
        .then(|| lacking(wanted, bytes(told.f_bavail), bytes(told.f_blocks), &place))
        .flatten();
    text.map_or(Ok(()), |text| Err(Reason::new(Cause::NoSpace, text)))
}

impl Running for MetadataWorker {
    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let mut latencies: ByOperation = std::array::from_fn(|_| Latencies::default());
        let done = run(&mut self.by_thread, &self.bindings, self.files, stop, &mut latencies)?;
        for one in done {
            let at = [("operation", one.operation.word().into())].into();
            out.sample(Sample::new(CHANNEL, at, (one.start, one.end), Quantity::count(one.count)));
        }
        let told = FileOperation::ALL.iter().zip(&latencies).filter(|(_, latencies)| latencies.count() > 0);
        let told: serde_json::Map<_, _> = told
            .map(|(operation, latencies)| (operation.word().to_owned(), latencies.to_evidence()))
            .collect();
        out.evidence("latencies", told.into());
        let folder = self.folder.as_ref().map(|folder| folder.path().display().to_string());
        out.evidence("folder", json!(folder));
        self.left.tell(out);
        // Removes what the end of the phase left over, uncounted and within the grace of the phase; the rest goes
        // with the folder.
        let (begun, short) = (now_ns(), Stop::after(std::time::Duration::from_secs(3)));
        let mut removed = 0;
        for files in &mut self.by_thread {
            removed += files.clean(&short);
        }
        let took = Nanos(now_ns()).since(Nanos(begun));
        out.evidence("clean_up", json!({ "files": removed, "ms": took.as_secs() * 1e3 }));
        Ok(())
    }

    /// Whether every file had its size and content and every folder its names; then removes them.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        let checked: u64 = self.by_thread.iter().map(|files| files.checked).sum();
        let wrong: u64 = self.by_thread.iter().map(|files| files.wrong).sum();
        let first = self.by_thread.iter().find_map(|files| files.first.clone());
        self.by_thread.clear();
        if let Some(folder) = self.folder.take() {
            folder.remove()?;
        }
        Ok(match first {
            Some(first) => Integrity::Corrupt { wrong, of: checked, first },
            None if checked == 0 => Integrity::Unverified { why: "no file was checked".to_owned() },
            None => Integrity::Verified { checked },
        })
    }
}

#[cfg(test)]
impl MetadataWorker {
    pub fn files(&mut self, thread: usize) -> &mut Files {
        &mut self.by_thread[thread]
    }
}
