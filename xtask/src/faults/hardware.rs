//! Faults of hardware, which nobody can plant here: simulated nodes that have them, with the numbers that they would measure.

use serde_json::{Value, json};

use super::planted::Strength::{Just, Plain, Weak};
use super::planted::{Planted, Strength, Who};

/// The number of simulated nodes, of which n3 has the fault.
pub const NODES: u32 = 8;

/// How much the slices of all nodes differ by chance, up and down.
pub const NOISE_PERCENT: f64 = 2.0;

const MEMORY: &[&str] = &["run", "mem.bandwidth", "-p", "kernel=triad"];

const GPU: &[&str] = &["run", "gpu.host_copy", "-p", "direction=h2d", "-p", "size=64MiB"];

const PEERS: &[&str] = &["run", "gpu.peer_copy", "-p", "size=64MiB"];

const STREAMS: &[&str] = &["run", "net.tcp_stream", "--pattern", "matchings", "-p", "flows=1"];

/// The PCI address of the GPU of each node.
const ADDRESS: &str = "0000:17:00.0";

/// That of its second GPU.
const SECOND: &str = "0000:2a:00.0";

/// What n3 measures of what the others measure.
const SHARES: [(Strength, f64); 3] = [(Plain, 0.5), (Weak, 0.85), (Just, 0.94)];

pub fn faults() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(memory());
    all.extend(clock());
    all.extend(gpu());
    all.extend(network());
    all.extend(trunks());
    let busy = Simulated { evidence: load(), ..Simulated::sound(0.6) };
    let what = "other programs take most CPU time of n3, whose rates are 0.6 of the others'";
    all.push(Planted { who: Who::Nobody, ..of("busy-host", Plain, what, MEMORY, &["other"], &busy) });
    all
}

fn memory() -> Vec<Planted> {
    let modules = [(Plain, 8, 0.5), (Weak, 2, 0.875), (Just, 1, 0.9375)].map(|(strength, missing, share)| {
        let what = format!("{missing} of 16 memory modules of n3 are missing");
        let n3 = Simulated { modules: 16 - missing, ..Simulated::sound(share) };
        of("missing-module", strength, &what, MEMORY, &["memory module is missing"], &n3)
    });
    let speeds = [(Plain, 2400), (Weak, 4000), (Just, 4400)].map(|(strength, speed)| {
        let what = format!("the memory of n3 runs at {speed} MT/s, that of the others at 4800 MT/s");
        let n3 = Simulated { memory_mts: speed, ..Simulated::sound(f64::from(speed) / 4800.0) };
        of("slow-memory", strength, &what, MEMORY, &["runs at a lower speed"], &n3)
    });
    let errors = SHARES.map(|(strength, share)| {
        let what = format!("4711 memory errors of n3 were corrected, whose rates are {share} of the others'");
        let n3 = Simulated { corrected: 4711, ..Simulated::sound(share) };
        of("corrected-errors", strength, &what, MEMORY, &["has errors"], &n3)
    });
    [modules, speeds, errors].into_iter().flatten().collect()
}

fn clock() -> Vec<Planted> {
    let governors = SHARES.map(|(strength, share)| {
        let what = format!("n3 has the governor powersave and measures {share}");
        let n3 = Simulated { governor: "powersave", ..Simulated::sound(share) };
        of("governor", strength, &what, MEMORY, &["cpu.governor"], &n3)
    });
    let heat = SHARES.map(|(strength, share)| {
        let what = format!("heat lowers the clock of n3, whose rates are {share} of the others'");
        let times = json!({ "probes": { "throttle": { "counts": { "core_throttles": 40, "core_throttled_ms": 300 } } } });
        of("heat", strength, &what, MEMORY, &["heat"], &Simulated { evidence: times, ..Simulated::sound(share) })
    });
    governors.into_iter().chain(heat).collect()
}

fn gpu() -> Vec<Planted> {
    let lanes = [(Plain, 4, 0.25), (Weak, 8, 0.5), (Just, 12, 0.75)].map(|(strength, lanes, share)| {
        let what = format!("the GPU of n3 has {lanes} lanes of 16");
        let n3 = Simulated { lanes, ..Simulated::sound(share) };
        of("narrow-link", strength, &what, GPU, &["pci express link"], &n3)
    });
    let watched = |reading: Value| json!({ "watch": { ADDRESS: reading } });
    let shared = SHARES.map(|(strength, share)| {
        let what = format!("another program uses the GPU of n3, whose rates are {share} of the others'");
        let evidence = watched(json!({ "others": [815], "other_names": { "815": "train" } }));
        of(
            "gpu-shared",
            strength,
            &what,
            GPU,
            &["other processes compute"],
            &Simulated { evidence, ..Simulated::sound(share) },
        )
    });
    let slowed = [
        ("gpu-clock", "the driver slows the GPU of n3 down for its heat", 0x20, "heat (software)"),
        ("power-cap", "the GPU of n3 is at its power limit", 0x04, "power cap"),
    ];
    let slowed = slowed.into_iter().flat_map(|(name, what, bits, word)| {
        SHARES.map(|(strength, share)| {
            let what = format!("{what} and measures {share}");
            let evidence = watched(json!({ "others": [], "throttle_bits": bits, "throttled_by": [word] }));
            let n3 = Simulated { evidence, ..Simulated::sound(share) };
            of(name, strength, &what, GPU, &["clock was throttled"], &n3)
        })
    });
    let links = [(Plain, 4), (Weak, 14), (Just, 17)].map(|(strength, links)| {
        let what = format!("{links} of 18 NVLinks of the GPUs of n3 are up");
        let n3 = Simulated { nvlinks: links, ..Simulated::sound(f64::from(links) / 18.0) };
        of("lost-nvlink", strength, &what, PEERS, &["nvlinks of a gpu"], &n3)
    });
    lanes.into_iter().chain(shared).chain(slowed).chain(links).collect()
}

fn network() -> Vec<Planted> {
    let ports = [(Plain, 1), (Weak, 10), (Just, 20)].map(|(strength, gbit)| {
        let what = format!("the port of n3 has {gbit} Gbit/s, the others have 25");
        let n3 = Simulated { port_gbit: gbit, ..Simulated::sound(f64::from(gbit) / 25.0) };
        of("slow-port", strength, &what, STREAMS, &["port of n3 runs at a lower speed"], &n3)
    });
    let members = [(Plain, 4, 0.5), (Weak, 6, 0.75), (Just, 7, 0.875)].map(|(strength, members, share)| {
        let what = format!("{members} of 8 members of the bond of n3 have a link");
        let n3 = Simulated { members, ..Simulated::sound(share) };
        of("bond-member", strength, &what, STREAMS, &["has fewer members"], &n3)
    });
    let interrupts = SHARES.map(|(strength, share)| {
        let what = format!("interrupts of n3 go to the other socket, and it measures {share}");
        let n3 = Simulated { is_near: false, ..Simulated::sound(share) };
        of("far-interrupts", strength, &what, STREAMS, &["cpus far from it"], &n3)
    });
    let controls = SHARES.map(|(strength, share)| {
        let what = format!("n3 sends with reno over a long path, the others with bbr, and measures {share}");
        let n3 = Simulated { congestion: "reno", ..Simulated::sound(share) };
        of("congestion-control", strength, &what, STREAMS, &["another congestion control"], &n3)
    });
    [ports, members, interrupts, controls].into_iter().flatten().collect()
}

/// Flows from the first half of the nodes to the second, over a trunk of two links: one at first, in the end four.
const TRUNK: &[&str] =
    &["run", "net.tcp_stream", "--pattern", "trunk", "--links", "2", "-p", "trials=8", "-p", "max_trials=8"];

/// Faults of the links between two groups of nodes, as shares of the rates that the flows reach of what they could.
fn trunks() -> Vec<Planted> {
    let of_trunk = |name, what: &str, kind, cause, at_once: &[(String, f64)]| {
        let rates: Vec<Value> = at_once
            .iter()
            .map(|(case, share)| json!({ "when": { "part": "server", "case": case }, "samples": stream(*share) }))
            .collect();
        let mut fault = of(name, Plain, what, TRUNK, cause, &Simulated::sound(1.0));
        let rules = fault.script.as_mut().and_then(|script| script["rules"].as_array_mut());
        rules.into_iter().for_each(|rules| _ = rules.splice(0..0, rates.clone()));
        fault.who = Who::Finding(kind);
        fault
    };
    let missing = "one of two links between two groups of nodes is missing";
    let collide = "three flows share one of two links between two groups of nodes";
    let step = |flows: u32, share: f64| (format!("*#trunk.{flows}*"), share);
    let one_link = [step(2, 0.5), step(3, 1.0 / 3.0), step(4, 0.25)];
    let shared = [step(3, 1.0 / 3.0), step(4, 0.5)];
    vec![
        of_trunk("missing-link", missing, "missing-link", &["a link is missing"], &one_link),
        of_trunk("hash-collision", collide, "hash-collisions", &["flows share links"], &shared),
    ]
}

/// A stream that measures so much of what a sound one does.
fn stream(share: f64) -> Value {
    let received = json!({ "channel": "received", "at": { "direction": "forward", "flow": 0 }, "unit": "B",
        "span": "100 ms", "amounts": [share * 23.5e9 / 80.0], "repeat": 10, "noise_percent": NOISE_PERCENT });
    json!([received])
}

/// Other programs take most of the CPU time.
fn load() -> Value {
    json!({ "probes": { "load": { "counts": { "busy_ns": 1000, "own_ns": 300 } } } })
}

/// What differs between nodes.
pub struct Simulated {
    /// What it measures of what a sound node measures.
    share: f64,
    modules: u32,
    memory_mts: u32,
    corrected: u64,
    governor: &'static str,
    lanes: u32,
    nvlinks: u32,
    port_gbit: u32,
    /// Members of the bond that have a link.
    members: u32,
    /// How TCP senders avoid congestion; what is received does not depend on it.
    congestion: &'static str,
    /// Whether interrupts of the network card go to CPUs of its NUMA node.
    is_near: bool,
    evidence: Value,
}

impl Simulated {
    pub fn sound(share: f64) -> Self {
        Self {
            share,
            modules: 16,
            memory_mts: 4800,
            corrected: 0,
            governor: "performance",
            lanes: 16,
            nvlinks: 18,
            port_gbit: 25,
            members: 8,
            congestion: "bbr",
            is_near: true,
            evidence: json!({}),
        }
    }

    fn node(&self, name: &str) -> Value {
        let thread =
            |id: u32| json!({ "id": id, "core": id, "node": 0, "l3": 0, "online": true, "allowed": true });
        let module = |at: u32| {
            json!({ "locator": format!("DIMM {at}"), "channel": format!("P0 {at}"), "kind": "DDR5",
                    "configured_mts": self.memory_mts, "data_width_bits": 64 })
        };
        let modules: Vec<Value> = (0..self.modules).map(module).collect();
        let available = json!({ "known": 60_000_000_000_u64 });
        let link = |address: &str| {
            let (speed, lanes) = (json!({ "known": 32.0 }), json!({ "known": self.lanes }));
            json!({ "address": address, "express": true, "speed_gts": speed, "max_speed_gts": speed, "width": lanes,
                    "max_width": { "known": 16 } })
        };
        let gpu = |index: u32, address: &str| {
            json!({ "index": index, "vendor": { "known": "NVIDIA" }, "model": { "known": "H200" },
                "memory_bytes": { "known": 140_u64 << 30 }, "nvlinks": { "known": vec!["switch"; self.nvlinks as usize] },
                "pci": { "address": address, "ids": { "known": "10de:2335" }, "path": { "ports": [link(address)] } } })
        };
        let nic =
            json!({ "name": "eth0", "kind": "physical", "speed_mbit_s": { "known": self.port_gbit * 1000 } });
        let member = |at: u32| {
            let state = if at < self.members { "up" } else { "down" };
            json!({ "name": format!("eth{}", at + 1), "link": { "known": state } })
        };
        let members: Vec<Value> = (0..8).map(member).collect();
        let bond = json!({ "name": "bond0", "kind": "bond", "bond": { "members": members } });
        let reading = |setting: &str, value: Value| json!({ "setting": setting, "subject": "node", "facts": {}, "present": { "value": value } });
        let settings = [
            reading("cpu.governor", json!(self.governor)),
            reading("state.memory_corrected", json!(self.corrected)),
            reading("nic.irq_local", json!(self.is_near)),
            reading("net.ipv4.tcp_congestion_control", json!(self.congestion)),
        ];
        let shared = json!({ "mount": "/srv/shared", "source": "10.78.1.1:/srv", "kind": "nfs4", "medium": "network",
                             "available_bytes": { "known": 1_u64 << 40 } });
        let machine = json!({
            "file_systems": { "known": [shared] },
            "cpu": { "isa": { "known": ["sse2", "avx2"] }, "threads": [thread(0), thread(1)] },
            "caches": { "instances": [{ "level": 3, "size_bytes": 32 << 20, "cpus": [0, 1] }] },
            "numa": [{ "id": 0, "cpus": [0, 1], "total_bytes": { "known": 64_u64 << 30 }, "available_bytes": available }],
            "memory": { "effective_available_bytes": available },
            "virtualization": { "known": {} },
            "gpus": { "known": [gpu(0, ADDRESS), gpu(1, SECOND)] },
            "nics": { "known": [nic, bond] },
            "dimms": { "known": { "slots": 16, "modules": modules } },
        });
        json!({ "name": name, "machine": machine, "settings": settings })
    }

    /// What its workers measure, of all benchmarks here.
    fn samples(&self) -> Value {
        let slices = |channel: &str, at: Value, unit: &str, amount: f64, start: &str| {
            json!({ "channel": channel, "at": at, "unit": unit, "span": "100 ms", "start": start, "repeat": 6,
                    "amounts": [amount * self.share], "noise_percent": NOISE_PERCENT })
        };
        let copy = |slice: u32| {
            let at = json!({ "direction": "h2d", "size": "64 MiB", "near": 1, "slice": slice });
            json!({ "channel": "copy", "at": at, "unit": "GB", "span": "100 ms", "start": format!("{} ms", 100 * slice),
                    "amounts": [5.5 * self.share], "noise_percent": NOISE_PERCENT })
        };
        let mut all = vec![
            slices("slice", json!({ "threads": 1 }), "GB", 3.0, "0 ms"),
            slices("slice", json!({ "threads": 2 }), "GB", 6.0, "600 ms"),
        ];
        all.extend((0..6).map(copy));
        all.into()
    }

    /// The same of copies between its GPUs.
    fn peer_copies(&self) -> Value {
        let copy = |slice: u32| {
            let at = json!({ "operation": "write", "gpu": 0, "peer": 1, "lane": 0, "slice": slice });
            json!({ "channel": "copy", "at": at, "unit": "GB", "span": "100 ms", "start": format!("{} ms", 100 * slice),
                    "amounts": [40.0 * self.share], "noise_percent": NOISE_PERCENT })
        };
        (0..6).map(copy).collect()
    }
}

/// A fault that n3 of the simulated nodes has.
pub fn of(
    name: &'static str,
    strength: Strength,
    what: &str,
    run: &'static [&'static str],
    cause: &'static [&'static str],
    n3: &Simulated,
) -> Planted {
    let sound = Simulated::sound(1.0);
    let node = |at: u32| if at == 3 { n3.node("n3") } else { sound.node(&format!("n{at}")) };
    let nodes: Vec<Value> = (1..=NODES).map(node).collect();
    // A stream is as slow as its slower end.
    let slow = if n3.congestion == sound.congestion { "*n3*" } else { "*@n3+*" };
    let rules = json!([
        { "when": { "bench": "net.*", "part": "server", "case": slow }, "samples": stream(n3.share) },
        { "when": { "bench": "net.*", "part": "server" }, "samples": stream(1.0) },
        { "when": { "bench": "net.*" } },
        { "when": { "bench": "gpu.peer_copy", "node": "n3" }, "samples": n3.peer_copies() },
        { "when": { "bench": "gpu.peer_copy" }, "samples": sound.peer_copies() },
        { "when": { "node": "n3" }, "samples": n3.samples(), "evidence": n3.evidence },
        { "samples": sound.samples() },
    ]);
    let script = json!({ "schema": 1, "nodes": nodes, "rules": rules });
    Planted { script: Some(script), ..Planted::new(name, strength, what, run, cause) }
}
