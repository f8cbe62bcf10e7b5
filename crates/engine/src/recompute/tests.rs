//! Records made again from the samples of scripted round trips, with exact numbers.

use seatrial_bench::testing::Kept;
use seatrial_cluster::Script;
use seatrial_model::machine::Known;
use seatrial_model::profile::Test;
use seatrial_model::{Nanos, Params, PartPlacement};
use serde_json::json;

use super::*;
use crate::fixture::round_trips;
use crate::{Plan, PlanInputs};

fn case() -> (Case, Site) {
    let node = |name: &str| {
        let mut node = seatrial_testkit::node(name, 1);
        node.machine.boot_id = Known::Known(format!("boot of {name}"));
        node
    };
    let site = Site { nodes: ["n1", "n2"].map(node).into() };
    let test = Test {
        id: "net.rr".to_owned(),
        bench: "net.rr".to_owned(),
        params: Default::default(),
        pattern: Some("all-pairs".to_owned()),
        ..Test::default()
    };
    let plan = Plan::new(&[test], &seatrial_registry::REGISTRY, PlanInputs::of(&site)).expect("a plan");
    let case = plan.cases.into_iter().next();
    (case.unwrap_or_else(|| panic!("{:?}", plan.settled)), site)
}

/// The parts of a trial with this round-trip time, in which others took `foreign` ns of CPU time.
fn trial(case: &Case, number: u32, nanos: u64, foreign: u64) -> Vec<PartRecord> {
    let load = json!({ "load": { "counts": { "busy_ns": 1000, "own_ns": 1000 - foreign } } });
    let Script { samples, mut evidence, .. } = round_trips([nanos; 6]);
    evidence.insert("probes".to_owned(), load);
    let kept = Kept { samples, evidence, ..Kept::default() };
    let part = |place: &PartPlacement| PartRecord {
        trial: number,
        ..kept.clone().record(place, Integrity::Verified { checked: 1 })
    };
    case.places.iter().map(part).collect()
}

fn made(case: &Case, recorded: &CaseRecord, parts: &[PartRecord], site: &Site) -> CaseRecord {
    match recompute(seatrial_registry::REGISTRY, case, recorded, parts, site) {
        Recomputation::Record(record) => *record,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_numbers_come_from_the_samples_and_not_from_the_record() {
    let (case, site) = case();
    let parts: Vec<_> = (0..3).flat_map(|number| trial(&case, number, 9000, 0)).collect();
    let mut recorded = CaseRecord::measured(&case);
    recorded.seconds = 4.5;
    let first = made(&case, &recorded, &parts, &site);
    assert_eq!((first.outcome, first.seconds), (Outcome::Measured, 4.5));
    let median = first.metrics["round_trip"].median;
    let mut forged = first.clone();
    forged.metrics.values_mut().for_each(|metric| metric.median *= 2.0);
    let second = made(&case, &forged, &parts, &site);
    assert_eq!(second.metrics["round_trip"].median, median);
    assert_eq!(second, first);
}

#[test]
fn a_trial_that_was_repeated_because_of_others_does_not_count_and_a_third_one_does() {
    let (case, site) = case();
    let recorded = CaseRecord::measured(&case);
    let disturbed = |numbers: &[u32]| {
        let of = |number| {
            let disturbed = numbers.contains(&number);
            trial(&case, number, if disturbed { 90_000 } else { 9000 }, if disturbed { 500 } else { 0 })
        };
        (0..5).flat_map(of).collect::<Vec<_>>()
    };
    let max = |record: &CaseRecord| record.metrics["round_trip"].max;
    let two = made(&case, &recorded, &disturbed(&[1, 3]), &site);
    assert_eq!(two.evidence["repeated_trials"], 2);
    let three = made(&case, &recorded, &disturbed(&[1, 2, 3]), &site);
    assert_eq!(three.evidence["disturbed_trials"].as_array().map(Vec::len), Some(3));
    assert!(max(&three) > 5.0 * max(&two), "{} {}", max(&three), max(&two));
}

#[test]
fn data_that_was_corrupt_is_no_measurement_whatever_was_recorded() {
    let (case, site) = case();
    let mut parts: Vec<_> = (0..3).flat_map(|number| trial(&case, number, 9000, 0)).collect();
    parts[1].integrity = Integrity::Corrupt { wrong: 1, of: 2, first: "bit 3".to_owned() };
    let record = made(&case, &CaseRecord::measured(&case), &parts, &site);
    assert_eq!((record.outcome, record.cause), (Outcome::Failed, Some(Cause::CorruptData)));
}

#[test]
fn a_case_that_hung_is_as_recorded_and_one_whose_numbers_were_too_few_is_not() {
    let (case, site) = case();
    let registry = seatrial_registry::REGISTRY;
    let parts = trial(&case, 0, 9000, 0);
    let mut hung = CaseRecord::without_numbers(&case, &Reason::new(Cause::Hang, "it hung"));
    hung.evidence.insert("trials_completed".to_owned(), 0.into());
    assert_eq!(recompute(registry, &case, &hung, &parts, &site), Recomputation::AsRecorded);
    let mut short = CaseRecord::without_numbers(&case, &Reason::new(Cause::TooShort, "too short"));
    short.evidence.insert("trials_completed".to_owned(), 1.into());
    let record = made(&case, &short, &parts, &site);
    assert_eq!(record.outcome, Outcome::Measured, "its samples do make numbers");
}

#[test]
fn another_version_of_the_benchmark_is_told_and_not_guessed_at() {
    let (case, site) = case();
    let recorded = CaseRecord { version: 999, ..CaseRecord::measured(&case) };
    let found = recompute(seatrial_registry::REGISTRY, &case, &recorded, &[], &site);
    assert!(matches!(&found, Recomputation::Cannot(why) if why.contains("version 999")), "{found:?}");
    let other = Case { bench: "no.such".to_owned(), ..case };
    let found = recompute(seatrial_registry::REGISTRY, &other, &recorded, &[], &site);
    assert_eq!(found, Recomputation::Cannot("this build has no benchmark no.such".to_owned()));
}

#[test]
fn a_plan_that_no_build_makes_ends_only_its_own_case_and_breaks_nothing() {
    let (case, site) = case();
    let registry = seatrial_registry::REGISTRY;
    let about = registry.find("storage.file").expect("registered").about;
    let mut params = Params::default();
    for spec in about.params {
        params.set(spec.name, spec.parse(spec.default).expect("a default is valid"));
    }
    params.set("block", "0 B");
    let case = Case { bench: about.id.to_owned(), version: about.version, params, ..case };
    let found = recompute(registry, &case, &CaseRecord::measured(&case), &trial(&case, 0, 9000, 0), &site);
    let Recomputation::Record(record) = found else { panic!("{found:?}") };
    assert_eq!(record.outcome, Outcome::Unmeasured);
    // A panic would be caught and reported as well.
    let reason = record.reason.expect("a reason");
    assert!(!reason.contains("panicked"), "{reason}");
}

#[test]
fn times_that_go_backwards_and_numbers_that_nothing_counts_to_are_not_reduced() {
    let (case, site) = case();
    let recorded = CaseRecord::measured(&case);
    let cannot = |change: &dyn Fn(&mut PartRecord)| {
        let mut parts = trial(&case, 0, 1000, 0);
        change(&mut parts[0]);
        matches!(
            recompute(seatrial_registry::REGISTRY, &case, &recorded, &parts, &site),
            Recomputation::Cannot(_)
        )
    };
    assert!(!cannot(&|_| ()));
    assert!(cannot(&|part| part.samples[1].end = Nanos(0)));
    assert!(cannot(&|part| part.samples[5].end = Nanos(u64::MAX)));
    assert!(cannot(&|part| part.integrity = Integrity::Verified { checked: u64::MAX }));
    assert!(cannot(&|part| drop(part.evidence.insert("lost".to_owned(), json!({ "by": [1, u64::MAX] })))));
}
