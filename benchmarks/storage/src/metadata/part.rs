//! The worker: a folder with its files, and the threads that work on them.

use seatrial_model::{Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Sample, Unit};
use seatrial_sys::clock::now_ns;
use serde_json::json;

use super::ID;
use super::team::{ByOperation, run};
use super::work::{Files, Operation};
use crate::folder::{Folder, Leftovers};
use crate::io::files::opened;
use seatrial_bench::Latencies;
use seatrial_bench::space::lacking;
use seatrial_bench::{Error, Offer, Part, Sink, Stop};

/// Channel of the samples.
pub const CHANNEL: &str = "operations";

/// The worker of one trial.
#[derive(Debug)]
pub struct Worker {
    place: PartPlacement,
    directory: String,
    threads: u64,
    is_shared: bool,
    files: u64,
    size: usize,
    by_thread: Vec<Files>,
    /// Dropped after the files, whose descriptors keep no folder.
    folder: Option<Folder>,
    left: Leftovers,
}

impl Worker {
    /// The worker of `case` at `place`; makes nothing yet.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn new(case: &Case, place: &PartPlacement) -> Result<Self, Error> {
        let params = &case.params;
        Ok(Self {
            place: place.clone(),
            directory: params.text("directory")?.to_owned(),
            threads: params.count("threads")?,
            is_shared: params.text("folder")? == "shared",
            files: params.count("files")?,
            size: params.bytes("size")?.map_or(0, |bytes| bytes.get() as usize),
            by_thread: Vec::new(),
            folder: None,
            left: Leftovers::default(),
        })
    }

    /// Refuses what will not fit, before the file system is filled.
    fn require_room(&self, at: &std::os::fd::OwnedFd, path: &std::path::Path) -> Result<(), Error> {
        let Ok(told) = rustix::fs::fstatvfs(at) else { return Ok(()) };
        let count = self.files * self.threads;
        // Many file systems count no inodes and say 0 of 0.
        if told.f_files > 0 && told.f_favail < count {
            let text = format!(
                "{count} files do not fit into {}: {} are left; lower files=",
                path.display(),
                told.f_favail
            );
            return Err(Error::new(Cause::NoSpace, text));
        }
        let bytes = |blocks: u64| blocks.saturating_mul(told.f_frsize);
        let place = path.display().to_string();
        let wanted = count * self.size as u64;
        // Files without content take no room that could be reckoned with.
        let text = (wanted > 0 && told.f_blocks > 0)
            .then(|| lacking(wanted, bytes(told.f_bavail), bytes(told.f_blocks), &place))
            .flatten();
        text.map_or(Ok(()), |text| Err(Error::new(Cause::NoSpace, text)))
    }
}

impl Part for Worker {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let (path, at) = opened(&self.directory)?;
        self.require_room(&at, &path)?;
        self.left = Leftovers::remove(&path);
        let folder = Folder::new(&path, ID)?;
        let shared = if self.is_shared { Some(folder.inner("shared")?) } else { None };
        for thread in 0..self.threads {
            let own = match &shared {
                Some(path) => path.clone(),
                None => folder.inner(&format!("thread.{thread}"))?,
            };
            let sharing = if self.is_shared { self.threads } else { 1 };
            self.by_thread.push(Files::new(thread, &own, sharing, self.size)?);
        }
        self.folder = Some(folder);
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let mut latencies: ByOperation = std::array::from_fn(|_| Latencies::default());
        let done = run(&mut self.by_thread, &self.place.seats, self.files, stop, &mut latencies)?;
        for one in done {
            let mut at = Params::default();
            at.set("operation", one.operation.word());
            let amount = Quantity::new(one.count as f64, Unit::Count)
                .map_err(|error| Error::new(Cause::Protocol, error.to_string()))?;
            let channel = CHANNEL.to_owned();
            out.sample(Sample { channel, at, start: one.start, end: one.end, amount });
        }
        let told = Operation::ALL.iter().zip(&latencies).filter(|(_, latencies)| latencies.count() > 0);
        let told: serde_json::Map<_, _> = told
            .map(|(operation, latencies)| (operation.word().to_owned(), latencies.to_evidence()))
            .collect();
        out.evidence("latencies", told.into());
        let folder = self.folder.as_ref().map(|folder| folder.path().display().to_string());
        out.evidence("folder", json!(folder));
        self.left.tell(out);
        // What the end of the phase left over goes apart from all figures, as far as the grace of the phase allows; the
        // rest goes with the folder.
        let (begun, short) = (now_ns(), Stop::after(std::time::Duration::from_secs(3)));
        let mut removed = 0;
        for files in &mut self.by_thread {
            removed += files.clean(&short);
        }
        let took = Nanos(now_ns()).since(Nanos(begun));
        out.evidence("clean_up", json!({ "files": removed, "ms": took.as_secs() * 1e3 }));
        Ok(())
    }

    /// Whether every file had its size and content and every folder its names; then all of it goes.
    fn verify(&mut self) -> Result<Integrity, Error> {
        let checked: u64 = self.by_thread.iter().map(|files| files.checked).sum();
        let wrong: u64 = self.by_thread.iter().map(|files| files.wrong).sum();
        let first = self.by_thread.iter().find_map(|files| files.first.clone());
        self.by_thread.clear();
        if let Some(folder) = self.folder.take() {
            folder.remove()?;
        }
        Ok(match first {
            Some(first) => Integrity::Corrupt { wrong, of: checked, first },
            None if checked == 0 => Integrity::Unverified { why: "no file was looked at".to_owned() },
            None => Integrity::Verified { checked },
        })
    }
}

#[cfg(test)]
impl Worker {
    /// The files of a thread.
    pub fn files(&mut self, thread: usize) -> &mut Files {
        &mut self.by_thread[thread]
    }
}
