//! Writes a run while it happens, safe against crashes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, RunEnd, RunInfo, RunOptions};
use seatrial_model::{CaseId, Event, Finding, PartRecord, Site, Verdict, VerdictRecord};
use serde_json::{Value, json};

use crate::StoreError;
use crate::folder::{
    Files, JudgedFile, LoggedEvent, NodeFile, Plan, ProfileFile, ReferenceFile, SCHEMA, SamplesFile,
    SerialsFile,
};
use crate::lock::Lock;
use crate::tool::{Tool, ToolFile};
use crate::write::{Lines, replace, replace_unsynced, sync_file_system};

/// How long a case that ends soon after another may wait for storage. When a thousand nodes end cases together, a
/// sync for each would delay all of them.
const SYNC_EVERY: Duration = Duration::from_millis(200);

/// The only writer of a run folder.
///
/// A case is on storage when [`Journal::record`] returns from its `CaseEnded`, or, if it ends less than a fifth of a
/// second after another, with the first event after that time. No other syncs: they would disturb the measurement of
/// a disk.
#[derive(Debug)]
pub struct Journal {
    files: Files,
    info: RunInfo,
    plan: Plan,
    results: Lines,
    events: Lines,
    /// Samples of cases that have not ended.
    open_cases: BTreeMap<CaseId, Vec<PartRecord>>,
    /// Time of the last sync; `None` before the first case.
    synced: Option<Instant>,
    /// Whether cases were written since.
    is_behind: bool,
    /// Shows that the run is active; `None` where the file system has no locks.
    _lock: Option<Lock>,
}

impl Journal {
    pub(crate) fn open(
        files: Files,
        info: RunInfo,
        plan: Option<Plan>,
        lock: Option<Lock>,
    ) -> Result<Self, StoreError> {
        let results = Lines::open(&files.results())?;
        let events = Lines::open(&files.events())?;
        let plan = plan.unwrap_or(Plan { schema: SCHEMA, rounds: Vec::new() });
        Ok(Self {
            files,
            info,
            plan,
            results,
            events,
            open_cases: BTreeMap::new(),
            synced: None,
            is_behind: false,
            _lock: lock,
        })
    }

    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    pub fn path(&self) -> &Path {
        self.files.folder()
    }

    /// Goes on with the run under `options`, in place of the earlier ones: from here on it has not ended and is not judged.
    pub fn go_on(&mut self, options: RunOptions) -> Result<(), StoreError> {
        self.info.options = Some(options);
        let verdicts = self.files.verdicts();
        match std::fs::remove_file(&verdicts) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io("removing", &verdicts, error));
            }
            _ => {}
        }
        crate::folder::write_info(&self.files, &self.info)?;
        self.log(serde_json::json!({ "event": "resumed" }))
    }

    /// Stores the nodes, one file each, and in `run.json` their names and those of nodes that could not be reached.
    pub fn keep_site(&mut self, site: &Site) -> Result<(), StoreError> {
        let known = crate::folder::versioned::<SerialsFile>(&self.files.serials(), |file| file.schema)?;
        let mut serials = known.into_present().map(|file| file.nodes).unwrap_or_default();
        for node in &site.nodes {
            let mut file = NodeFile { schema: SCHEMA, node: node.clone() };
            let own = std::mem::take(&mut file.node.machine.serials);
            if !own.is_empty() {
                serials.insert(node.name.clone(), own);
            }
            replace_unsynced(&self.files.inventory(&node.name), &file)?;
        }
        if !serials.is_empty() {
            replace_unsynced(&self.files.serials(), &SerialsFile { schema: SCHEMA, nodes: serials })?;
        }
        sync_file_system(self.files.folder())?;
        let known: BTreeSet<String> = self.info.nodes.iter().cloned().collect();
        let new = site.nodes.iter().filter(|node| !known.contains(&node.name));
        self.info.nodes.extend(new.map(|node| node.name.clone()));
        crate::folder::write_info(&self.files, &self.info)
    }

    /// Stores the profile, for later judgements.
    pub fn keep_profile(&mut self, profile: &Profile) -> Result<(), StoreError> {
        replace(&self.files.profile(), &ProfileFile { schema: SCHEMA, profile: profile.clone() })
    }

    /// Stores which binary measures, in addition to earlier ones of a resumed run.
    pub fn keep_tool(&mut self, tool: &Tool) -> Result<(), StoreError> {
        let path = self.files.tool();
        let known = crate::folder::versioned::<ToolFile>(&path, |file| file.schema)?.into_present();
        let mut binaries = known.map(|file| file.binaries).unwrap_or_default();
        if binaries.last() != Some(tool) {
            binaries.push(tool.clone());
            replace(&path, &ToolFile { schema: SCHEMA, binaries })?;
        }
        Ok(())
    }

    /// Stores the records of the reference run `run`, for later judgements without it.
    pub fn keep_reference(&mut self, run: &str, results: &[CaseRecord]) -> Result<(), StoreError> {
        let file = ReferenceFile { schema: SCHEMA, run: run.to_owned(), results: results.to_vec() };
        replace(&self.files.reference(), &file)
    }

    /// Stores an event: planned rounds, samples, and the record of a case, which is then on storage.
    pub fn record(&mut self, event: Event) -> Result<(), StoreError> {
        let line = slim(&event);
        match event {
            Event::RoundPlanned { cases, estimate } => {
                self.plan.add(cases, estimate);
                replace(&self.files.plan(), &self.plan)?;
            }
            Event::TrialEnded { case, parts, .. } => {
                self.open_cases.entry(case).or_default().extend(parts);
            }
            Event::CaseEnded { record } => {
                // Samples first: a result always has its own samples. Without a sync in between, a power failure may
                // leave the result alone; such a case is measured again.
                let parts = self.open_cases.remove(&record.case).unwrap_or_default();
                let samples = SamplesFile { schema: SCHEMA, case: record.case.clone(), parts };
                if self.is_behind || self.has_just_synced() {
                    replace_unsynced(&self.files.samples(&record.case), &samples)?;
                    self.results.append(&record)?;
                    self.is_behind = true;
                } else {
                    replace(&self.files.samples(&record.case), &samples)?;
                    self.results.append(&record)?;
                    self.results.sync()?;
                    self.synced = Some(Instant::now());
                }
            }
            Event::CaseStarted { .. } | Event::PhaseEntered { .. } | Event::Note { .. } => {}
        }
        if !self.has_just_synced() {
            self.catch_up()?;
        }
        self.log(line)
    }

    fn has_just_synced(&self) -> bool {
        self.synced.is_some_and(|at| at.elapsed() < SYNC_EVERY)
    }

    fn catch_up(&mut self) -> Result<(), StoreError> {
        if self.is_behind {
            sync_file_system(self.files.folder())?;
            self.is_behind = false;
            self.synced = Some(Instant::now());
        }
        Ok(())
    }

    /// Stores findings and verdicts, in place of earlier ones.
    pub fn keep_verdicts(
        &mut self,
        findings: &[Finding],
        verdicts: &[VerdictRecord],
        verdict: Option<Verdict>,
    ) -> Result<(), StoreError> {
        self.catch_up()?;
        let judged =
            JudgedFile { schema: SCHEMA, findings: findings.to_vec(), verdicts: verdicts.to_vec(), verdict };
        replace(&self.files.verdicts(), &judged)
    }

    /// Records the end of the run in `run.json`, and releases the lock.
    pub fn end(mut self, end: RunEnd) -> Result<RunInfo, StoreError> {
        self.catch_up()?;
        self.events.sync()?;
        self.info.ended = Some(end);
        crate::folder::write_info(&self.files, &self.info)?;
        Ok(self.info)
    }

    pub(crate) fn log(&mut self, event: Value) -> Result<(), StoreError> {
        self.events.append(&LoggedEvent { at: Timestamp::now(), event })
    }
}

/// The event without what other files hold.
fn slim(event: &Event) -> Value {
    match event {
        Event::RoundPlanned { cases, estimate } => {
            json!({ "event": "round_planned", "cases": cases.len(), "estimate": estimate })
        }
        Event::CaseStarted { case } => json!({ "event": "case_started", "case": case }),
        Event::PhaseEntered { case, trial, phase } => {
            json!({ "event": "phase_entered", "case": case, "trial": trial, "phase": phase })
        }
        Event::TrialEnded { case, trial, parts } => {
            json!({ "event": "trial_ended", "case": case, "trial": trial, "parts": parts.len() })
        }
        Event::Note { case, text } => json!({ "event": "note", "case": case, "text": text }),
        Event::CaseEnded { record } => {
            json!({ "event": "case_ended", "case": record.case, "outcome": record.outcome })
        }
    }
}
