//! Metrics from invented samples.

use seatrial_model::{Binding, Nanos, Params, PartRecord, Quantity, Sample, Unit};
use serde_json::json;

use super::rig::case;
use crate::file::BENCHMARK;

pub fn samples(thread: u64, slices: &[(u64, u64, u64, u64)]) -> Vec<Sample> {
    let mut at = Params::default();
    at.set("thread", thread);
    let sample = |channel: &str, start, end, megabytes: u64| Sample {
        channel: channel.to_owned(),
        at: at.clone(),
        start: Nanos::millis(start),
        end: Nanos::millis(end),
        amount: Quantity::new(megabytes as f64 * 1e6, Unit::Byte).expect("finite"),
    };
    let both = |&(start, end, read, written): &(u64, u64, u64, u64)| {
        [sample("read", start, end, read), sample("written", start, end, written)]
    };
    slices.iter().flat_map(both).collect()
}

pub fn record(samples: Vec<Sample>, evidence: serde_json::Value) -> PartRecord {
    PartRecord {
        evidence: serde_json::from_value(evidence).expect("a map"),
        ..seatrial_testkit::part(samples)
    }
}

#[test]
fn only_the_time_that_all_threads_work_counts() {
    let folder = std::path::Path::new("/x");
    let case = case(folder, &[("operation", "mixed"), ("threads", "2")]);
    // The first thread reads 10 MB every 100 ms from 1.0 s, the second writes 20 MB every 100 ms from 1.1 s; both
    // stop at 1.3 s and wait for their requests.
    let mut all =
        samples(0, &[(1000, 1100, 10, 0), (1100, 1200, 10, 0), (1200, 1300, 10, 0), (1300, 1500, 1, 0)]);
    all.extend(samples(1, &[(1100, 1200, 0, 20), (1200, 1300, 0, 20), (1300, 1400, 0, 1)]));
    let threads = json!([
        { "stopped_ns": 300_000_000, "flush_ns": 0 },
        { "stopped_ns": 300_000_000, "flush_ns": 600_000_000 },
    ]);
    let evidence =
        json!({ "threads": threads, "start_ns": 1_000_000_000, "cpu_ns": 5_000_000, "requests": 1000 });
    let measures = BENCHMARK.reduce(&case, &[record(all, evidence)]).expect("numbers");
    let of = |name: &str| &measures.metrics[name].trials[0];
    let near = |values: &[f64], wanted: &[f64]| {
        assert_eq!(values.len(), wanted.len(), "{values:?}");
        assert!(
            values.iter().zip(wanted).all(|(is, must)| (is - must).abs() < 1e-6),
            "{values:?} {wanted:?}"
        );
    };
    near(of("throughput"), &[300.0, 300.0]);
    near(of("read"), &[100.0, 100.0]);
    near(of("written"), &[200.0, 200.0]);
    near(of("iops"), &[300e6 / 16384.0, 300e6 / 16384.0]);
    // 41 MB from 1.0 s to 1.4 s, and 0.6 s of flushing.
    near(of("durable"), &[41.0]);
    near(of("flush"), &[600_000.0]);
    near(of("cpu_per_io"), &[5.0]);
    near(of("fairness"), &[(20.0_f64 + 40.0).powi(2) / (2.0 * (400.0 + 1600.0))]);
    assert!(!measures.metrics.contains_key("latency"), "nobody measured any");
}

#[test]
fn samples_from_outside_cost_no_more_memory_than_they_have_themselves() {
    let case = case(std::path::Path::new("/x"), &[]);
    let mut far = samples(0, &[(1000, 1100, 10, 0), (1100, 1200, 10, 0)]);
    far.extend(samples((1 << 60) - 1, &[(1000, 1100, 10, 0)]));
    BENCHMARK.reduce(&case, &[record(far, json!({}))]).unwrap_err();
    // As if it had lasted for 500 years.
    let mut long = samples(0, &[(0, 100, 10, 0), (100, 200, 10, 0)]);
    long.last_mut().expect("four").end = Nanos(u64::MAX);
    long[2].end = Nanos(u64::MAX);
    let measures = BENCHMARK.reduce(&case, &[record(long, json!({}))]).expect("numbers");
    assert!(measures.metrics["throughput"].trials[0].len() <= 1 << 20);
}

#[test]
fn a_throttle_and_a_cache_are_found() {
    let case = case(std::path::Path::new("/x"), &[]);
    let evidence = json!({
        "throttle": { "read_bytes_per_s": 20_971_520, "written_bytes_per_s": null },
        "moved": { "source": "device", "read_per_byte": 0.4 },
    });
    let measures =
        BENCHMARK.reduce(&case, &[record(samples(0, &[(0, 100, 10, 0)]), evidence)]).expect("numbers");
    let kinds: Vec<_> = measures.findings.iter().map(|finding| finding.kind.to_string()).collect();
    assert_eq!(kinds, ["storage-throttled", "read-from-elsewhere"]);
    let sound = json!({ "throttle": null, "moved": { "source": "device", "read_per_byte": 1.01 } });
    let measures =
        BENCHMARK.reduce(&case, &[record(samples(0, &[(0, 100, 10, 0)]), sound)]).expect("numbers");
    assert!(measures.findings.is_empty());
}

#[test]
fn a_client_whose_cpus_are_busy_all_the_time_is_named_as_the_limit() {
    let found = |cpu_ms: u64, polled: bool, cpus: &[u32]| {
        let mut case = case(std::path::Path::new("/x"), &[("threads", "2")]);
        let on = |&cpu: &u32| Binding { cpu, node: 0, domain: 0, memory: None };
        case.places[0].bindings = cpus.iter().map(on).collect();
        let mut all = samples(0, &[(0, 1000, 10, 0)]);
        all.extend(samples(1, &[(0, 1000, 10, 0)]));
        let requests = 20_000_000 / (16 << 10);
        let engine = json!({ "ring": { "polled": polled } });
        let evidence = json!({ "cpu_ns": cpu_ms * 1_000_000, "requests": requests, "engine": engine });
        let measures = BENCHMARK.reduce(&case, &[record(all, evidence)]).expect("numbers");
        measures.findings.into_iter().map(|one| one.text).collect::<Vec<_>>()
    };
    let told = found(1800, false, &[0, 1]);
    assert!(told[0].contains("2 threads kept 2 of its CPUs busy 90 % of the time, 1475 us"), "{told:?}");
    assert_eq!(found(1600, false, &[0, 1]), [""; 0], "80 %");
    assert_eq!(found(1800, true, &[0, 1]), [""; 0], "polling is always busy");
    assert_eq!(found(950, false, &[3, 3]).len(), 1, "both threads have one CPU");
    assert_eq!(found(1800, false, &[]), [""; 0], "the CPUs are not known");
}

#[test]
fn blocks_written_for_the_first_time_and_again_are_told_apart_where_their_rates_are() {
    let of = |operation: &str, again: u64, second_pass: &[u64]| {
        let (operation, overwrite) = operation.split_once(' ').unwrap_or((operation, "false"));
        let changed = [("operation", operation), ("overwrite", overwrite), ("threads", "2")];
        let case = case(std::path::Path::new("/x"), &changed);
        let mut all = Vec::new();
        for thread in 0..2 {
            let new = (1000..1300).step_by(100).map(|at| (at, at + 100, 0, 10));
            let later = (1300..1600).step_by(100).map(|at| (at, at + 100, 0, again));
            all.extend(samples(thread, &new.chain(later).collect::<Vec<_>>()));
        }
        let thread = |ns: &u64| json!({ "stopped_ns": 600_000_000, "second_pass_ns": ns });
        let threads: Vec<_> = second_pass.iter().map(thread).collect();
        let evidence = json!({ "start_ns": 1_000_000_000, "threads": threads });
        let measures = BENCHMARK.reduce(&case, &[record(all, evidence)]).expect("numbers");
        measures.findings.into_iter().map(|one| (one.kind.to_string(), one.text)).collect::<Vec<_>>()
    };
    let told = of("write", 30, &[300_000_000, 300_000_000]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].0, "first-writes");
    assert!(
        told[0].1.starts_with("the first write of every block ran at 200 MB/s, later writes at 600 MB/s")
    );
    assert_eq!(of("write", 10, &[300_000_000, 300_000_000]), [], "both are alike");
    assert_eq!(of("write", 30, &[300_000_000, 560_000_000]), [], "one of them had hardly begun again");
    assert_eq!(of("mixed", 30, &[300_000_000, 300_000_000]), [], "these were laid out before");
    assert_eq!(of("write true", 30, &[300_000_000, 300_000_000]), [], "these too");
    assert!(
        told[0].1.ends_with("first writes with -p work=once, later writes with -p overwrite=true"),
        "{told:?}"
    );
}

fn in_rounds(rates: &[u64]) -> PartRecord {
    let mut all = Vec::new();
    for (round, rate) in (0_u64..).zip(rates) {
        let start = 1000 + 200 * round;
        for mut sample in samples(0, &[(start, start + 100, 0, rate / 10)]) {
            sample.at.set("round", round);
            all.push(sample);
        }
    }
    let facts = (0_u64..rates.len() as u64).map(|round| {
        let start = (1000 + 200 * round) * 1_000_000;
        json!({ "start_ns": start, "threads": [{ "stopped_ns": 100_000_000 }], "requests": 1, "cpu_ns": round * 1000 })
    });
    record(all, json!({ "rounds": facts.collect::<Vec<_>>() }))
}

#[test]
fn only_steady_rounds_count_and_the_others_are_told() {
    let folder = std::path::Path::new("/x");
    let case = case(folder, &[("operation", "write"), ("steady", "true")]);
    let kinds = |measures: &seatrial_model::Measures| {
        measures.findings.iter().map(|finding| finding.kind.to_string()).collect::<Vec<_>>()
    };
    let falls_then_stays = in_rounds(&[900, 600, 300, 100, 100, 110, 100, 90, 100, 100, 100, 100, 100]);
    let measures = BENCHMARK.reduce(&case, &[falls_then_stays]).expect("numbers");
    assert_eq!(measures.metrics["throughput"].trials, [[100.0, 100.0, 110.0, 100.0, 90.0]]);
    assert_eq!(measures.metrics["cpu_per_io"].trials, [[3.0, 4.0, 5.0, 6.0, 7.0]]);
    assert_eq!(measures.series["by_round"].len(), 13);
    assert_eq!(measures.series["by_thread"][0].values.trials[0].len(), 5);
    assert_eq!(measures.evidence["steady"][0]["reached_after_rounds"], 8);
    assert!(kinds(&measures).is_empty());
    let never = in_rounds(&[900, 700, 500, 400, 300, 200]);
    let measures = BENCHMARK.reduce(&case, &[never]).expect("numbers");
    assert_eq!(measures.metrics["throughput"].trials, [[700.0, 500.0, 400.0, 300.0, 200.0]]);
    assert_eq!(kinds(&measures), ["steady-state-not-reached"]);
    let left = in_rounds(&[100, 100, 100, 100, 100, 100, 40]);
    let measures = BENCHMARK.reduce(&case, &[left]).expect("numbers");
    assert_eq!(measures.metrics["throughput"].trials, [[100.0; 5]]);
    assert_eq!(kinds(&measures), ["steady-state-left"]);
}

#[test]
fn a_round_in_which_nobody_worked_is_not_steady_and_none_of_the_figures() {
    let case = case(std::path::Path::new("/x"), &[("operation", "write"), ("steady", "true")]);
    let mut part = in_rounds(&[100, 100, 100, 100, 100, 100, 100]);
    part.samples.retain(|sample| sample.at.count("round") != Ok(3));
    let measures = BENCHMARK.reduce(&case, &[part]).expect("numbers");
    assert_eq!(measures.metrics["throughput"].trials, [[100.0; 4]]);
    assert_eq!(measures.series["by_round"][3].values.trials, [[0.0]]);
    assert_eq!(measures.evidence["steady"][0]["reached_after_rounds"], serde_json::Value::Null);
}
