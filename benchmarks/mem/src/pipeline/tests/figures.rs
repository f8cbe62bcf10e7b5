//! Metrics of invented samples.

use seatrial_model::{
    Binding, Cause, Evidence, Measures, Nanos, Params, PartRecord, Quantity, Reason, Sample, Unit, Value,
};
use seatrial_sys::sched::Class;
use serde_json::json;

use crate::pipeline::fixture::toy;
use crate::pipeline::reduce;
use crate::pipeline::scenario::Scenario;
use crate::pipeline::settings::{Blocks, Mode, Settings, Threads};

/// A try on one node: the share of the counted bytes that was done, and late blocks of 1000 for each step.
#[derive(Clone, Copy)]
struct Try {
    pace: f64,
    done: f64,
    late: u64,
    cpus: f64,
}

const IN_TIME: Try = Try { pace: 1.0, done: 1.0, late: 0, cpus: 0.5 };

fn settings(scenario: Scenario, mode: Mode, threads: Threads) -> Settings {
    Settings { scenario, mode, threads, blocks: Blocks::Rotate, class: Class::Other }
}

fn samples(scenario: &Scenario, node: u64, nodes: u64, of: &Try) -> Vec<Sample> {
    let sample = |channel: &str, step: Option<&str>, amount: f64, unit| {
        let mut at = Params::default();
        at.set("pace", Value::Number(of.pace));
        at.set("node", node);
        if let Some(step) = step {
            at.set("step", step);
        }
        let amount = Quantity::new(amount, unit).unwrap();
        Sample { channel: channel.to_owned(), at, start: Nanos::secs(5), end: Nanos::secs(7), amount }
    };
    let share = f64::from(scenario.stations) / nodes as f64;
    let mut all = vec![sample("cpus", None, of.cpus, Unit::Count)];
    for step in &scenario.steps {
        let counted = step.bytes_per_second() * f64::from(step.counted) * 2.0 * of.pace * share;
        let step = Some(step.id.as_str());
        all.push(sample("done", step, counted * of.done, Unit::Byte));
        all.push(sample("due", step, 1000.0, Unit::Count));
        all.push(sample("late", step, of.late as f64, Unit::Count));
    }
    all
}

fn part(trial: u32, samples: Vec<Sample>, evidence: serde_json::Value) -> PartRecord {
    let evidence: Evidence = serde_json::from_value(evidence).unwrap();
    PartRecord { trial, evidence, ..seatrial_testkit::part(samples) }
}

fn place() -> seatrial_model::PartPlacement {
    let binding = |cpu| Binding { cpu, node: 0, domain: 0, memory: Some(0) };
    seatrial_model::PartPlacement::new("worker", 0, "n1", vec![binding(0), binding(1)])
}

fn reduced(settings: &Settings, tries: &[&[Try]]) -> Result<Measures, Reason> {
    let lateness = json!({ "lateness": { "buckets": [[0, 980], [5_000_000, 20]], "max_ns": 5_123_000 } });
    let trial = |(number, tries): (u32, &&[Try])| {
        let samples = tries.iter().flat_map(|of| samples(&settings.scenario, 0, 1, of)).collect();
        part(number, samples, lateness.clone())
    };
    let parts: Vec<PartRecord> = (0..).zip(tries).map(trial).collect();
    reduce::of(settings, &[place()], &parts)
}

fn figure(measures: &Measures, name: &str) -> Vec<f64> {
    measures.metrics[name].trials.concat()
}

fn near(found: &[f64], wanted: &[f64]) {
    let alike = |(found, wanted): (&f64, &f64)| (found - wanted).abs() <= 1e-9 * wanted.abs();
    assert!(
        found.len() == wanted.len() && found.iter().zip(wanted).all(alike),
        "{found:?} is not {wanted:?}"
    );
}

#[test]
fn cobalt2_in_time_is_702_gbit_and_all_of_the_pace() {
    let settings = settings(Scenario::shipped("cobalt2").unwrap(), Mode::Paced, Threads::Core);
    let measures = reduced(&settings, &[&[IN_TIME], &[IN_TIME]]).unwrap();
    near(&figure(&measures, "throughput"), &[702.0, 702.0]);
    near(&figure(&measures, "achieved"), &[100.0, 100.0]);
    near(&figure(&measures, "late"), &[0.0, 0.0]);
    near(&figure(&measures, "traffic_least"), &[87.75, 87.75]);
    // 19.5 Gbit/s of each station's traffic are stores.
    near(&figure(&measures, "traffic_most"), &[87.75 + 43.875, 87.75 + 43.875]);
    near(&figure(&measures, "lateness_max"), &[5123.0, 5123.0]);
    assert!(measures.findings.is_empty() && !measures.metrics.contains_key("headroom"));
    let steps: Vec<String> = measures.series["by_step"].iter().map(|row| row.at.to_string()).collect();
    assert_eq!((steps.len(), steps[0].as_str(), steps[9].as_str()), (10, "step=receive", "step=send"));
    near(&measures.series["by_step"][1].values.trials.concat(), &[108.0, 108.0]);
}

#[test]
fn nodes_are_told_apart_and_add_up() {
    let settings = settings(toy(4), Mode::Paced, Threads::Core);
    let slow = Try { done: 0.5, late: 500, ..IN_TIME };
    let mut all = samples(&settings.scenario, 0, 2, &IN_TIME);
    all.extend(samples(&settings.scenario, 3, 2, &slow));
    let measures = reduce::of(&settings, &[place()], &[part(0, all, json!({}))]).unwrap();
    near(&figure(&measures, "achieved"), &[75.0]);
    near(&figure(&measures, "late"), &[25.0]);
    let late: Vec<_> = measures.series["late_by_node"].iter().map(|row| row.values.trials.concat()).collect();
    assert_eq!(late, [[0.0], [50.0]]);
    assert_eq!(measures.series["by_node"][1].at.to_string(), "node=3");
    assert!(!measures.metrics.contains_key("lateness_p99"), "nothing is known of it");
}

#[test]
fn late_counts_blocks_and_the_evidence_averages_steps_as_the_original_does() {
    let settings = settings(toy(1), Mode::Paced, Threads::Core);
    let mut all = samples(&settings.scenario, 0, 1, &IN_TIME);
    let of = |channel: &'static str| {
        move |sample: &&mut Sample| sample.channel == channel && sample.at.text("step") == Ok("look")
    };
    all.iter_mut().find(of("due")).unwrap().amount = "100".parse().unwrap();
    all.iter_mut().find(of("late")).unwrap().amount = "20".parse().unwrap();
    let measures = reduce::of(&settings, &[place()], &[part(0, all, json!({}))]).unwrap();
    near(&figure(&measures, "late"), &[100.0 * 20.0 / 3100.0]);
    assert_eq!(measures.evidence["late_mean_of_steps_percent"], json!([5.0]));
}

#[test]
fn the_fastest_pace_that_is_kept_is_the_headroom() {
    let settings = settings(toy(1), Mode::Max, Threads::Core);
    let kept = |pace, late| Try { pace, late, ..IN_TIME };
    let first: &[Try] = &[kept(2.0, 2), kept(4.0, 900), kept(3.0, 3), kept(2.5, 0)];
    let second: &[Try] = &[kept(3.0, 2)];
    let measures = reduced(&settings, &[first, second]).unwrap();
    near(&figure(&measures, "headroom"), &[2.5, 3.0]);
    let desired = settings.scenario.desired().value();
    near(&figure(&measures, "throughput"), &[2.5 * desired, 3.0 * desired]);
    near(&figure(&measures, "late"), &[0.0, 0.2]);
    assert!(!measures.metrics.contains_key("achieved"));
}

#[test]
fn a_search_that_keeps_no_pace_or_has_no_time_makes_no_number() {
    let settings = settings(toy(1), Mode::Max, Threads::Core);
    let reason = reduced(&settings, &[&[Try { late: 3, ..IN_TIME }]]).unwrap_err();
    assert_eq!(reason.cause, Cause::TooShort);
    assert!(reason.text.contains("no pace was kept"), "{reason}");
    let reason = reduced(&settings, &[&[]]).unwrap_err();
    assert!(reason.text.contains("no trial completed a round"), "{reason}");
}

#[test]
fn a_search_cut_short_says_that_there_may_be_more() {
    let settings = settings(toy(1), Mode::Max, Threads::Core);
    let samples = samples(&settings.scenario, 0, 1, &IN_TIME);
    let kinds = |untried: serde_json::Value| {
        let part = part(0, samples.clone(), json!({ "search": { "untried": untried } }));
        let findings = reduce::of(&settings, &[place()], &[part]).unwrap().findings;
        findings.into_iter().map(|finding| finding.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(json!(1.5)), ["search-cut-short"]);
    assert!(kinds(json!(null)).is_empty());
}

#[test]
fn a_pace_that_is_not_kept_is_explained_by_the_time_on_cpus() {
    let settings = settings(toy(1), Mode::Paced, Threads::Core);
    let explained = |cpus| {
        let behind = Try { done: 0.9, cpus, ..IN_TIME };
        let mut findings = reduced(&settings, &[&[behind]]).unwrap().findings;
        assert_eq!((findings.len(), findings[0].kind.as_str()), (1, "behind-pace"));
        findings.remove(0).text
    };
    let busy = explained(1.99);
    assert!(
        busy.starts_with("90.00 % of the demand was reached") && busy.contains("the CPUs all the time"),
        "{busy}"
    );
    let kept_away = explained(1.2);
    assert!(
        kept_away.contains("for only 60 % of the CPU time") && kept_away.contains("sched=fifo:1"),
        "{kept_away}"
    );
    let enough = Try { done: 0.9976, ..IN_TIME };
    assert!(reduced(&settings, &[&[enough]]).unwrap().findings.is_empty());
}
