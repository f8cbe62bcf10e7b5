//! `backlog-drops`: the backlog queue of a CPU was full.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Severity};

use super::Rule;
use super::probes::{self, Seen};

pub(super) const RULE: Rule = Rule {
    kind: "backlog-drops",
    doc: "The kernel dropped packets during trials because the queue of a CPU was full.",
    find,
};

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    probes::find(records, "softnet", of_node)
}

fn of_node(case: &CaseRecord, seen: &Seen) -> Option<Finding> {
    let dropped = seen.count("dropped");
    if dropped == 0 {
        return None;
    }
    let cpus: Vec<&str> = seen.counts().filter_map(|(name, _)| name.strip_prefix("dropped cpu")).collect();
    let on = if cpus.is_empty() { String::new() } else { format!(" (CPU {})", cpus.join(", ")) };
    let node = seen.node;
    let text = format!(
        "{node} dropped {dropped} packets during the trials because the receive queue of a CPU was full{on}: raise \
         net.core.netdev_max_backlog, or spread the packets over more cores"
    );
    Some(seen.finding(case, RULE.kind, Severity::Warning, text, dropped))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::probes::fixture::case;
    use super::*;

    #[test]
    fn the_cpu_whose_queue_was_full_is_named_and_squeezes_alone_are_no_finding() {
        let counts = json!({ "counts": { "dropped": 9, "dropped cpu3": 9, "time_squeezed": 2 } });
        let found = find(&[case("softnet", &counts)]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(finding.text.starts_with(
            "n1 dropped 9 packets during the trials because the receive queue of a CPU was full (CPU 3)"
        ));
        assert_eq!(finding.node.as_deref(), Some("n1"));
        let squeezed = json!({ "counts": { "dropped": 0, "time_squeezed": 20 } });
        assert!(find(&[case("softnet", &squeezed)]).is_empty());
    }
}
