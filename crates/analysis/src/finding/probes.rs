//! Probe readings over the trials of a case, merged by node.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, NodeReadings, ProbeReading, Severity, Unit};

use super::about;
use crate::number::quantity;

pub(super) struct Seen<'a> {
    pub node: &'a str,
    pub reading: ProbeReading,
    probe: &'static str,
}

pub(super) fn seen<'a>(case: &'a CaseRecord, probe: &'static str) -> impl Iterator<Item = Seen<'a>> {
    let nodes = NodeReadings::of_probe(&case.evidence, probe);
    nodes.map(move |(node, reading)| Seen { node, reading, probe })
}

/// What `of_node` finds in the readings of a probe, case by case.
pub(super) fn find<'a>(
    records: impl IntoIterator<Item = &'a CaseRecord>,
    probe: &'static str,
    of_node: fn(&CaseRecord, &Seen<'_>) -> Option<Finding>,
) -> Vec<Finding> {
    let of_case = |case| seen(case, probe).filter_map(move |node| of_node(case, &node));
    records.into_iter().flat_map(of_case).collect()
}

impl Seen<'_> {
    /// A finding about the node, with what was counted there.
    pub fn finding(
        &self,
        case: &CaseRecord,
        kind: &str,
        severity: Severity,
        text: String,
        count: u64,
    ) -> Finding {
        let finding = Finding {
            value: quantity(count as f64, Unit::Count),
            evidence: self.evidence(),
            ..Finding::new(kind, severity, case.subject.clone(), text)
        };
        Finding { node: Some(self.node.to_owned()), ..about(case, finding) }
    }

    /// The increase of a counter; 0 when the counter is absent.
    pub fn count(&self, name: &str) -> u64 {
        self.reading.counts.get(name).copied().unwrap_or(0)
    }

    pub fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.reading.counts.iter().map(|(name, count)| (name.as_str(), *count))
    }

    pub fn evidence(&self) -> Vec<String> {
        vec![format!("probes.{}.{}", self.node, self.probe)]
    }
}

#[cfg(test)]
pub(super) mod fixture {
    use seatrial_model::record::CaseRecord;
    use serde_json::{Value, json};

    use crate::judge::fixture::measured;

    /// A case on node `n1` with this reading of `probe`.
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
        let case = fixture::case("throttle", &json!({ "counts": { "core_throttles": 3 } }));
        let found = seen(&case, "throttle").next().expect("the probe is there");
        assert_eq!((found.node, found.count("core_throttles"), found.count("other")), ("n1", 3, 0));
        assert_eq!(found.evidence(), ["probes.n1.throttle"]);
        assert!(seen(&case, "pcie_aer").next().is_none());
        let odd = fixture::case("throttle", &json!({ "counts": ["many"], "lines": 3 }));
        assert!(seen(&odd, "throttle").next().is_none());
        let mut strange = case;
        strange.evidence.insert("probes".to_owned(), json!([1]));
        assert!(seen(&strange, "throttle").next().is_none());
    }
}
