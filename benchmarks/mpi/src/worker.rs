//! The worker of a case: starts the job, passes phases on, and records what the job was.

use std::path::Path;

use seatrial_bench::{Running, Sink, Stop};
use seatrial_model::{Case, Cause, Integrity, Measures, Params, PartPlacement, PartRecord, Phase, Reason};
use serde::Serialize;
use serde_json::{Value, json};

use crate::job::{Job, JobSpec, Launcher, LibraryFacts, kept};
use crate::ranks::{RANKS, patience};

/// Evidence of the part that the case keeps.
const KEPT: [&str; 5] = ["library", "launcher", "ranks", "environment", "printed"];

pub struct Worker {
    job: Job,
    library: Value,
    launcher: Value,
}

/// A path that a parameter names; `None` where it is `auto`.
fn path<'a>(params: &'a Params, name: &str) -> Result<Option<&'a Path>, Reason> {
    let text = params.text(name)?;
    Ok((text != "auto").then(|| Path::new(text)))
}

impl Worker {
    /// Starts the job of `case`, whose ranks run the program of the benchmark `bench` with `config`.
    pub fn start(
        bench: &'static str,
        case: &Case,
        place: &PartPlacement,
        config: &impl Serialize,
    ) -> Result<Self, Reason> {
        let json = |error: serde_json::Error| Reason::new(Cause::Protocol, error.to_string());
        let library = LibraryFacts::find(path(&case.params, "library")?)?;
        let launcher = Launcher::of(&library, path(&case.params, "launcher")?)?;
        let spec = JobSpec {
            launcher,
            library,
            ranks: case.planned.count(RANKS)? as usize,
            bench,
            config: serde_json::to_value(config).map_err(json)?,
            thread_level: case.params.text("thread_level")?.to_owned(),
            cpus: place.bindings.iter().map(|binding| binding.cpu).collect(),
            patience: patience(case),
        };
        let job = Job::start(&spec)?;
        let (library, launcher) = (serde_json::to_value(spec.library), serde_json::to_value(spec.launcher));
        Ok(Self { job, library: library.map_err(json)?, launcher: launcher.map_err(json)? })
    }
}

impl Running for Worker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        for sample in self.job.run(phase, stop)? {
            out.sample(sample);
        }
        if phase == Phase::Measure {
            out.evidence("library", self.library.clone());
            out.evidence("launcher", self.launcher.clone());
            out.evidence("ranks", json!(self.job.facts));
            out.evidence("environment", json!({ "kept": kept(), "removed": self.job.scrubbed }));
            if let Some(words) = self.job.words() {
                out.evidence("printed", json!(words));
            }
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        self.job.verify()
    }
}

/// Keeps what the worker recorded of the job.
pub fn keep_job(measures: &mut Measures, parts: &[PartRecord]) {
    measures.keep_evidence(parts, &KEPT);
    measures.keep_integrity(parts.first());
}
