//! `link-lost`: an interface of the case lost its link during a measurement, or between two of them.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Finding, Remedy, Severity};

use super::Rule;
use super::path::interfaces;
use super::probes::seen;

pub(super) const RULE: Rule = Rule {
    kind: "link-lost",
    doc: "The chosen interface, or a member of a bond, lost its link during trials or between them.",
    find: |records| records.iter().flat_map(of_case).chain(between_trials(records)).collect(),
};

/// Any interface loses its carrier, veth pairs with every start and stop of a container: only the chosen interfaces
/// matter. Bonds count link failures of their members.
const CARRIER: &str = "carrier_losses ";
const MEMBER: &str = "link_failures ";

const CHECK_LINK: Remedy = Remedy::new(
    Actor::NetworkTeam,
    "check cable, transceivers and the port at the other end, then what switches interfaces off: `ethtool INTERFACE`, `journalctl -k`",
);

fn of_case(case: &CaseRecord) -> Vec<Finding> {
    let mut findings = Vec::new();
    for seen in seen(case, "nic") {
        let chosen = interfaces(case, seen.node).unwrap_or_default();
        // A member's loss may be counted by the member and by the bond.
        let mut lost: BTreeMap<&str, (u64, bool)> = BTreeMap::new();
        for (name, count) in seen.counts().filter(|(_, count)| *count > 0) {
            if let Some(interface) = name.strip_prefix(CARRIER).filter(|name| chosen.contains(name)) {
                lost.entry(interface).or_default().0 = count;
            }
            if let Some(interface) = name.strip_prefix(MEMBER) {
                lost.insert(interface, (count, true));
            }
        }
        for (interface, (count, is_member)) in lost {
            let times = times(count);
            let what = if is_member { ", a member of a bond," } else { "" };
            let rest = if is_member { ", while the other members had to carry its flows" } else { "" };
            let text = format!(
                "{interface} of {}{what} lost its link {times} during the measurement{rest}",
                seen.node
            );
            let finding = seen.finding(case, RULE.kind, Severity::Problem, text, count);
            findings.push(Finding { remedy: Some(CHECK_LINK), ..finding });
        }
    }
    findings
}

/// Losses that no trial counts: the counter of a node's interface was higher before a case than after the one before.
fn between_trials(records: &[CaseRecord]) -> Vec<Finding> {
    let mut last: BTreeMap<(String, &str), u64> = BTreeMap::new();
    let mut findings = Vec::new();
    for case in records {
        for seen in seen(case, "nic") {
            for interface in interfaces(case, seen.node).unwrap_or_default() {
                let name = format!("{CARRIER}{interface}");
                let level = seen.reading.levels.get(&name).copied().unwrap_or(0);
                let known = last.entry((seen.node.to_owned(), interface));
                let known = known.or_insert_with(|| level.saturating_sub(seen.count(&name)));
                let missed = level.saturating_sub(seen.count(&name)).saturating_sub(*known);
                *known = level.max(*known);
                if missed > 0 {
                    let text = format!(
                        "{interface} of {} lost its link {} between two measurements",
                        seen.node,
                        times(missed)
                    );
                    let finding = seen.finding(case, RULE.kind, Severity::Problem, text, missed);
                    findings.push(Finding { remedy: Some(CHECK_LINK), ..finding });
                }
            }
        }
    }
    findings
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::finding::probes::fixture::case;

    #[test]
    fn losses_of_what_was_chosen_and_of_members_are_told_and_those_of_others_are_not() {
        let counts = json!({ "counts": {
            "carrier_losses bond0": 0, "carrier_losses eth1": 1, "link_failures eth1": 2, "carrier_losses veth7": 9,
            "rx_bytes eth1": 5,
        } });
        let mut case = case("nic", &counts);
        case.chosen.set("interface", "bond0");
        let found = of_case(&case);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(
            finding.text.starts_with("eth1 of n1, a member of a bond, lost its link 2 times"),
            "{}",
            finding.text
        );
        assert_eq!((finding.severity, finding.node.as_deref()), (Severity::Problem, Some("n1")));
        case.chosen.set("interface", "veth7+eth0");
        assert_eq!(of_case(&case).len(), 2, "it was chosen");
    }

    #[test]
    fn losses_between_two_trials_are_told_once() {
        let case = |level: u64, count: u64| {
            let name = "carrier_losses eth0";
            let mut case = case("nic", &json!({ "counts": { (name): count }, "levels": { (name): level } }));
            case.chosen.set("interface", "eth0");
            case
        };
        let found = between_trials(&[case(7, 1), case(7, 0), case(10, 1), case(10, 0)]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(finding.text.starts_with("eth0 of n1 lost its link 2 times between two"), "{}", finding.text);
        assert_eq!(between_trials(&[case(7, 1), case(8, 1), case(0, 0), case(1, 1)]), []);
        assert_eq!(between_trials(&[case(0, 0), case(0, 1)]), [], "records without levels");
    }

    #[test]
    fn links_that_stayed_are_no_finding() {
        let mut case = case("nic", &json!({ "counts": { "carrier_losses eth0": 0, "tx_bytes eth0": 7 } }));
        case.chosen.set("interface", "eth0");
        assert_eq!(of_case(&case), []);
        assert_eq!(of_case(&crate::judge::fixture::measured("n1")), []);
    }
}
