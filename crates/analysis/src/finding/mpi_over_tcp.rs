//! `mpi-over-tcp`: an MPI library moved its messages over an interface, beside an RDMA port that is active.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Fact, Finding, MovedRows, PathEnd, Severity, Unit};

use super::probes::seen;
use super::{Rule, about};
use crate::number::{quantity, significant};

pub(super) const RULE: Rule = Rule {
    kind: "mpi-over-tcp",
    doc: "All nodes of an MPI job have an active RDMA port, and the ports counted less than a tenth of the messages.",
    find: |records| records.iter().filter_map(of_case).collect(),
};

/// Bytes that a node must have sent: fewer may be missing in counters that are updated seldom.
const ENOUGH: u64 = 1_000_000;

/// Share of the sent bytes below which the ports did not carry them.
const LEAST: f64 = 0.1;

fn of_case(case: &CaseRecord) -> Option<Finding> {
    if case.layout.flag(MovedRows::ACTIVE_HCA) != Ok(true) {
        return None;
    }
    let mut sent: BTreeMap<&str, u64> = BTreeMap::new();
    let rows = MovedRows::of(&case.evidence)?.0;
    for row in rows.iter().filter(|row| row.sender == Some(PathEnd::Any)) {
        *sent.entry(&row.from).or_default() += row.bytes;
    }
    // The node that sent the most; the others did the same.
    let (node, bytes) =
        sent.into_iter().max_by_key(|(_, bytes)| *bytes).filter(|(_, bytes)| *bytes >= ENOUGH)?;
    let ports = seen(case, "ib_port").find(|seen| seen.node == node)?;
    let counts: Vec<(&str, u64)> =
        ports.counts().filter_map(|(name, count)| Some((name.strip_prefix("tx_bytes ")?, count))).collect();
    let counted: u64 = counts.iter().map(|(_, count)| count).sum();
    if counts.is_empty() || counted as f64 >= LEAST * bytes as f64 {
        return None;
    }
    let names: Vec<&str> = counts.iter().map(|(name, _)| *name).collect();
    let text = format!(
        "the MPI library sent its messages over TCP: {} MB left {node}, of which {} counted {} MB; load a build of the library \
         with UCX or libfabric that knows the adapter, and look at UCX_TLS, UCX_NET_DEVICES, OMPI_MCA_pml, OMPI_MCA_btl and \
         FI_PROVIDER",
        significant(bytes as f64 / 1e6),
        names.join(" and "),
        significant(counted as f64 / 1e6),
    );
    let mut evidence = vec![MovedRows::NAME.to_owned()];
    evidence.extend(ports.evidence());
    let finding = Finding::new(RULE.kind, Severity::Problem, case.subject.clone(), text);
    let value = quantity(100.0 * counted as f64 / bytes as f64, Unit::Percent);
    let finding = about(case, Finding { value, evidence, ..finding });
    Some(Finding { node: Some(node.to_owned()), ..finding })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::fixture::measured;

    /// A job on two nodes that moved 100 MB, of which the port of n1 counted so many bytes.
    fn case(port: u64, active: bool) -> CaseRecord {
        let mut case = measured("n1");
        case.nodes.push("n2".to_owned());
        case.layout.set(MovedRows::ACTIVE_HCA, seatrial_model::Value::Flag(active));
        let row = json!({ "from": "n1", "to": "n2", "bytes": 100_000_000, "buffered": 0, "sender": "any", "receiver": "any" });
        case.evidence.insert("moved".to_owned(), json!([row]));
        let counts =
            json!({ "ib_port": { "counts": { "tx_bytes mlx5_0/1": port, "rx_bytes mlx5_0/1": 7 } } });
        case.evidence.insert("probes".to_owned(), json!({ "n1": counts }));
        case
    }

    #[test]
    fn an_active_port_that_moved_nothing_is_told() {
        let found = (RULE.find)(&[case(40_000, true)]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.node.as_deref(), finding.severity), (Some("n1"), Severity::Problem));
        let begin =
            "the MPI library sent its messages over TCP: 100 MB left n1, of which mlx5_0/1 counted 0.04 MB";
        assert!(finding.text.starts_with(begin), "{}", finding.text);
        assert_eq!(finding.evidence, ["moved", "probes.n1.ib_port"]);
    }

    #[test]
    fn a_port_that_carried_the_messages_and_nodes_without_one_are_no_finding() {
        assert_eq!((RULE.find)(&[case(101_000_000, true), case(0, false)]), []);
        let mut unread = case(0, true);
        unread.evidence.remove("probes");
        assert_eq!((RULE.find)(&[unread]), [], "counters that cannot be read prove nothing");
    }
}
