//! Scripts in a file, to drive the whole program with exact numbers.

use std::fs;
use std::path::{Path, PathBuf};

use seatrial_model::machine::Machine;
use seatrial_model::setting::SettingReading;
use seatrial_model::{Case, Cause, Evidence, Integrity, PartPlacement, Phase, Reason, SiteNode};
use seatrial_stats::mix;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fault::Fault;
use super::fleet::ScriptedFleet;
use super::glob::fits;
use super::pattern::Pattern;
use super::script::Script;

/// Version of the file format that this build reads.
const SCHEMA: u32 = 1;

/// More nodes than any cluster has: a typo must not exhaust memory.
const MOST_NODES: u32 = 100_000;

/// A simulated cluster in JSON: its nodes, and rules for what is measured on them.
///
/// The first rule whose `when` fits decides what a worker does; a case that no rule fits fails, so that a script with
/// a slip is never taken for a result.
///
/// ```
/// use seatrial_cluster::{Fleet, ScriptFile};
/// let file = ScriptFile::parse(
///     r#"{
///     "schema": 1,
///     "nodes": [{"name": "n", "count": 4000}],
///     "rules": [
///         {"when": {"node": "n0007", "trial": 1}, "fault": {"hangs": {"phase": "measure"}}},
///         {"when": {"bench": "mem.*", "case": "*kernel=copy*"},
///          "samples": [{"channel": "pass", "at": {"threads": 2}, "unit": "GB", "span": "100 ms",
///                       "amounts": [2.1, 2.0, 2.05], "repeat": 4, "noise_percent": 0.5}]}
///     ]
/// }"#,
/// )?;
/// assert_eq!(file.into_fleet().agents().last().map(|agent| agent.node.as_str()), Some("n4000"));
/// # Ok::<(), seatrial_cluster::ScriptError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptFile {
    pub schema: u32,
    pub nodes: Vec<SimulatedNodes>,
    /// What is measured; the first matching rule counts.
    pub rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedNodes {
    pub name: String,
    /// Number of nodes, named from 1 in equal width: `n0001` to `n4000`.
    #[serde(default)]
    pub count: Option<u32>,
    #[serde(default)]
    pub machine: Machine,
    #[serde(default)]
    pub settings: Vec<SettingReading>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The workers; all by default.
    #[serde(default)]
    pub when: When,
    #[serde(default)]
    pub samples: Vec<Pattern>,
    /// Result of the verification; verified by default.
    #[serde(default)]
    pub integrity: Option<Integrity>,
    #[serde(default)]
    pub evidence: Evidence,
    #[serde(default)]
    pub offer: Value,
    #[serde(default)]
    pub fault: Option<Fault>,
}

/// The workers of a rule: ids of benchmark (`mem.*`) and case (`*kernel=triad*`), names of node (`n00*`) and part.
/// `*` matches any text; a missing field matches all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    pub bench: Option<String>,
    pub case: Option<String>,
    pub node: Option<String>,
    pub part: Option<String>,
    /// Index among the parts of the case.
    pub index: Option<u32>,
    pub trial: Option<u32>,
}

#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("cannot read the script {}: {error}", path.display())]
    Read { path: PathBuf, error: std::io::Error },
    #[error("the script does not parse: {0}")]
    Parse(#[from] serde_json::Error),
    #[error("the script has schema {0}, this build reads schema {SCHEMA}")]
    Schema(u32),
    /// The file parses, but its values are invalid.
    #[error("the script is not valid: {0}")]
    Flaw(String),
}

impl ScriptFile {
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let text =
            fs::read_to_string(path).map_err(|error| ScriptError::Read { path: path.to_owned(), error })?;
        Self::parse(&text)
    }

    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let file: Self = serde_json::from_str(text)?;
        if file.schema != SCHEMA {
            return Err(ScriptError::Schema(file.schema));
        }
        let count = file.nodes.iter().fold(0_u32, |sum, nodes| sum.saturating_add(nodes.count.unwrap_or(1)));
        if count == 0 || count > MOST_NODES {
            return Err(ScriptError::Flaw(format!("it has {count} nodes, not between 1 and {MOST_NODES}")));
        }
        let flaws = file.rules.iter().zip(1..).flat_map(|(rule, number)| {
            rule.samples.iter().filter_map(Pattern::flaw).map(move |flaw| format!("rule {number}: {flaw}"))
        });
        match flaws.into_iter().next() {
            Some(flaw) => Err(ScriptError::Flaw(flaw)),
            None => Ok(file),
        }
    }

    pub fn into_fleet(self) -> ScriptedFleet {
        let Self { nodes, rules, .. } = self;
        let nodes = nodes.into_iter().flat_map(SimulatedNodes::each).collect();
        ScriptedFleet::new(nodes, move |case, place, trial| {
            let rule = rules.iter().find(|rule| rule.when.fits(case, place, trial));
            rule.map_or_else(|| nothing_for(case, place, trial), |rule| rule.script(case, place, trial))
        })
    }
}

impl SimulatedNodes {
    fn each(self) -> impl Iterator<Item = SiteNode> {
        let Self { name, count, machine, settings } = self;
        let width = count.map_or(0, |count| count.to_string().len());
        (1..=count.unwrap_or(1)).map(move |number| {
            let name = if width == 0 { name.clone() } else { format!("{name}{number:0width$}") };
            SiteNode { settings: settings.clone(), ..SiteNode::new(name, machine.clone()) }
        })
    }
}

impl When {
    fn fits(&self, case: &Case, place: &PartPlacement, trial: u32) -> bool {
        let text =
            |pattern: &Option<String>, text: &str| pattern.as_ref().is_none_or(|pattern| fits(pattern, text));
        text(&self.bench, &case.bench)
            && text(&self.case, case.id.as_str())
            && text(&self.node, &place.node)
            && text(&self.part, &place.part)
            && self.index.is_none_or(|index| index == place.index)
            && self.trial.is_none_or(|wanted| wanted == trial)
    }
}

impl Rule {
    fn script(&self, case: &Case, place: &PartPlacement, trial: u32) -> Script {
        let seed = seed(case, place);
        let patterns = self.samples.iter().zip(0_u64..);
        let samples =
            patterns.flat_map(|(pattern, number)| pattern.samples(trial, mix(seed ^ number))).collect();
        Script {
            peers: None,
            samples,
            integrity: self.integrity.clone().unwrap_or(Integrity::Verified { checked: 0 }),
            evidence: self.evidence.clone(),
            offer: self.offer.clone(),
            fault: self.fault.clone(),
        }
    }
}

/// FNV-1a hash of what distinguishes two workers of a trial.
fn seed(case: &Case, place: &PartPlacement) -> u64 {
    let bytes = case.id.as_str().bytes().chain(place.node.bytes()).chain(place.index.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn nothing_for(case: &Case, place: &PartPlacement, trial: u32) -> Script {
    let text = format!("no rule of the script fits {} on {}, trial {trial}", case.id, place.node);
    Script::faulty(Fault::Fails { phase: Phase::Prepare, reason: Reason::new(Cause::Protocol, text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_refused_with_their_place() {
        for (text, complaint) in [
            (r#"{"schema": 1, "nodes": [{"name": "n"}], "rules": [{"wen": {}}]}"#, "unknown field `wen`"),
            (
                r#"{"schema": 1, "nodes": [{"name": "n"}], "rules": [{"fault": {"hangs": {"phase": "lunch"}}}]}"#,
                "lunch",
            ),
            (r#"{"schema": 2, "nodes": [], "rules": []}"#, "schema 2"),
            (r#"{"schema": 1, "nodes": [], "rules": []}"#, "0 nodes"),
            (
                r#"{"schema": 1, "nodes": [{"name": "n", "count": 4000000000}], "rules": []}"#,
                "4000000000 nodes",
            ),
            (
                r#"{"schema": 1, "nodes": [{"name": "n"}], "rules": [{}, {"samples":
                    [{"channel": "x", "unit": "B", "span": "1 s", "amounts": [1e300]}]}]}"#,
                "rule 2: 'x' holds",
            ),
        ] {
            let error = ScriptFile::parse(text).expect_err(complaint).to_string();
            assert!(error.contains(complaint), "{error}");
        }
        let error = ScriptFile::read(Path::new("/no/such/script.json")).expect_err("not there").to_string();
        assert!(error.starts_with("cannot read the script /no/such/script.json: No such file"), "{error}");
    }

    #[test]
    fn a_script_is_written_and_read_back() {
        let text = r#"{"schema": 1, "nodes": [{"name": "n", "count": 12}], "rules": [
            {"when": {"part": "sender"}, "integrity": {"corrupt": {"wrong": 1, "of": 2, "first": "bit 3"}},
             "fault": {"fails": {"phase": "verify", "reason": {"cause": "io_error", "text": "EIO"}}}}]}"#;
        let file = ScriptFile::parse(text).expect("a script");
        let again = serde_json::to_string(&file).expect("written");
        assert_eq!(ScriptFile::parse(&again).expect("read back"), file);
    }

    #[test]
    fn names_are_numbered_in_equal_width() {
        let nodes = SimulatedNodes {
            name: "n".to_owned(),
            count: Some(10),
            machine: Machine::default(),
            settings: Vec::new(),
        };
        let names: Vec<String> = nodes.each().map(|node| node.name).collect();
        assert_eq!((names.len(), names[0].as_str(), names[9].as_str()), (10, "n01", "n10"));
    }
}
