//! The machines of the records in the document about reports.

use seatrial_model::Cause;
use seatrial_model::machine::Machine;
use seatrial_model::record::Document;
use seatrial_report::inventory::Node;
use serde_json::{Value, json};

/// Sockets, cores of a socket, hardware threads of a core; a NUMA node for each socket.
struct Cores(u32, u32, u32);

impl Cores {
    fn threads(&self) -> Vec<Value> {
        let Self(sockets, cores, smt) = *self;
        let all = sockets * cores;
        (0..all * smt)
            .map(|id| {
                json!({ "id": id, "core": id % all, "socket": id % all / cores, "node": id % all / cores,
                        "online": true, "allowed": true })
            })
            .collect()
    }

    fn numa(&self, bytes: u64) -> Vec<Value> {
        let Self(sockets, cores, smt) = *self;
        let cpus = |node: u32| -> Vec<u32> {
            (0..smt)
                .flat_map(|rank| (0..cores).map(move |core| rank * sockets * cores + node * cores + core))
                .collect()
        };
        (0..sockets)
            .map(|node| json!({ "id": node, "cpus": cpus(node), "total_bytes": { "known": bytes / u64::from(sockets) } }))
            .collect()
    }

    /// L1 and L2 of every core, an L3 of every `shared` cores.
    fn caches(&self, l1: u64, l2: u64, l3: u64, shared: u32) -> Vec<Value> {
        let Self(sockets, cores, _) = *self;
        let one = |level: u32, kind: &str, bytes: u64, cpus: Vec<u32>| json!({ "level": level, "kind": kind, "size_bytes": bytes, "line_bytes": 64, "cpus": cpus });
        let own = (0..sockets * cores)
            .flat_map(|core| [one(1, "data", l1, vec![core]), one(2, "unified", l2, vec![core])]);
        let last = (0..sockets * cores / shared)
            .map(|domain| one(3, "unified", l3, (domain * shared..(domain + 1) * shared).collect()));
        own.chain(last).collect()
    }
}

fn device(address: &str, numa: u32, gts: f64, width: u32) -> Value {
    let port = json!({ "address": address, "express": true, "speed_gts": { "known": gts }, "width": { "known": width } });
    json!({ "address": address, "numa_node": { "known": numa }, "path": { "ports": [port] } })
}

/// The same below a PCIe switch, whose upstream port has the address `switch`.
fn below(device: Value, switch: &str) -> Value {
    let mut device = device;
    let port = |address: &str| json!({ "address": address, "express": true, "speed_gts": { "known": 32.0 }, "width": { "known": 16 } });
    let ports = device["path"]["ports"].as_array_mut().expect("a path");
    ports.extend([port(&format!("{switch}.1")), port(switch), port("0000:00:01.1")]);
    device
}

fn made(value: Value) -> Machine {
    serde_json::from_value(value).expect("a machine")
}

fn laptop() -> Machine {
    let cores = Cores(1, 8, 2);
    made(json!({
        "cpu": { "model": { "known": "AMD Ryzen 7 7840HS" }, "sockets": { "known": 1 }, "cores": { "known": 8 }, "threads": cores.threads() },
        "caches": { "instances": cores.caches(32 << 10, 1 << 20, 16 << 20, 8) },
        "numa": cores.numa(32 << 30),
        "memory": { "total_bytes": { "known": 32u64 << 30 } },
        "nics": { "known": [{ "name": "enp1s0", "kind": "physical", "driver": { "known": "r8169" }, "up": { "known": true },
                              "speed_mbit_s": { "known": 1000 }, "pci": { "known": device("0000:01:00.0", 0, 2.5, 1) } }] },
        "disks": { "known": [{ "name": "nvme0n1", "bus": "nvme", "model": { "known": "a disk of 1 TB" },
                               "size_bytes": { "known": 1_000_000_000_000u64 }, "pci": { "known": device("0000:02:00.0", 0, 16.0, 4) } }] },
        "gpus": { "known": [] }, "hcas": { "known": [] },
        "file_systems": { "known": [{ "mount": "/", "kind": "ext4", "source": "/dev/nvme0n1p2", "disks": ["nvme0n1"],
                                      "size_bytes": { "known": 950_000_000_000u64 }, "fill_percent": { "known": 41.0 } }] },
    }))
}

fn two_gpus() -> Machine {
    let cores = Cores(2, 32, 2);
    let pci = |index: u32| match device(&format!("000{index}:41:00.0"), index, 32.0, 16) {
        first if index == 0 => below(first, "0000:3f:00.0"),
        second => second,
    };
    let gpu = |index: u32, other: &str| {
        json!({ "index": index, "model": { "known": "NVIDIA H100 NVL" }, "memory_bytes": { "known": 94u64 << 30 },
                "nvlinks": { "known": vec![other; 12] },
                "pci": pci(index) })
    };
    made(json!({
        "cpu": { "model": { "known": "AMD EPYC 9354" }, "sockets": { "known": 2 }, "cores": { "known": 64 }, "threads": cores.threads() },
        "caches": { "instances": cores.caches(32 << 10, 1 << 20, 32 << 20, 4) },
        "numa": cores.numa(768 << 30),
        "memory": { "total_bytes": { "known": 768u64 << 30 } },
        "gpus": { "known": [gpu(0, "0001:41:00.0"), gpu(1, "0000:41:00.0")] },
        "nics": { "known": [{ "name": "eth0", "kind": "physical", "driver": { "known": "bnxt_en" }, "up": { "known": true },
                              "speed_mbit_s": { "known": 25000 }, "pci": { "known": device("0000:61:00.0", 0, 16.0, 8) } }] },
        "hcas": { "known": [{ "name": "mlx5_0", "model": { "known": "MT4129" }, "pci": { "known": below(device("0000:42:00.0", 0, 32.0, 16), "0000:3f:00.0") },
                              "ports": [{ "number": 1, "state": { "known": "ACTIVE" }, "link_layer": { "known": "InfiniBand" },
                                          "rate_text": { "known": "400 Gb/sec (4X NDR)" }, "netdevs": [] }] }] },
        "disks": { "known": (0..12).map(|at| json!({ "name": format!("nvme{at}n1"), "bus": "nvme", "model": { "known": "a disk of 4 TB" },
                                      "size_bytes": { "known": 4_000_000_000_000u64 },
                                      "pci": { "known": device(&format!("0001:{at:02x}:00.0"), 1, 32.0, 4) } })).collect::<Vec<_>>() },
        "file_systems": { "known": [{ "mount": "/scratch", "kind": "lustre", "source": "10.0.0.1@o2ib:/scratch", "server": "10.0.0.1",
                                      "size_bytes": { "known": 3u64 << 40 }, "fill_percent": { "known": 63.0 } }] },
    }))
}

fn of_the_fleet() -> Machine {
    let cores = Cores(1, 56, 1);
    made(json!({
        "cpu": { "model": { "known": "Intel Xeon Platinum 8480+" }, "sockets": { "known": 1 }, "cores": { "known": 56 }, "threads": cores.threads() },
        "caches": { "instances": cores.caches(48 << 10, 2 << 20, 105 << 20, 56) },
        "numa": cores.numa(256 << 30),
        "memory": { "total_bytes": { "known": 256u64 << 30 } },
        "gpus": { "known": [] }, "hcas": { "known": [] }, "disks": { "known": [] }, "file_systems": { "known": [] },
        "nics": { "known": [{ "name": "ens1", "kind": "physical", "driver": { "known": "mlx5_core" }, "up": { "known": true },
                              "speed_mbit_s": { "known": 100_000 }, "pci": { "known": device("0000:81:00.0", 0, 16.0, 16) } }] },
    }))
}

fn virtual_machine() -> Machine {
    let cores = Cores(1, 2, 1);
    made(json!({
        "virtualization": { "known": { "hypervisor": "kvm" } },
        "cpu": { "model": { "known": "AMD EPYC Processor" }, "sockets": { "known": 1 }, "cores": { "known": 2 }, "threads": cores.threads() },
        "caches": { "instances": cores.caches(32 << 10, 512 << 10, 16 << 20, 2) },
        "numa": cores.numa(8 << 30),
        "memory": { "total_bytes": { "known": 8u64 << 30 } },
        "gpus": { "known": [] }, "hcas": { "known": [] },
        "nics": { "known": [{ "name": "eth0", "kind": "virtio", "driver": { "known": "virtio_net" }, "up": { "known": true } }] },
        "disks": { "known": [{ "name": "vda", "bus": "virtio", "size_bytes": { "known": 100u64 << 30 } }] },
        "file_systems": { "known": [{ "mount": "/", "kind": "ext4", "source": "/dev/vda1", "disks": ["vda"], "fill_percent": { "known": 30.0 } }] },
    }))
}

/// The nodes of a record of the document, by its name there.
pub fn nodes(name: &str, document: &Document) -> Vec<Node> {
    let machine = match name {
        "laptop" => laptop(),
        "two-gpus" => two_gpus(),
        "fleet" => of_the_fleet(),
        _ => virtual_machine(),
    };
    let node = |name: &String| Node { name: name.clone(), machine: machine.clone(), limits: Vec::new() };
    // The machine of a node that was not reached is unknown.
    let is_gone = |name: &&String| {
        document
            .results
            .iter()
            .any(|case| case.nodes.contains(name) && case.cause == Some(Cause::NeverReached))
    };
    document.run.nodes.iter().filter(|name| !is_gone(name)).map(node).collect()
}
