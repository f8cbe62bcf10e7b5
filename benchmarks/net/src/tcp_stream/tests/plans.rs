//! Planned cases, their CPUs, and the limits of the path.

use seatrial_model::{Better, Cause, Limit, Site, Unit};

use super::rig::{node, params, planned, with_card};
use crate::tcp_stream::BENCHMARK;

fn cpus(case: &seatrial_model::Case, place: usize) -> Vec<u32> {
    case.places[place].bindings.iter().map(|binding| binding.cpu).collect()
}

#[test]
fn two_nodes_are_client_and_server_and_one_is_both() {
    let pair = planned(vec![node("n1"), node("n2")], &[]);
    assert_eq!(pair.subject.as_str(), "n1->n2");
    let ends: Vec<_> = pair.places.iter().map(|place| (place.part.as_str(), place.node.as_str())).collect();
    assert_eq!(ends, [("client", "n1"), ("server", "n2")]);
    assert_eq!(planned(vec![node("n1")], &[]).subject.as_str(), "nic:lo");
}

#[test]
fn every_flow_has_a_core_of_its_own_at_both_ends() {
    let alone = planned(vec![node("n1")], &[("flows", "2")]);
    assert_eq!((cpus(&alone, 0), cpus(&alone, 1)), (vec![0, 1], vec![2, 3]));
    let pair = planned(vec![node("n1"), node("n2")], &[("flows", "2"), ("direction", "both")]);
    assert_eq!((cpus(&pair, 0), cpus(&pair, 1)), (vec![0, 1, 2, 3], vec![0, 1, 2, 3]));
    let free = planned(vec![node("n1")], &[("affinity", "none")]);
    assert!(cpus(&free, 0).is_empty());
    let listed = planned(vec![node("n1"), node("n2")], &[("affinity", "3,1"), ("flows", "3")]);
    assert_eq!(cpus(&listed, 1), [1, 3, 1]);
}

#[test]
fn cpus_that_cannot_be_had_are_refused_with_the_reason() {
    let site = Site { nodes: vec![node("n1")] };
    for (affinity, cause, word) in [
        ("17", Cause::Contradiction, "CPU 17 does not exist"),
        ("near", Cause::Contradiction, "it is auto, none, far"),
        ("far", Cause::Inapplicable, "no NUMA node"),
    ] {
        let reason = BENCHMARK.plan(&params(&[("affinity", affinity)]), &site).expect_err("refused");
        assert!(reason.cause == cause && reason.text.contains(word), "{affinity}: {reason}");
    }
    for both in [
        [("protocol", "sctp"), ("send", "sendfile")],
        [("protocol", "mptcp"), ("receive", "zerocopy")],
        [("protocol", "sctp"), ("mtu", "1500")],
    ] {
        let reason = BENCHMARK.plan(&params(&both), &site).expect_err("refused");
        assert_eq!(reason.cause, Cause::Contradiction, "{both:?}: {reason}");
    }
}

#[test]
fn the_slower_end_bounds_what_is_left_after_headers() {
    let nodes = vec![with_card("n1", 9000), with_card("n2", 1500)];
    let site = Site { nodes: nodes.clone() };
    let case = planned(nodes.clone(), &[]);
    let limit = |case: &seatrial_model::Case, metric: &str| {
        let record = BENCHMARK.limits(case, &site)[metric].record(Better::Higher, Unit::GigabitsPerSecond);
        record.expect("of the dimension").value
    };
    // 10 Gbit/s x 1448 / 1538: the smaller MTU counts, as both ends must agree to it.
    let one_way = limit(&case, "throughput").expect("known");
    assert!((one_way - 10.0 * 1448.0 / 1538.0).abs() < 1e-9, "{one_way}");
    assert_eq!(limit(&case, "forward"), None);
    let smaller = planned(nodes.clone(), &[("mtu", "1000")]);
    let smaller = limit(&smaller, "throughput").expect("known");
    assert!((smaller - 10.0 * 948.0 / 1038.0).abs() < 1e-9, "{smaller}");
    let both = planned(nodes, &[("direction", "both")]);
    assert_eq!(limit(&both, "throughput"), Some(2.0 * one_way));
    assert_eq!(limit(&both, "reverse"), Some(one_way));
}

#[test]
fn without_a_wire_there_is_no_limit_and_the_reason_says_so() {
    let nodes = vec![node("n1")];
    let limits = BENCHMARK.limits(&planned(nodes.clone(), &[]), &Site { nodes });
    let Limit::Unknown { reason } = &limits["throughput"] else { panic!("{limits:?}") };
    assert!(reason.contains("loopback"), "{reason}");
}
