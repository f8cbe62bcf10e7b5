//! `rdma-link-errors`, `rdma-retransmissions`, `rdma-not-ready` and `rdma-congestion`: findings from the counters of
//! RDMA ports.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Severity, Unit};

use super::probes::{Seen, seen};
use super::{Rule, about};
use crate::number::quantity;

pub(super) const ERRORS: Rule = Rule {
    kind: "rdma-link-errors",
    doc: "An RDMA port counted damaged symbols or packets, or lost its link, during trials.",
    find: |records| find(records, &LINK),
};

pub(super) const RETRANSMISSIONS: Rule = Rule {
    kind: "rdma-retransmissions",
    doc: "Packets of an RDMA port were lost or out of order during trials, and were retransmitted.",
    find: |records| find(records, &LOST),
};

pub(super) const NOT_READY: Rule = Rule {
    kind: "rdma-not-ready",
    doc: "Messages arrived at an RDMA port during trials for which no receive was posted (RNR).",
    find: |records| find(records, &UNPOSTED),
};

pub(super) const CONGESTION: Rule = Rule {
    kind: "rdma-congestion",
    doc: "An RDMA port waited for credits, or received or sent congestion notifications, during trials.",
    find: |records| find(records, &CONGESTED),
};

struct PortCounterRule {
    kind: &'static str,
    /// Counters as the kernel names them: of the port, of mlx5, of soft-RoCE.
    names: &'static [&'static str],
    severity: Severity,
    text: fn(node: &str, port: &str) -> String,
}

const LINK: PortCounterRule = PortCounterRule {
    kind: "rdma-link-errors",
    names: &[
        "symbol_error",
        "link_error_recovery",
        "link_downed",
        "local_link_integrity_errors",
        "excessive_buffer_overrun_errors",
        "port_rcv_errors",
        "port_rcv_remote_physical_errors",
        "rx_icrc_encapsulated",
    ],
    severity: Severity::Problem,
    text: |node, port| {
        format!(
            "the link of {port} of {node} had errors: check the cable, the transceivers and the switch port"
        )
    },
};

const LOST: PortCounterRule = PortCounterRule {
    kind: "rdma-retransmissions",
    names: &[
        "out_of_sequence",
        "packet_seq_err",
        "implied_nak_seq_err",
        "local_ack_timeout_err",
        "duplicate_request",
        "roce_adp_retrans",
        "roce_adp_retrans_to",
        "out_of_seq_request",
        "rcvd_seq_err",
        "completer_retry_err",
        "retry_exceeded_err",
        "port_xmit_discards",
        "port_xmit_constraint_errors",
        "port_rcv_constraint_errors",
        "port_rcv_switch_relay_errors",
        "VL15_dropped",
    ],
    severity: Severity::Warning,
    text: |node, port| {
        format!(
            "packets of {port} of {node} were lost or out of order and were retransmitted, which stalls \
             their flow: on Ethernet the network must be lossless for this traffic class from end to end \
             (PFC, ECN), on InfiniBand look for a port with errors on the path"
        )
    },
};

const UNPOSTED: PortCounterRule = PortCounterRule {
    kind: "rdma-not-ready",
    names: &["rnr_nak_retry_err", "out_of_buffer", "rcvd_rnr_err", "send_rnr_err", "retry_rnr_exceeded_err"],
    severity: Severity::Warning,
    text: |node, port| {
        format!(
            "messages found no posted receive at {port} of {node} or at its peer: the receiver is too slow, \
             or posts too few receives"
        )
    },
};

const CONGESTED: PortCounterRule = PortCounterRule {
    kind: "rdma-congestion",
    names: &[
        "np_cnp_sent",
        "np_ecn_marked_roce_packets",
        "rp_cnp_handled",
        "rp_cnp_ignored",
        "roce_slow_restart",
        "port_xmit_wait",
    ],
    severity: Severity::Info,
    text: |node, port| {
        format!(
            "{port} of {node} had congestion: rp_cnp counts requests to send more slowly, np_ and ecn count \
             received marks, port_xmit_wait counts ticks without credit to send; with a single flow, the \
             receiver or a link on the path is slower than the sender"
        )
    },
};

fn find(records: &[CaseRecord], sort: &PortCounterRule) -> Vec<Finding> {
    records
        .iter()
        .flat_map(|case| {
            seen(case, "ib_port").flat_map(|node| of_node(case, &node, sort)).collect::<Vec<_>>()
        })
        .collect()
}

fn of_node(case: &CaseRecord, seen: &Seen, sort: &PortCounterRule) -> Vec<Finding> {
    let mut ports: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
    for (key, count) in seen.counts().filter(|(_, count)| *count > 0) {
        if let Some((name, port)) = key.rsplit_once(' ')
            && sort.names.contains(&name)
        {
            ports.entry(port).or_default().push((name, count));
        }
    }
    let finding = |(port, counters): (&str, Vec<(&str, u64)>)| {
        // One event is counted in several counters: only the largest count is certain.
        let most = counters.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let names: Vec<String> = counters.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let text = format!("{} ({})", (sort.text)(seen.node, port), names.join(", "));
        let finding = Finding::new(sort.kind, sort.severity, case.subject.clone(), text);
        let value = quantity(most as f64, Unit::Count);
        let finding = about(case, Finding { value, evidence: seen.evidence(), ..finding });
        Finding { node: Some(seen.node.to_owned()), ..finding }
    };
    ports.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::probes::fixture::case;
    use super::*;

    const SORTS: [&PortCounterRule; 4] = [&LINK, &LOST, &UNPOSTED, &CONGESTED];

    #[test]
    fn errors_of_each_sort_are_told_by_port_with_their_counters() {
        let counts = json!({ "counts": { "symbol_error mlx5_0/1": 3, "link_downed mlx5_0/1": 1,
            "out_of_sequence mlx5_0/1": 40, "rnr_nak_retry_err mlx5_1/1": 7, "rp_cnp_handled mlx5_0/1": 900,
            "tx_bytes mlx5_0/1": 5000 } });
        let cases = [case("ib_port", &counts)];
        let found: Vec<Finding> = SORTS.iter().flat_map(|sort| find(&cases, sort)).collect();
        let told: Vec<_> = found
            .iter()
            .map(|finding| (finding.kind.as_str(), finding.value.map(seatrial_model::Quantity::value)))
            .collect();
        let wanted = [
            ("rdma-link-errors", Some(3.0)),
            ("rdma-retransmissions", Some(40.0)),
            ("rdma-not-ready", Some(7.0)),
            ("rdma-congestion", Some(900.0)),
        ];
        assert_eq!(told, wanted);
        assert!(found[0].text.ends_with("(link_downed 1, symbol_error 3)"), "{}", found[0].text);
        assert_eq!((found[0].node.as_deref(), &found[0].evidence[0][..]), (Some("n1"), "probes.n1.ib_port"));
        assert!(found[2].text.contains("mlx5_1/1 of n1"), "{}", found[2].text);
    }

    #[test]
    fn what_a_sound_port_counts_is_no_finding() {
        let counts = json!({ "counts": { "tx_bytes mlx5_0/1": 5000, "rx_write_requests mlx5_0/1": 12,
            "sent_pkts rxe0/1": 9, "symbol_error mlx5_0/1": 0 } });
        for sort in SORTS {
            assert_eq!(find(&[case("ib_port", &counts)], sort), []);
        }
    }
}
