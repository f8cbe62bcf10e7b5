//! What the probes saw during the trials of a case, as the engine brought it together by node.

use seatrial_model::record::CaseRecord;
use serde_json::Value;

/// What one probe saw on one node.
pub(super) struct Seen<'a> {
    pub node: &'a str,
    document: &'a Value,
    probe: &'static str,
}

/// What `probe` saw, node by node; nothing where it was not asked for.
pub(super) fn seen<'a>(case: &'a CaseRecord, probe: &'static str) -> impl Iterator<Item = Seen<'a>> {
    let nodes = case.evidence.get("probes").and_then(Value::as_object).into_iter().flatten();
    nodes.filter_map(move |(node, probes)| Some(Seen { node, document: probes.get(probe)?, probe }))
}

impl<'a> Seen<'a> {
    /// How far a counter advanced; 0 when it is not there, which says as little.
    pub fn count(&self, name: &str) -> u64 {
        self.document["counts"][name].as_u64().unwrap_or(0)
    }

    /// The last reading of a level.
    pub fn level(&self, name: &str) -> Option<u64> {
        self.document["levels"][name].as_u64()
    }

    /// All counters with their names.
    pub fn counts(&self) -> impl Iterator<Item = (&'a str, u64)> {
        let counts = self.document["counts"].as_object().into_iter().flatten();
        counts.filter_map(|(name, count)| Some((name.as_str(), count.as_u64()?)))
    }

    /// The lines that a log gained: level and text.
    pub fn lines(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let lines = self.document["lines"].as_array().into_iter().flatten();
        lines.filter_map(|line| Some((line["level"].as_str()?, line["text"].as_str()?)))
    }

    /// How many more it gained.
    pub fn lines_left_out(&self) -> u64 {
        self.document["lines_left_out"].as_u64().unwrap_or(0)
    }

    /// Counters that went backwards, by their names.
    pub fn backwards(&self) -> impl Iterator<Item = &'a str> {
        self.document["backwards"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    /// What could not be read, with the reasons.
    pub fn unreadable(&self) -> impl Iterator<Item = &'a str> {
        self.document["unreadable"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    /// Where it stands in the record.
    pub fn evidence(&self) -> Vec<String> {
        vec![format!("probes.{}.{}", self.node, self.probe)]
    }
}

#[cfg(test)]
pub(super) mod fixture {
    use seatrial_model::record::CaseRecord;
    use serde_json::{Value, json};

    use crate::judge::fixture::measured;

    /// A case on node `n1` during which `probe` saw this.
    pub fn case(probe: &str, document: &Value) -> CaseRecord {
        let mut case = measured("n1");
        case.evidence.insert("probes".to_owned(), json!({ "n1": { probe: document } }));
        case
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strange_evidence_is_no_sight() {
        let case = fixture::case("throttle", &json!({ "counts": ["many"], "lines": 3 }));
        let found = seen(&case, "throttle").next().expect("the probe is there");
        assert_eq!((found.node, found.count("core_throttles"), found.lines().count()), ("n1", 0, 0));
        assert_eq!((found.counts().count(), found.lines_left_out()), (0, 0));
        assert_eq!(found.unreadable().count(), 0);
        assert_eq!(found.evidence(), ["probes.n1.throttle"]);
        assert!(seen(&case, "pcie_aer").next().is_none());
        let mut strange = case;
        strange.evidence.insert("probes".to_owned(), json!([1]));
        assert!(seen(&strange, "throttle").next().is_none());
    }
}
