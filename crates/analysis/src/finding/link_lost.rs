//! `link-lost`: an interface of the case lost its link during a measurement.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Finding, Remedy, Severity, Unit};

use super::path::interfaces;
use super::probes::seen;
use super::{Rule, about};
use crate::number::quantity;

pub(super) const RULE: Rule = Rule {
    kind: "link-lost",
    doc: "The chosen interface, or a member of a bond, lost its link during trials.",
    find: |records| records.iter().flat_map(of_case).collect(),
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
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            let what = if is_member { ", a member of a bond," } else { "" };
            let rest = if is_member { ", while the other members had to carry its flows" } else { "" };
            let text = format!(
                "{interface} of {}{what} lost its link {times} during the measurement{rest}",
                seen.node
            );
            let finding = Finding::new(RULE.kind, Severity::Problem, case.subject.clone(), text);
            let value = quantity(count as f64, Unit::Count);
            let finding = about(
                case,
                Finding { value, evidence: seen.evidence(), remedy: Some(CHECK_LINK), ..finding },
            );
            findings.push(Finding { node: Some(seen.node.to_owned()), ..finding });
        }
    }
    findings
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
    fn links_that_stayed_are_no_finding() {
        let mut case = case("nic", &json!({ "counts": { "carrier_losses eth0": 0, "tx_bytes eth0": 7 } }));
        case.chosen.set("interface", "eth0");
        assert_eq!(of_case(&case), []);
        assert_eq!(of_case(&crate::judge::fixture::measured("n1")), []);
    }
}
