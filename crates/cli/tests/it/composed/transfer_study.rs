//! The study's two servers: 100 Gbit/s Ethernet with jumbo frames, and QDR InfiniBand.

use serde_json::{Value, json};

use super::parts::{bytes, hca, known, nic, of_nic, of_node, ping_pong, setting, streams};
use super::{Fault, System, hold};
use crate::rig::machine;

fn server(name: &str) -> Value {
    let mut machine = machine();
    let nics = [
        nic("eth0", "ethernet", 100_000, 9000, "10.1.0.0/16"),
        nic("ib0", "infiniband", 40_000, 65_520, "10.2.0.0/16"),
    ];
    let mut settings = vec![
        setting("cpu.governor", "node", &of_node(), "performance"),
        setting("net.ipv4.tcp_rmem", "node", &of_node(), "4 KiB, 87380 B, 2147483647 B"),
        setting("net.ipv4.tcp_wmem", "node", &of_node(), "4 KiB, 64 KiB, 2147483647 B"),
        setting("net.core.default_qdisc", "node", &of_node(), "fq"),
    ];
    for nic in &nics {
        let subject = format!("nic:{}", nic["name"].as_str().unwrap_or_default());
        settings.push(setting("nic.irq_local", &subject, &of_nic(nic), true));
    }
    machine["nics"] = known(json!(nics));
    machine["hcas"] = known(json!([hca("mlx4_0", "QDR", 40.0, &["ib0"])]));
    json!({ "name": name, "machine": machine, "settings": settings })
}

fn sizes(gbit: f64) -> Vec<Value> {
    let moved = |(size, share): (&str, f64)| {
        bytes("moved", json!({ "direction": "forward", "size": size }), gbit * share * 1e9 / 8.0)
    };
    [("1 B", 0.001), ("4 KiB", 0.6), ("1 MiB", 1.0), ("4 MiB", 1.0)].map(moved).to_vec()
}

/// The study's own figures where it has some.
fn sound() -> System {
    let mut rules = vec![
        json!({ "when": { "bench": "rdma.send_bw" }, "samples": sizes(30.0) }),
        json!({ "when": { "case": "layer-tcp:*" }, "samples": ping_pong(15.0, 14.0) }),
        json!({ "when": { "case": "layer-verbs:*" }, "samples": ping_pong(2.0, 29.0) }),
        json!({ "when": { "case": "six-ipoib:*" }, "samples": streams("forward", 6, 14.3) }),
        json!({ "when": { "bench": "transfer.move" }, "samples": [bytes("copied", json!({}), 1.34e9 / 8.0)] }),
        json!({ "when": { "case": "six:*" }, "samples": streams("forward", 6, 56.0) }),
    ];
    for (flows, gbit) in [(2, 30.0), (4, 50.0), (6, 56.0), (8, 56.0)] {
        rules.push(json!({ "when": { "case": format!("iperf:*flows={flows}*") }, "samples": streams("forward", flows, gbit) }));
    }
    rules.push(json!({ "when": { "case": "iperf:*" }, "samples": streams("forward", 1, 20.0) }));
    System { command: "transfer-study", nodes: vec![server("server1"), server("server2")], rules }
}

#[test]
fn a_sound_pair_of_servers_passes_and_each_planted_fault_is_a_row() {
    hold(
        sound,
        &[
            Fault {
                name: "threads on the wrong processor",
                plant: |system| {
                    system.instead(
                        json!({ "case": "six:*server1->*affinity=none*" }),
                        streams("forward", 6, 31.0),
                    );
                    system.set("server1", "nic.irq_local", false);
                },
                exit: 1,
                rows: &["nic.irq_local server1 nic:eth0 fail", "six server1 server1->server2 fail"],
            },
            Fault {
                name: "a QDR link that runs at DDR",
                plant: |system| system.instead(json!({ "bench": "rdma.send_bw" }), sizes(15.0)),
                exit: 1,
                rows: &[
                    "native server1 server1/mlx4_0/1->server2/mlx4_0/1 fail",
                    "native server2 server2/mlx4_0/1->server1/mlx4_0/1 fail",
                ],
            },
            Fault {
                name: "TCP's buffers as the kernel comes with them",
                plant: |system| {
                    system.set("server2", "net.ipv4.tcp_rmem", "4 KiB, 128 KiB, 6 MiB");
                    system.set("server2", "net.ipv4.tcp_wmem", "4 KiB, 16 KiB, 4 MiB");
                },
                exit: 1,
                rows: &["net.ipv4.tcp_rmem server2 node fail", "net.ipv4.tcp_wmem server2 node fail"],
            },
            Fault {
                name: "a governor that saves power",
                plant: |system| system.set("server1", "cpu.governor", "powersave"),
                exit: 1,
                rows: &["cpu.governor server1 node fail"],
            },
            Fault {
                name: "another queueing discipline",
                plant: |system| system.set("server1", "net.core.default_qdisc", "pfifo_fast"),
                exit: 1,
                rows: &["net.core.default_qdisc server1 node fail"],
            },
            Fault {
                name: "an InfiniBand port that is down",
                plant: |system| {
                    system.part("server2", "hcas", "mlx4_0")["ports"][0]["state"] = known("DOWN");
                    system.part("server2", "nics", "ib0")["up"] = known(false);
                },
                exit: 3,
                rows: &["native server1 node unknown", "native server2 node unknown"],
            },
        ],
    );
}
