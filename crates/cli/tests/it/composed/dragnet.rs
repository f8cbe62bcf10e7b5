//! DRAGNET with four of its nodes, dragproc, and four nodes of COBALT behind the trunk.

use seatrial_model::Finding;
use serde_json::{Value, json};

use super::parts::{
    amount, bytes, clocks, datagrams, disk, file_system, hca, known, machine_of_two_nodes, nic, of_nic,
    of_node, pci, round_trips, setting, streams, threads,
};
use super::{Fault, System, hold};
const MIB: f64 = 1_048_576.0;

fn ethernet() -> Value {
    nic("eth0", "ethernet", 10_000, 9000, "10.1.0.0/16")
}

fn gpu(index: u64) -> Value {
    let mut pci = pci(&format!("0000:{index}1:00.0"), "10de:17c2");
    pci["numa_node"] = known(index / 2);
    json!({ "index": index, "vendor": known("NVIDIA"), "pci": pci })
}

/// A node for computing: both networks and one for management, four GPUs, and two scratch disks.
fn drg(number: usize) -> Value {
    let mut machine = machine_of_two_nodes();
    let ib = nic("ib0", "infiniband", 56_000, 65_520, "10.2.0.0/16");
    let mut port = hca("mlx4_0", "FDR", 56.0, &["ib0"]);
    port["pci"] = known(pci("0000:81:00.0", "15b3:1003"));
    let settings = [
        setting("cpu.governor", "node", &of_node(), "performance"),
        setting("nic.ipoib_mode", "nic:ib0", &of_nic(&ib), "connected"),
        setting("nic.mtu", "nic:eth0", &of_nic(&ethernet()), 9000),
    ];
    machine["nics"] = known(json!([ib, ethernet(), nic("eno1", "ethernet", 1000, 1500, "10.9.0.0/16")]));
    machine["hcas"] = known(json!([port]));
    machine["gpus"] = known(json!([gpu(0), gpu(1), gpu(2), gpu(3)]));
    machine["disks"] = known(json!([disk("sda", &["/data1"]), disk("sdb", &["/data2"])]));
    machine["file_systems"] =
        known(json!([file_system("/data1", "sda", 87.0), file_system("/data2", "sdb", 40.0)]));
    json!({ "name": format!("drg{number:02}"), "machine": machine, "settings": settings })
}

fn dragproc() -> Value {
    let mut machine = machine_of_two_nodes();
    machine["nics"] = known(json!([ethernet()]));
    machine["disks"] = known(json!([disk("sda", &["/data"])]));
    machine["file_systems"] = known(json!([file_system("/data", "sda", 50.0)]));
    let settings = [setting("nic.mtu", "nic:eth0", &of_nic(&ethernet()), 9000)];
    json!({ "name": "dragproc", "machine": machine, "settings": settings })
}

fn cbt(number: usize) -> Value {
    let mut machine = machine_of_two_nodes();
    machine["nics"] = known(json!([ethernet()]));
    json!({ "name": format!("cbt{number:03}"), "machine": machine })
}

fn rule(test: &str, samples: Vec<Value>) -> Value {
    json!({ "when": { "case": format!("{test}:*") }, "samples": samples })
}

fn round_trip(test: &str, nanos: u64) -> Value {
    let samples = [amount("median", json!({}), "ns", nanos as f64)];
    json!({ "when": { "case": format!("{test}:*") }, "samples": samples, "evidence": round_trips(nanos) })
}

fn moved(direction: &str, size: &str, gigabytes: f64) -> Value {
    bytes("moved", json!({ "direction": direction, "size": size }), gigabytes * 1e9)
}

/// Half of a round trip, or the whole of one that the card answers.
fn latency(nanos: f64, halves: f64) -> Vec<Value> {
    vec![amount("median", json!({ "size": "1 B" }), "ns", nanos * halves)]
}

/// Copies to and from a GPU, with the memory beside it and with that of the other processor.
fn copies(near: [f64; 2], far: [f64; 2]) -> Vec<Value> {
    let mut slices = Vec::new();
    for (rates, memory) in [(near, 0_u64), (far, 1)] {
        for (direction, lane) in [("h2d", 0_u64), ("d2h", 1)] {
            let slice = 2 * memory + lane;
            let at = json!({ "direction": direction, "size": "32 MiB", "slice": slice, "lane": lane,
                             "memory_node": memory, "near": 1 - memory });
            let mut copy = bytes("copy", at, rates[lane as usize] * 1e9);
            copy["start"] = format!("{slice} s").into();
            slices.push(copy);
        }
    }
    slices
}

/// The page's own figures, or a little more where they are exact bounds.
fn rules() -> Vec<Value> {
    let [sent, received] = datagrams(32_768);
    let datagrams = bytes("received", json!({ "flow": 0 }), 3.8e9);
    let mut rules = vec![
        rule("ipoib-tcp", streams("forward", 2, 45.8)),
        rule("tcp-untuned", streams("forward", 1, 29.6)),
        json!({ "when": { "case": "ipoib-udp:*", "index": 0 }, "evidence": sent }),
        json!({ "when": { "case": "ipoib-udp:*" }, "evidence": received, "samples": [datagrams] }),
        round_trip("ipoib-tcp-latency", 12_500),
        round_trip("ipoib-udp-latency", 12_400),
        rule("ipoib-sctp", streams("forward", 1, 2.9)),
        round_trip("ipoib-sctp-latency", 17_700),
        rule("rdma-write-latency", latency(5300.0, 2.0)),
        rule("rdma-write-uc-latency", latency(3500.0, 2.0)),
        rule("rdma-write-poll-latency", latency(920.0, 2.0)),
        rule("rdma-write-poll-uc-latency", latency(920.0, 2.0)),
        rule("rdma-read-latency", latency(4900.0, 1.0)),
        rule("rdma-send-latency", latency(5700.0, 2.0)),
        rule("rdma-send-uc-latency", latency(4000.0, 2.0)),
        rule("rdma-send-ud-latency", latency(3900.0, 2.0)),
        rule("trunk-in", streams("reverse", 1, 9.88)),
        rule("clock", clocks(3.2, [2.6; 4])),
        rule("gpu-link*", copies([10.9, 11.2], [6.4, 4.4])),
        rule("gpu-memory", vec![bytes("pass", json!({ "kernel": "memcpy", "variant": "driver" }), 256e9)]),
        rule("data*-write", threads(1, 0.0, 300.0 * MIB)),
        rule("dragproc-write", threads(1, 0.0, 510.0 * MIB)),
        rule("disk-zones", vec![bytes("alone", json!({ "position": 0 }), 190e6)]),
        rule("copy*", vec![bytes("copied", json!({}), 250.0 * MIB)]),
        // 10 Gbit/s Ethernet: the trunk and the nodes among each other.
        json!({ "when": { "bench": "net.tcp_stream" }, "samples": streams("forward", 1, 9.88) }),
    ];
    for (operation, words) in [("compare-swap", 2.12), ("fetch-add", 2.45)] {
        let words = vec![bytes("moved", json!({}), words * 8e6)];
        rules.extend([
            rule(&format!("rdma-{operation}"), words.clone()),
            rule(&format!("rdma-verified-{operation}"), words),
        ]);
    }
    for (test, size, each) in [
        ("rdma-read", "64 KiB", 5.7),
        ("rdma-send-ud", "2 KiB", 6.0),
        ("rdma-send-ud-both", "2 KiB", 5.2),
        ("*", "64 KiB", 6.4),
    ] {
        let ways = ["forward", "reverse"].map(|direction| moved(direction, size, each));
        rules.push(json!({ "when": { "bench": "rdma.*_bw", "case": format!("{test}:*") }, "samples": ways }));
    }
    rules
}

fn sound() -> System {
    let nodes = (1..=4).map(drg).chain([dragproc()]).chain((1..=4).map(cbt)).collect();
    let command = "dragnet --role dragnet=drg[01-04] --role dragproc=dragproc --role cobalt=cbt[001-004]";
    System { command, nodes, rules: rules() }
}

#[test]
fn a_sound_cluster_passes_and_each_planted_fault_is_a_row() {
    hold(
        sound,
        &[
            Fault {
                name: "datagram mode of IPoIB, which is slower",
                plant: |system| {
                    system.set("drg03", "nic.ipoib_mode", "datagram");
                    system.instead(json!({ "case": "ipoib-tcp:*drg03*" }), streams("forward", 2, 27.0));
                },
                exit: 1,
                rows: &[
                    "ipoib-tcp drg02 drg02->drg03 fail",
                    "ipoib-tcp drg03 drg03->drg04 fail",
                    "nic.ipoib_mode drg03 nic:ib0 fail",
                ],
            },
            Fault {
                name: "packets of 1500 B on 10 Gbit/s",
                plant: |system| {
                    system.part("dragproc", "nics", "eth0")["mtu"] = known(1500);
                    system.set("dragproc", "nic.mtu", 1500);
                    system.instead(json!({ "case": "ethernet-tcp:*dragproc*" }), streams("forward", 1, 9.4));
                },
                exit: 1,
                rows: &["nic.mtu dragproc nic:eth0 fail"],
            },
            Fault {
                name: "a GPU whose far memory is slow",
                plant: |system| {
                    let case = json!({ "case": "gpu-link-far:*drg02/gpu:3*" });
                    system.instead(case, copies([10.9, 11.2], [3.1, 2.2]));
                },
                exit: 1,
                rows: &["gpu-host-to-device-far drg02 gpu:3 fail", "gpu-device-to-host-far drg02 gpu:3 fail"],
            },
            Fault {
                name: "a slow scratch disk",
                plant: |system| {
                    system.instead(json!({ "case": "data2-write:*drg04*" }), threads(1, 0.0, 120e6));
                },
                exit: 1,
                rows: &["data2-write drg04 fs:/data2 fail"],
            },
            Fault {
                name: "an FDR card with latencies of an older one",
                plant: |system| {
                    system
                        .instead(json!({ "case": "rdma-write-poll-latency:*drg01*" }), latency(1700.0, 2.0));
                },
                exit: 1,
                rows: &[
                    "rdma-write-poll-latency drg01 drg01/mlx4_0/1->drg02/mlx4_0/1 fail",
                    "rdma-write-poll-latency drg04 drg04/mlx4_0/1->drg01/mlx4_0/1 fail",
                ],
            },
            Fault {
                name: "a disk that is not mounted, beside a clock that is held low",
                plant: |system| {
                    system.remove("drg01", "file_systems", "/data2");
                    system.instead(json!({ "case": "clock:*drg01*" }), clocks(2.4, [2.4; 4]));
                },
                exit: 1,
                rows: &[
                    "clock-all-cores drg01 node fail",
                    "clock-one-core drg01 node fail",
                    "copy drg01 node unknown",
                    "copy-to-a-full-disk drg01 node unknown",
                    "data2-write drg01 node unknown",
                ],
            },
        ],
    );
}

#[test]
fn flows_that_share_a_link_of_the_trunk_are_found_with_their_class() {
    let mut system = sound();
    for node in ["drg03", "drg04"] {
        let case = json!({ "case": format!("trunk-out:*@{node}+*#trunk.4*") });
        system.instead(case, streams("forward", 1, 4.94));
    }
    let found = system.check("-o json");
    let document = found.document();
    assert_eq!(
        (found.code, super::bad(&document)),
        (Some(0), Vec::new()),
        "nothing is demanded of the trunk"
    );
    let collisions: Vec<&Finding> =
        document.findings.iter().filter(|finding| finding.kind == "hash-collisions").collect();
    let [collision] = collisions.as_slice() else { panic!("{collisions:?}") };
    assert!(collision.text.starts_with("4 concurrent flows reached 29.64 Gbit/s"), "{}", collision.text);
    let details = system.check("--details");
    let told = "5 of 5 nodes may be used: dragproc,drg[01-04]; nothing was demanded of cbt[001-004]\n";
    assert!(details.out.contains(told), "{}", details.out);
    // The step of the trunk tells its rows apart; the name of the test stands for the rest.
    let rows = || details.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let step = |flows: &'static str| rows().find(move |row| row.starts_with(&["trunk-out", flows]));
    assert_eq!(step("4").expect("a row")[2..4], ["4", "4.94"], "{}", details.out);
}
