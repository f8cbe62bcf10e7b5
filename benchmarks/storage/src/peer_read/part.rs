//! The two parts: one fills files with names and takes no part in the measurement, the other reads them.

use std::path::PathBuf;
use std::sync::Arc;

use seatrial_model::{Budget, Case, Cause, Integrity, Nanos, PartPlacement, Phase};
use seatrial_sys::clock;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ABOUT;
use crate::folder::{Folder, Leftovers};
use crate::io::files::Source;
use crate::io::files::opened;
use crate::io::job::JobSpec;
use crate::io::part::{Worker, random};
use crate::io::team::IoTeam;
use seatrial_bench::{Error, Offer, Part, Sink, Stop};

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

/// The part that writes.
pub struct Writer {
    place: PartPlacement,
    job: Arc<JobSpec>,
    directory: String,
    budget: Budget,
    folder: Option<Folder>,
    left: Leftovers,
}

impl Writer {
    /// The writer of `case` at `place`; touches nothing yet.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn new(case: &Case, place: &PartPlacement) -> Result<Self, Error> {
        let job = JobSpec::of(&case.params).map_err(|reason| Error::new(Cause::Protocol, reason.text))?;
        Ok(Self {
            place: place.clone(),
            job: Arc::new(job),
            directory: case.chosen.text("directory")?.to_owned(),
            budget: case.budget,
            folder: None,
            left: Leftovers::default(),
        })
    }
}

impl Part for Writer {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let deadline = Nanos(clock::now_ns()).plus(self.budget.prepare.since(EARLIER));
        let (path, _) = opened(&self.directory)?;
        self.left = Leftovers::remove(&path);
        let folder = Folder::new(&path, ABOUT.id)?;
        let run = random()?;
        let team = IoTeam::start(&self.job, &self.place.seats, run)?;
        let made = team.make(Source::Named(folder.path().to_owned()), deadline)?;
        // Filled, flushed, and out of this node's cache; closed with the threads, which is when a file system of the
        // network lets others see it.
        team.prepare(&made.files, 0, false, deadline)?;
        let written = Written { folder: folder.path().to_owned(), run };
        self.folder = Some(folder);
        Ok(Offer::new(&self.place, json!(written)))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, _: Phase, _: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        self.left.tell(out);
        Ok(())
    }

    /// Removes what it wrote: the reader needs it no more.
    fn verify(&mut self) -> Result<Integrity, Error> {
        if let Some(folder) = self.folder.take() {
            folder.remove()?;
        }
        Ok(Integrity::Unverified { why: "what it wrote is checked where it is read".to_owned() })
    }
}

/// The part that reads.
pub struct Reader {
    place: PartPlacement,
    worker: Worker,
}

impl Reader {
    /// The reader of `case` at `place`; touches nothing yet.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn new(case: &Case, place: &PartPlacement) -> Result<Self, Error> {
        Ok(Self { place: place.clone(), worker: Worker::new(case, place)? })
    }
}

impl Part for Reader {
    fn prepare(&mut self) -> Result<Offer, Error> {
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        let written =
            peers.iter().find(|offer| offer.part != self.place.part).map(|offer| offer.data.clone());
        let written: Written = serde_json::from_value(written.unwrap_or_default())
            .map_err(|error| Error::new(Cause::Protocol, format!("the writer's offer: {error}")))?;
        let deadline = Nanos(clock::now_ns()).plus(OPENING);
        let shown = written.folder.display().to_string();
        self.worker.set_up(Source::Written(written.folder), written.run, u64::MAX, deadline).map_err(
            |error| match error.cause {
                Cause::Missing if error.text.starts_with("opening") => {
                    let text = format!(
                        "{}: the writer made {shown}; is it on a file system that both have?",
                        error.text
                    );
                    Error::new(Cause::Missing, text)
                }
                _ => error,
            },
        )
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        self.worker.run(phase, stop, out)
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        self.worker.verify()
    }
}
