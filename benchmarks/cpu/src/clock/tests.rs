//! Invented samples with known clocks, plans on invented machines, and one real worker.

use std::time::Duration;

use seatrial_model::machine::{Known, Machine, Virtualization};
use seatrial_model::{
    Case, Cause, Evidence, Integrity, Limit, Measures, Nanos, Params, PartRecord, Phase, Reason, Sample,
    Severity, Site, SiteNode,
};
use seatrial_sys::affinity;
use serde_json::{Value, json};

use super::lap::SLICE;
use super::{ABOUT, BENCHMARK, part};
use seatrial_bench::testing::{Kept, connected};
use seatrial_bench::{Running, Stop};
use seatrial_testkit::cores;

fn machine(count: u32) -> Machine {
    Machine { cpu: cores(0..count), ..Machine::default() }
}

fn plan(machine: Machine, set: &[(&str, &str)]) -> Result<Case, Reason> {
    let params = seatrial_testkit::params(&ABOUT, set);
    let site = Site { nodes: vec![SiteNode::new("n1", machine)] };
    BENCHMARK.plan(&params, &site).map(|mut cases| cases.remove(0))
}

fn sample(channel: &str, cores: &str, cpu: u64, slice: u64, gigahertz: f64) -> Sample {
    let mut at = Params::default();
    at.set("cores", cores);
    at.set("cpu", cpu);
    at.set("slice", slice);
    let start = Nanos(slice * SLICE.get());
    let (end, amount) = (start.plus(Nanos(1_000_000)), format!("{}", gigahertz * 1e6));
    Sample { channel: channel.to_owned(), at, start, end, amount: amount.parse().expect("a count") }
}

/// A trial of 12 slices: one core at `one`, cores at `all(CPU, slice)`, the check at `check` times that.
fn trial(number: u32, one: f64, cpus: u64, all: impl Fn(u64, u64) -> f64, check: f64) -> PartRecord {
    let mut samples = Vec::new();
    for slice in 0..12 {
        samples.push(sample("add", part::ONE, 0, slice, one));
        samples.push(sample("check", part::ONE, 0, slice, one * check));
        for cpu in 0..cpus {
            samples.push(sample("add", part::ALL, cpu, slice, all(cpu, slice)));
            samples.push(sample("check", part::ALL, cpu, slice, all(cpu, slice) * check));
        }
    }
    record(number, samples, Evidence::new())
}

fn record(trial: u32, samples: Vec<Sample>, evidence: Evidence) -> PartRecord {
    PartRecord { trial, evidence, ..seatrial_testkit::part(samples) }
}

fn reduced(cores: u32, trials: &[PartRecord]) -> Measures {
    BENCHMARK.reduce(&plan(machine(cores), &[]).expect("a plan"), trials).expect("clocks")
}

fn kinds(measures: &Measures) -> Vec<&str> {
    measures.findings.iter().map(|finding| finding.kind.as_str()).collect()
}

#[test]
fn a_machine_at_one_clock_gives_that_clock_and_no_finding() {
    let measures = reduced(4, &[trial(0, 3.0, 4, |_, _| 3.0, 1.0), trial(1, 3.0, 4, |_, _| 3.0, 1.0)]);
    assert!(
        measures.metrics["slowest_core"].trials.iter().flatten().all(|share| (share - 100.0).abs() < 1e-9)
    );
    for name in ["clock_one", "clock_all"] {
        let trials = &measures.metrics[name].trials;
        assert_eq!((trials.len(), trials[1].len()), (2, 12), "{name}");
        assert!(trials.iter().flatten().all(|clock| (clock - 3.0).abs() < 1e-9), "{name}: {trials:?}");
    }
    assert_eq!(measures.series["by_core"].len(), 4);
    let times: Vec<_> = measures.series["over_time"].iter().map(|row| row.at.count("elapsed")).collect();
    assert_eq!(times, [0, 50, 100, 150, 200, 250].map(Ok));
    assert_eq!(kinds(&measures), [""; 0]);
}

#[test]
fn the_slowest_core_is_the_metric_and_is_named() {
    let slow = |cpu, _| if cpu == 2 { 2.4 } else { 3.0 };
    let measures = reduced(4, &[trial(0, 3.0, 4, slow, 1.0), trial(1, 3.0, 4, slow, 1.0)]);
    assert!(measures.metrics["clock_all"].trials.iter().flatten().all(|clock| (clock - 2.4).abs() < 1e-9));
    assert_eq!(measures.evidence["slowest_cpu"], 2);
    let shares = &measures.metrics["slowest_core"].trials;
    assert!(shares.iter().flatten().all(|share| (share - 80.0).abs() < 1e-9), "{shares:?}");
    assert_eq!(kinds(&measures), ["slow-core"]);
    assert_eq!(measures.findings[0].severity, Severity::Warning);
    assert!(measures.findings[0].text.contains("CPU 2 is slower"), "{}", measures.findings[0].text);
}

#[test]
fn cores_of_two_kinds_are_compared_with_their_own_kind() {
    let clock = |cpu, _| [3.0, 3.0, 2.0, 2.0, 1.8][cpu as usize];
    let kinds =
        serde_json::json!({ "0": 3_000_000, "1": 3_000_000, "2": 2_000_000, "3": 2_000_000, "4": 2_000_000 });
    let mut trial = trial(0, 3.0, 5, clock, 1.0);
    trial.evidence.insert(part::HIGHEST_CLOCK.to_owned(), kinds);
    let shares = &reduced(5, &[trial]).metrics["slowest_core"].trials;
    assert!(shares.iter().flatten().all(|share| (share - 90.0).abs() < 1e-9), "{shares:?}");
}

#[test]
fn a_core_without_a_sample_is_told_and_many_are_counted() {
    let one = reduced(4, &[trial(0, 3.0, 3, |_, _| 3.0, 1.0)]);
    assert_eq!(kinds(&one), ["core-not-measured"]);
    assert!(one.findings[0].text.starts_with("CPU 3 never ran"), "{}", one.findings[0].text);
    let many = reduced(13, &[trial(0, 3.0, 2, |_, _| 3.0, 1.0)]);
    let text = &many.findings[0].text;
    assert!(text.starts_with("CPU 2, 3, 4, 5, 6, 7, 8, 9 and 3 more never ran"), "{text}");
}

#[test]
fn a_shared_turbo_budget_is_told_with_both_clocks() {
    let measures = reduced(2, &[trial(0, 4.0, 2, |_, _| 3.0, 1.0)]);
    assert_eq!(kinds(&measures), ["clock-lower-with-all-cores"]);
    assert_eq!(measures.findings[0].severity, Severity::Info);
    let text = &measures.findings[0].text;
    assert!(text.contains("3.00 GHz, 75 % of the 4.00 GHz"), "{text}");
}

#[test]
fn a_clock_that_falls_in_every_trial_drifts_and_one_that_falls_in_one_does_not() {
    let falls = |_, slice: u64| 3.0 - 0.01 * slice as f64;
    let still = |_, _| 3.0;
    let both = reduced(2, &[trial(0, 3.0, 2, falls, 1.0), trial(1, 3.0, 2, falls, 1.0)]);
    assert_eq!(kinds(&both), ["clock-drift"]);
    let one = reduced(2, &[trial(0, 3.0, 2, falls, 1.0), trial(1, 3.0, 2, still, 1.0)]);
    assert_eq!(kinds(&one), [""; 0]);
}

#[test]
fn chains_that_disagree_are_told_and_a_percent_is_none() {
    let with = |check| reduced(2, &[trial(0, 3.0, 2, |_, _| 3.0, check)]);
    assert_eq!(kinds(&with(0.33)), ["chains-disagree"]);
    assert_eq!(kinds(&with(1.03)), ["chains-disagree"]);
    assert_eq!(kinds(&with(1.015)), [""; 0]);
}

#[test]
fn a_clock_that_comes_up_late_or_never_is_told() {
    let with = |ramp: Value| {
        let mut trial = trial(0, 3.0, 1, |_, _| 3.0, 1.0);
        trial.evidence.insert("ramp".to_owned(), ramp);
        reduced(1, &[trial])
    };
    let late = with(json!({ "reached_ms": 42.0, "first_percent": 30.0, "watched_ms": 200.0 }));
    assert_eq!(kinds(&late), ["slow-ramp-up"]);
    assert!(late.findings[0].text.contains("starts at 30 % and takes 42 ms"), "{}", late.findings[0].text);
    let never = with(json!({ "reached_ms": null, "first_percent": 30.0, "watched_ms": 200.0 }));
    assert_eq!(kinds(&never), ["slow-ramp-up"]);
    let soon = with(json!({ "reached_ms": 1.0, "first_percent": 97.0, "watched_ms": 200.0 }));
    assert_eq!(kinds(&soon), [""; 0]);
}

#[test]
fn nothing_measured_is_no_clock() {
    let reason = BENCHMARK
        .reduce(&plan(machine(1), &[]).unwrap(), &[record(0, Vec::new(), Evidence::new())])
        .unwrap_err();
    assert_eq!(reason.cause, Cause::TooShort);
}

#[test]
fn an_architecture_without_chains_does_not_apply() {
    let strange = Machine { architecture: Known::Known("riscv64".to_owned()), ..machine(2) };
    assert_eq!(plan(strange, &[]).unwrap_err().cause, Cause::Inapplicable);
    let arm = Machine { architecture: Known::Known("aarch64".to_owned()), ..machine(2) };
    assert_eq!(plan(arm, &[]).unwrap().places[0].bindings.len(), 2);
}

#[test]
fn a_time_too_short_for_both_parts_is_raised() {
    assert_eq!(plan(machine(2), &[("time", "50 ms")]).unwrap().budget.measure, Nanos::millis(16 * 25));
    assert_eq!(plan(machine(2), &[("time", "3 s")]).unwrap().budget.measure, Nanos::secs(3));
}

#[test]
fn a_virtual_machine_is_named_as_the_reason_for_having_no_limit() {
    let hypervisor = Some("kvm".to_owned());
    let known = Known::Known(Virtualization { hypervisor, ..Virtualization::default() });
    let guest = Machine { virtualization: known, ..machine(1) };
    let case = plan(guest.clone(), &[]).unwrap();
    let site = Site { nodes: vec![SiteNode::new("n1", guest)] };
    for (name, limit) in BENCHMARK.limits(&case, &site) {
        assert!(matches!(&limit, Limit::Unknown { reason } if reason.contains("(kvm)")), "{name}: {limit:?}");
    }
}

fn here(set: &[(&str, &str)]) -> Case {
    let cpu = cores(affinity::allowed().expect("a mask").iter());
    plan(Machine { cpu, ..Machine::default() }, set).expect("a plan")
}

/// Repeats the part until it measured all requested clocks: on a busy machine a core may go without a full slice for
/// a while.
fn measured(case: &Case) -> (Measures, Evidence, Integrity) {
    let mut part = connected(BENCHMARK.part(case, &case.places[0])).expect("prepared");
    let mut kept = Kept::default();
    part.run(Phase::WarmUp, &Stop::after(Duration::from_millis(80)), &mut kept).expect("warmed up");
    assert!(kept.samples.is_empty(), "the warm-up keeps nothing");
    for _ in 0..200 {
        kept = Kept::default();
        part.run(Phase::Measure, &Stop::after(Duration::from_millis(500)), &mut kept).expect("measured");
        let measures = BENCHMARK.reduce(case, &[record(0, kept.samples, kept.evidence.clone())]);
        let is_whole = |measures: &Measures| !kinds(measures).contains(&"core-not-measured");
        if let Some(measures) = measures.ok().filter(is_whole) {
            return (measures, kept.evidence, part.verify().expect("verified"));
        }
    }
    panic!("no clock in 100 s: {:?}", kept.evidence);
}

#[test]
fn a_worker_measures_one_core_and_all_and_proves_its_sums() {
    let case = here(&[]);
    let (measures, evidence, integrity) = measured(&case);
    assert!(matches!(integrity, Integrity::Verified { checked } if checked > 0), "{integrity:?}");
    for name in ["ramp", "interrupted_one", "interrupted_all", "clock"] {
        assert!(evidence.contains_key(name), "no evidence '{name}'");
    }
    for clock in measures.metrics.values().flat_map(|values| &values.trials[0]) {
        assert!(clock.is_finite() && *clock > 0.0, "{clock}");
    }
    assert_eq!(measures.series["by_core"].len(), case.places[0].bindings.len());
}

#[test]
fn only_what_was_asked_for_is_measured() {
    let names = |cores| measured(&here(&[("cores", cores)])).0.metrics.into_keys().collect::<Vec<_>>();
    assert_eq!(names("one"), ["clock_one"]);
    assert_eq!(names("all"), ["clock_all", "slowest_core"]);
}

#[test]
fn a_wrong_sum_is_found() {
    let case = here(&[("cores", "one")]);
    let mut worker = part::Worker::prepare(&case, &case.places[0]).expect("prepared");
    worker.spoil();
    let mut kept = Kept::default();
    let mut integrity = Integrity::Unverified { why: String::new() };
    // A busy machine may leave no CPU for any block.
    for _ in 0..50 {
        worker.run(Phase::Measure, &Stop::after(Duration::from_millis(100)), &mut kept).expect("measured");
        integrity = worker.verify().expect("verified");
        if !matches!(integrity, Integrity::Unverified { .. }) {
            break;
        }
    }
    assert!(
        matches!(&integrity, Integrity::Corrupt { first, .. } if first.starts_with("block 0 ")),
        "{integrity:?}"
    );
}

#[test]
fn what_was_never_run_is_not_verified() {
    let case = here(&[]);
    let mut worker = part::Worker::prepare(&case, &case.places[0]).expect("prepared");
    assert!(matches!(worker.verify(), Ok(Integrity::Unverified { .. })));
}
