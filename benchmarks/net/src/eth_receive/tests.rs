//! The planned cases and their load.

use seatrial_model::machine::{Known, Nic, NicKind};
use seatrial_model::{Case, Site, SiteNode};

use super::BENCHMARK;
use crate::rig;

fn nic(name: &str, mbit: u64, network: &str) -> Nic {
    Nic {
        name: name.to_owned(),
        kind: NicKind::Physical,
        up: Known::Known(true),
        speed_mbit_s: Known::Known(mbit),
        mtu: Known::Known(9000),
        networks: Known::Known(vec![network.to_owned()]),
        ..Nic::default()
    }
}

fn node(name: &str, nics: Vec<Nic>) -> SiteNode {
    let mut node = seatrial_testkit::node(name, 16);
    node.machine.nics = Known::Known(nics);
    node
}

fn planned(nics: &[Nic]) -> Vec<Case> {
    let params = rig::params(&BENCHMARK, &[]);
    let site = Site { nodes: ["n1", "n2"].map(|name| node(name, nics.to_vec())).to_vec() };
    BENCHMARK.plan(&params, &site).expect("a plan")
}

#[test]
fn the_first_node_receives_and_its_port_is_what_is_measured() {
    let cases = planned(&[nic("eth0", 1_000, "10.0.0.0/24"), nic("eth1", 10_000, "10.1.0.0/24")]);
    let subjects: Vec<_> = cases.iter().map(|case| case.subject.as_str().to_owned()).collect();
    assert_eq!(subjects, ["nic:eth0", "nic:eth1"], "one case a port");
    assert_ne!(cases[0].id, cases[1].id);
    let case = &cases[1];
    let places: Vec<_> = case.places.iter().map(|place| (place.part.as_str(), place.node.as_str())).collect();
    assert_eq!(places, [("receiver", "n1"), ("sender", "n2")]);
    assert_eq!(case.facts.text("speed"), Ok("10 Gbit/s"), "a profile selects by it");
    assert_eq!(case.planned.count("threads"), Ok(12), "one a flow, where there are cores");
    let only = planned(&[nic("eth1", 10_000, "10.1.0.0/24")]);
    assert_eq!((only.len(), only[0].subject.as_str()), (1, "nic:eth1"));
}

#[test]
fn every_port_is_tested_whatever_the_names_at_the_sender() {
    let own = vec![nic("enp94s0f0", 10_000, "10.0.0.0/24"), nic("enp94s0f1", 10_000, "10.1.0.0/24")];
    let down = Nic { up: Known::Known(false), ..nic("enp94s0f2", 10_000, "10.1.0.0/24") };
    let mut receiver = node("n1", [own, vec![nic("eno1", 1_000, "10.9.0.0/24"), down]].concat());
    receiver.on.set("speed", "10 Gbit/s");
    let peers =
        [("ens1f0", 10_000, "10.0.0.0/24"), ("ens1f1", 10_000, "10.1.0.0/24"), ("em1", 1_000, "10.9.0.0/24")];
    let sender = node("s1", peers.map(|(name, mbit, network)| nic(name, mbit, network)).to_vec());
    let site = Site { nodes: vec![receiver, sender] };
    let cases = BENCHMARK.plan(&rig::params(&BENCHMARK, &[]), &site).expect("a plan");
    let pairs: Vec<_> = cases
        .iter()
        .map(|case| (case.subject.as_str(), case.planned.text("peer_interface").expect("planned")))
        .collect();
    assert_eq!(pairs, [("nic:enp94s0f0", "ens1f0"), ("nic:enp94s0f1", "ens1f1")]);
}

#[test]
fn the_load_is_more_than_what_is_demanded_and_less_than_the_port_carries() {
    let case = &planned(&[nic("eth1", 10_000, "10.1.0.0/24")])[0];
    let flows = case.params.count("flows").expect("a number") as f64;
    let rate: seatrial_model::Quantity = case.params.text("rate").expect("a rate").parse().expect("reads");
    assert!(flows * rate.value() > 9.0);
    let site = Site {
        nodes: vec![
            node("n1", vec![nic("eth1", 10_000, "10.1.0.0/24")]),
            node("n2", vec![nic("eth1", 10_000, "10.1.0.0/24")]),
        ],
    };
    let limit = BENCHMARK.limits(case, &site).remove("throughput").expect("a limit");
    let record = limit
        .record(seatrial_model::Better::Higher, seatrial_model::Unit::GigabitsPerSecond)
        .expect("of the dimension");
    let bound = record.value.expect("a bound");
    // 8900 of 8966 bytes on the wire.
    assert!((bound - 10.0 * 8900.0 / 8966.0).abs() < 1e-9, "{bound}");
    assert!(flows * rate.value() < bound);
}
