//! Exact numbers from made-up samples.

use seatrial_model::{
    Case, Cause, Evidence, Fact, LastFlows, Nanos, Params, PartRecord, Quantity, Sample, Unit,
};
use serde_json::json;

use super::rig::{alone, metrics};
use crate::tcp_stream::BENCHMARK;
use crate::tcp_stream::bottleneck::Shares;

/// A slice of a flow, in milliseconds and megabytes.
fn slice(direction: &str, flow: u64, start: u64, end: u64, megabytes: f64) -> Sample {
    let mut at = Params::default();
    at.set("direction", direction);
    at.set("flow", flow);
    Sample {
        channel: "received".to_owned(),
        at,
        start: Nanos::millis(start),
        end: Nanos::millis(end),
        amount: Quantity::new(megabytes, Unit::Megabyte).expect("finite"),
    }
}

fn record(part: &str, trial: u32, samples: Vec<Sample>, evidence: Evidence) -> PartRecord {
    PartRecord {
        part: part.to_owned(),
        index: u32::from(part == "server"),
        trial,
        evidence,
        ..seatrial_testkit::part(samples)
    }
}

fn case(flows: &str, direction: &str) -> Case {
    alone(&[("flows", flows), ("direction", direction)])
}

/// Slices of 50 ms from `start` to `end` at this rate in Gbit/s.
pub fn steady(direction: &str, flow: u64, start: u64, end: u64, gbit: f64) -> Vec<Sample> {
    let megabytes = gbit * 125.0 * 0.05;
    (start..end).step_by(50).map(|at| slice(direction, flow, at, at + 50, megabytes)).collect()
}

fn near(values: &[f64], wanted: &[f64]) {
    assert_eq!(values.len(), wanted.len(), "{values:?}");
    for (value, wanted) in values.iter().zip(wanted) {
        assert!((value - wanted).abs() < 1e-9, "{values:?} is not {wanted:?}");
    }
}

#[test]
fn flows_are_summed_over_the_time_that_all_have() {
    // One flow starts late, the other ends early: what each moved alone does not count.
    let mut samples = steady("forward", 0, 0, 900, 4.0);
    samples.extend(steady("forward", 1, 200, 1000, 2.0));
    let records = [record("server", 0, samples, Evidence::new())];
    let found = metrics(&case("2", "forward"), &records);
    near(&found["throughput"], &[6.0; 7]);
    near(&found["slowest"], &[6.0]);
    near(&found["fairness"], &[36.0 / 40.0]);
    let series = BENCHMARK.reduce(&case("2", "forward"), &records).expect("numbers").series;
    let rates: Vec<f64> = series["by_flow"].iter().flat_map(|row| row.values.trials.concat()).collect();
    near(&rates, &[4.0, 2.0]);
}

#[test]
fn a_window_that_cuts_a_slice_takes_its_part_of_it() {
    let mut samples = vec![slice("forward", 0, 0, 300, 30.0), slice("forward", 0, 300, 400, 50.0)];
    samples.push(slice("forward", 1, 150, 350, 0.0));
    let records = [record("server", 0, samples, Evidence::new())];
    // From 150 to 350 ms: 15 MB and 25 MB in two intervals of 100 ms: 10 MB, then 5 MB and 25 MB.
    near(&metrics(&case("2", "forward"), &records)["throughput"], &[0.8, 2.4]);
}

#[test]
fn a_stall_shows_wherever_it_lies() {
    // 100 ms without data, across the border of two intervals: each loses half of it, the slowest 100 ms all of it.
    let mut samples = steady("forward", 0, 0, 350, 8.0);
    samples.push(slice("forward", 0, 350, 450, 0.0));
    samples.extend(steady("forward", 0, 450, 800, 8.0));
    let records = [record("server", 0, samples, Evidence::new())];
    let found = metrics(&case("1", "forward"), &records);
    near(&found["slowest"], &[0.0]);
    near(&found["throughput"], &[8.0, 8.0, 8.0, 4.0, 4.0, 8.0, 8.0, 8.0]);
}

#[test]
fn both_directions_are_summed_on_their_own_clocks() {
    let records = [
        record("client", 0, steady("reverse", 0, 60_000, 61_000, 3.0), Evidence::new()),
        record("server", 0, steady("forward", 0, 0, 1000, 5.0), Evidence::new()),
    ];
    let found = metrics(&case("1", "both"), &records);
    near(&found["throughput"], &[8.0; 10]);
    near(&found["forward"], &[5.0; 10]);
    near(&found["reverse"], &[3.0; 10]);
    near(&found["fairness"], &[64.0 / 68.0]);
}

#[test]
fn directions_that_were_not_measured_for_equally_long_are_both_counted_whole() {
    let mut reverse = steady("reverse", 0, 60_000, 60_500, 2.0);
    reverse.extend(steady("reverse", 0, 60_500, 61_000, 4.0));
    let records = [
        record("client", 0, reverse, Evidence::new()),
        record("server", 0, steady("forward", 0, 0, 700, 5.0), Evidence::new()),
    ];
    let found = metrics(&case("1", "both"), &records);
    let mean = |name: &str| found[name].iter().sum::<f64>() / found[name].len() as f64;
    // Intervals begin and end at whole nanoseconds.
    assert!((mean("reverse") - 3.0).abs() < 1e-6 && (mean("throughput") - 8.0).abs() < 1e-6, "{found:?}");
    assert_eq!(found["throughput"].len(), 7);
}

#[test]
fn a_flow_that_is_missing_or_alone_in_its_time_makes_no_number() {
    let refused = |flows, samples| {
        let records = [record("server", 0, samples, Evidence::new())];
        BENCHMARK.reduce(&case(flows, "forward"), &records).expect_err("no number")
    };
    let reason = refused("2", steady("forward", 0, 0, 1000, 4.0));
    assert_eq!(reason.cause, Cause::TooShort);
    assert!(reason.text.contains("only 1 of 2 flows forward"), "{reason}");
    let mut samples = steady("forward", 0, 0, 1000, 4.0);
    samples.extend(steady("forward", 1, 800, 1800, 4.0));
    assert!(refused("2", samples).text.contains("did not run at the same time"));
}

pub fn end(sends: bool, cpu: u64, retransmits: u64) -> serde_json::Value {
    json!({
        "way": "forward", "flow": 0, "sends": sends, "method": "write", "cpu": 0, "window_ns": 1_000_000_000_u64,
        "bytes": 500_000_000, "user_ns": 0, "system_ns": cpu * 10_000_000, "waited_ns": 0, "socket": {},
        "tcp": {
            "busy_ns": 1_000_000_000, "rwnd_limited_ns": 900_000_000, "sndbuf_limited_ns": 0, "retransmits": retransmits,
            "segments": 1000, "rtt_us": 250, "min_rtt_us": 40, "send_window": 65536,
        },
        "zero_copied": null, "mapped_bytes": null,
    })
}

fn told(end: &serde_json::Value, busy_ms: u64) -> Evidence {
    let host = json!({ "window_ns": 1_000_000_000_u64, "busy_ns": busy_ms * 1_000_000 });
    [("ends".to_owned(), json!([end])), ("host".to_owned(), host)].into_iter().collect()
}

#[test]
fn effort_and_the_kernels_counts_stand_beside_the_rate() {
    let mut client = record("client", 0, Vec::new(), told(&end(true, 20, 7), 500));
    let mut server = record("server", 0, steady("forward", 0, 0, 1000, 4.0), told(&end(false, 40, 0), 800));
    (client.node, server.node) = ("n1".to_owned(), "n2".to_owned());
    let found = metrics(&case("1", "forward"), &[client.clone(), server.clone()]);
    near(&found["retransmits"], &[7.0]);
    near(&found["rtt"], &[250.0]);
    near(&found["rtt_min"], &[40.0]);
    near(&found["sender_cpu"], &[20.0]);
    near(&found["receiver_cpu"], &[40.0]);
    near(&found["sender_host"], &[50.0]);
    near(&found["receiver_host"], &[80.0]);
    near(&found["sender_per_core"], &[8.0]);
    near(&found["receiver_per_core"], &[5.0]);
    // A node without the value makes the metric unknown, not 0.
    server.evidence.remove("host");
    let found = metrics(&case("1", "forward"), &[client, server]);
    assert!(!found.contains_key("receiver_host") && found.contains_key("sender_host"), "{found:?}");
}

#[test]
fn what_held_most_flows_up_is_found_and_what_did_not_is_not() {
    let records = |cpu| {
        [
            record("client", 0, Vec::new(), told(&end(true, 20, 0), 500)),
            record("server", 0, steady("forward", 0, 0, 1000, 4.0), told(&end(false, cpu, 0), 500)),
        ]
    };
    let measures = BENCHMARK.reduce(&case("1", "forward"), &records(30)).expect("numbers");
    let [finding] = measures.findings.as_slice() else { panic!("{:?}", measures.findings) };
    assert_eq!(finding.kind, "limited-by-receive-window");
    assert!(
        finding.text.contains("of 65536 B") && finding.text.contains("90 % of the time"),
        "{}",
        finding.text
    );
    assert_eq!(measures.evidence["limited_by"], json!({ "receive-window": 1 }));
    let lost = measures.evidence[LastFlows::NAME][0]["shares"]["lost"].as_f64();
    assert!(lost.is_some(), "{:?}", measures.evidence);
    assert_eq!(LastFlows::of(&measures.evidence).expect("flows").0[0].shares.lost, lost);
    // The receiver's CPU is busy, which closes its window: no finding.
    let measures = BENCHMARK.reduce(&case("1", "forward"), &records(97)).expect("numbers");
    assert_eq!(measures.findings, []);
    assert_eq!(measures.evidence["limited_by"], json!({ "receiver-cpu": 1 }));
}

#[test]
fn what_came_twice_was_sent_twice_or_duplicated_on_the_way() {
    let shares = |retransmits: u64, twice: u64| {
        let mut sender = end(true, 20, retransmits);
        sender["tcp"]["spurious"] = twice.into();
        let [sender, receiver] =
            [sender, end(false, 15, 0)].map(|end| serde_json::from_value(end).expect("an end"));
        let shares = Shares::of(&sender, &receiver);
        [shares.lost, shares.duplicated, shares.reordered]
            .map(|share| share.map(|share| (1000.0 * share).round()))
    };
    assert_eq!(shares(0, 20), [Some(0.0), Some(20.0), Some(0.0)]);
    assert_eq!(shares(20, 20), [Some(0.0), Some(0.0), Some(20.0)]);
    // A few are no sign.
    assert_eq!(shares(20, 5), [Some(15.0), Some(0.0), Some(0.0)]);
}
