//! `nic-drops`, `link-errors` and `pause-frames`: findings from the counters of network interfaces.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Finding, Remedy, Severity, Unit};

use super::probes::{Seen, seen};
use super::{Rule, about};
use crate::number::quantity;

pub(super) const DROPS: Rule = Rule {
    kind: "nic-drops",
    doc: "A network card dropped packets during trials because its receive ring or buffer was full.",
    find: |records| find(records, &RING),
};

pub(super) const ERRORS: Rule = Rule {
    kind: "link-errors",
    doc: "Frames arrived damaged during trials: a cable, a transceiver or a port is at fault.",
    find: |records| find(records, &DAMAGED),
};

pub(super) const PAUSE_FRAMES: Rule = Rule {
    kind: "pause-frames",
    doc: "A network card received or sent pause frames during trials.",
    find: |records| find(records, &PAUSED),
};

struct InterfaceCounterRule {
    kind: &'static str,
    is_of: fn(&str) -> bool,
    severity: Severity,
    remedy: fn(interface: &str) -> Option<Remedy>,
    text: fn(node: &str, interface: &str, count: u64) -> String,
}

const RING: InterfaceCounterRule = InterfaceCounterRule {
    kind: "nic-drops",
    is_of: is_lost,
    severity: Severity::Warning,
    remedy: |interface| {
        let action = format!(
            "enlarge its ring (`ethtool -G {interface} rx N`), spread its queues over more cores, or keep other work off \
             those that serve its interrupts"
        );
        Some(Remedy::of(Actor::Root, action))
    },
    text: |node, interface, count| {
        format!(
            "{interface} of {node} dropped up to {count} packets that arrived faster than the kernel read them"
        )
    },
};

const DAMAGED: InterfaceCounterRule = InterfaceCounterRule {
    kind: "link-errors",
    is_of: is_damaged,
    severity: Severity::Problem,
    remedy: |_| {
        let action = "check cable, transceivers and the port at the other end: `ethtool -S INTERFACE`, `ethtool -m INTERFACE`";
        Some(Remedy::new(Actor::NetworkTeam, action))
    },
    text: |node, interface, count| {
        format!("{interface} of {node} received up to {count} damaged frames and dropped them")
    },
};

const PAUSED: InterfaceCounterRule = InterfaceCounterRule {
    kind: "pause-frames",
    is_of: is_pause,
    severity: Severity::Warning,
    remedy: |_| None,
    text: |node, interface, count| {
        format!(
            "{interface} of {node} counted up to {count} pause frames: received frames (rx) mean that the \
             switch or the peer cannot keep up, sent frames (tx) that this node cannot; a paused link delays \
             all its traffic"
        )
    },
};

/// The prefix of counters of the driver (`ethtool -S`); see the probe.
const DRIVER: &str = "driver:";

/// Without the kernel's `rx_dropped`, which also counts packets of unhandled protocols
/// (Documentation/networking/statistics.rst).
fn is_lost(name: &str) -> bool {
    let Some(own) = of_driver(name) else { return matches!(name, "rx_missed" | "rx_fifo") };
    let words = ["drop", "discard", "miss", "fifo", "no_buf", "nobuf", "out_of_buffer", "no_desc", "overrun"];
    own.contains("rx")
        && words.iter().any(|word| own.contains(word))
        && !own.contains("xdp")
        && !is_damaged(name)
}

fn is_damaged(name: &str) -> bool {
    match of_driver(name) {
        Some(own) => ["crc", "fcs", "symbol"].iter().any(|word| own.contains(word)) && !own.contains("tx"),
        None => name == "rx_crc",
    }
}

/// Drivers count durations and transitions of pause states beside the frames.
fn is_pause(name: &str) -> bool {
    of_driver(name).is_some_and(|own| {
        (own.contains("pause") || own.contains("xoff"))
            && !["duration", "transition", "warning", "error"].iter().any(|word| own.contains(word))
    })
}

fn of_driver(name: &str) -> Option<String> {
    name.strip_prefix(DRIVER).map(str::to_lowercase)
}

fn find(records: &[CaseRecord], sort: &InterfaceCounterRule) -> Vec<Finding> {
    let mut findings = Vec::new();
    for case in records {
        for node in seen(case, "nic") {
            findings.extend(of_node(case, &node, sort));
        }
    }
    findings
}

fn of_node(case: &CaseRecord, seen: &Seen, sort: &InterfaceCounterRule) -> Vec<Finding> {
    let mut interfaces: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
    for (key, count) in seen.counts().filter(|(_, count)| *count > 0) {
        if let Some((name, interface)) = key.rsplit_once(' ')
            && (sort.is_of)(name)
        {
            interfaces.entry(interface).or_default().push((name.strip_prefix(DRIVER).unwrap_or(name), count));
        }
    }
    let finding = |(interface, counters): (&str, Vec<(&str, u64)>)| {
        // A card counts one packet in several counters, for a queue and for the port: only the largest count is
        // certain.
        let most = counters.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let names: Vec<String> = counters.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let text = format!("{} ({})", (sort.text)(seen.node, interface, most), names.join(", "));
        let finding = Finding::new(sort.kind, sort.severity, case.subject.clone(), text);
        let value = quantity(most as f64, Unit::Count);
        let finding = about(
            case,
            Finding { value, evidence: seen.evidence(), remedy: (sort.remedy)(interface), ..finding },
        );
        Finding { node: Some(seen.node.to_owned()), ..finding }
    };
    interfaces.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::probes::fixture::case;
    use super::*;

    #[test]
    fn a_ring_that_overflowed_is_told_once_with_all_counters_that_saw_it() {
        let counts = json!({ "counts": { "rx_missed eth0": 40, "driver:rx_out_of_buffer eth0": 42,
            "driver:rx0_xdp_drop eth0": 9, "rx_dropped eth0": 3, "rx_bytes eth0": 5000, "rx_missed eth1": 0 } });
        let found = find(&[case("nic", &counts)], &RING);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.kind.as_str(), finding.severity), ("nic-drops", Severity::Warning));
        assert_eq!(finding.value.map(seatrial_model::Quantity::value), Some(42.0));
        assert_eq!((finding.node.as_deref(), &finding.evidence[0][..]), (Some("n1"), "probes.n1.nic"));
        assert!(finding.full_text().contains("ethtool -G eth0 rx"), "{}", finding.full_text());
        assert!(finding.text.ends_with("(rx_out_of_buffer 42, rx_missed 40)"), "{}", finding.text);
    }

    #[test]
    fn damaged_frames_and_pauses_are_told_apart_from_drops() {
        let counts = json!({ "counts": { "driver:rx_crc_errors_phy eth0": 2, "driver:rx_pause_ctrl_phy eth0": 7,
            "driver:rx_prio0_pause_duration eth0": 9000, "driver:tx_flow_control_xoff eth1": 1 } });
        let cases = [case("nic", &counts)];
        assert_eq!(find(&cases, &RING), []);
        let damaged = find(&cases, &DAMAGED);
        assert_eq!((damaged.len(), damaged[0].severity), (1, Severity::Problem));
        let paused = find(&cases, &PAUSED);
        let values: Vec<_> =
            paused.iter().filter_map(|finding| finding.value).map(seatrial_model::Quantity::value).collect();
        assert_eq!(values, [7.0, 1.0]);
    }

    #[test]
    fn what_a_sound_card_counts_is_no_finding() {
        let counts = json!({ "counts": { "rx_bytes eth0": 5000, "rx_dropped eth0": 12, "driver:tx_dropped eth0": 1 } });
        for sort in [&RING, &DAMAGED, &PAUSED] {
            assert_eq!(find(&[case("nic", &counts)], sort), []);
        }
    }
}
