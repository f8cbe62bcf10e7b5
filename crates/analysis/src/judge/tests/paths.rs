//! Verdicts on traffic between nodes, by the counters of their interfaces.

use seatrial_model::Verdict;
use seatrial_model::profile::{Bar, Bounds};
use serde_json::{Value, json};

use super::*;
use crate::judge::fixture::{measured, metric, no_limit};

/// A case of 90 GB/s between two nodes over eth0 that moved 1 GB, with these counts of the first node's interfaces.
fn between(first: &str, second: &str, sent: &Value) -> CaseRecord {
    let mut case = measured(first);
    case.nodes.push(second.to_owned());
    for name in ["interface", "peer_interface"] {
        case.chosen.set(name, "eth0");
    }
    let moved = json!([{ "from": first, "to": second, "bytes": 1_000_000_000 }]);
    case.evidence.insert("moved".to_owned(), moved);
    let nic = |counts: &Value| json!({ "nic": { "counts": counts } });
    let received = json!({ "rx_bytes eth0": 1_046_000_000 });
    case.evidence.insert("probes".to_owned(), json!({ first: nic(sent), second: nic(&received) }));
    case
}

#[test]
fn a_path_that_the_counters_contradict_makes_every_verdict_unknown() {
    let profile = profile(at_least("80 GB/s"));
    let judge = |sent: Value| only(&judged(&profile, &[between("n1", "n2", &sent)]));
    let (verdict, number, _, reason) = judge(json!({ "tx_bytes eth0": 980_000_000 }));
    assert_eq!((verdict, number.as_str(), reason.as_str()), (Verdict::Pass, "90 GB/s", ""));
    let (verdict, number, _, reason) = judge(json!({ "tx_bytes eth0": 4_000, "tx_bytes lo": 1_010_000_000 }));
    assert_eq!((verdict, number.as_str()), (Verdict::Unknown, ""), "{reason}");
    let wanted = "path unconfirmed: 1000 MB went from n1 to n2, but eth0 of n1 sent only 0.004 MB; lo (1010 MB) carried";
    assert!(reason.starts_with(wanted), "{reason}");
}

#[test]
fn counters_that_cannot_be_read_change_nothing_and_late_ones_leave_a_remark() {
    let profile = profile(at_least("80 GB/s"));
    let judge = |sent: Value| only(&judged(&profile, &[between("n1", "n2", &sent)]));
    let (verdict, _, _, reason) = judge(json!({}));
    assert_eq!((verdict, reason.as_str()), (Verdict::Pass, ""));
    let (verdict, number, _, reason) = judge(json!({ "tx_bytes eth0": 979_000_000, "tx_bytes lo": 77 }));
    assert_eq!((verdict, number.as_str()), (Verdict::Pass, "90 GB/s"));
    assert!(reason.starts_with("path unconfirmed: 1000 MB went"), "{reason}");
    // A failed case has failed, whatever the path.
    let mut failed = between("n1", "n2", &json!({ "tx_bytes eth0": 0, "tx_bytes lo": 1_010_000_000 }));
    failed.outcome = seatrial_model::Outcome::Failed;
    assert_eq!(only(&judged(&profile, &[failed])).0, Verdict::Fail);
}

#[test]
fn what_went_another_way_is_in_no_fleet_median() {
    let there = json!({ "tx_bytes eth0": 1_046_000_000 });
    let rate = |mut case: CaseRecord, median: f64| {
        case.metrics.insert("bandwidth".to_owned(), metric(median, (median, median), no_limit()));
        case
    };
    let mut records: Vec<CaseRecord> = [("n1", 90.0), ("n3", 100.0), ("n5", 110.0)]
        .map(|(node, median)| rate(between(node, "n9", &there), median))
        .to_vec();
    let elsewhere = json!({ "tx_bytes eth0": 0, "tx_bytes lo": 1_010_000_000 });
    records.push(rate(between("n7", "n9", &elsewhere), 1000.0));
    // Of 90, 100 and 110 the median is 100, and with 1000 it would be 105.
    let profile = profile(Bounds::AtLeast(Bar::PercentOfFleetMedian(95.0)));
    let judgement = judged(&profile, &records);
    let verdicts: Vec<(&str, Verdict)> =
        judgement.verdicts.iter().map(|record| (record.bound.as_str(), record.verdict)).collect();
    let bound = "at least 95 % of the fleet median (95 GB/s)";
    let plain = "at least 95 % of the fleet median";
    let wanted =
        [(bound, Verdict::Fail), (bound, Verdict::Pass), (bound, Verdict::Pass), (plain, Verdict::Unknown)];
    assert_eq!(verdicts, wanted, "{:#?}", lines(&judgement));
}
