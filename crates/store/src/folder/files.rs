//! Files of a run folder: names and versioned contents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use seatrial_model::machine::Serials;
use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, RunInfo, SCHEMA_VERSION};
use seatrial_model::{Case, CaseId, Finding, Nanos, PartRecord, SiteNode, Verdict, VerdictRecord};
use serde::{Deserialize, Serialize};

/// Schema of the record. Readers tolerate unknown and missing keys.
pub const SCHEMA: u32 = SCHEMA_VERSION;

/// The file that makes a folder a run.
pub const RUN_FILE: &str = "run.json";

/// Locked by the process that writes the run.
pub const LOCK_FILE: &str = "lock";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    folder: PathBuf,
}

impl Files {
    pub fn of(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Version, command, profile, nodes and times; written at start and end.
    pub fn run(&self) -> PathBuf {
        self.folder.join(RUN_FILE)
    }

    /// Cases of every round, with placement and time.
    pub fn plan(&self) -> PathBuf {
        self.folder.join("plan.json")
    }

    /// The profile, as merged when the run began.
    pub fn profile(&self) -> PathBuf {
        self.folder.join("profile.json")
    }

    pub fn reference(&self) -> PathBuf {
        self.folder.join("reference.json")
    }

    /// One line per case, on storage when the case has ended.
    pub fn results(&self) -> PathBuf {
        self.folder.join("results.jsonl")
    }

    /// Events for users and progress, without samples and records.
    pub fn events(&self) -> PathBuf {
        self.folder.join("events.jsonl")
    }

    pub fn verdicts(&self) -> PathBuf {
        self.folder.join("verdicts.json")
    }

    pub fn tool(&self) -> PathBuf {
        self.folder.join("tool.json")
    }

    /// Summary for the list of runs, made from the other files; not part of the record.
    pub fn summary(&self) -> PathBuf {
        self.folder.join(".summary.json")
    }

    /// Serial numbers for a ticket; no evidence file holds a file whose name begins with a dot.
    pub fn serials(&self) -> PathBuf {
        self.folder.join(".serials.json")
    }

    pub fn lock(&self) -> PathBuf {
        self.folder.join(LOCK_FILE)
    }

    pub fn inventories(&self) -> PathBuf {
        self.folder.join("inventory")
    }

    pub fn inventory(&self, node: &str) -> PathBuf {
        self.inventories().join(format!("{}.json", file_stem(node)))
    }

    pub fn all_samples(&self) -> PathBuf {
        self.folder.join("samples")
    }

    pub fn samples(&self, case: &CaseId) -> PathBuf {
        self.all_samples().join(format!("{}.json", case.file_stem()))
    }
}

/// File name for `node`: the name where it is a file name, else its readable characters and its bytes in hexadecimal,
/// so that no node names a file outside the folder and no two nodes share one.
fn file_stem(node: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !node.is_empty() && node.len() <= 200 && !node.starts_with('.') && node.chars().all(is_plain) {
        return node.to_owned();
    }
    // As for case ids: cut short, with a hash of 64 bits.
    let Ok(id) = node.parse::<CaseId>();
    format!("node-{}", id.file_stem())
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunFile {
    pub schema: u32,
    pub run: RunInfo,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub schema: u32,
    pub rounds: Vec<Round>,
}

/// Cases that ran before the study looked at their results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    pub cases: Vec<Case>,
    /// Estimated time of the round.
    pub estimate: Nanos,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProfileFile {
    pub schema: u32,
    pub profile: Profile,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReferenceFile {
    pub schema: u32,
    pub run: String,
    pub results: Vec<CaseRecord>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeFile {
    pub schema: u32,
    pub node: SiteNode,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SerialsFile {
    pub schema: u32,
    pub nodes: BTreeMap<String, Serials>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SamplesFile {
    pub schema: u32,
    pub case: CaseId,
    pub parts: Vec<PartRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedFile {
    pub schema: u32,
    pub findings: Vec<Finding>,
    pub verdicts: Vec<VerdictRecord>,
    pub verdict: Option<Verdict>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedEvent {
    /// Clock of the controller, which may be set during a run.
    pub at: Timestamp,
    /// A `model::Event` without samples, records and planned cases, which other files hold.
    pub event: serde_json::Value,
}

impl Plan {
    /// Adds a round. A resumed run plans cases again, which replace the earlier ones.
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

    /// Every planned case once, in order.
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
