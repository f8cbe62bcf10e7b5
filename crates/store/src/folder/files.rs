//! The files of a run folder: their names, and the versioned form of what they hold.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, RunInfo, SCHEMA_VERSION};
use seatrial_model::{Case, CaseId, Finding, Nanos, PartRecord, SiteNode, Verdict, VerdictRecord};
use serde::{Deserialize, Serialize};

/// The schema of the record. Readers tolerate keys they do not know and keys that are missing.
pub const SCHEMA: u32 = SCHEMA_VERSION;

/// The file that makes a folder a run.
pub const RUN_FILE: &str = "run.json";

/// The file that a process which writes the run holds a lock on.
pub const LOCK_FILE: &str = "lock";

/// Paths of the files of a run folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    folder: PathBuf,
}

impl Files {
    /// The files of the run at `folder`.
    pub fn of(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Version, command, profile, nodes and times; written at the start and at the end.
    pub fn run(&self) -> PathBuf {
        self.folder.join(RUN_FILE)
    }

    /// The cases of every round, with where and how long each runs.
    pub fn plan(&self) -> PathBuf {
        self.folder.join("plan.json")
    }

    /// The profile judged against, as merged when the run began.
    pub fn profile(&self) -> PathBuf {
        self.folder.join("profile.json")
    }

    /// The records of the run that this one is judged against, where one was named.
    pub fn reference(&self) -> PathBuf {
        self.folder.join("reference.json")
    }

    /// One line a case, on storage as soon as the case ended.
    pub fn results(&self) -> PathBuf {
        self.folder.join("results.jsonl")
    }

    /// What happened when, for people and progress; without samples and records.
    pub fn events(&self) -> PathBuf {
        self.folder.join("events.jsonl")
    }

    pub fn verdicts(&self) -> PathBuf {
        self.folder.join("verdicts.json")
    }

    pub fn tool(&self) -> PathBuf {
        self.folder.join("tool.json")
    }

    /// What a list of runs shows of this one: made from the others, and no part of the record.
    pub fn summary(&self) -> PathBuf {
        self.folder.join(".summary.json")
    }

    /// Held while a process writes the run.
    pub fn lock(&self) -> PathBuf {
        self.folder.join(LOCK_FILE)
    }

    /// The folder with one file a node.
    pub fn inventories(&self) -> PathBuf {
        self.folder.join("inventory")
    }

    pub fn inventory(&self, node: &str) -> PathBuf {
        self.inventories().join(format!("{}.json", file_stem(node)))
    }

    /// The folder with one file a case.
    pub fn all_samples(&self) -> PathBuf {
        self.folder.join("samples")
    }

    /// The raw samples of `case`.
    pub fn samples(&self, case: &CaseId) -> PathBuf {
        self.all_samples().join(format!("{}.json", case.file_stem()))
    }
}

/// A name for a file of `node`: the name itself where it is one, else its readable characters and its bytes in
/// hexadecimal, so that no node can name a file outside the folder and no two nodes share one.
fn file_stem(node: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !node.is_empty() && node.len() <= 200 && !node.starts_with('.') && node.chars().all(is_plain) {
        return node.to_owned();
    }
    // The hash of a case id serves here too: the readable part is cut short and the rest told apart by 64 bits.
    let Ok(id) = node.parse::<CaseId>();
    format!("node-{}", id.file_stem())
}

/// `run.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunFile {
    pub schema: u32,
    pub run: RunInfo,
}

/// `plan.json`: what was planned, round by round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of the writer's files.
    pub schema: u32,
    /// In the order they ran.
    pub rounds: Vec<Round>,
}

/// Cases that ran one after the other before the study looked at them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    pub cases: Vec<Case>,
    /// The estimated time of all of them.
    pub estimate: Nanos,
}

/// `profile.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProfileFile {
    pub schema: u32,
    pub profile: Profile,
}

/// `reference.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReferenceFile {
    pub schema: u32,
    /// The id of the run they are from.
    pub run: String,
    pub results: Vec<CaseRecord>,
}

/// `inventory/NODE.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeFile {
    pub schema: u32,
    pub node: SiteNode,
}

/// `samples/CASE.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SamplesFile {
    pub schema: u32,
    pub case: CaseId,
    pub parts: Vec<PartRecord>,
}

/// `verdicts.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedFile {
    pub schema: u32,
    pub findings: Vec<Finding>,
    pub verdicts: Vec<VerdictRecord>,
    pub verdict: Option<Verdict>,
}

/// A line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedEvent {
    /// When, by the clock of the controller, which may be set while a run lasts.
    pub at: Timestamp,
    /// A `model::Event` without what stands in other files: samples, records and planned cases.
    pub event: serde_json::Value,
}

impl Plan {
    /// Adds a round. A resumed run plans again what it planned before: such cases are replaced where they stand.
    pub(crate) fn add(&mut self, cases: Vec<Case>, estimate: Nanos) {
        let mut fresh = Vec::new();
        for case in cases {
            match self.rounds.iter_mut().flat_map(|round| &mut round.cases).find(|known| known.id == case.id)
            {
                Some(known) => *known = case,
                None => fresh.push(case),
            }
        }
        if !fresh.is_empty() {
            self.rounds.push(Round { cases: fresh, estimate });
        }
    }

    /// Every planned case once, in the order planned.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        self.rounds.iter().flat_map(|round| &round.cases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_never_names_a_file_outside_the_folder() {
        let files = Files::of("/run");
        assert_eq!(files.inventory("n01.site"), Path::new("/run/inventory/n01.site.json"));
        for node in ["../../etc/passwd", "..", ".", "", "a/b", "a\0b", &"n".repeat(300)] {
            let path = files.inventory(node);
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(path.parent(), Some(Path::new("/run/inventory")), "{node}");
            assert!(name.len() < 100 && name.starts_with("node-"), "{name}");
        }
        assert_ne!(files.inventory("a/b"), files.inventory("a:b"));
    }
}
