//! What is expected of the engine with several real parts.

use std::sync::atomic::{AtomicBool, Ordering};

use seatrial_cluster::FleetEvent;
use seatrial_model::{Cause, Event, Nanos, Outcome, Phase};

use crate::rig::{fleet, one, run, test, workers};

/// All tests, by name.
pub const ALL: &[(&str, fn())] = &[
    ("two_parts_agree_to_the_byte", two_parts_agree_to_the_byte),
    ("a_byte_lost_at_the_end_is_counted", a_byte_lost_at_the_end_is_counted),
    ("five_parts_in_a_ring_share_one_barrier", five_parts_in_a_ring_share_one_barrier),
    ("the_part_that_aborts_is_the_one_blamed", the_part_that_aborts_is_the_one_blamed),
    (
        "a_part_that_hangs_fails_its_case_and_the_run_goes_on",
        a_part_that_hangs_fails_its_case_and_the_run_goes_on,
    ),
    ("corrupt_data_is_a_failure_without_numbers", corrupt_data_is_a_failure_without_numbers),
    ("a_cancelled_run_leaves_no_worker", a_cancelled_run_leaves_no_worker),
    ("a_nudge_ends_a_wait", a_nudge_ends_a_wait),
    (
        "a_journal_that_fails_stops_the_run_and_its_workers",
        a_journal_that_fails_stops_the_run_and_its_workers,
    ),
];

fn two_parts_agree_to_the_byte() {
    let record = one("toy.pair", &[]);
    assert_eq!(record.outcome, Outcome::Measured, "{record:?}");
    assert_eq!((record.metrics["lost"].min, record.metrics["lost"].max), (0.0, 0.0));
    assert_eq!(record.metrics["throughput"].trials, 2);
    assert!(record.metrics["throughput"].median > 0.0);
    // The probe readings of both parts over all trials are stored once, by node.
    let seen = &record.evidence["probes"]["here"]["vmstat"]["counts"];
    assert!(seen["pgfault"].as_u64().is_some_and(|faults| faults > 0), "{:?}", record.evidence["probes"]);
}

fn a_byte_lost_at_the_end_is_counted() {
    let record = one("toy.pair", &["fault=sender-loses-a-byte"]);
    assert_eq!(record.metrics["lost"].median, 1.0);
}

fn five_parts_in_a_ring_share_one_barrier() {
    let record = one("toy.ring", &["parts=5"]);
    assert_eq!(record.outcome, Outcome::Measured, "{record:?}");
    assert!(record.metrics["laps"].median > 0.0);
}

fn the_part_that_aborts_is_the_one_blamed() {
    let record = one("toy.pair", &["fault=receiver-aborts"]);
    assert_eq!((record.outcome, record.cause), (Outcome::Failed, Some(Cause::Crash)));
    let reason = record.reason.expect("a reason");
    assert!(reason.contains("receiver 1") && reason.contains("SIGABRT"), "{reason}");
}

fn a_part_that_hangs_fails_its_case_and_the_run_goes_on() {
    let mut fleet = fleet();
    let tests = [test("toy.pair", &["fault=sender-hangs"]), test("toy.ring", &["parts=2"])];
    let finished = run(fleet.as_mut(), &tests, &AtomicBool::new(false), |_| Ok(())).expect("finishes");
    let [hung, ring] = &finished.records[..] else { panic!("{finished:?}") };
    // The receiver's timeout is far shorter than the sender's deadline; either way the case has failed.
    assert_eq!(hung.outcome, Outcome::Failed, "{hung:?}");
    assert_eq!(ring.outcome, Outcome::Measured, "{ring:?}");
}

fn corrupt_data_is_a_failure_without_numbers() {
    let record = one("toy.pair", &["fault=corrupt"]);
    assert_eq!((record.outcome, record.cause), (Outcome::Failed, Some(Cause::CorruptData)));
    assert!(record.metrics.is_empty());
}

fn a_cancelled_run_leaves_no_worker() {
    let mut fleet = fleet();
    let cancel = AtomicBool::new(false);
    let tests = [test("toy.pair", &["fault=endless"]), test("toy.ring", &[])];
    let finished = run(fleet.as_mut(), &tests, &cancel, |event| {
        if matches!(event, Event::PhaseEntered { phase: Phase::Measure, .. }) {
            cancel.store(true, Ordering::Relaxed);
        }
        Ok(())
    });
    let finished = finished.expect("ends in order");
    assert!(finished.cancelled);
    assert!(finished.records.is_empty(), "what was interrupted is measured anew: {finished:?}");
    drop(fleet);
    assert_eq!(workers(), Vec::<u32>::new());
}

fn a_nudge_ends_a_wait() {
    let mut fleet = fleet();
    let nudge = fleet.nudge();
    let until = fleet.now().plus(Nanos::secs(300));
    let nudging = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        nudge();
    });
    assert_eq!(fleet.next(until), FleetEvent::Quiet);
    assert!(fleet.now() < until, "it slept to the end");
    nudging.join().expect("it nudged");
}

fn a_journal_that_fails_stops_the_run_and_its_workers() {
    let mut fleet = fleet();
    let tests = [test("toy.pair", &["fault=endless"])];
    let ended = run(fleet.as_mut(), &tests, &AtomicBool::new(false), |event| match event {
        Event::PhaseEntered { phase: Phase::Measure, .. } => Err("no space left on device".into()),
        _ => Ok(()),
    });
    assert!(ended.is_err());
    drop(fleet);
    assert_eq!(workers(), Vec::<u32>::new());
}
