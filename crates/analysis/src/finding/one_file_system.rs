//! `one-file-system`: nodes that measured the same shared file system at the same time.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::profile::fold;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Outcome, Severity, Unit, Value};

use super::Rule;
use crate::number::quantity;

pub(super) const RULE: Rule = Rule {
    kind: "one-file-system",
    doc: "Several nodes measured one shared file system at the same time: each number is a share of what its \
          servers deliver.",
    find,
};

/// One finding per file system and benchmark: cases of one group run concurrently on their nodes.
fn find(records: &[CaseRecord]) -> Vec<Finding> {
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
    let mut found = Vec::new();
    for ((source, group, _), (nodes, case)) in shared {
        if nodes.len() < 2 || !told.insert((source, group)) {
            continue;
        }
        let names: Vec<&str> = nodes.iter().copied().collect();
        let text = format!(
            "{} nodes ({}) measured {source} at the same time by {group}: each number is a share of what the servers \
             deliver, not what one node reaches alone; measure a node by itself with -w",
            nodes.len(),
            fold(&names)
        );
        let finding = Finding::new(RULE.kind, Severity::Warning, case.subject.clone(), text);
        found.push(Finding { value: quantity(nodes.len() as f64, Unit::Count), ..finding });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::measured;

    fn on(node: &str, source: &str, is_network: bool) -> CaseRecord {
        let mut case = measured(node);
        case.facts.set("source", source);
        case.facts.set("network", Value::Flag(is_network));
        case
    }

    #[test]
    fn nodes_that_share_a_server_are_told_once_and_local_disks_of_one_name_are_not() {
        let shared = ["n1", "n2", "n3"].map(|node| on(node, "nas:/home", true));
        let found = find(&shared);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(
            finding.text.starts_with("3 nodes (n[1-3]) measured nas:/home at the same time"),
            "{}",
            finding.text
        );
        assert!(find(&shared[..1]).is_empty());
        assert!(find(&["n1", "n2"].map(|node| on(node, "/dev/sda1", false))).is_empty());
        assert!(find(&[on("n1", "nas:/home", true), on("n2", "nas:/scratch", true)]).is_empty());
    }
}
