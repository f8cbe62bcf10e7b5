//! `pcie-errors`: PCI Express errors during trials.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Finding, Remedy, Severity};

use super::Rule;
use super::probes::{self, Seen};

pub(super) const RULE: Rule = Rule {
    kind: "pcie-errors",
    doc: "A device reported errors of its PCI Express link during trials.",
    find,
};

/// Devices named in the sentence; all are in the evidence.
const MOST_NAMED: usize = 4;

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    probes::find(records, "pcie_aer", of_node)
}

const RESEAT: Remedy = Remedy::new(
    Actor::Administrator,
    "reseat card, riser and cable, then compare the speed of the link with that of a sound node: `lspci -vv -s ADDRESS`",
);

fn of_node(case: &CaseRecord, seen: &Seen) -> Option<Finding> {
    let [correctable, nonfatal, fatal] = ["correctable", "nonfatal", "fatal"].map(|kind| seen.count(kind));
    let all = correctable + nonfatal + fatal;
    if all == 0 {
        return None;
    }
    let (severity, meaning) = if nonfatal + fatal > 0 {
        (Severity::Problem, "uncorrected errors lose data or reset the device")
    } else {
        (Severity::Warning, "each of them costs a retransmission on the link")
    };
    let node = seen.node;
    let text = format!(
        "PCIe devices of {node} reported {correctable} corrected, {nonfatal} non-fatal and {fatal} fatal \
         errors of their links during the trials{}; {meaning}; the device that reports is not always the \
         faulty one",
        devices(seen)
    );
    Some(seen.finding(case, RULE.kind, severity, text, all).with_remedy(RESEAT))
}

/// ` (0000:3b:00.0, 0000:00:1c.0)`, the devices with most errors first.
fn devices(seen: &Seen) -> String {
    let mut devices: Vec<(&str, u64)> = Vec::new();
    for (name, count) in seen.counts() {
        let Some((_, device)) = name.split_once(' ') else { continue };
        match devices.iter_mut().find(|(known, _)| *known == device) {
            Some((_, sum)) => *sum += count,
            None => devices.push((device, count)),
        }
    }
    devices.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut names: Vec<&str> = devices.iter().take(MOST_NAMED).map(|(device, _)| *device).collect();
    if devices.len() > MOST_NAMED {
        names.push("...");
    }
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::probes::fixture::case;
    use super::*;

    #[test]
    fn corrected_errors_are_a_warning_that_names_the_device() {
        let counts = json!({ "counts": { "correctable": 5, "nonfatal": 0, "fatal": 0,
            "correctable 0000:3b:00.0": 4, "correctable 0000:00:1c.0": 1 } });
        let found = find(&[case("pcie_aer", &counts)]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.text.contains("(0000:3b:00.0, 0000:00:1c.0)"), "{}", finding.text);
        assert_eq!(finding.value.map(seatrial_model::Quantity::value), Some(5.0));
    }

    #[test]
    fn errors_that_were_not_corrected_are_a_problem_and_none_is_nothing() {
        let fatal = json!({ "counts": { "correctable": 0, "fatal": 1 } });
        assert_eq!(find(&[case("pcie_aer", &fatal)])[0].severity, Severity::Problem);
        assert!(find(&[case("pcie_aer", &json!({ "counts": { "correctable": 0 } }))]).is_empty());
    }

    #[test]
    fn many_devices_are_not_all_named() {
        let mut counts = serde_json::Map::from_iter([("correctable".to_owned(), json!(9))]);
        counts.extend((1..=9).map(|number| (format!("correctable 0000:0{number}:00.0"), json!(1))));
        let found = find(&[case("pcie_aer", &json!({ "counts": counts }))]);
        assert!(found[0].text.contains("0000:04:00.0, ...)"), "{}", found[0].text);
    }
}
