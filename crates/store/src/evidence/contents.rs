//! Parses the files of an archive, as those of a run folder.

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

/// Everything but samples, which are passed on one case at a time.
#[derive(Debug, Default)]
pub struct Contents {
    pub info: Option<RunInfo>,
    pub plan: Option<Plan>,
    pub profile: Option<Profile>,
    /// Nodes, in the order of file names.
    pub nodes: Vec<SiteNode>,
    /// Last record of every case, in the order that cases ended.
    pub results: Vec<CaseRecord>,
    pub reference: Option<Vec<CaseRecord>>,
    /// The binaries that measured, in order.
    pub tools: Vec<Tool>,
    /// `verdicts.json`, byte for byte; `None` when the run was not judged.
    pub judged: Option<Vec<u8>>,
    pub findings: Vec<Finding>,
    pub verdicts: Vec<VerdictRecord>,
    pub verdict: Option<Verdict>,
    /// What cannot be read although its checksum is right: damaged in the run folder already, or of another version.
    pub damage: Vec<Damage>,
}

#[derive(Debug)]
pub struct Samples {
    pub case: CaseId,
    pub parts: Vec<PartRecord>,
}

/// `verdicts.json` as a journal writes it, byte for byte.
pub fn judged_text(findings: &[Finding], verdicts: &[VerdictRecord], verdict: Option<Verdict>) -> Vec<u8> {
    let judged =
        JudgedFile { schema: SCHEMA, findings: findings.to_vec(), verdicts: verdicts.to_vec(), verdict };
    // A record that was parsed has a JSON form.
    text_of(&judged).unwrap_or_default()
}

impl Contents {
    /// Parses a file; returns it when it holds samples.
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
