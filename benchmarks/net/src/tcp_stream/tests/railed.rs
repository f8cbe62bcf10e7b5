//! Flows over several interfaces: their distribution, and the sum of the limits.

use seatrial_model::machine::{Known, Nic, PciDevice};
use seatrial_model::{Better, Cause, Evidence, Params, PartRecord, Reason, Site, SiteNode, Unit};
use serde_json::json;

use super::figures::{end, steady};
use super::rig::{params, with_card};
use crate::tcp_stream::BENCHMARK;
use crate::tcp_stream::config::TcpStreamConfig;

/// Two cards in separate networks: 10 Gbit/s, and one of this rate; the second has its interrupts on CPU 0.
fn node_with_rails(name: &str, mbit: u64) -> SiteNode {
    let mut node = with_card(name, 1500);
    let first = node.machine.nics.known().expect("told")[0].clone();
    let second = Nic {
        name: "eth1".to_owned(),
        speed_mbit_s: Known::Known(mbit),
        networks: Known::Known(vec!["192.168.0.0/24".to_owned()]),
        irq_cpus: Known::Known(vec![0]),
        pci: Known::Known(PciDevice::default()),
        ..first.clone()
    };
    let first = Nic { irq_cpus: Known::Known(vec![1]), ..first };
    node.machine.nics = Known::Known(vec![first, second]);
    node
}

fn site() -> Site {
    Site { nodes: vec![node_with_rails("n1", 25_000), node_with_rails("n2", 25_000)] }
}

fn planned(changed: &[(&str, &str)]) -> Result<seatrial_model::Case, Reason> {
    Ok(BENCHMARK.plan(&params(changed), &site())?.remove(0))
}

#[test]
fn the_limit_is_the_sum_of_the_rails() {
    let case = planned(&[("rails", "eth0+eth1"), ("flows", "2")]).expect("a plan");
    let limits = BENCHMARK.limits(&case, &site());
    let record =
        limits["throughput"].record(Better::Higher, Unit::GigabitsPerSecond).expect("of the dimension");
    let value = record.value.expect("known");
    assert!((value - 35.0 * 1448.0 / 1538.0).abs() < 1e-6, "{value}");
    assert_eq!(case.planned.text("interface"), Ok("eth0+eth1"));
}

#[test]
fn rails_cross_over_to_other_interfaces_of_the_second_node() {
    let case = planned(&[("rails", "eth0:eth1+eth1:eth0"), ("flows", "2")]).expect("a plan");
    assert_eq!(case.planned.text("interface"), Ok("eth0+eth1"));
    assert_eq!(case.planned.text("peer_interface"), Ok("eth1+eth0"));
    for (place, names) in case.places.iter().zip([["eth0", "eth1"], ["eth1", "eth0"]]) {
        let config = TcpStreamConfig::of(&case, place).expect("a configuration");
        assert_eq!(config.rails, names, "{}", place.node);
    }
    // Each rail has the 10 Gbit/s of its slower end.
    let limits = BENCHMARK.limits(&case, &site());
    let record = limits["throughput"].record(Better::Higher, Unit::GigabitsPerSecond).expect("a rate");
    assert!((record.value.expect("known") - 20.0 * 1448.0 / 1538.0).abs() < 1e-6, "{record:?}");
}

#[test]
fn cross_is_each_rail_to_the_next_one_of_the_second_node() {
    let equal = |name| node_with_rails(name, 10_000);
    let site = Site { nodes: vec![equal("n1"), equal("n2")] };
    let plan = |flows: &str, site: &Site| {
        Ok::<_, Reason>(BENCHMARK.plan(&params(&[("rails", "cross"), ("flows", flows)]), site)?.remove(0))
    };
    let case = plan("2", &site).expect("a plan");
    let ends = ["interface", "peer_interface"].map(|end| case.planned.text(end).expect("names").to_owned());
    assert_eq!(ends, ["eth0+eth1", "eth1+eth0"]);
    let few = plan("1", &site).expect_err("one flow");
    assert!(few.text.contains("rails=eth0:eth1+eth1:eth0: 1 flows do not use all interfaces"), "{few}");
    let unlike =
        plan("2", &Site { nodes: vec![node_with_rails("n1", 25_000), equal("n2")] }).expect_err("one card");
    assert_eq!(unlike.cause, Cause::Inapplicable);
    assert!(unlike.text.starts_with("rails=cross: n1 and n2 have at most 1 cards of one speed"), "{unlike}");
}

#[test]
fn each_flow_sits_next_to_its_own_rail_and_off_its_interrupts() {
    let case = planned(&[("rails", "eth0+eth1"), ("flows", "2")]).expect("a plan");
    let cpus: Vec<u32> = case.places[0].bindings.iter().map(|binding| binding.cpu).collect();
    // CPU 1 serves the first rail and CPU 0 the second: both flows avoid both.
    assert_eq!(cpus, [2, 3]);
    assert_eq!(case.planned.flag("off_irq_cores"), Ok(true));
}

#[test]
fn a_number_is_of_cards_of_one_speed_that_both_nodes_have() {
    let equal = || node_with_rails("n1", 10_000);
    let site = |first: SiteNode| Site { nodes: vec![first, node_with_rails("n2", 10_000)] };
    let plan = |count: &str, site: &Site| {
        Ok::<_, Reason>(BENCHMARK.plan(&params(&[("rails", count), ("flows", "3")]), site)?.remove(0))
    };
    let case = plan("2", &site(equal())).expect("a plan");
    assert_eq!(case.planned.text("interface"), Ok("eth0+eth1"));
    let faster = plan("2", &site(node_with_rails("n1", 25_000))).expect_err("one of two speeds");
    let three = plan("3", &site(equal())).expect_err("two cards");
    assert_eq!((faster.cause, three.cause), (Cause::Inapplicable, Cause::Inapplicable));
    assert!(three.text.contains("at most 2 cards of one speed, name and network (eth0, eth1)"), "{three}");
    assert_eq!(plan("1", &site(equal())).expect("a card").planned.text("interface"), Ok("eth0"));
    assert_eq!(plan("0", &site(equal())).expect_err("no path").cause, Cause::Contradiction);
}

#[test]
fn rails_that_cannot_be_had_are_refused_with_the_reason() {
    for (changed, cause, word) in [
        (
            vec![("rails", "eth0,eth7"), ("flows", "2")],
            Cause::Inapplicable,
            "n1 has no interface eth7; it has eth0, eth1",
        ),
        (vec![("rails", "eth0+eth1")], Cause::Contradiction, "set -p flows=2 or more"),
        (vec![("rails", "eth0,eth0"), ("flows", "2")], Cause::Contradiction, "different interfaces"),
        (vec![("rails", "eth0,"), ("flows", "2")], Cause::Contradiction, "different interfaces"),
        (
            vec![("rails", "eth0:eth1+eth1"), ("flows", "2")],
            Cause::Contradiction,
            "rails=eth0:eth1+eth1: list different interfaces",
        ),
        (vec![("rails", "eth0:eth7"), ("flows", "1")], Cause::Inapplicable, "n2 has no interface eth7"),
        (
            vec![("rails", "eth0"), ("interface", "eth1")],
            Cause::Contradiction,
            "interface= names a different path",
        ),
    ] {
        let reason = planned(&changed).expect_err("refused");
        assert!(reason.cause == cause && reason.text.contains(word), "{changed:?}: {reason}");
    }
    let alone = Site { nodes: vec![node_with_rails("n1", 25_000)] };
    let reason = BENCHMARK.plan(&params(&[("rails", "eth0"), ("flows", "1")]), &alone).expect_err("refused");
    assert_eq!(reason.cause, Cause::Missing);
}

#[test]
fn rates_are_told_rail_by_rail() {
    let case = planned(&[("rails", "eth0+eth1"), ("flows", "3")]).expect("a plan");
    let samples =
        [(0, 1.0), (1, 4.0), (2, 2.0)].map(|(flow, gbit)| steady("forward", flow, 0, 500, gbit)).concat();
    let part = PartRecord {
        part: "server".to_owned(),
        index: 1,
        node: "n2".to_owned(),
        ..seatrial_testkit::part(samples)
    };
    let measures = BENCHMARK.reduce(&case, &[part]).expect("numbers");
    let rails: Vec<(Params, f64)> =
        measures.series["by_rail"].iter().map(|row| (row.at.clone(), row.values.trials[0][0])).collect();
    assert_eq!(rails.iter().map(|(at, _)| at.count("rail")).collect::<Vec<_>>(), [Ok(0), Ok(1)]);
    assert!((rails[0].1 - 3.0).abs() < 1e-9 && (rails[1].1 - 4.0).abs() < 1e-9, "{rails:?}");
}

#[test]
fn each_rail_is_to_be_proved_by_its_own_bytes() {
    let case = planned(&[("rails", "eth0+eth1"), ("flows", "3")]).expect("a plan");
    let samples = [0, 1, 2].map(|flow| steady("forward", flow, 0, 500, 1.0)).concat();
    let ends = [(0, 100), (1, 40), (2, 7)].map(|(flow, bytes)| {
        let mut end = end(false, 0, 0);
        (end["flow"], end["bytes"], end["socket"]) =
            (json!(flow), json!(bytes), json!({ "receive_buffer": 10 }));
        end
    });
    let part = PartRecord {
        part: "server".to_owned(),
        index: 1,
        node: "n2".to_owned(),
        evidence: Evidence::from([("ends".to_owned(), json!(ends))]),
        ..seatrial_testkit::part(samples)
    };
    let measures = BENCHMARK.reduce(&case, &[part]).expect("numbers");
    let row = |rail: &str, bytes: u64, buffered: u64| {
        json!({
            "from": "n1", "to": "n2", "bytes": bytes, "buffered": buffered,
            "sender": { "interface": rail }, "receiver": { "interface": rail },
        })
    };
    assert_eq!(measures.evidence["moved"], json!([row("eth0", 107, 20), row("eth1", 40, 10)]));
}
