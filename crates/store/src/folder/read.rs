//! Reads a run back, in any state.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::{fs, io};

use seatrial_model::machine::Serials;
use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, Document, RunInfo, SCHEMA_VERSION};
use seatrial_model::{CaseId, Finding, Outcome, PartRecord, Site, SiteNode, Verdict, VerdictRecord};
use serde::de::DeserializeOwned;

use super::files::{
    Files, JudgedFile, LoggedEvent, NodeFile, Plan, ProfileFile, ReferenceFile, RunFile, SCHEMA, SamplesFile,
    SerialsFile,
};
use crate::write::whole_lines;
use crate::{Damage, Piece, StoreError, lock};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A process writes it.
    Running,
    /// Its end is recorded.
    Ended,
    /// No process writes it and its end is not recorded: killed, or the machine crashed.
    Killed,
    /// Its end is not recorded, and the file system cannot tell whether a process writes it.
    Unclear,
}

/// What can be read of a run. Samples, inventories and events are read on demand.
#[derive(Clone, Debug)]
pub struct StoredRun {
    files: Files,
    pub state: State,
    pub info: Piece<RunInfo>,
    pub plan: Piece<Plan>,
    /// Last record of every case, in the order that cases ended.
    pub results: Vec<CaseRecord>,
    pub findings: Vec<Finding>,
    /// Empty before the run was judged.
    pub verdicts: Vec<VerdictRecord>,
    /// `None` before the run was judged, or when nothing was judged.
    pub verdict: Option<Verdict>,
    pub damage: Vec<Damage>,
}

impl State {
    pub const fn word(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Ended => "ended",
            State::Killed => "killed",
            State::Unclear => "unclear",
        }
    }

    pub(crate) fn of(files: &Files, has_ended: bool) -> Self {
        match (has_ended, lock::is_held(&files.lock())) {
            (_, Some(true)) => State::Running,
            (true, _) => State::Ended,
            (false, Some(false)) => State::Killed,
            (false, None) => State::Unclear,
        }
    }
}

impl StoredRun {
    /// Reads the run of `files`. Damage is reported in the result; an error is [`StoreError::NotARun`] without a
    /// folder, [`StoreError::TooNew`] for files of a newer Seatrial.
    pub(super) fn read(files: Files) -> Result<Self, StoreError> {
        if !files.folder().is_dir() {
            return Err(StoreError::NotARun { path: files.folder().to_owned() });
        }
        let info = versioned::<RunFile>(&files.run(), |file| file.schema)?.map(|file| file.run);
        let plan = versioned::<Plan>(&files.plan(), |plan| plan.schema)?;
        let judged = versioned::<JudgedFile>(&files.verdicts(), |file| file.schema)?;
        let has_ended = info.present().is_some_and(|info: &RunInfo| info.ended.is_some());
        let state = State::of(&files, has_ended);
        let mut damage: Vec<Damage> =
            [info.damage(), plan.damage(), judged.damage()].into_iter().flatten().cloned().collect();
        let results = last_of_each_case(lines(&files.results(), state, &mut damage));
        let (findings, verdicts, verdict) = match judged {
            Piece::Present(file) => (file.findings, file.verdicts, file.verdict),
            Piece::Absent | Piece::Damaged(_) => Default::default(),
        };
        Ok(Self { files, state, info, plan, results, findings, verdicts, verdict, damage })
    }

    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Name of the folder: the run id, unless it was renamed.
    pub fn name(&self) -> String {
        let name = self.files.folder().file_name();
        name.map_or_else(
            || self.files.folder().display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        )
    }

    /// Records of cases that ended and are not run again. Open cases are those interrupted, those never run because a
    /// job ran out of time or an agent was lost, and those whose samples did not reach storage before a power failure
    /// (the later of two files may be there alone).
    pub fn finished(&self) -> impl Iterator<Item = &CaseRecord> {
        let open = self.open();
        self.results.iter().filter(move |record| !open.contains(&record.case))
    }

    /// Cases to run again, and their retries, which are void.
    pub fn open(&self) -> HashSet<CaseId> {
        let planned: HashSet<&CaseId> =
            self.plan.present().into_iter().flat_map(Plan::cases).map(|case| &case.id).collect();
        let is_lost = |record: &CaseRecord| {
            record.outcome == Outcome::Measured
                && !fs::metadata(self.files.samples(&record.case)).is_ok_and(|file| file.len() > 0)
        };
        let is_open = |record: &&CaseRecord| record.is_open(|case| planned.contains(case)) || is_lost(record);
        let mut open: HashSet<CaseId> =
            self.results.iter().filter(is_open).map(|record| record.case.clone()).collect();
        // A second partner that was lost has a retry too.
        loop {
            let stands_in = |record: &&CaseRecord| {
                !open.contains(&record.case)
                    && record.retry_of.as_ref().is_some_and(|lost| open.contains(lost))
            };
            let more: Vec<CaseId> =
                self.results.iter().filter(stands_in).map(|record| record.case.clone()).collect();
            if more.is_empty() {
                return open;
            }
            open.extend(more);
        }
    }

    /// Cases that resuming does not run.
    pub fn done(&self) -> BTreeSet<CaseId> {
        self.finished().map(|record| record.case.clone()).collect()
    }

    /// The run as one document; [`StoreError::Unreadable`] without a readable `run.json`.
    pub fn document(&self) -> Result<Document, StoreError> {
        let run = self.info().cloned()?;
        Ok(Document {
            schema: SCHEMA_VERSION,
            run,
            results: self.results.clone(),
            findings: self.findings.clone(),
            verdicts: self.verdicts.clone(),
            verdict: self.verdict,
        })
    }

    /// The run; [`StoreError::Unreadable`] without a readable `run.json`.
    pub fn info(&self) -> Result<&RunInfo, StoreError> {
        let why = match &self.info {
            Piece::Present(info) => return Ok(info),
            Piece::Absent => format!("{} is missing", self.files.run().display()),
            Piece::Damaged(damage) => damage.to_string(),
        };
        Err(StoreError::Unreadable { id: self.name(), why })
    }

    /// The profile as of the run.
    pub fn profile(&self) -> Result<Piece<Profile>, StoreError> {
        Ok(versioned::<ProfileFile>(&self.files.profile(), |file| file.schema)?.map(|file| file.profile))
    }

    /// Inventory and settings of `node` as of the start of the run.
    pub fn node(&self, node: &str) -> Result<Piece<SiteNode>, StoreError> {
        Ok(versioned::<NodeFile>(&self.files.inventory(node), |file| file.schema)?.map(|file| file.node))
    }

    pub fn site(&self) -> Result<Site, StoreError> {
        let names = self.info.present().map(|info| info.nodes.as_slice()).unwrap_or_default();
        let mut site = Site::default();
        for name in names {
            site.nodes.extend(self.node(name)?.into_present());
        }
        Ok(site)
    }

    /// Serial numbers of the nodes, for a ticket.
    pub fn serials(&self) -> Result<BTreeMap<String, Serials>, StoreError> {
        let file = versioned::<SerialsFile>(&self.files.serials(), |file| file.schema)?;
        Ok(file.into_present().map(|file| file.nodes).unwrap_or_default())
    }

    pub fn reference(&self) -> Result<Piece<Vec<CaseRecord>>, StoreError> {
        let file = versioned::<ReferenceFile>(&self.files.reference(), |file| file.schema)?;
        Ok(file.map(|file| file.results))
    }

    pub fn samples(&self, case: &CaseId) -> Result<Piece<Vec<PartRecord>>, StoreError> {
        self.files.parts(case)
    }

    pub fn events(&self) -> Vec<LoggedEvent> {
        lines(&self.files.events(), State::Running, &mut Vec::new())
    }
}

impl Files {
    /// The parts of a case, with their samples.
    pub fn parts(&self, case: &CaseId) -> Result<Piece<Vec<PartRecord>>, StoreError> {
        Ok(versioned::<SamplesFile>(&self.samples(case), |file| file.schema)?.map(|file| file.parts))
    }
}

impl<T> Piece<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Piece<U> {
        match self {
            Piece::Present(value) => Piece::Present(change(value)),
            Piece::Absent => Piece::Absent,
            Piece::Damaged(damage) => Piece::Damaged(damage),
        }
    }
}

pub(crate) fn versioned<T: DeserializeOwned>(
    path: &Path,
    schema: fn(&T) -> u32,
) -> Result<Piece<T>, StoreError> {
    let damaged = |why: String| Piece::Damaged(Damage { file: path.to_owned(), line: None, why });
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Piece::Absent),
        Err(error) => return Ok(damaged(error.to_string())),
    };
    parsed(path, &text, schema)
}

pub(crate) fn parsed<T: DeserializeOwned>(
    path: &Path,
    text: &[u8],
    schema: fn(&T) -> u32,
) -> Result<Piece<T>, StoreError> {
    let damaged = |why: String| Piece::Damaged(Damage { file: path.to_owned(), line: None, why });
    // The version first: a newer file may not even parse.
    let newer = serde_json::from_slice::<Version>(text).map_or(0, |version| version.schema);
    if newer > SCHEMA {
        return Err(StoreError::TooNew { path: path.to_owned(), schema: newer, known: SCHEMA });
    }
    Ok(match serde_json::from_slice::<T>(text) {
        Ok(value) if schema(&value) == 0 => damaged("schema 0 does not exist".to_owned()),
        Ok(value) => Piece::Present(value),
        Err(error) => damaged(error.to_string()),
    })
}

#[derive(serde::Deserialize)]
struct Version {
    schema: u32,
}

/// Reads lines of JSON. A last line without line feed is torn, or being written by a running process.
fn lines<T: DeserializeOwned>(path: &Path, state: State, damage: &mut Vec<Damage>) -> Vec<T> {
    match fs::read(path) {
        Ok(text) => parsed_lines(path, &text, state, damage),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            damage.push(Damage { file: path.to_owned(), line: None, why: error.to_string() });
            Vec::new()
        }
    }
}

pub(crate) fn parsed_lines<T: DeserializeOwned>(
    path: &Path,
    text: &[u8],
    state: State,
    damage: &mut Vec<Damage>,
) -> Vec<T> {
    let mut report = |line, why| damage.push(Damage { file: path.to_owned(), line, why });
    let (whole, torn) = text.split_at(whole_lines(text));
    let mut values = Vec::new();
    let mut count = 0;
    for line in whole.split_inclusive(|byte| *byte == b'\n') {
        count += 1;
        match serde_json::from_slice(line) {
            Ok(value) => values.push(value),
            Err(error) => report(Some(count), error.to_string()),
        }
    }
    if !torn.is_empty() && state != State::Running {
        report(Some(count + 1), "incomplete last line; dropped".to_owned());
    }
    values
}

/// A resumed run may hold two records of a case: interrupted, then measured. The later one counts. When a case has
/// lost no partner in the end, its earlier retry is dropped.
pub(crate) fn last_of_each_case(mut records: Vec<CaseRecord>) -> Vec<CaseRecord> {
    let mut seen = HashSet::new();
    records.reverse();
    records.retain(|record| seen.insert(record.case.clone()));
    records.reverse();
    let mut gone: HashSet<CaseId> =
        records.iter().filter(|record| record.lost.is_empty()).map(|record| record.case.clone()).collect();
    records.retain(|record| {
        let is_needed = record.retry_of.as_ref().is_none_or(|lost| !gone.contains(lost));
        if !is_needed {
            gone.insert(record.case.clone());
        }
        is_needed
    });
    records
}
