//! Which runs there are, and what each came to.
//!
//! What a list shows of a run is made of its whole record. So that a long list stays quick, a run that no process writes
//! keeps it in a file of its own beside the record, with the sizes, times and inodes of the files that it was made from:
//! a cache, taken no notice of as soon as anything of that differs, and done without wherever it cannot be written.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use seatrial_model::record::{RunEnd, RunInfo};
use seatrial_model::{Outcome, Severity, Verdict};
use serde::{Deserialize, Serialize};

use crate::folder::Files;
use crate::{Home, RunFolder, State, StoreError, StoredRun};

/// What every file of a summary begins with: its version, which rises when [`RunSummary`] changes. A file of that name with
/// another beginning is somebody else's, and stays as it is.
const MARK: &str = "{\"seatrial_summary\":";
const VERSION: u32 = 2;

/// One run, as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The name of the folder.
    pub id: String,
    /// What it is doing now.
    pub state: State,
    pub summary: RunSummary,
}

/// What a list says of a run besides its name and state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The command as typed; none when `run.json` is not to be read.
    pub command: Option<Vec<String>>,
    pub profile: Option<String>,
    pub nodes: Vec<String>,
    /// When it started, by the clock of then.
    pub started: Option<Timestamp>,
    /// When and how it ended.
    pub ended: Option<RunEnd>,
    /// Seconds that it ran, without those in which it was stopped before it was gone on with.
    pub seconds: Option<f64>,
    /// The roll-up of its judgement.
    pub verdict: Option<Verdict>,
    /// The benchmarks of which it has a record.
    pub benches: BTreeSet<String>,
    /// Cases planned, as far as the run came.
    pub planned: u64,
    pub measured: u64,
    /// Cases in which the system under test did not deliver.
    pub failed: u64,
    /// Cases we could not look at.
    pub unmeasured: u64,
    /// Cases that do not apply.
    pub skipped: u64,
    /// Findings that say that something is wrong.
    pub problems: u64,
    /// Why it cannot be read, when a newer version wrote it.
    pub unreadable: Option<String>,
}

/// A summary as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    seatrial_summary: u32,
    /// Of the files that it was made from.
    stamp: String,
    summary: RunSummary,
}

impl Home {
    /// The runs of this home, oldest first.
    pub fn history(&self) -> Result<Vec<RunRow>, StoreError> {
        let row = |id: String| {
            let files = Files::of(self.runs().join(&id));
            // None: removed since its name was read.
            let summary = summary(&files)?;
            let state = State::of(&files, summary.ended.is_some());
            Some(RunRow { id, state, summary })
        };
        Ok(self.ids()?.into_iter().filter_map(row).collect())
    }
}

/// The summary of the run of `files`: the kept one if it is of just these files, else a new one, which is kept.
fn summary(files: &Files) -> Option<RunSummary> {
    let path = files.summary();
    let stamp = stamp(files);
    let text = fs::read_to_string(&path);
    let kept = text.as_ref().ok().and_then(|text| serde_json::from_str::<Kept>(text).ok());
    if let Some(kept) = kept.filter(|kept| (kept.seatrial_summary, &kept.stamp) == (VERSION, &stamp)) {
        return Some(kept.summary);
    }
    let run = match RunFolder::open(files.folder()) {
        Ok(run) => run,
        Err(StoreError::NotARun { .. }) => return None,
        Err(error) => {
            return Some(RunSummary { unreadable: Some(error.to_string()), ..RunSummary::default() });
        }
    };
    let summary = RunSummary::of(&run);
    // An empty file is what a crash of the machine may leave of one.
    let is_ours = match &text {
        Ok(text) => text.is_empty() || text.starts_with(MARK),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_ours && matches!(run.state, State::Ended | State::Killed) {
        // Without it the next list takes longer, and is the same.
        let _ = keep(&path, &Kept { seatrial_summary: VERSION, stamp, summary: summary.clone() });
    }
    Some(summary)
}

/// Writes the file at `path` whole or not at all. The file beside it must be new: nobody's link is followed, and of several
/// processes at once each has one of its own.
fn keep(path: &Path, kept: &Kept) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
    let written = serde_json::to_string(kept)
        .map_err(io::Error::from)
        .and_then(|text| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Tells one state of a run's files from another. Times are only compared for being equal, so that it does not matter
/// where the clock stands; a file replaced by rename has another inode.
fn stamp(files: &Files) -> String {
    let of = |path: PathBuf| match fs::metadata(path) {
        Ok(about) => format!("{}:{}:{}.{}", about.ino(), about.size(), about.mtime(), about.mtime_nsec()),
        Err(_) => "-".to_owned(),
    };
    [files.run(), files.plan(), files.results(), files.verdicts()].map(of).join(" ")
}

impl RunSummary {
    fn of(run: &StoredRun) -> Self {
        let info: Option<&RunInfo> = run.info.present();
        let count = |outcome| run.results.iter().filter(|record| record.outcome == outcome).count() as u64;
        Self {
            command: info.map(|info| info.command.clone()),
            profile: info.and_then(|info| info.profile.as_ref()).map(|profile| profile.id.clone()),
            nodes: info.map(|info| info.nodes.clone()).unwrap_or_default(),
            started: info.map(|info| info.started),
            ended: info.and_then(|info| info.ended.clone()),
            seconds: info.and_then(RunInfo::took).map(|took| took.as_secs_f64()),
            verdict: run.verdict,
            benches: run.results.iter().map(|record| record.bench.clone()).collect(),
            planned: run.plan.present().map_or(0, |plan| plan.cases().count() as u64),
            measured: count(Outcome::Measured),
            failed: count(Outcome::Failed),
            unmeasured: count(Outcome::Unmeasured),
            skipped: count(Outcome::Skipped),
            problems: problems(run),
            unreadable: None,
        }
    }
}

/// How many problems the findings tell of, each counted once however many cases show it.
fn problems(run: &StoredRun) -> u64 {
    let all = run.results.iter().flat_map(|record| &record.findings).chain(&run.findings);
    let told: BTreeSet<(&str, &str)> = all
        .filter(|finding| finding.severity == Severity::Problem)
        .map(|finding| (finding.kind.as_str(), finding.text.as_str()))
        .collect();
    told.len() as u64
}
