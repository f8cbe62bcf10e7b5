//! Numbers are not held against a machine that others used.

use serde_json::{Value, json};

use super::*;
use crate::judge::fixture::measured;

/// Judges 90 GB/s on a node against a bound, with this evidence.
fn of(bound: &str, evidence: &Value) -> (Verdict, String) {
    let mut case = measured("n1");
    case.evidence = serde_json::from_value(evidence.clone()).expect("a map");
    let (verdict, _, _, reason) = only(&judged(&profile(at_least(bound)), &[case]));
    (verdict, reason)
}

fn load(own: u64, stolen: u64) -> Value {
    let load =
        json!({ "busy_ns": 1000, "own_ns": own, "kernel_ns": 0, "elapsed_ns": 1000, "process:python3": 900 });
    json!({ "probes": { "n1": { "load": { "counts": load }, "steal": { "counts": { "steal_ns": stolen } } } } })
}

fn gpu(others: &Value) -> Value {
    json!({ "watch": { "0000:18:00.0": { "others": others, "other_names": { "4711": "python3" } } } })
}

#[test]
fn a_criterion_that_is_missed_beside_others_is_unknown_and_names_them() {
    for (evidence, words) in [
        (
            load(600, 0),
            "disturbed by python3: other processes took 40 % of the CPU time used, mostly python3",
        ),
        (load(1000, 250), "disturbed by the hypervisor: the hypervisor gave 20 % of the CPU time to others"),
        (
            gpu(&json!([4711, 5])),
            "disturbed by python3 (process 4711), process 5: python3 (process 4711), process 5 computed on GPU 0000:18:00.0",
        ),
    ] {
        assert_eq!(of("95 GB/s", &evidence), (Verdict::Unknown, words.to_owned()));
        // Met all the same.
        assert_eq!(of("80 GB/s", &evidence), (Verdict::Pass, String::new()));
    }
}

#[test]
fn a_criterion_that_only_warns_is_a_warning_beside_others_too() {
    let mut case = measured("n1");
    case.evidence = serde_json::from_value(load(600, 0)).expect("a map");
    let mut profile = profile(at_least("95 GB/s"));
    profile.criteria[0].missed = Missed::Warn;
    let (verdict, _, _, reason) = only(&judged(&profile, &[case]));
    assert_eq!(verdict, Verdict::Warn);
    assert!(reason.contains("disturbed by python3"), "{reason}");
}

#[test]
fn a_criterion_that_is_missed_on_a_quiet_machine_is_missed() {
    for evidence in
        [load(950, 40), gpu(&json!([])), gpu(&Value::Null), json!({}), json!({ "probes": 3, "watch": [1] })]
    {
        assert_eq!(of("95 GB/s", &evidence), (Verdict::Fail, String::new()), "{evidence}");
    }
    // A service on a node that waits for the disk under test takes little of a CPU.
    let waiting = json!({ "busy_ns": 50, "own_ns": 10, "kernel_ns": 0, "elapsed_ns": 1000 });
    let waiting = json!({ "probes": { "n1": { "load": { "counts": waiting } } } });
    assert_eq!(of("95 GB/s", &waiting).0, Verdict::Fail);
}

#[test]
fn what_failed_by_itself_is_no_fault_of_others() {
    let mut case = measured("n1");
    case.evidence = serde_json::from_value(load(600, 0)).expect("a map");
    case.outcome = seatrial_model::Outcome::Failed;
    case.reason = Some("a part of it found its data corrupt".to_owned());
    assert_eq!(only(&judged(&profile(at_least("95 GB/s")), &[case])).0, Verdict::Fail);
}
