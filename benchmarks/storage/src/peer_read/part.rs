//! The two parts: the writer fills named files before the measurement, the reader reads them.

use std::path::PathBuf;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, Phase, Reason};
use seatrial_sys::clock;
use serde::{Deserialize, Serialize};

use super::ABOUT;
use crate::io::files::Source;
use crate::io::job::JobSpec;
use crate::io::part::{IoWorkerSpec, random};
use crate::io::team::IoTeam;
use seatrial_bench::directory::opened;
use seatrial_bench::directory::{Folder, Leftovers};
use seatrial_bench::{Prepared, Running, Sink, Stop};

/// Most time for opening the files: less than the limit of the phase, so that the reader can report what hangs.
const OPENING: Nanos = Nanos::secs(13);

/// How long before its limit the writer reports a hang.
const EARLIER: Nanos = Nanos::secs(2);

#[derive(Debug, Serialize, Deserialize)]
struct Written {
    folder: PathBuf,
    run: u64,
}

/// The writer, which keeps the files until the reader is done.
struct Writer {
    folder: Option<Folder>,
    left: Leftovers,
}

pub fn writer(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let job = Arc::new(JobSpec::of(&case.params)?);
    let deadline = Nanos(clock::now_ns()).plus(case.budget.prepare.since(EARLIER));
    let (path, _) = opened(case.planned.text("directory")?)?;
    let left = Leftovers::remove(&path);
    let folder = Folder::new(&path, ABOUT.id)?;
    let run = random()?;
    let team = IoTeam::start(&job, &place.bindings, run)?;
    let made = team.make(Source::Named(folder.path().to_owned()), deadline)?;
    // Filled, flushed, and dropped from this node's page cache. The files are closed with the threads, which is when
    // a network file system shows them to other clients (close-to-open consistency).
    team.prepare(&made.files, 0, false, deadline)?;
    let written = Written { folder: folder.path().to_owned(), run };
    Prepared::new(place, written, |_| Ok(Writer { folder: Some(folder), left }))
}

impl Running for Writer {
    fn run(&mut self, _: Phase, _: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        self.left.tell(out);
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        if let Some(folder) = self.folder.take() {
            folder.remove()?;
        }
        Ok(Integrity::Unverified { why: "the reader checks the data of the writer".to_owned() })
    }
}

/// The reader of `case` at `place`; it opens no file before the writer is ready.
pub fn reader(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let (spec, own) = (IoWorkerSpec::of(case, place)?, place.part.clone());
    Prepared::new(place, (), move |peers| {
        let written = peers.iter().find(|offer| offer.part != own).map(|offer| offer.data.clone());
        let written: Written = serde_json::from_value(written.unwrap_or_default()).map_err(|error| {
            Reason::new(Cause::Protocol, format!("the writer's offer cannot be parsed: {error}"))
        })?;
        let deadline = Nanos(clock::now_ns()).plus(OPENING);
        let shown = written.folder.display().to_string();
        let worker = spec.set_up(Source::Written(written.folder), written.run, u64::MAX, deadline);
        worker.map_err(|error| match error.cause {
            Cause::Missing if error.text.starts_with("opening") => {
                let text = format!(
                    "{}: the writer made {shown}; name a directory on a file system that both nodes mount",
                    error.text
                );
                Reason::new(Cause::Missing, text)
            }
            _ => error,
        })
    })
}
