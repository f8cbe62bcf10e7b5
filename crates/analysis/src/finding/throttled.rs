//! `throttled`: the CPU lowered its clock frequency because of heat.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Finding, Remedy, Severity};

use super::Rule;
use super::probes::{self, Seen};

pub(super) const RULE: Rule = Rule {
    kind: "throttled",
    doc: "The CPU lowered its clock frequency because of heat during trials, which lowers the numbers.",
    find,
};

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    probes::find(records, "throttle", of_node)
}

const COOL: Remedy =
    Remedy::new(Actor::Administrator, "check fans, air flow, heat sinks and the temperature of the room");

fn of_node(case: &CaseRecord, seen: &Seen) -> Option<Finding> {
    let (cores, packages) = (seen.count("core_throttles"), seen.count("package_throttles"));
    let times = cores + packages;
    if times == 0 {
        return None;
    }
    // Throttling times of a package and of its cores overlap.
    let longest = seen.count("core_throttled_ms").max(seen.count("package_throttled_ms"));
    let lasted = if longest > 0 { format!(", for up to {longest} ms in all") } else { String::new() };
    let node = seen.node;
    let text = format!(
        "the CPUs of {node} lowered their clock because of heat during the trials (cores {cores} times, \
         packages {packages} times{lasted}), which lowers the numbers"
    );
    Some(seen.finding(case, RULE.kind, Severity::Warning, text, times).with_remedy(COOL))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::probes::fixture::case;
    use super::*;

    #[test]
    fn heat_is_told_with_its_times_and_a_cool_node_is_not() {
        let hot = json!({ "counts": { "core_throttles": 12, "core_throttled_ms": 40, "package_throttles": 2,
            "package_throttled_ms": 340 } });
        let found = find(&[case("throttle", &hot)]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.kind.as_str(), finding.severity), ("throttled", Severity::Warning));
        assert_eq!(finding.value.map(seatrial_model::Quantity::value), Some(14.0));
        assert_eq!((finding.node.as_deref(), &finding.evidence[0][..]), (Some("n1"), "probes.n1.throttle"));
        assert!(
            finding.text.contains("(cores 12 times, packages 2 times, for up to 340 ms in all)"),
            "{}",
            finding.text
        );
        let cool = json!({ "counts": { "core_throttles": 0, "package_throttles": 0 } });
        assert!(find(&[case("throttle", &cool)]).is_empty());
    }

    #[test]
    fn without_times_none_is_invented() {
        let found = find(&[case("throttle", &json!({ "counts": { "core_throttles": 1 } }))]);
        assert!(found[0].text.contains("packages 0 times)"), "{}", found[0].text);
    }
}
