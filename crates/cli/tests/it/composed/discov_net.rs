//! The lecture's cluster: two nodes with three Gigabit Ethernet cards, and a bond of three more.

use serde_json::{Value, json};

use super::parts::{amount, known, nic, of_nic, of_node, ping_pong, setting, streams};
use super::{Fault, System, hold};
use crate::rig::machine;

const MEMBERS: [&str; 3] = ["eth3", "eth4", "eth5"];

fn bond() -> Value {
    let mut bond = nic("bond0", "ethernet", 3000, 9000, "10.9.0.0/16");
    bond["kind"] = "bond".into();
    bond["lower"] = json!(MEMBERS);
    bond["bond"] = json!({ "mode": known("balance-rr"), "hash_policy": known("layer2") });
    bond
}

fn node(name: &str) -> Value {
    let mut machine = machine();
    let mut nics = vec![bond()];
    nics.extend(
        (0..3).map(|card| nic(&format!("eth{card}"), "ethernet", 1000, 9000, &format!("10.{card}.0.0/16"))),
    );
    nics.extend(MEMBERS.map(|name| {
        let mut member = nic(name, "ethernet", 1000, 9000, "");
        member["networks"] = known(json!([]));
        member["master"] = "bond0".into();
        member
    }));
    machine["nics"] = known(nics);
    let settings = [
        "net.rmem_consistent",
        "net.wmem_consistent",
        "net.rcvbuf_at_least_sndbuf",
        "net.ipv4.tcp_window_scaling",
    ];
    let mut settings = settings.map(|id| setting(id, "node", &of_node(), true)).to_vec();
    settings.push(setting("state.bond_members_up", "nic:bond0", &of_nic(&bond()), true));
    json!({ "name": name, "machine": machine, "settings": settings })
}

fn packets(forward: f64, reverse: f64) -> Vec<Value> {
    [("forward", forward), ("reverse", reverse)].map(|(way, size)| amount(way, json!({}), "B", size)).to_vec()
}

/// The lecture's best figures, and members of the bond that take turns.
fn sound() -> System {
    let of = |case: &str, flows: u64, gbit: f64| json!({ "when": { "case": case }, "samples": streams("forward", flows, gbit) });
    let rules = vec![
        json!({ "when": { "bench": "net.mtu" }, "samples": packets(9000.0, 9000.0) }),
        json!({ "when": { "case": "ping-pong:*" }, "samples": ping_pong(28.0, 0.96) }),
        // On the fastest interface, the bond.
        json!({ "when": { "bench": "net.pingpong" }, "samples": ping_pong(28.0, 2.5) }),
        of("rails:*rails=2*", 3, 1.9),
        of("rails:*rails=3*", 3, 2.9),
        of("rails:*rails=1*", 3, 0.98),
        of("bond:*flows=3*", 3, 2.9),
        of("bond:*flows=2*", 2, 2.9),
        of("bond:*", 1, 2.9),
        of("buffers:*", 1, 0.98),
    ];
    System { command: "discov-net", nodes: vec![node("n1"), node("n2")], rules }
}

#[test]
fn a_sound_network_passes_and_each_planted_fault_is_a_row() {
    hold(
        sound,
        &[
            Fault {
                name: "a switch that drops jumbo frames",
                plant: |system| system.instead(json!({ "bench": "net.mtu" }), packets(9000.0, 1500.0)),
                exit: 1,
                rows: &[
                    "frames n1 n1->n2 fail",
                    "frames n2 n2->n1 fail",
                    "jumbo-frames n1 n1->n2 warn",
                    "jumbo-frames n2 n2->n1 warn",
                ],
            },
            Fault {
                name: "packets of 1500 B everywhere",
                plant: |system| {
                    for node in ["n1", "n2"] {
                        for name in ["bond0", "eth0", "eth1", "eth2", "eth3", "eth4", "eth5"] {
                            system.part(node, "nics", name)["mtu"] = known(1500);
                        }
                    }
                    system.instead(json!({ "bench": "net.mtu" }), packets(1500.0, 1500.0));
                    system.instead(json!({ "case": "ping-pong:*" }), ping_pong(28.0, 0.93));
                    for (case, flows) in [("bond:*", 1), ("bond:*flows=2*", 2), ("bond:*flows=3*", 3)] {
                        system.instead(json!({ "case": case }), streams("forward", flows, 2.8));
                    }
                },
                exit: 1,
                rows: &[
                    "gigabit-ping-pong n1 n1->n2 fail",
                    "gigabit-ping-pong n2 n2->n1 fail",
                    "jumbo-frames n1 n1->n2 warn",
                    "jumbo-frames n2 n2->n1 warn",
                ],
            },
            Fault {
                name: "interrupts that are held back",
                plant: |system| {
                    system.instead(json!({ "case": "ping-pong:*n1->n2*" }), ping_pong(110.0, 0.96));
                },
                exit: 1,
                rows: &["gigabit-latency n1 n1->n2 fail"],
            },
            Fault {
                name: "a bond that is worse than its members",
                plant: |system| {
                    system.instead(json!({ "case": "bond:*n1->n2*flows=3*" }), streams("forward", 3, 0.7));
                },
                exit: 1,
                rows: &["bond n1 n1->n2 fail"],
            },
            Fault {
                name: "a receive buffer below the send buffer",
                plant: |system| system.set("n2", "net.rcvbuf_at_least_sndbuf", false),
                exit: 1,
                rows: &["net.rcvbuf_at_least_sndbuf n2 node fail"],
            },
            Fault {
                name: "a member of the bond without a link",
                plant: |system| {
                    system.set("n2", "state.bond_members_up", false);
                    for (case, flows) in [("bond:*", 1), ("bond:*flows=2*", 2), ("bond:*flows=3*", 3)] {
                        system.instead(json!({ "case": case }), streams("forward", flows, 1.9));
                    }
                },
                exit: 1,
                rows: &[
                    "bond n1 n1->n2 fail",
                    "bond n2 n2->n1 fail",
                    "state.bond_members_up n2 nic:bond0 fail",
                ],
            },
        ],
    );
}

#[test]
fn cards_that_bring_nothing_together_are_a_finding() {
    let is_told = |system: &System| {
        let document = system.check("-o json").exits(0).document();
        document.findings.iter().any(|finding| finding.kind == "bond-worth")
    };
    let mut system = sound();
    assert!(!is_told(&system), "two and three cards carry twice and three times as much");
    system.instead(json!({ "case": "rails:*rails=2*" }), streams("forward", 3, 1.1));
    assert!(is_told(&system));
}
