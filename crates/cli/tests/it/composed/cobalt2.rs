//! The tender of COBALT2 on simulated clusters of fourteen nodes: each part that cannot be measured is a row.

use seatrial_model::record::Document;
use seatrial_model::{Verdict, VerdictRecord};
use serde_json::{Value, json};

use super::System;
use super::parts::{bytes, datagrams, disk, file_system, hca, known, nic, of_nic, of_node, pci, setting};
use crate::rig::machine;

const COMMAND: &str = "cobalt2-2018 --role head=n1 --role production=n[2-14]";

fn port(name: &str, number: u64) -> Value {
    let mut port = nic(name, "ethernet", 10_000, 9000, &format!("10.0.{number}.0/24"));
    port["pci"] = known(pci(&format!("0000:5e:00.{number}"), "8086:1572"));
    port
}

fn card(number: u64) -> Value {
    let mut card = hca(&format!("mlx5_{number}"), "EDR", 100.0, &[]);
    card["sys_image_guid"] = known(format!("guid {number}"));
    card["pci"] = known(pci(&format!("0000:{number}a:00.0"), "15b3:1017"));
    card
}

fn gpu(index: u64) -> Value {
    json!({
        "index": index, "vendor": known("NVIDIA"), "pci": pci(&format!("0000:{index}1:00.0"), "10de:1db4"),
    })
}

/// A node that is as the tender asks, under the name `n1` and on.
fn node(number: usize) -> Value {
    let mut machine = machine();
    machine["dimms"] = json!({ "unknown": "no table of memory modules" });
    // A port for management, which no test of the tender is for.
    let mut management = port("eno1", 9);
    management["speed_mbit_s"] = known(1000);
    machine["nics"] = known(json!([port("eth0", 0), port("eth1", 1), management]));
    machine["hcas"] = known(json!([card(0), card(1)]));
    machine["gpus"] = known(json!([gpu(0), gpu(1)]));
    machine["disks"] = known(json!([disk("sda", &["/"]), disk("sdb", &["/data"])]));
    machine["file_systems"] =
        known(json!([file_system("/", "sda", 60.0), file_system("/data", "sdb", 60.0)]));
    let mut settings = vec![
        setting("cpu.governor", "node", &of_node(), "performance"),
        setting("cpu.boost", "node", &of_node(), false),
    ];
    for name in ["eth0", "eth1"] {
        settings.push(setting("nic.mtu", &format!("nic:{name}"), &of_nic(&port(name, 0)), 9000));
    }
    for name in ["mlx5_0", "mlx5_1"] {
        let facts = json!({ "kind": "hca", "name": name, "port": 1, "link_layer": "InfiniBand" });
        settings.push(setting("rdma.port_state", &format!("hca:{name}/1"), &facts, "ACTIVE"));
    }
    json!({ "name": format!("n{number}"), "machine": machine, "settings": settings })
}

fn cluster() -> Vec<Value> {
    (1..=14).map(node).collect()
}

/// Both directions between host and so many GPUs of 95 Gbit/s each.
fn copies(gpus: u64) -> Vec<Value> {
    let copy = |direction: &str, slice: u64, gpu: u64| {
        let at = json!({ "direction": direction, "slice": slice, "lane": 2 * gpu });
        let mut sample = bytes("copy", at, 95e9 / 8.0);
        sample["start"] = format!("{} ms", 600 * slice).into();
        sample
    };
    let of_gpu = |gpu| [copy("h2d", 0, gpu), copy("d2h", 1, gpu)];
    (0..gpus).flat_map(of_gpu).collect()
}

/// What every part of a sound cluster measures.
fn rules() -> Vec<Value> {
    let [sent, received] = datagrams(8900);
    let thread = json!({ "thread": 0 });
    let files = |case: &str, read: f64, written: f64| {
        json!({ "when": { "bench": "storage.file", "case": case },
                "samples": [bytes("read", thread.clone(), read), bytes("written", thread.clone(), written)] })
    };
    let step = json!({ "step": "receive", "pace": 1, "node": 0 });
    let message = json!({ "direction": "forward", "size": "64 KiB" });
    vec![
        json!({ "when": { "bench": "mem.pipeline" }, "samples": [
            { "channel": "done", "at": step, "unit": "B", "span": "1 s", "amounts": [702e9 / 8.0] },
        ] }),
        json!({ "when": { "bench": "gpu.host_copy_all" }, "samples": copies(2) }),
        json!({ "when": { "bench": "net.eth_receive", "index": 0 }, "evidence": received,
                "samples": [bytes("received", json!({ "flow": 0 }), 9.08e9 / 8.0)] }),
        json!({ "when": { "bench": "net.eth_receive" }, "evidence": sent }),
        json!({ "when": { "bench": "rdma.write_bw" }, "samples": [bytes("moved", message, 95e9 / 8.0)] }),
        files("*operation=write*", 0.0, 180e6),
        files("*", 200e6, 0.0),
        json!({ "when": { "bench": "storage.raw" },
                "samples": [bytes("alone", json!({ "position": 0 }), 190e6)] }),
    ]
}

/// The document of the check, and its exit code.
fn check(nodes: Vec<Value>, rules: Vec<Value>, exit: i32) -> Document {
    let ended = System { command: COMMAND, nodes, rules }.check("-o json");
    let document = ended.document();
    let bad: Vec<&VerdictRecord> =
        document.verdicts.iter().filter(|row| row.verdict != Verdict::Pass).collect();
    assert_eq!(ended.code, Some(exit), "{bad:#?}");
    document
}

/// Criterion, verdict and reason of the rows that are no pass, of one subject of a node.
fn rows(document: &Document, node: &str, subject: &str) -> Vec<(String, Verdict, String)> {
    let of_subject =
        |row: &&VerdictRecord| row.node.as_deref() == Some(node) && row.subject.as_str() == subject;
    let own = document.verdicts.iter().filter(of_subject).filter(|row| row.verdict != Verdict::Pass);
    own.map(|row| (row.criterion.clone(), row.verdict, row.reason.clone().unwrap_or_default())).collect()
}

/// The rows of this subject are unknown on these criteria, and no other, for this reason.
#[track_caller]
fn unknown(document: &Document, node: &str, subject: &str, criteria: &[&str], why: &str) {
    let rows = rows(document, node, subject);
    let told: Vec<(&str, Verdict)> =
        rows.iter().map(|(criterion, verdict, _)| (criterion.as_str(), *verdict)).collect();
    let expected: Vec<_> = criteria.iter().map(|criterion| (*criterion, Verdict::Unknown)).collect();
    assert_eq!(told, expected, "{rows:#?}");
    assert!(rows.iter().all(|(_, _, reason)| reason.starts_with(why)), "{rows:#?}");
}

const OF_DISKS: [&str; 3] = ["disk-write", "disk-read", "disk-raw-read"];

#[test]
fn a_sound_cluster_passes_with_a_row_for_every_part() {
    let document = check(cluster(), rules(), 0);
    assert_eq!(document.verdict, Some(Verdict::Pass));
    let rows = |criterion: &str| document.verdicts.iter().filter(|row| row.criterion == criterion).count();
    // Thirteen production nodes and a head; two ports, two disks each.
    assert_eq!(["mem-test", "gpu-copy-read", "eth-test-loss"].map(rows), [13, 13, 26]);
    assert_eq!(["ib-bw", "disk-write", "disk-read", "disk-raw-read"].map(rows), [28; 4]);
}

#[test]
fn an_infiniband_port_that_is_down_is_a_row_and_a_setting_that_fails() {
    let mut nodes = cluster();
    nodes[4]["machine"]["hcas"]["known"][1]["ports"][0]["state"] = known("DOWN");
    nodes[4]["settings"][5]["present"]["value"] = "DOWN".into();
    let document = check(nodes, rules(), 1);
    let rows = rows(&document, "n5", "hca:mlx5_1/1");
    let [(bandwidth, Verdict::Unknown, why), (state, Verdict::Fail, value)] = rows.as_slice() else {
        panic!("{rows:#?}")
    };
    assert_eq!((bandwidth.as_str(), state.as_str()), ("ib-bw", "rdma.port_state"));
    assert!(
        why.starts_with("the port is DOWN") && value.starts_with("state of an RDMA port: DOWN"),
        "{why}; {value}"
    );
}

#[test]
fn a_disk_that_is_not_mounted_is_a_row() {
    let mut nodes = cluster();
    nodes[5]["machine"]["disks"]["known"][1]["mounts"] = json!([]);
    nodes[5]["machine"]["file_systems"]["known"].as_array_mut().expect("a list").remove(1);
    let document = check(nodes, rules(), 3);
    unknown(&document, "n6", "disk:sdb", &OF_DISKS, "no file system of the disk is mounted");
}

#[test]
fn a_disk_of_an_array_is_a_row_and_has_not_the_rate_of_the_array() {
    let mut nodes = cluster();
    for disk in nodes[6]["machine"]["disks"]["known"].as_array_mut().expect("a list") {
        disk["mounts"] = json!([]);
        disk["member_of"] = "md0".into();
    }
    let mut array = disk("md0", &["/"]);
    array["bus"] = "md".into();
    nodes[6]["machine"]["disks"]["known"].as_array_mut().expect("a list").push(array);
    let mut of_array = file_system("/", "md0", 60.0);
    of_array["disks"] = json!(["sda", "sdb"]);
    nodes[6]["machine"]["file_systems"] = known(json!([of_array]));
    let document = check(nodes.clone(), rules(), 3);
    for subject in ["disk:sda", "disk:sdb"] {
        unknown(&document, "n7", subject, &OF_DISKS, "part of md0: not measured by itself");
    }
    let of_array = document.verdicts.iter().filter(|row| row.subject.as_str() == "disk:md0");
    assert_eq!(of_array.count(), 0, "the tender asks for disks");
    let plan = System { command: COMMAND, nodes, rules: rules() }.check("--plan").exits(0);
    plan.shows("disk-raw-read storage.raw n7").shows("part of md0: not measured by itself");
}

#[test]
fn a_second_port_that_is_not_connected_is_a_row_although_it_tells_no_speed() {
    let mut nodes = cluster();
    let port = &mut nodes[7]["machine"]["nics"]["known"][1];
    port["up"] = known(false);
    port["speed_mbit_s"] = json!({ "unknown": "the port is down" });
    nodes[7]["settings"].as_array_mut().expect("a list").remove(3);
    let document = check(nodes, rules(), 3);
    let both = ["eth-test-speed", "eth-test-loss"];
    unknown(&document, "n8", "nic:eth1", &both, "the port is down");
    // It is also the port that would send to the node before.
    unknown(&document, "n7", "nic:eth1", &both, "n8 has no port in 10.0.1.0/24");
}

#[test]
fn a_gpu_that_is_missing_fails_the_sums_of_its_node() {
    let mut nodes = cluster();
    nodes[8]["machine"]["gpus"]["known"].as_array_mut().expect("a list").remove(1);
    let mut rules = rules();
    rules.insert(0, json!({ "when": { "bench": "gpu.host_copy_all", "node": "n9" }, "samples": copies(1) }));
    let document = check(nodes, rules, 1);
    let rows = rows(&document, "n9", "node");
    let failed: Vec<(&str, Verdict)> = rows.iter().map(|row| (row.0.as_str(), row.1)).collect();
    assert_eq!(failed, [("gpu-copy-write", Verdict::Fail), ("gpu-copy-read", Verdict::Fail)], "{rows:#?}");
}

/// What is measured but too slow fails: the part on its node, and no other.
#[test]
fn what_is_too_slow_fails_on_its_node_alone() {
    let step = json!({ "step": "receive", "pace": 1, "node": 0 });
    let message = json!({ "direction": "forward", "size": "64 KiB" });
    let slow = [
        (
            "mem.pipeline",
            "n3",
            "mem-test",
            json!([{ "channel": "done", "at": step, "unit": "B", "span": "1 s", "amounts": [650e9 / 8.0] }]),
        ),
        ("rdma.write_bw", "n4", "ib-bw", json!([bytes("moved", message, 60e9 / 8.0)])),
        ("storage.raw", "n5", "disk-raw-read", json!([bytes("alone", json!({ "position": 0 }), 60e6)])),
    ];
    for (bench, node, criterion, samples) in slow {
        let mut rules = rules();
        rules.insert(0, json!({ "when": { "bench": bench, "node": node }, "samples": samples }));
        let document = check(cluster(), rules, 1);
        let bad = document.verdicts.iter().filter(|row| row.verdict != Verdict::Pass);
        let bad: Vec<(&str, Option<&str>)> =
            bad.map(|row| (row.criterion.as_str(), row.node.as_deref())).collect();
        assert!(!bad.is_empty() && bad.iter().all(|row| row.0 == criterion), "{bad:?}");
        assert!(bad.iter().any(|row| row.1 == Some(node)), "{bad:?}");
    }
    let mut nodes = cluster();
    nodes[6]["settings"][0]["present"]["value"] = "powersave".into();
    let document = check(nodes, rules(), 1);
    assert_eq!(
        rows(&document, "n7", "node").first().map(|row| (row.0.as_str(), row.1)),
        Some(("cpu.governor", Verdict::Fail))
    );
}
