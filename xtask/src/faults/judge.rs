//! What a report says of a planted fault.

use std::collections::BTreeSet;

use serde_json::Value;

use super::gain::Gained;
use super::planted::{Planted, Who};

/// Findings that name a node as the one at fault.
const BLAMES: &[&str] =
    &["slow-node", "lossy-node", "culprit", "known-cause", "uniformity", "outlier", "link-lost"];

/// Findings about how quiet the machine was that has the lab.
const OF_THE_MACHINE: &[&str] = &["did-not-converge", "disturbed", "trials-not-made"];

/// A planted fault and what the report made of it.
pub struct Judged<'a> {
    pub fault: &'a Planted,
    /// The nodes that the report names.
    pub named: BTreeSet<String>,
    pub has_cause: bool,
    /// What the report says that healing brings.
    pub gain: Option<Gained>,
    /// The confidence of the finding that names the right node.
    pub confidence: String,
    pub cases: usize,
    pub seconds: f64,
    /// What the report says, a line each.
    pub said: Vec<String>,
}

impl<'a> Judged<'a> {
    pub fn of(fault: &'a Planted, document: &Value, seconds: f64) -> Self {
        let results = document["results"].as_array().map_or(&[][..], Vec::as_slice);
        let of_run = document["findings"].as_array().into_iter().flatten();
        let of_cases = results.iter().filter_map(|result| result["findings"].as_array()).flatten();
        let findings: Vec<&Value> = of_run.chain(of_cases).collect();
        let matters = |finding: &&&Value| {
            finding["severity"] != "info" && !OF_THE_MACHINE.iter().any(|kind| finding["kind"] == *kind)
        };
        let blames = |finding: &&&Value| BLAMES.iter().any(|kind| finding["kind"] == *kind);
        let nodes =
            findings.iter().filter(matters).filter(blames).filter_map(|finding| finding["node"].as_str());
        let mut named: BTreeSet<String> = nodes.map(str::to_owned).collect();
        let lost = results.iter().filter_map(|result| result["lost"].as_array()).flatten();
        named.extend(lost.filter_map(Value::as_str).map(str::to_owned));
        // A case of one node that has no number speaks of that node.
        let without = results.iter().filter(|result| result["outcome"] != "measured");
        let alone = without.filter_map(|result| result["nodes"].as_array().filter(|nodes| nodes.len() == 1));
        named.extend(alone.flatten().filter_map(Value::as_str).map(str::to_owned));
        let mut said: Vec<String> = findings
            .iter()
            .filter(matters)
            .map(|finding| {
                let text = |key: &str| finding[key].as_str().unwrap_or_default();
                format!("{} {}: {}", text("kind"), text("node"), text("text"))
            })
            .collect();
        said.extend(results.iter().filter_map(|result| {
            let text = |key: &str| result[key].as_str().unwrap_or_default();
            (text("outcome") != "measured").then(|| {
                format!("{} {} {}: {}", text("case"), text("outcome"), text("cause"), text("reason"))
            })
        }));
        said.sort();
        said.dedup();
        let has_cause =
            fault.cause.iter().any(|word| said.iter().any(|line| line.to_lowercase().contains(word)));
        let right = match fault.who {
            Who::Node(node) => node,
            Who::Finding(_) | Who::Nobody => "",
        };
        let of_right = findings.iter().filter(|finding| finding["node"] == right);
        let confidence =
            of_right.filter_map(|finding| finding["confidence"].as_str()).min().unwrap_or_default();
        let (gain, confidence) = (Gained::of(&findings, right), confidence.to_owned());
        Self { fault, named, has_cause, gain, confidence, cases: results.len(), seconds, said }
    }

    /// Takes the gain from a run with the fault and one without.
    pub fn compare(&mut self, faulty: &Value, healed: &Value) {
        if let Some(gain) = &mut self.gain {
            gain.compare(faulty, healed);
        }
    }

    /// Whether who is to be named is named.
    pub fn is_right(&self) -> bool {
        match self.fault.who {
            Who::Node(node) => self.named.contains(node),
            Who::Finding(kind) => self.said.iter().any(|line| line.starts_with(kind)),
            Who::Nobody => true,
        }
    }

    /// The nodes that are blamed for what they did not do.
    pub fn blamed(&self) -> Vec<&str> {
        let is_sound = |node: &&String| match self.fault.who {
            Who::Node(faulty) => *node != faulty,
            Who::Finding(_) | Who::Nobody => true,
        };
        self.named.iter().filter(is_sound).map(String::as_str).collect()
    }
}
