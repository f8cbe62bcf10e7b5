//! The exchange in this process, and records by hand.

use std::collections::BTreeSet;
use std::time::Duration;

use seatrial_bench::all_to_all::FlowBytes;
use seatrial_bench::testing::{Kept, at_once, connect_all};
use seatrial_bench::{Endpoint, Part, Running, Stop};
use seatrial_model::{
    Addresses, AgreedStart, Case, Cause, Fact, Integrity, Nanos, PartRecord, Phase, Quantity, Sample, Site,
    SiteNode,
};
use serde_json::json;

use super::BENCHMARK;
use super::part::{Config, prepare_with};
use crate::rig::{anywhere, params};
use seatrial_testkit::node;

fn case(nodes: usize, changed: &[(&str, &str)]) -> Case {
    let site = Site { nodes: (1..=nodes).map(|at| node(&format!("n{at}"), 4)).collect::<Vec<SiteNode>>() };
    BENCHMARK.plan(&params(&BENCHMARK, changed), &site).expect("a plan").remove(0)
}

#[test]
fn one_case_has_a_part_on_every_node_and_says_how_many() {
    let planned = case(5, &[("per_node", "2")]);
    let nodes: Vec<&str> = planned.places.iter().map(|place| place.node.as_str()).collect();
    assert_eq!(nodes, ["n1", "n1", "n2", "n2", "n3", "n3", "n4", "n4", "n5", "n5"]);
    assert_eq!(planned.id.as_str(), "net.all_to_all@n[1-5]/nodes:5[per_node=2]");
    assert_eq!(planned.planned.count("parts"), Ok(10));
    let own = planned.for_part(&planned.places[7]);
    assert_eq!((own.nodes.as_slice(), own.places.len()), (&["n4".to_owned()][..], 1));
}

#[test]
fn a_part_a_core_is_as_many_as_the_node_with_the_fewest_cores_has() {
    let site = Site { nodes: vec![node("n1", 4), node("n2", 3), node("n3", 6)] };
    let planned =
        BENCHMARK.plan(&params(&BENCHMARK, &[("per_node", "cores")]), &site).expect("a plan").remove(0);
    assert_eq!(planned.params.count("per_node"), Ok(3));
    assert_eq!((planned.places.len(), planned.planned.count("parts")), (9, Ok(9)));
    for node in ["n1", "n2", "n3"] {
        let own = planned.places.iter().filter(|place| place.node == node);
        let by_part: Vec<BTreeSet<u32>> =
            own.map(|place| place.bindings.iter().map(|binding| binding.cpu).collect()).collect();
        let all: BTreeSet<u32> = by_part.iter().flatten().copied().collect();
        assert_eq!(
            all.len(),
            by_part.iter().map(BTreeSet::len).sum::<usize>(),
            "two parts share a core: {by_part:?}"
        );
    }
}

#[test]
fn one_node_is_no_exchange() {
    let site = Site { nodes: vec![node("n1", 4)] };
    let refused = BENCHMARK.plan(&params(&BENCHMARK, &[]), &site).expect_err("one node");
    assert!(refused.text.starts_with("net.all_to_all needs 2 nodes"), "{}", refused.text);
}

#[test]
fn all_parts_move_verified_data_at_the_same_time() {
    for changed in [vec![], vec![("shift", "2")], vec![("per_node", "2"), ("threads", "2")]] {
        let case = anywhere(case(4, &changed));
        let parts = case.places.iter().map(|place| {
            Part::new(&case.for_part(place), place, |case, place| {
                let mut config = Config::of(case, place)?;
                config.endpoint = Endpoint::tcp(None, true);
                prepare_with(config)
            })
        });
        let mut meshes = connect_all(parts, &[]).expect("connected");
        // Long enough that a busy machine gives every thread a turn.
        let run = |mesh: &mut Box<dyn Running>, phase| {
            let mut kept = Kept::default();
            mesh.run(phase, &Stop::after(Duration::from_secs(1)), &mut kept).expect("runs");
            kept
        };
        at_once(&mut meshes, &[], |mesh| run(mesh, Phase::WarmUp));
        let kept = at_once(&mut meshes, &[], |mesh| run(mesh, Phase::Measure));
        let verified = at_once(&mut meshes, &[], |mesh| mesh.verify().expect("verifies"));
        let records: Vec<PartRecord> = case
            .places
            .iter()
            .zip(kept.into_iter().zip(verified))
            .map(|(place, (kept, integrity))| {
                // The end of each of its flows is compared, and the beginning of slices before.
                assert!(
                    matches!(integrity, Integrity::Verified { checked } if checked > 8192),
                    "{integrity:?}"
                );
                kept.record(place, integrity)
            })
            .collect();
        let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
        assert!(measures.metrics["slowest_node"].trials[0][0] > 0.0);
        assert_eq!(measures.series["by_node"].len(), 8);
        let addresses = Addresses::of(&measures.evidence).expect("that of each node");
        assert_eq!(addresses.0.keys().collect::<Vec<_>>(), ["n1", "n2", "n3", "n4"]);
        let pairs = if changed.first() == Some(&("shift", "2")) { 4 } else { 12 };
        assert_eq!(measures.series["by_flow"].len(), pairs);
    }
}

/// A record of a part that received so many bytes in a second, from the part before it in the ring, from that before...
fn record(index: u32, received: &[u64]) -> PartRecord {
    let begin = 1_000 * u64::from(index);
    let span = (Nanos(begin), Nanos(begin + 1_000_000_000));
    let at = [("thread", 0_u64.into())].into();
    PartRecord {
        part: "node".to_owned(),
        index,
        node: format!("n{}", index + 1),
        evidence: [(
            "received".to_owned(),
            json!([FlowBytes { window_ns: 1_000_000_000, bytes: received.to_vec() }]),
        )]
        .into(),
        ..seatrial_testkit::part(vec![Sample::new(
            "received",
            at,
            span,
            Quantity::bytes(received.iter().sum()),
        )])
    }
}

#[test]
fn rates_follow_from_the_bytes_and_the_slow_node_is_named() {
    let case = case(3, &[]);
    // n2 sends a tenth of what the others send: 12.5 MB/s are 0.1 Gbit/s.
    let (full, tenth) = (125_000_000, 12_500_000);
    let records = [record(0, &[full, tenth]), record(1, &[full, full]), record(2, &[tenth, full])];
    let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
    let metric = |name: &str| measures.metrics[name].trials[0].clone();
    let close = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-9, "{value} is not {wanted}");
    assert_eq!(metric("throughput").len(), 10);
    metric("throughput").into_iter().for_each(|rate| close(rate, 4.2));
    close(metric("slowest_flow")[0], 0.1);
    close(metric("slowest_node")[0], 0.2);
    close(metric("slowest_exchange")[0], 0.2);
    close(metric("fairness")[0], 4.2 * 4.2 / (6.0 * (4.0 + 2.0 * 0.01)));
    let [finding] = measures.findings.as_slice() else { panic!("{:?}", measures.findings) };
    assert_eq!((finding.kind.as_str(), finding.node.as_deref()), ("slowest-node", Some("n2")));
    assert_eq!(finding.text, "n2 sends 0.200 Gbit/s, and half of the nodes 2.000 Gbit/s or more");
    let flows: Vec<String> = measures.series["by_flow"].iter().map(|row| row.at.to_string()).collect();
    assert_eq!(flows[..2], ["from=n1,to=n2", "from=n1,to=n3"]);
}

#[test]
fn a_narrow_link_between_two_halves_shows_in_the_exchange_and_not_in_the_sum_of_a_node() {
    let case = case(4, &[]);
    // n1 and n2 on one side, n3 and n4 on the other; the flow within a side takes what the link leaves.
    let (within, across) = (225_000_000, 12_500_000);
    // Each node receives from the nodes before it in the list, the nearest first.
    let (first, last) = ([within, across, across], [across, across, within]);
    let records = [record(0, &last), record(1, &first), record(2, &last), record(3, &first)];
    let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
    let metric = |name: &str| measures.metrics[name].trials[0][0];
    assert!((metric("slowest_node") - 2.0).abs() < 1e-9, "{}", metric("slowest_node"));
    assert!((metric("slowest_exchange") - 0.3).abs() < 1e-9, "{}", metric("slowest_exchange"));
}

#[test]
fn nodes_that_are_alike_have_no_slow_one_and_a_missing_part_makes_no_number() {
    let case = case(3, &[]);
    let even = |index: u32| record(index, &[100_000 + u64::from(index), 100_000]);
    let measures = BENCHMARK.reduce(&case, &[even(0), even(1), even(2)]).expect("numbers");
    assert_eq!(measures.findings, []);
    let short = BENCHMARK.reduce(&case, &[even(0), even(1)]).expect_err("a part is missing");
    assert_eq!(short.cause, Cause::TooShort);
}

/// A record of a part that was to begin at `zero` ms by its clock, began `late` ms after that, and received so many MB in each
/// 100 ms from then on.
fn agreed(index: u32, zero: u64, late: u64, megabytes: &[u64]) -> PartRecord {
    let sample = |(at, megabytes): (u64, &u64)| {
        let start = zero + late + 100 * at;
        let span = (Nanos::millis(start), Nanos::millis(start + 100));
        Sample::new(
            "received",
            [("thread", 0_u64.into())].into(),
            span,
            Quantity::bytes(megabytes * 1_000_000),
        )
    };
    let mut record = record(index, &[megabytes.iter().sum::<u64>() * 1_000_000]);
    record.samples = (0..).zip(megabytes).map(sample).collect();
    AgreedStart(zero * 1_000_000).put(&mut record.evidence);
    record
}

#[test]
fn nodes_that_began_apart_are_summed_in_the_time_in_which_all_ran() {
    let case = case(2, &[]);
    // n1 receives from 0 to 500 ms, n2 from 200 to 600 ms, by clocks that have nothing in common.
    let records = [agreed(0, 7_000, 0, &[90, 90, 10, 20, 30]), agreed(1, 900_000, 200, &[1, 2, 3, 90])];
    let measures = BENCHMARK.reduce(&case, &records).expect("numbers");
    // All ran from 200 to 500 ms: 11, 22 and 33 MB in 0.1 s each.
    let throughput = &measures.metrics["throughput"].trials[0];
    let wanted = [0.88, 1.76, 2.64];
    assert_eq!(throughput.len(), wanted.len(), "{throughput:?}");
    for (rate, wanted) in throughput.iter().zip(wanted) {
        assert!((rate - wanted).abs() < 1e-9, "{rate} is not {wanted}");
    }
    let spread = json!([{ "starts_apart_ns": 200_000_000, "ends_apart_ns": 100_000_000, "all_worked_ns": 300_000_000 }]);
    assert_eq!(measures.evidence["common_time"], spread);
    // Less than half of the time of the longest in common: a sum would mix different times.
    let apart = [agreed(0, 0, 0, &[9, 9, 9]), agreed(1, 0, 200, &[9, 9, 9])];
    assert_eq!(BENCHMARK.reduce(&case, &apart).expect_err("no common time").cause, Cause::TooShort);
    // Where the clock of a node is not known, the time of each counts from its own start, and no spread is told.
    let mut unknown = records.clone();
    unknown[1].evidence.remove("agreed_ns");
    let measures = BENCHMARK.reduce(&case, &unknown).expect("numbers");
    assert_eq!(measures.metrics["throughput"].trials[0].len(), 4, "0 to 400 ms of both");
    assert!(!measures.evidence.contains_key("common_time"));
}
