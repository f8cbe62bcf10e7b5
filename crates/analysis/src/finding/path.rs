//! `path-unconfirmed`: the interface that was chosen did not carry what was measured.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Severity, Unit};
use serde_json::Value;

use super::probes::{Seen, seen};
use super::{Rule, about};
use crate::number::{quantity, significant};

pub(super) const RULE: Rule = Rule {
    kind: "path-unconfirmed",
    doc: "The counters of the chosen interface show less than 98 % of what was measured, so that it went elsewhere.",
    find,
};

/// Part of what was moved that the interface must have counted.
///
/// It is a lower bound only: an interface counts everybody's packets, and what is more may be anybody's. Headers do not
/// count into what was moved: a device that takes segments in one piece counts their headers once, or once for each.
const LEAST: f64 = 0.98;

/// What went from one end to the other over all trials, as the benchmark put it down.
struct Moved<'a> {
    from: &'a str,
    to: &'a str,
    /// Payload that came there.
    bytes: f64,
    /// What may have been in the buffers of both ends when the counters were read, and was counted by one side only.
    buffered: f64,
}

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    records.iter().flat_map(of_case).collect()
}

fn of_case(case: &CaseRecord) -> Vec<Finding> {
    let rows = case.evidence.get("moved").and_then(Value::as_array).into_iter().flatten();
    let mut findings = Vec::new();
    for moved in rows.filter_map(Moved::read) {
        // One end is enough to say that it went elsewhere.
        findings.extend([(moved.from, "tx"), (moved.to, "rx")].into_iter().find_map(|(node, way)| {
            let interface = interface(case, node)?;
            let seen = seen(case, "nic").find(|seen| seen.node == node)?;
            at_end(case, &moved, &seen, &interface, way)
        }));
    }
    findings
}

impl<'a> Moved<'a> {
    fn read(row: &'a Value) -> Option<Self> {
        Some(Self {
            from: row["from"].as_str()?,
            to: row["to"].as_str()?,
            bytes: row["bytes"].as_f64()?,
            buffered: row["buffered"].as_f64().unwrap_or(0.0),
        })
    }
}

/// The interfaces that were chosen for this node; none when the routes decide.
fn interface(case: &CaseRecord, node: &str) -> Option<Vec<String>> {
    let name =
        if case.nodes.first().is_some_and(|first| first == node) { "interface" } else { "peer_interface" };
    let chosen = case.chosen.text(name).ok()?;
    Some(chosen.split(',').map(str::to_owned).collect())
}

fn at_end(
    case: &CaseRecord,
    moved: &Moved<'_>,
    seen: &Seen,
    chosen: &[String],
    way: &str,
) -> Option<Finding> {
    let counter = format!("{way}_bytes ");
    let counts: Vec<(&str, u64)> =
        seen.counts().filter_map(|(name, count)| Some((name.strip_prefix(&counter)?, count))).collect();
    let counted = |name: &String| counts.iter().find(|(known, _)| known == name).map(|(_, count)| *count);
    let least = moved.bytes * LEAST - moved.buffered;
    let (node, names, verb) =
        (seen.node, chosen.join(" and "), if way == "tx" { "sent" } else { "received" });
    let Some(own) = chosen.iter().map(counted).sum::<Option<u64>>() else {
        let text = format!(
            "the path is not confirmed: the counters of {names} of {node} could not be read, so that nothing shows whether \
             it carried what was measured"
        );
        return Some(finding(case, seen, Severity::Info, None, text));
    };
    if own as f64 >= least {
        return None;
    }
    let mut others: Vec<(&str, u64)> = counts
        .iter()
        .copied()
        .filter(|(name, count)| !chosen.iter().any(|own| own == name) && *count > 0)
        .collect();
    others.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let enough = others.iter().filter(|(_, count)| *count as f64 >= least / 2.0);
    let carried: Vec<String> =
        enough.map(|(name, count)| format!("{name} ({})", megabytes(*count as f64))).collect();
    let elsewhere = match carried.as_slice() {
        // Some drivers have the card hand over its counts once a second (bnxt), and others ask for them as seldom.
        [] => "no other interface counted as much: either they went a way that has no interface, or the driver renews its \
               counters seldom, which trials of several seconds show (-p time=)"
            .to_owned(),
        names if names[0].starts_with("lo ") => format!(
            "{} carried them: both addresses are of one host, whose kernel hands over what is sent from one to the other \
             without a wire; give the ends network namespaces of their own, or measure between two hosts",
            names.join(", ")
        ),
        names => format!("{} carried them: look at the routes and at -p interface=", names.join(", ")),
    };
    let text = format!(
        "the path is not confirmed: {} went from {} to {}, but {names} of {node} {verb} only {}; {elsewhere}",
        megabytes(moved.bytes),
        moved.from,
        moved.to,
        megabytes(own as f64),
    );
    let percent = 100.0 * own as f64 / moved.bytes;
    let severity = if carried.is_empty() { Severity::Warning } else { Severity::Problem };
    Some(finding(case, seen, severity, Some(percent), text))
}

fn finding(
    case: &CaseRecord,
    seen: &Seen,
    severity: Severity,
    percent: Option<f64>,
    text: String,
) -> Finding {
    let mut evidence = vec!["moved".to_owned()];
    evidence.extend(seen.evidence());
    let finding = Finding::new(RULE.kind, severity, case.subject.clone(), text);
    let value = percent.and_then(|percent| quantity(percent, Unit::Percent));
    let finding = about(case, Finding { value, evidence, ..finding });
    Finding { node: Some(seen.node.to_owned()), ..finding }
}

fn megabytes(bytes: f64) -> String {
    format!("{} MB", significant(bytes / 1e6))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::fixture::measured;

    /// A case from n1 to n2 over eth0 at both ends that moved 1 GB, during which the interfaces counted this.
    fn case(first: &Value, second: &Value, buffered: u64) -> CaseRecord {
        let mut case = measured("n1");
        case.nodes.push("n2".to_owned());
        case.chosen.set("interface", "eth0");
        case.chosen.set("peer_interface", "eth0");
        let moved = json!([{ "from": "n1", "to": "n2", "bytes": 1_000_000_000, "buffered": buffered }]);
        case.evidence.insert("moved".to_owned(), moved);
        let nic = |counts: &Value| json!({ "nic": { "counts": counts } });
        case.evidence.insert("probes".to_owned(), json!({ "n1": nic(first), "n2": nic(second) }));
        case
    }

    fn sent(eth0: u64, lo: u64) -> Value {
        json!({ "tx_bytes eth0": eth0, "rx_bytes eth0": 5, "tx_bytes lo": lo, "rx_bytes lo": lo })
    }

    fn received(eth0: u64, lo: u64) -> Value {
        json!({ "rx_bytes eth0": eth0, "tx_bytes eth0": 5, "tx_bytes lo": lo, "rx_bytes lo": lo })
    }

    #[test]
    fn what_the_chosen_interfaces_carried_is_confirmed_with_others_traffic_beside_it() {
        for count in [980_000_000, 1_046_000_000, 9_000_000_000] {
            assert_eq!(find(&[case(&sent(count, 0), &received(count, 0), 0)]), [], "{count}");
        }
        let found = find(&[case(&sent(979_000_000, 0), &received(1_000_000_000, 0), 0)]);
        assert_eq!((found.len(), found[0].severity), (1, Severity::Warning), "nobody else carried it");
        assert!(
            found[0].text.contains("but eth0 of n1 sent only 979 MB; no other interface"),
            "{}",
            found[0].text
        );
    }

    #[test]
    fn a_short_cut_through_the_kernel_is_found_and_named() {
        let found = find(&[case(&sent(4_000, 1_010_000_000), &received(1_046_000_000, 0), 0)]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.severity, finding.node.as_deref()), (Severity::Problem, Some("n1")));
        assert!(
            finding
                .text
                .contains("sent only 0.004 MB; lo (1010 MB) carried them: both addresses are of one host")
        );
        assert_eq!(finding.evidence, ["moved", "probes.n1.nic"]);
    }

    #[test]
    fn another_card_is_named_too_and_at_the_receiver() {
        let other = json!({ "rx_bytes eth0": 10, "rx_bytes eth1": 1_046_000_000, "rx_bytes lo": 77 });
        let found = find(&[case(&sent(1_046_000_000, 0), &other, 0)]);
        assert!(
            found[0].text.contains("eth1 (1046 MB) carried them: look at the routes"),
            "{}",
            found[0].text
        );
        assert_eq!(found[0].node.as_deref(), Some("n2"));
    }

    #[test]
    fn what_waits_in_buffers_is_allowed_for_and_rails_are_added_up() {
        let almost = case(&sent(1_046_000_000, 0), &received(960_000_000, 0), 30_000_000);
        assert_eq!(find(&[almost]), []);
        let half = json!({ "tx_bytes eth0": 520_000_000, "tx_bytes eth1": 500_000_000 });
        let mut rails = case(&half, &received(1_046_000_000, 0), 0);
        assert_eq!(find(std::slice::from_ref(&rails)).len(), 1);
        rails.chosen.set("interface", "eth0,eth1");
        assert_eq!(find(&[rails]), []);
    }

    #[test]
    fn without_a_choice_there_is_nothing_to_confirm_and_without_counters_no_proof() {
        let mut routed = case(&sent(0, 0), &received(0, 0), 0);
        routed.chosen = seatrial_model::Params::default();
        assert_eq!(find(&[routed]), []);
        let found = find(&[case(&json!({}), &received(1_046_000_000, 0), 0)]);
        assert_eq!((found.len(), found[0].severity), (1, Severity::Info));
    }
}
