//! The worker of `storage.metadata`: a folder with files, and threads that work on them.

use std::path::Path;

use seatrial_model::{
    Binding, Case, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample, Verification,
};
use seatrial_sys::clock::now_ns;
use serde_json::json;

use super::ID;
use super::team::{ByOperation, run, run_in_slots};
use super::work::{FileOperation, Files};
use crate::many;
use seatrial_bench::Latencies;
use seatrial_bench::directory::{Folder, Leftovers, opened, require_room};
use seatrial_bench::group::PARTS;
use seatrial_bench::stale_dirs::SHARED;
use seatrial_bench::{Running, Sink, Stop};

pub const CHANNEL: &str = "operations";

/// Evidence of a part of many: when it began, by its clock.
pub const START: &str = "start_ns";

#[derive(Debug)]
pub struct MetadataWorker {
    bindings: Vec<Binding>,
    files: u64,
    by_thread: Vec<Files>,
    /// Whether each operation has its share of the time, as in a case of many nodes.
    has_slots: bool,
    /// Dropped after the files: their open descriptors do not prevent removal.
    folder: Option<Folder>,
    left: Leftovers,
}

/// A worker before it has its files: with folders of its own, or to work in the folder of all nodes.
#[derive(Debug)]
pub struct Unopened {
    bindings: Vec<Binding>,
    threads: u64,
    files: u64,
    size: usize,
    verification: Verification,
    /// The number of the first thread among those of all nodes.
    first: u64,
    /// Threads of all nodes that share a folder, if they do.
    sharing: Option<u64>,
    folder: Option<Folder>,
    left: Leftovers,
}

impl Unopened {
    /// The worker of `case` at `place`; of a case of many nodes with folder=shared it works in a folder of theirs.
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let params = &case.params;
        let (threads, files) = (params.count("threads")?, case.planned.count("files")?);
        let size = params.bytes("size")?.map_or(0, |bytes| bytes.get() as usize);
        let (path, at) = opened(params.text("directory")?)?;
        let all = files * threads * many::sharing(case);
        require_room(&at, &path, all, all * size as u64)?;
        let left = Leftovers::remove(&path);
        let nodes = case.planned.count(PARTS).unwrap_or(1);
        let sharing = (params.text("folder")? == "shared").then_some(threads * nodes);
        let is_theirs = many::is_of_many(case) && sharing.is_some();
        let folder = if is_theirs { None } else { Some(Folder::new(&path, ID)?) };
        let first = u64::from(place.index) * threads;
        Ok(Self {
            bindings: place.bindings.clone(),
            threads,
            files,
            size,
            verification: Verification::of(params),
            first,
            sharing,
            folder,
            left,
        })
    }

    /// With files in its own folder, or in `theirs`.
    pub fn open(self, theirs: &Path) -> Result<MetadataWorker, Reason> {
        let shared = match (&self.folder, self.sharing) {
            (None, _) => {
                many::require_seen(theirs, "folder=shared")?;
                Some(theirs.to_owned())
            }
            (Some(folder), Some(_)) => Some(folder.inner(SHARED)?),
            (Some(_), None) => None,
        };
        let of_thread = |thread: u64| {
            let own = match (&shared, &self.folder) {
                (None, Some(folder)) => folder.inner(&format!("thread.{thread}"))?,
                _ => shared.clone().unwrap_or_default(),
            };
            let sharing = self.sharing.unwrap_or(1);
            Files::new(self.first + thread, &own, sharing, self.size, self.verification)
        };
        Ok(MetadataWorker {
            by_thread: (0..self.threads).map(of_thread).collect::<Result<_, _>>()?,
            bindings: self.bindings,
            files: self.files,
            has_slots: false,
            folder: self.folder,
            left: self.left,
        })
    }
}

impl MetadataWorker {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        Unopened::prepare(case, place)?.open(Path::new(""))
    }

    /// The same with an equal share of the time for each operation.
    #[must_use]
    pub fn in_slots(self) -> Self {
        Self { has_slots: true, ..self }
    }

    /// Runs and emits the samples.
    fn measure(
        &mut self,
        stop: &Stop,
        latencies: &mut ByOperation,
        out: &mut dyn Sink,
    ) -> Result<(), Reason> {
        let at = |operation: FileOperation| Params::from([("operation", operation.word().into())]);
        let (files, bindings) = (&mut self.by_thread, &self.bindings);
        if !self.has_slots {
            for one in run(files, bindings, self.files, stop, latencies)? {
                let (span, count) = ((one.start, one.end), Quantity::count(one.count));
                out.sample(Sample::new(CHANNEL, at(one.operation), span, count));
            }
            return Ok(());
        }
        out.evidence(START, json!(now_ns()));
        for slot in run_in_slots(files, bindings, self.files, stop, latencies)? {
            let mut at = at(slot.operation);
            at.set("thread", slot.thread as u64);
            for slice in &slot.slices {
                let (span, count) = ((slice.start, slice.end), Quantity::count(slice.count));
                out.sample(Sample::new(CHANNEL, at.clone(), span, count));
            }
        }
        Ok(())
    }
}

impl Running for MetadataWorker {
    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let mut latencies: ByOperation = std::array::from_fn(|_| Latencies::default());
        self.measure(stop, &mut latencies, out)?;
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
