//! `not-reached`: nodes on which nothing could be measured.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Cause, Finding, Severity, Subject, Unit};

use super::Rule;
use crate::number::quantity;

pub(super) const RULE: Rule =
    Rule { kind: "not-reached", doc: "A node could not be reached, or was lost before its cases ran.", find };

/// One finding per node, with the reason of its first case.
fn find(records: &[CaseRecord]) -> Vec<Finding> {
    let mut nodes: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for record in records.iter().filter(|record| record.cause == Some(Cause::NeverReached)) {
        for node in &record.lost {
            let why = record.reason.as_deref().unwrap_or("the reason is not known");
            nodes.entry(node).or_insert((0, why)).0 += 1;
        }
    }
    let finding = |(node, (count, why)): (&str, (usize, &str))| {
        let were = if count == 1 { "was" } else { "were" };
        let text = format!("{why}; {count} of its cases {were} not measured");
        let finding = Finding::new(RULE.kind, Severity::Problem, Subject::node(), text);
        let remedy = Cause::NeverReached.remedy(node);
        Finding { node: Some(node.to_owned()), value: quantity(count as f64, Unit::Count), remedy, ..finding }
    };
    nodes.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::measured;

    #[test]
    fn a_node_that_was_not_reached_is_named_once_with_the_number_of_its_cases() {
        let lost = |node: &str| CaseRecord {
            lost: vec!["n3".to_owned()],
            nodes: vec![node.to_owned(), "n3".to_owned()],
            cause: Some(Cause::NeverReached),
            reason: Some("n3 not reachable: Connection refused (ssh, port 22)".to_owned()),
            ..measured(node)
        };
        let found = find(&[measured("n1"), lost("n1"), lost("n2")]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.node.as_deref(), finding.severity), (Some("n3"), Severity::Problem));
        assert_eq!(
            finding.text,
            "n3 not reachable: Connection refused (ssh, port 22); 2 of its cases were not measured"
        );
        assert!(find(&[measured("n1")]).is_empty());
    }
}
