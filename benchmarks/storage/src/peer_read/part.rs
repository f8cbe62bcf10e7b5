//! The two parts: one fills files with names and takes no part in the measurement, the other reads them.

use std::path::PathBuf;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Integrity, Nanos, PartPlacement, Phase, Reason};
use seatrial_sys::clock;
use serde::{Deserialize, Serialize};

use super::ABOUT;
use crate::folder::{Folder, Leftovers};
use crate::io::files::Source;
use crate::io::files::opened;
use crate::io::job::JobSpec;
use crate::io::part::{IoWorkerSpec, random};
use crate::io::team::IoTeam;
use seatrial_bench::{Prepared, Running, Sink, Stop};

/// How long opening the files may take: less than the limit of the phase, so that the reader can say what hangs.
const OPENING: Nanos = Nanos::secs(13);

/// How much before the end of its limit the writer says what hangs.
const EARLIER: Nanos = Nanos::secs(2);

/// What the reader must know.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    folder: PathBuf,
    run: u64,
}

/// The part that writes, until the other part has read.
struct Writer {
    folder: Option<Folder>,
    left: Leftovers,
}

/// The writer of `case` at `place`.
pub fn writer(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let job = Arc::new(JobSpec::of(&case.params)?);
    let deadline = Nanos(clock::now_ns()).plus(case.budget.prepare.since(EARLIER));
    let (path, _) = opened(case.planned.text("directory")?)?;
    let left = Leftovers::remove(&path);
    let folder = Folder::new(&path, ABOUT.id)?;
    let run = random()?;
    let team = IoTeam::start(&job, &place.bindings, run)?;
    let made = team.make(Source::Named(folder.path().to_owned()), deadline)?;
    // Filled, flushed, and out of this node's cache; closed with the threads, which is when a file system of the
    // network lets others see it.
    team.prepare(&made.files, 0, false, deadline)?;
    let written = Written { folder: folder.path().to_owned(), run };
    Prepared::new(place, written, |_| Ok(Writer { folder: Some(folder), left }))
}

impl Running for Writer {
    fn run(&mut self, _: Phase, _: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        self.left.tell(out);
        Ok(())
    }

    /// Removes what it wrote: the reader needs it no more.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        if let Some(folder) = self.folder.take() {
            folder.remove()?;
        }
        Ok(Integrity::Unverified { why: "what it wrote is checked where it is read".to_owned() })
    }
}

/// The reader of `case` at `place`; it touches no file before the writer has written.
pub fn reader(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let (spec, own) = (IoWorkerSpec::of(case, place)?, place.part.clone());
    Prepared::new(place, (), move |peers| {
        let written = peers.iter().find(|offer| offer.part != own).map(|offer| offer.data.clone());
        let written: Written = serde_json::from_value(written.unwrap_or_default())
            .map_err(|error| Reason::new(Cause::Protocol, format!("the writer's offer: {error}")))?;
        let deadline = Nanos(clock::now_ns()).plus(OPENING);
        let shown = written.folder.display().to_string();
        let worker = spec.set_up(Source::Written(written.folder), written.run, u64::MAX, deadline);
        worker.map_err(|error| match error.cause {
            Cause::Missing if error.text.starts_with("opening") => {
                let text = format!(
                    "{}: the writer made {shown}; is it on a file system that both have?",
                    error.text
                );
                Reason::new(Cause::Missing, text)
            }
            _ => error,
        })
    })
}
