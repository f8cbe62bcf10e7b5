//! `memory-errors`: errors of the memory during trials.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Finding, Remedy, Severity};

use super::Rule;
use super::probes::{self, Seen};

pub(super) const RULE: Rule = Rule {
    kind: "memory-errors",
    doc: "A memory controller counted errors of the memory during trials.",
    find,
};

/// Modules named in the sentence; all are in the evidence.
const MOST_NAMED: usize = 4;

const REPLACE: Remedy = Remedy::new(
    Actor::Administrator,
    "reseat, then replace the module that `ras-mc-ctl --error-count` names",
);

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    probes::find(records, "edac", of_node)
}

fn of_node(case: &CaseRecord, seen: &Seen) -> Option<Finding> {
    let [corrected, uncorrected] = ["corrected", "uncorrected"].map(|kind| seen.count(kind));
    let all = corrected + uncorrected;
    if all == 0 {
        return None;
    }
    let (severity, meaning) = match uncorrected {
        0 => (Severity::Warning, "each correction takes time, and a module that goes on with them fails"),
        _ => (Severity::Problem, "what was in the memory is lost"),
    };
    let mut parts: Vec<(&str, u64)> =
        seen.counts().filter_map(|(name, count)| Some((name.split_once(' ')?.1, count))).collect();
    parts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named: Vec<String> =
        parts.iter().take(MOST_NAMED).map(|(part, count)| format!("{part}: {count}")).collect();
    let node = seen.node;
    let text = format!(
        "the memory of {node} had {corrected} corrected and {uncorrected} uncorrected errors during the trials ({}); \
         {meaning}",
        named.join(", ")
    );
    Some(seen.finding(case, RULE.kind, severity, text, all).with_remedy(REPLACE))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::probes::fixture::case;
    use super::*;

    #[test]
    fn errors_of_a_module_are_told_with_the_case_in_which_they_came() {
        let corrected = json!({ "counts": { "corrected": 3, "corrected DIMM_A1": 3, "uncorrected": 0 } });
        let case_of_it = case("edac", &corrected);
        let found = find(std::slice::from_ref(&case_of_it));
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (finding.severity, finding.case.as_deref()),
            (Severity::Warning, Some(case_of_it.case.as_str()))
        );
        assert!(finding.text.contains("3 corrected and 0 uncorrected"), "{}", finding.text);
        assert!(finding.text.contains("(DIMM_A1: 3)"), "{}", finding.text);
        let lost = json!({ "counts": { "corrected": 0, "uncorrected": 1, "uncorrected mc0": 1 } });
        assert_eq!(find(&[case("edac", &lost)])[0].severity, Severity::Problem);
        assert!(find(&[case("edac", &json!({ "counts": { "corrected": 0, "uncorrected": 0 } }))]).is_empty());
    }
}
