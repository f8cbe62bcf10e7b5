//! `one-file-system`: nodes that measured the same shared file system at the same time.

use seatrial_model::profile::fold;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Severity, Unit};

use super::shared_file_systems::{Shared, shared};
use super::{Rule, nfs};
use crate::number::quantity;

pub(super) const RULE: Rule = Rule {
    kind: "one-file-system",
    doc: "Several nodes measured one shared file system at the same time: each number is a share of what its \
          servers deliver.",
    find,
};

/// A slow NFS server says it with its own finding.
fn find(records: &[CaseRecord]) -> Vec<Finding> {
    let slow = nfs::slow_exports(records);
    let finding = |Shared { source, nodes, group, case }: Shared<'_>| {
        let text = format!(
            "{} nodes ({}) measured {source} at the same time by {group}: each number is a share of what the servers \
             deliver, not what one node reaches alone; measure a node by itself with -w",
            nodes.len(),
            fold(&nodes)
        );
        let finding = Finding::new(RULE.kind, Severity::Warning, case.subject.clone(), text);
        Finding { value: quantity(nodes.len() as f64, Unit::Count), ..finding }
    };
    shared(records).into_iter().filter(|one| !slow.contains(one.source)).map(finding).collect()
}

#[cfg(test)]
mod tests {
    use seatrial_model::Value;

    use super::*;
    use crate::judge::fixture::measured;
    use crate::nfs::fixture::written;

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

    #[test]
    fn that_nodes_share_a_slow_server_is_told_by_one_finding() {
        let of = |rtt_ms: u64| -> Vec<CaseRecord> {
            let all = ["n1", "n2"].map(|node| {
                let mut case = written(node, rtt_ms, 0);
                case.facts.set("source", "10.78.1.1:/srv");
                case.facts.set("network", Value::Flag(true));
                case
            });
            all.into()
        };
        let told = |records: &[CaseRecord]| -> Vec<(String, String)> {
            let both = [nfs::SLOW.find, RULE.find].into_iter().flat_map(|find| find(records));
            both.map(|finding| (finding.kind, finding.text)).collect()
        };
        let slow = told(&of(84));
        let [(kind, text)] = slow.as_slice() else { panic!("{slow:?}") };
        assert!(
            kind == nfs::SLOW.kind && text.contains("; 2 nodes measured it at the same time, and each"),
            "{text}"
        );
        let quick = told(&of(3));
        assert!(matches!(quick.as_slice(), [(kind, _)] if kind == RULE.kind), "{quick:?}");
        let alone = told(&of(84)[..1]);
        assert!(matches!(alone.as_slice(), [(_, text)] if !text.contains("at the same time")), "{alone:?}");
    }
}
