//! What the files of an archive say, read as those of a run folder are.

use std::path::Path;

use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, RunInfo};
use seatrial_model::{CaseId, Finding, PartRecord, Site, SiteNode, Verdict, VerdictRecord};
use serde::de::DeserializeOwned;

use crate::folder::{
    JudgedFile, NodeFile, Plan, ProfileFile, ReferenceFile, RunFile, SCHEMA, SamplesFile, last_of_each_case,
    parsed, parsed_lines,
};
use crate::tool::{Tool, ToolFile};
use crate::write::text_of;
use crate::{Damage, Files, Piece, State};

/// Everything but the samples, which are handed out one case at a time.
#[derive(Debug, Default)]
pub struct Contents {
    pub info: Option<RunInfo>,
    pub plan: Option<Plan>,
    /// What it was judged against.
    pub profile: Option<Profile>,
    /// What each node is, in the order of the file names.
    pub nodes: Vec<SiteNode>,
    /// The last record of every case, in the order they ended.
    pub results: Vec<CaseRecord>,
    /// The records that it was judged against, when there was such a run.
    pub reference: Option<Vec<CaseRecord>>,
    /// The binaries that measured, in turn.
    pub tools: Vec<Tool>,
    /// `verdicts.json`, byte for byte; none when the run was not judged.
    pub judged: Option<Vec<u8>>,
    /// Conclusions over cases and groups.
    pub findings: Vec<Finding>,
    pub verdicts: Vec<VerdictRecord>,
    pub verdict: Option<Verdict>,
    /// What cannot be read, though its sum is right: it was so in the run folder already, or another version wrote it.
    pub damage: Vec<Damage>,
}

/// The raw samples of a case, of all its trials.
#[derive(Debug)]
pub struct Samples {
    pub case: CaseId,
    /// What its parts said.
    pub parts: Vec<PartRecord>,
}

/// `verdicts.json` as a journal writes it, byte for byte.
pub fn judged_text(findings: &[Finding], verdicts: &[VerdictRecord], verdict: Option<Verdict>) -> Vec<u8> {
    let judged =
        JudgedFile { schema: SCHEMA, findings: findings.to_vec(), verdicts: verdicts.to_vec(), verdict };
    // A record that was read has a form in JSON.
    text_of(&judged).unwrap_or_default()
}

impl Contents {
    /// Takes a file in; gives it back when it holds samples.
    pub fn take(&mut self, path: &str, text: Vec<u8>) -> Option<Samples> {
        let files = Files::of("");
        let is = |known: std::path::PathBuf| Path::new(path) == known;
        if is(files.run()) {
            self.info = self.read::<RunFile>(path, &text, |file| file.schema).map(|file| file.run);
        } else if is(files.plan()) {
            self.plan = self.read::<Plan>(path, &text, |file| file.schema);
        } else if is(files.profile()) {
            self.profile = self.read::<ProfileFile>(path, &text, |file| file.schema).map(|file| file.profile);
        } else if is(files.tool()) {
            let file = self.read::<ToolFile>(path, &text, |file| file.schema);
            self.tools = file.map(|file| file.binaries).unwrap_or_default();
        } else if is(files.results()) {
            let lines = parsed_lines(Path::new(path), &text, State::Ended, &mut self.damage);
            self.results = last_of_each_case(lines);
        } else if is(files.reference()) {
            let file = self.read::<ReferenceFile>(path, &text, |file| file.schema);
            self.reference = file.map(|file| file.results);
        } else if is(files.verdicts()) {
            if let Some(file) = self.read::<JudgedFile>(path, &text, |file| file.schema) {
                (self.findings, self.verdicts, self.verdict) = (file.findings, file.verdicts, file.verdict);
            }
            self.judged = Some(text);
        } else if Path::new(path).starts_with(files.inventories()) {
            let file = self.read::<NodeFile>(path, &text, |file| file.schema);
            self.nodes.extend(file.map(|file| file.node));
        } else if Path::new(path).starts_with(files.all_samples()) {
            let file = self.read::<SamplesFile>(path, &text, |file| file.schema)?;
            if !is(files.samples(&file.case)) {
                let why = format!("it holds the samples of another case, {}", file.case);
                self.damage.push(Damage { file: path.into(), line: None, why });
                return None;
            }
            return Some(Samples { case: file.case, parts: file.parts });
        }
        None
    }

    /// The nodes in the order of the run.
    pub fn site(&self) -> Site {
        let names = self.info.iter().flat_map(|info| &info.nodes);
        let node = |name: &String| self.nodes.iter().find(|node| node.name == *name).cloned();
        Site { nodes: names.filter_map(node).collect() }
    }

    fn read<T: DeserializeOwned>(&mut self, path: &str, text: &[u8], schema: fn(&T) -> u32) -> Option<T> {
        let why = match parsed(Path::new(path), text, schema) {
            Ok(Piece::Present(value)) => return Some(value),
            Ok(Piece::Absent) => return None,
            Ok(Piece::Damaged(damage)) => damage.why,
            Err(error) => error.to_string(),
        };
        self.damage.push(Damage { file: path.into(), line: None, why });
        None
    }
}
