//! File systems of servers that several nodes measured at the same time.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::record::CaseRecord;
use seatrial_model::{Outcome, Value};

/// Nodes that measured one file system at the same time, by cases of one group.
pub(super) struct Shared<'a> {
    pub source: &'a str,
    pub nodes: Vec<&'a str>,
    pub group: &'a str,
    pub case: &'a CaseRecord,
}

/// One per file system and benchmark: cases of one group run concurrently on their nodes.
pub(super) fn shared(records: &[CaseRecord]) -> Vec<Shared<'_>> {
    let mut shared: BTreeMap<(&str, &str, String), (BTreeSet<&str>, &CaseRecord)> = BTreeMap::new();
    for case in records.iter().filter(|case| case.outcome == Outcome::Measured) {
        let ([node], Ok(source)) = (case.nodes.as_slice(), case.facts.text("source")) else { continue };
        if case.facts.get("network") == Some(&Value::Flag(true)) {
            let key = (source, case.group.as_str(), case.params.to_string());
            shared.entry(key).or_insert_with(|| (BTreeSet::new(), case)).0.insert(node);
        }
    }
    // Cases of a sweep share the sentence of the first.
    let mut told = BTreeSet::new();
    let all = shared.into_iter().filter(|(_, (nodes, _))| nodes.len() > 1);
    all.filter(|((source, group, _), _)| told.insert((*source, *group)))
        .map(|((source, group, _), (nodes, case))| Shared {
            source,
            nodes: nodes.into_iter().collect(),
            group,
            case,
        })
        .collect()
}
