//! Metrics from invented samples, with exact numbers.

use seatrial_model::machine::DiskBus;
use seatrial_model::{Cause, Evidence, Nanos, Params, PartRecord, Sample};
use serde_json::json;

use super::{disk, planned, site};
use crate::raw::BENCHMARK;
use seatrial_bench::Latencies;

/// A slice of 100 ms at `rate` MB/s.
fn slice(channel: &str, axis: &str, at: u64, rate: u64) -> Sample {
    let mut place = Params::default();
    place.set(axis, at);
    let amount = format!("{} B", rate * 100_000).parse().expect("bytes");
    Sample { channel: channel.to_owned(), at: place, start: Nanos(0), end: Nanos::millis(100), amount }
}

fn part(trial: u32, samples: Vec<Sample>, evidence: Evidence) -> PartRecord {
    PartRecord { trial, evidence, ..seatrial_testkit::part(samples) }
}

#[test]
fn the_slowest_zone_is_the_headline_and_both_ends_have_their_own() {
    let case = planned(&site(vec![disk("sda", DiskBus::Sata)]), &[]).expect("a plan").remove(0);
    let trial = |number| {
        // The middle is slower than the end, as with sectors that are read again and again.
        let rates = [(0, 200), (25, 180), (50, 90), (75, 140), (100, 110)];
        let slices =
            |(at, rate)| [slice("alone", "position", at, rate), slice("alone", "position", at, rate)];
        part(number, rates.into_iter().flat_map(slices).collect(), Evidence::new())
    };
    let measures = BENCHMARK.reduce(&case, &[trial(0), trial(1)]).expect("figures");
    assert_eq!(measures.metrics["throughput"].trials, [[90.0, 90.0], [90.0, 90.0]]);
    assert_eq!(measures.metrics["first"].trials[0], [200.0, 200.0]);
    assert_eq!(measures.metrics["last"].trials[0], [110.0, 110.0]);
    assert_eq!(measures.evidence["slowest_position"], 50);
    assert_eq!(measures.series["by_zone"].len(), 5);
    let ahead = part(
        0,
        vec![slice("alone", "position", 0, 200), slice("alone", "position", 25, 180)],
        Evidence::new(),
    );
    let measures = BENCHMARK.reduce(&case, &[ahead]).expect("figures");
    assert!(measures.metrics.contains_key("first") && !measures.metrics.contains_key("last"));
}

#[test]
fn disks_that_share_a_way_show_it_in_the_ratio() {
    let disks = vec![disk("sda", DiskBus::Sata), disk("sdb", DiskBus::Sata)];
    let case = planned(&site(disks), &[("together", "true")]).expect("a plan").remove(0);
    let of = |channel, disk, rate| slice(channel, "disk", disk, rate);
    let samples = vec![
        of("alone", 0, 200),
        of("alone", 1, 100),
        of("together", 0, 80),
        of("together", 1, 70),
        of("together", 0, 80),
        of("together", 1, 70),
        // The slice that only one disk has counts for its row and for no sum.
        of("together", 0, 200),
    ];
    let measures = BENCHMARK.reduce(&case, &[part(0, samples, Evidence::new())]).expect("figures");
    assert_eq!(measures.metrics["throughput"].trials, [[150.0, 150.0]]);
    assert_eq!(measures.metrics["alone"].trials, [[300.0]]);
    assert_eq!(measures.metrics["sharing"].trials, [[0.5]]);
    assert_eq!(measures.series["by_disk"].len(), 2);
}

#[test]
fn a_limit_of_a_control_group_and_bytes_from_elsewhere_are_told() {
    let case = planned(&site(vec![disk("sda", DiskBus::Sata)]), &[]).expect("a plan").remove(0);
    let mut evidence = Evidence::new();
    evidence.insert("path".to_owned(), json!([{ "disk": "sda", "asked_bytes": 1000, "counted_bytes": 10 }]));
    let throttle = json!({ "read_bytes_s": 20_971_520, "reads_s": null });
    evidence.insert("disks".to_owned(), json!([{ "name": "sda", "throttle": throttle }]));
    let samples = vec![slice("alone", "position", 0, 20)];
    let measures = BENCHMARK.reduce(&case, &[part(0, samples, evidence)]).expect("figures");
    let kinds: Vec<_> = measures.findings.iter().map(|finding| finding.kind.as_str()).collect();
    assert_eq!(kinds, ["path-unconfirmed", "throttled-by-control-group"]);
    assert!(measures.findings[1].text.contains("sda (B/s: 20971520"));
}

#[test]
fn nothing_read_is_no_number() {
    for changed in [&[][..], &[("together", "true")]] {
        let disks = vec![disk("sda", DiskBus::Sata), disk("sdb", DiskBus::Sata)];
        let case = planned(&site(disks), changed).expect("a plan").remove(0);
        let reason = BENCHMARK.reduce(&case, &[part(0, Vec::new(), Evidence::new())]).expect_err("nothing");
        assert_eq!(reason.cause, Cause::TooShort);
    }
}

#[test]
fn random_reads_are_counted_in_requests_and_timed_one_by_one() {
    let changed = [("pattern", "random"), ("block", "4 KiB"), ("depth", "1")];
    let case = planned(&site(vec![disk("sda", DiskBus::Sata)]), &changed).expect("a plan").remove(0);
    let mut latencies = Latencies::default();
    (1..=10_000).for_each(|number| latencies.record(Nanos(1_000 * number)));
    let trial = |number| {
        let samples = vec![slice("random", "position", 0, 4096), slice("random", "position", 0, 2048)];
        part(number, samples, [("latencies".to_owned(), latencies.to_evidence())].into())
    };
    let measures = BENCHMARK.reduce(&case, &[trial(0), trial(1)]).expect("figures");
    assert_eq!(measures.metrics["throughput"].trials, [[4096.0, 2048.0], [4096.0, 2048.0]]);
    assert_eq!(measures.metrics["iops"].trials[0], [1_000_000.0, 500_000.0]);
    let near = |name: &str, wanted: f64| {
        let is = measures.metrics[name].trials[1][0];
        assert!((is / wanted - 1.0).abs() < 0.01, "{name}: {is}");
    };
    near("latency", 5_000.0);
    near("p99", 9_900.0);
    near("slowest", 10_000.0);
    assert!(!measures.metrics.contains_key("first") && measures.series.is_empty());
}
