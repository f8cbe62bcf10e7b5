//! Parts of composed machines and what they measure, in the form of scripts.

use serde_json::{Value, json};

use crate::rig;

/// Two NUMA nodes with two cores each, and no device.
pub fn machine_of_two_nodes() -> Value {
    let mut machine = rig::machine();
    let mut second = machine["numa"][0].clone();
    (second["id"], second["cpus"]) = (json!(1), json!([2, 3]));
    machine["numa"].as_array_mut().expect("a list").push(second);
    for id in [2, 3] {
        let mut thread = machine["cpu"]["threads"][0].clone();
        (thread["id"], thread["core"], thread["node"], thread["l3"]) =
            (json!(id), json!(id), json!(1), json!(1));
        machine["cpu"]["threads"].as_array_mut().expect("a list").push(thread);
    }
    machine
}

pub fn known(value: impl Into<Value>) -> Value {
    json!({ "known": value.into() })
}

pub fn pci(address: &str, ids: &str) -> Value {
    json!({ "address": address, "ids": known(ids) })
}

/// An interface that is up, in a network of its own name or of another's.
pub fn nic(name: &str, layer: &str, mbit: u64, mtu: u64, network: &str) -> Value {
    json!({
        "name": name, "kind": "physical", "link_layer": known(layer), "speed_mbit_s": known(mbit),
        "up": known(true), "mtu": known(mtu), "networks": known(json!([network])),
    })
}

/// A card with one active InfiniBand port of four lanes.
pub fn hca(name: &str, class: &str, gbit: f64, netdevs: &[&str]) -> Value {
    json!({ "name": name, "ports": [{
        "number": 1, "state": known("ACTIVE"), "link_layer": known("InfiniBand"), "rate_gbit_s": known(gbit),
        "lanes": known(4), "speed_class": known(class), "active_mtu": known(4096), "netdevs": netdevs,
    }] })
}

pub fn disk(name: &str, mounts: &[&str]) -> Value {
    json!({ "name": name, "bus": "sata", "rotational": known(true), "mounts": mounts })
}

/// A file system of 4 TB, so full.
pub fn file_system(mount: &str, disk: &str, percent: f64) -> Value {
    let size = 4_000_000_000_000_u64;
    let used = (size as f64 * percent / 100.0) as u64;
    json!({
        "mount": mount, "kind": "xfs", "medium": "disk", "device": disk, "disks": [disk],
        "size_bytes": known(size), "used_bytes": known(used), "available_bytes": known(size - used),
        "fill_percent": known(percent),
    })
}

pub fn of_node() -> Value {
    json!({ "kind": "node" })
}

pub fn of_nic(nic: &Value) -> Value {
    json!({
        "kind": "nic", "name": nic["name"], "link_layer": nic["link_layer"]["known"], "up": true, "virtual": false,
        "speed": format!("{} Gbit/s", nic["speed_mbit_s"]["known"].as_u64().unwrap_or_default() / 1000),
    })
}

pub fn setting(id: &str, subject: &str, facts: &Value, value: impl Into<Value>) -> Value {
    json!({ "setting": id, "subject": subject, "facts": facts, "present": { "value": value.into() } })
}

/// A second of samples of this amount a second.
pub fn rate(channel: &str, at: Value, unit: &str, a_second: f64) -> Value {
    json!({ "channel": channel, "at": at, "unit": unit, "span": "100 ms", "amounts": [a_second / 10.0], "repeat": 10 })
}

pub fn bytes(channel: &str, at: Value, a_second: f64) -> Value {
    rate(channel, at, "B", a_second)
}

/// Samples that are this amount, however long they took.
pub fn amount(channel: &str, at: Value, unit: &str, amount: f64) -> Value {
    rate(channel, at, unit, 10.0 * amount)
}

/// Streams that share `gbit` Gbit/s.
pub fn streams(direction: &str, flows: u64, gbit: f64) -> Vec<Value> {
    let flow = |flow: u64| {
        bytes("received", json!({ "direction": direction, "flow": flow }), gbit * 1e9 / 8.0 / flows as f64)
    };
    (0..flows).map(flow).collect()
}

/// Evidence of round trips that all took this time.
pub fn round_trips(nanos: u64) -> Value {
    json!({ "round_trips": { "buckets": [[nanos, 1000]], "max_ns": nanos } })
}

/// Evidence of the end that sent, or that received, a flow of such datagrams without loss.
pub fn datagrams(message: u64) -> [Value; 2] {
    let effort = json!({
        "span_ns": 0, "user_ns": 0, "system_ns": 0, "waited_ns": null, "phase_ns": 0, "machine_busy_ns": null,
        "machine_softirq_ns": null,
    });
    let counters = json!({ "counts": {}, "unknown": [] });
    let sent = json!({
        "message": message, "headers": 28, "segments": 1, "queues": [], "effort": effort, "counters": counters,
        "flows": [{ "datagrams": 1000, "span_ns": 600_000_000, "slipped_ns": 0, "behind_ns": 0, "refused": 0,
                    "cut_short": 0, "rejected": 0 }],
    });
    let received = json!({
        "message": message, "buffer": 400_000, "forced": false, "coalesced": false, "effort": effort,
        "counters": counters,
        "flows": [{ "port": 1, "sent": 1000, "received": 1000, "lost": 0, "duplicates": 0, "reordered": 0,
                    "extent": 0, "late": 0, "bursts": [], "burst_count": 0, "longest_burst": 0, "foreign": 0,
                    "stale": 0, "checked": 0, "wrong": 0, "reads": 0 }],
    });
    [json!({ "sent": sent }), json!({ "received": received })]
}

/// Messages of 1 B and of 1 MiB there and back, the large ones at `gbit` Gbit/s.
pub fn ping_pong(latency_us: f64, gbit: f64) -> Vec<Value> {
    let messages = |size: &str, a_second: f64| rate("messages", json!({ "size": size }), "1", a_second);
    vec![messages("1 B", 1e6 / latency_us), messages("1 MiB", gbit * 1e9 / 8.0 / 1_048_576.0)]
}

/// `threads` threads that share these rates of bytes read and written a second.
pub fn threads(threads: u64, read: f64, written: f64) -> Vec<Value> {
    let of_thread = |thread: u64| {
        [("read", read), ("written", written)]
            .map(|(channel, rate)| bytes(channel, json!({ "thread": thread }), rate / threads as f64))
    };
    (0..threads).flat_map(of_thread).collect()
}

/// The clock of one core alone, and of each with all.
pub fn clocks(one: f64, all: [f64; 4]) -> Vec<Value> {
    let slices = |cores: &'static str, cpu: usize, gigahertz: f64| {
        (0..8).map(move |slice| {
            let at = json!({ "cores": cores, "cpu": cpu, "slice": slice });
            json!({ "channel": "add", "at": at, "unit": "1", "span": "100 ms", "amounts": [gigahertz * 1e8] })
        })
    };
    slices("one", 0, one)
        .chain(all.into_iter().enumerate().flat_map(|(cpu, clock)| slices("all", cpu, clock)))
        .collect()
}
