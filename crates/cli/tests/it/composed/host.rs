//! A machine of two NUMA nodes with eight memory modules, a GPU, and the kernel's own view of its state.

use serde_json::{Value, json};

use super::parts::{
    amount, bytes, clocks, known, machine_of_two_nodes, of_node, pci, rate, round_trips, setting, streams,
    threads,
};
use super::{Fault, System, hold};

const AT_ZERO: [&str; 6] = [
    "state.memory_uncorrected",
    "state.memory_corrected",
    "state.pcie_fatal",
    "state.pcie_nonfatal",
    "state.pcie_correctable",
    "state.thermal_throttling",
];
const FALSE: [&str; 6] = [
    "state.machine_check",
    "state.bad_page",
    "state.kernel_oops",
    "state.kernel_warning",
    "state.soft_lockup",
    "state.became_read_only",
];
const TRUE: [&str; 4] =
    ["state.clock_synchronised", "net.ipv4.tcp_window_scaling", "net.rmem_consistent", "net.wmem_consistent"];

/// PCI Express 4.0 of 16 lanes, and 900 GB/s of memory.
fn gpu() -> Value {
    let mut gpu = json!({
        "index": 0, "vendor": known("NVIDIA"), "pci": pci("0000:41:00.0", "10de:20b0"),
        "memory_clock_mhz": known(1215), "memory_bus_bits": known(5120), "link_generation": known(4),
        "link_width": known(16), "payload_bytes": known(256),
    });
    gpu["pci"]["numa_node"] = known(0);
    gpu
}

fn node() -> Value {
    let mut machine = machine_of_two_nodes();
    let cache =
        |level: u64, size: u64, cpus: &[u64]| json!({ "level": level, "size_bytes": size, "cpus": cpus });
    let mut caches: Vec<Value> =
        (0..4).flat_map(|cpu| [cache(1, 32 << 10, &[cpu]), cache(2, 1 << 20, &[cpu])]).collect();
    caches.extend([cache(3, 32 << 20, &[0, 1]), cache(3, 32 << 20, &[2, 3])]);
    machine["caches"] = json!({ "instances": caches });
    machine["gpus"] = known(json!([gpu()]));
    let mut settings = vec![
        setting("kernel.clocksource", "node", &of_node(), "tsc"),
        setting("cpu.governor", "node", &json!({ "kind": "node", "active": false }), "schedutil"),
        setting("state.space_used", "fs:/", &json!({ "kind": "fs", "mount": "/" }), 40),
        setting("state.inodes_used", "fs:/", &json!({ "kind": "fs", "mount": "/" }), 3),
        setting("state.file_system_errors", "fs:/", &json!({ "kind": "fs", "mount": "/" }), 0),
        setting("state.carrier_losses", "nic:eth0", &json!({ "kind": "nic", "name": "eth0" }), 0),
    ];
    settings.extend(AT_ZERO.map(|id| setting(id, "node", &of_node(), 0)));
    settings.extend(FALSE.map(|id| setting(id, "node", &of_node(), false)));
    settings.extend(TRUE.map(|id| setting(id, "node", &of_node(), true)));
    json!({ "name": "n1", "machine": machine, "settings": settings })
}

/// Loops over arrays by all cores together.
fn memory(gigabytes: f64) -> Vec<Value> {
    vec![bytes("slice", json!({ "threads": 4 }), gigabytes * 1e9)]
}

/// Each core alone, then all.
fn cores(alone: [f64; 4], all: f64) -> Vec<Value> {
    let slice = |slice: usize, at: Value, gigabytes: f64| {
        let mut samples = bytes("slice", at, gigabytes * 1e9);
        samples["start"] = format!("{slice} s").into();
        samples
    };
    let of_cpu = |(cpu, gigabytes): (usize, f64)| slice(cpu, json!({ "cpu": cpu }), gigabytes);
    let mut samples: Vec<Value> = alone.into_iter().enumerate().map(of_cpu).collect();
    samples.push(slice(4, json!({ "threads": 4 }), all));
    samples
}

/// A hop of a chase through a ring of each size.
fn chases(l1: f64, l2: f64, l3: f64, memory: f64) -> Vec<Value> {
    let of_size = |kib: u64| {
        let nanos = match kib {
            0..32 => l1,
            32..1024 => l2,
            1024..32_768 => l3,
            _ => memory,
        };
        rate("chase", json!({ "size": format!("{kib} KiB") }), "1", 1e9 / nanos)
    };
    (0..21).map(|power| of_size(1 << power)).collect()
}

fn distances(own: f64, other: f64) -> Vec<Value> {
    let pairs = [(0, 0, own), (0, 1, other), (1, 0, other), (1, 1, own)];
    let chase = |(cpu, memory, nanos): (u64, u64, f64)| {
        rate("chase", json!({ "cpu_node": cpu, "memory_node": memory }), "1", 1e9 / nanos)
    };
    pairs.map(chase).to_vec()
}

fn copies(gigabytes: f64) -> Vec<Value> {
    let copy = |(slice, direction): (u64, &str)| {
        let at = json!({ "direction": direction, "size": "128 MiB", "slice": slice, "lane": slice, "memory_node": 0, "near": 1 });
        let mut copy = bytes("copy", at, gigabytes * 1e9);
        copy["start"] = format!("{slice} s").into();
        copy
    };
    [(0, "h2d"), (1, "d2h")].map(copy).to_vec()
}

fn written(bytes_a_second: f64) -> Value {
    json!({ "when": { "case": "file-write:*" }, "samples": threads(1, 0.0, bytes_a_second),
            "evidence": { "threads": [{ "flush_ns": 1_000_000 }] } })
}

/// Limits of this machine: 80 GB/s of memory, 26.3 GB/s to the GPU, 1555 GB/s in it.
fn sound() -> System {
    let rule = |test: &str, samples: Vec<Value>| json!({ "when": { "case": format!("{test}:*") }, "samples": samples });
    let load = |percent: u64, nanos: f64, gigabytes: f64| {
        let at = json!({ "load": percent });
        [rate("chase", at.clone(), "1", 1e9 / nanos), bytes("load", at, gigabytes * 1e9)]
    };
    let rules = vec![
        rule("memory-read", memory(60.0)),
        rule("memory", memory(52.0)),
        rule("memory-cores", cores([14.0; 4], 56.0)),
        rule("clock", clocks(3.5, [3.0; 4])),
        rule("memory-latency", chases(1.4, 4.0, 14.0, 95.0)),
        rule("memory-distance", distances(95.0, 150.0)),
        rule(
            "memory-loaded-latency",
            [load(0, 95.0, 1.0), load(50, 120.0, 30.0), load(100, 240.0, 58.0)].concat(),
        ),
        rule("loopback-stream", streams("forward", 1, 30.0)),
        json!({ "when": { "case": "loopback-latency:*" }, "evidence": round_trips(30_000),
                "samples": [amount("median", json!({}), "ns", 30_000.0)] }),
        rule("file-read", threads(1, 500e6, 0.0)),
        written(300e6),
        rule("gpu-link", copies(24.0)),
        rule("gpu-memory", vec![bytes("pass", json!({ "kernel": "copy", "variant": "vector" }), 1300e9)]),
    ];
    System { command: "host", nodes: vec![node()], rules }
}

#[test]
fn a_sound_machine_passes_and_each_planted_fault_is_a_row() {
    hold(
        sound,
        &[
            Fault {
                name: "half of the memory channels",
                plant: |system| {
                    system.instead(json!({ "case": "memory-read:*" }), memory(31.0));
                    system.instead(json!({ "case": "memory:*" }), memory(27.0));
                },
                exit: 1,
                rows: &["memory-read n1 node fail", "memory-copy n1 node fail", "memory-triad n1 node fail"],
            },
            Fault {
                name: "a core at a third of its clock",
                plant: |system| {
                    system.instead(json!({ "case": "clock:*" }), clocks(3.5, [3.0, 3.0, 3.0, 1.0]));
                    system.instead(json!({ "case": "memory-cores:*" }), cores([14.0, 14.0, 14.0, 5.0], 47.0));
                },
                exit: 1,
                rows: &[
                    "basic-cores-alike n1 node warn",
                    "basic-slowest-core n1 node fail",
                    "basic-slowest-core-bandwidth n1 node fail",
                ],
            },
            Fault {
                name: "NUMA nodes whose memory is that of the other",
                plant: |system| {
                    system.instead(json!({ "case": "memory-distance:*" }), distances(150.0, 95.0));
                },
                exit: 1,
                rows: &["basic-numa-distance n1 node fail"],
            },
            Fault {
                name: "a GPU on half of its lanes",
                plant: |system| system.instead(json!({ "case": "gpu-link:*" }), copies(12.5)),
                exit: 1,
                rows: &["gpu-device-to-host n1 gpu:0 fail", "gpu-host-to-device n1 gpu:0 fail"],
            },
            Fault {
                name: "an uncorrected error of the memory",
                plant: |system| system.set("n1", "state.memory_uncorrected", 1),
                exit: 1,
                rows: &["state.memory_uncorrected n1 node fail"],
            },
            Fault {
                name: "a disk that writes its blocks again and again",
                plant: |system| system.rules.insert(0, written(9e6)),
                exit: 1,
                rows: &["basic-file-write n1 fs:auto fail"],
            },
            Fault {
                name: "a file system that became read-only",
                plant: |system| system.set("n1", "state.became_read_only", true),
                exit: 1,
                rows: &["state.became_read_only n1 node fail"],
            },
            Fault {
                name: "a firewall that looks into each packet",
                plant: |system| {
                    system.instead(json!({ "case": "loopback-stream:*" }), streams("forward", 1, 1.2));
                },
                exit: 1,
                rows: &["basic-loopback-stream n1 nic:lo fail"],
            },
        ],
    );
}
