//! Tests of the choice of interfaces.

use seatrial_model::machine::{Known, Machine, Nic, NicKind};
use seatrial_model::{Cause, Params, SiteNode};

use super::{INTERFACE, PEER_INTERFACE, choose};

fn nic(name: &str, kind: NicKind, mbit: Option<u64>, network: &str) -> Nic {
    Nic {
        name: name.to_owned(),
        kind,
        up: Known::Known(true),
        speed_mbit_s: mbit.map_or_else(Known::default, Known::Known),
        networks: Known::Known(vec![network.to_owned()]),
        ..Nic::default()
    }
}

fn node(name: &str, nics: Vec<Nic>) -> SiteNode {
    SiteNode::new(name, Machine { nics: Known::Known(nics), ..Machine::default() })
}

/// An interface for the administration, a fast one, and a bridge of containers.
fn server(name: &str) -> SiteNode {
    let nics = vec![
        nic("docker0", NicKind::Bridge, Some(400_000), "172.17.0.0/16"),
        nic("eno1", NicKind::Physical, Some(1_000), "10.0.0.0/16"),
        nic("ens1", NicKind::Physical, Some(100_000), "10.1.0.0/16"),
        nic("lo", NicKind::Loopback, None, "127.0.0.0/8"),
    ];
    node(name, nics)
}

/// The same server with other names.
fn renamed(name: &str) -> SiteNode {
    let nics = vec![
        nic("em1", NicKind::Physical, Some(1_000), "10.0.0.0/16"),
        nic("p1p1", NicKind::Physical, Some(100_000), "10.1.0.0/16"),
    ];
    node(name, nics)
}

fn params(interface: &str, peer: &str) -> Params {
    let asked = [(INTERFACE.name, interface), (PEER_INTERFACE.name, peer)];
    asked.map(|(name, value)| (name.to_owned(), value.into())).into_iter().collect()
}

/// `ens1 p1p1`, or the reason.
fn chosen(first: &SiteNode, second: &SiteNode, interface: &str, peer: &str) -> String {
    match choose(first, second, &params(interface, peer)) {
        Ok(Some(pair)) => format!("{} {}", pair.first.name, pair.second.name),
        Ok(None) => "none".to_owned(),
        Err(reason) => {
            assert!([Cause::Inapplicable, Cause::Missing, Cause::Contradiction].contains(&reason.cause));
            reason.text
        }
    }
}

#[test]
fn auto_takes_the_fastest_way_that_both_have() {
    assert_eq!(chosen(&server("n1"), &server("n2"), "auto", "auto"), "ens1 ens1");
    assert_eq!(chosen(&server("n1"), &renamed("n2"), "auto", "auto"), "ens1 p1p1");
    let slow = node("n3", vec![nic("eth0", NicKind::Physical, Some(10_000), "10.0.0.0/16")]);
    assert_eq!(chosen(&server("n1"), &slow, "auto", "auto"), "eno1 eth0");
}

#[test]
fn auto_chooses_among_the_interfaces_that_the_test_selects() {
    let mut first = server("n1");
    first.on.set("kind", "nic");
    first.on.set("speed", "1 Gbit/s");
    assert_eq!(chosen(&first, &renamed("n2"), "auto", "auto"), "eno1 em1");
    first.on.set("speed", "10 Gbit/s");
    assert_eq!(chosen(&first, &renamed("n2"), "auto", "auto"), "ens1 p1p1", "what is there instead");
}

#[test]
fn a_network_names_an_interface_on_both_nodes() {
    assert_eq!(chosen(&server("n1"), &renamed("n2"), "10.0.0.0/16", "auto"), "eno1 em1");
    assert_eq!(chosen(&server("n1"), &renamed("n2"), "10.0.0.0/8", "auto"), "ens1 p1p1");
    let missing = chosen(&server("n1"), &renamed("n2"), "10.168.0.0/16", "auto");
    assert!(missing.starts_with("n1 has no interface in 10.168.0.0/16; it has docker0 (172.17"), "{missing}");
    let typo = chosen(&server("n1"), &renamed("n2"), "10.168/33", "auto");
    assert!(typo.contains("interface=10.168/33 is no network"), "{typo}");
}

#[test]
fn a_name_alone_means_the_interface_of_that_name_or_else_one_in_its_network() {
    assert_eq!(chosen(&server("n1"), &server("n2"), "eno1", "auto"), "eno1 eno1");
    assert_eq!(chosen(&server("n1"), &renamed("n2"), "eno1", "auto"), "eno1 em1");
    let moved = node("n2", vec![nic("eno1", NicKind::Physical, None, "10.9.0.0/16")]);
    assert_eq!(chosen(&server("n1"), &moved, "eno1", "auto"), "eno1 eno1", "routes may connect them");
    let other = node("n2", vec![nic("em1", NicKind::Physical, None, "10.9.0.0/16")]);
    let missing = chosen(&server("n1"), &other, "eno1", "auto");
    assert!(missing.starts_with("n2 has no interface in a network of eno1 on n1; it has em1"), "{missing}");
}

#[test]
fn each_node_may_have_its_own_name() {
    assert_eq!(chosen(&server("n1"), &renamed("n2"), "eno1", "p1p1"), "eno1 p1p1");
    assert_eq!(chosen(&server("n1"), &renamed("n2"), "auto", "em1"), "eno1 em1");
    assert_eq!(chosen(&server("n1"), &renamed("n2"), "auto", "10.1.0.0/16"), "ens1 p1p1");
}

#[test]
fn an_interface_that_is_not_there_is_named_with_those_that_are() {
    let missing = chosen(&server("n1"), &server("n2"), "ens7", "auto");
    assert!(
        missing.starts_with("n1 has no interface ens7; it has docker0 (172.17.0.0/16), eno1"),
        "{missing}"
    );
    let missing = chosen(&server("n1"), &server("n2"), "ens1", "ens7");
    assert!(missing.starts_with("n2 has no interface ens7; it has docker0"), "{missing}");
}

#[test]
fn a_bridge_counts_when_it_has_a_port_to_the_outside() {
    let mut bridge = nic("br0", NicKind::Bridge, None, "10.2.0.0/16");
    bridge.lower = vec!["ens1".to_owned()];
    let port = Nic { networks: Known::Known(Vec::new()), ..nic("ens1", NicKind::Physical, Some(1), "") };
    let host = |name| node(name, vec![bridge.clone(), port.clone()]);
    let mut first = host("n1");
    assert_eq!(chosen(&first, &host("n2"), "auto", "auto"), "br0 br0");
    first.on.set("name", "br0");
    assert_eq!(chosen(&first, &host("n2"), "auto", "auto"), "br0 br0", "a port is looked up among all");
}

#[test]
fn nodes_without_a_network_in_common_are_left_to_their_routes() {
    let other = node("n2", vec![nic("eth0", NicKind::Physical, None, "192.168.0.0/24")]);
    assert_eq!(chosen(&server("n1"), &other, "auto", "auto"), "none");
}

#[test]
fn a_node_that_does_not_tell_its_interfaces_takes_names_and_no_networks() {
    let silent = SiteNode::new("n2", Machine::default());
    assert_eq!(chosen(&server("n1"), &silent, "eno1", "auto"), "none");
    let refused = chosen(&server("n1"), &silent, "10.1.0.0/16", "auto");
    assert!(refused.contains("so none in 10.1.0.0/16 can be chosen"), "{refused}");
}
