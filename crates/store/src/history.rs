//! The list of runs.
//!
//! A summary of a run needs its whole record. So that long lists are quick, a run that no process writes stores its
//! summary in a file beside the record, with sizes, times and inodes of the other files: a cache, ignored when any of
//! these differ, and optional.

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

/// First bytes of a summary, before its version, which is raised when [`RunSummary`] changes. A file of that name
/// with another beginning is not ours and stays.
const MARK: &str = "{\"seatrial_summary\":";
const VERSION: u32 = 2;

/// A run in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    pub id: String,
    pub state: State,
    pub summary: RunSummary,
}

/// What the list shows besides name and state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The command line; `None` when `run.json` is unreadable.
    pub command: Option<Vec<String>>,
    pub profile: Option<String>,
    pub nodes: Vec<String>,
    pub started: Option<Timestamp>,
    pub ended: Option<RunEnd>,
    /// Duration in seconds, without pauses before resuming.
    pub seconds: Option<f64>,
    /// Verdict of the whole run.
    pub verdict: Option<Verdict>,
    pub benches: BTreeSet<String>,
    pub planned: u64,
    pub measured: u64,
    pub failed: u64,
    pub unmeasured: u64,
    pub skipped: u64,
    /// Findings of severity `problem`.
    pub problems: u64,
    /// Why the run is unreadable, when a newer version wrote it.
    pub unreadable: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    seatrial_summary: u32,
    stamp: String,
    summary: RunSummary,
}

impl Home {
    pub fn history(&self) -> Result<Vec<RunRow>, StoreError> {
        let row = |id: String| {
            let files = Files::of(self.runs().join(&id));
            // `None`: removed since its name was read.
            let summary = summary(&files)?;
            let state = State::of(&files, summary.ended.is_some());
            Some(RunRow { id, state, summary })
        };
        Ok(self.ids()?.into_iter().filter_map(row).collect())
    }
}

/// The summary of the run of `files`: stored, if it matches the files, else new, which is then stored.
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
    // A crash of the machine may leave an empty file.
    let is_ours = match &text {
        Ok(text) => text.is_empty() || text.starts_with(MARK),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_ours && matches!(run.state, State::Ended | State::Killed) {
        // Without it the next list takes longer.
        let _ = keep(&path, &Kept { seatrial_summary: VERSION, stamp, summary: summary.clone() });
    }
    Some(summary)
}

/// Writes the file at `path`, whole or not at all. The temporary file must be new, so that no link is followed and
/// each of several processes has its own.
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

/// Distinguishes states of a run's files. Times are only compared for equality, so the clock does not matter; a file
/// replaced by rename has another inode.
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

/// Number of problems, each counted once for any number of cases.
fn problems(run: &StoredRun) -> u64 {
    let all = run.results.iter().flat_map(|record| &record.findings).chain(&run.findings);
    let told: BTreeSet<(&str, &str)> = all
        .filter(|finding| finding.severity == Severity::Problem)
        .map(|finding| (finding.kind.as_str(), finding.text.as_str()))
        .collect();
    told.len() as u64
}
