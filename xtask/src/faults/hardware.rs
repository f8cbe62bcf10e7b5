//! Faults of hardware, which nobody can plant here: simulated nodes that have them, with the numbers that they would measure.

use serde_json::{Value, json};

use super::planted::Strength::{Just, Plain, Weak};
use super::planted::{Planted, Strength, Who};

/// The number of simulated nodes, of which n3 has the fault.
const NODES: u32 = 8;

/// How much the slices of all nodes differ by chance, up and down.
const NOISE_PERCENT: f64 = 2.0;

const MEMORY: &[&str] = &["run", "mem.bandwidth", "-p", "kernel=triad"];

const GPU: &[&str] = &["run", "gpu.host_copy", "-p", "direction=h2d", "-p", "size=64MiB"];

const STREAMS: &[&str] = &["run", "net.tcp_stream", "--pattern", "matchings", "-p", "flows=1"];

/// The PCI address of the GPU of each node.
const ADDRESS: &str = "0000:17:00.0";

/// What n3 measures of what the others measure.
const SHARES: [(Strength, f64); 3] = [(Plain, 0.5), (Weak, 0.85), (Just, 0.94)];

pub fn faults() -> Vec<Planted> {
    let mut all = Vec::new();
    all.extend(memory());
    all.extend(clock());
    all.extend(gpu());
    all.extend(port());
    let busy = Simulated { evidence: load(), ..Simulated::sound(0.6) };
    let what = "other programs take most CPU time of n3, which measures 60 %";
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
        let what = format!("4711 memory errors of n3 were corrected, which measures {share}");
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
        let what = format!("heat lowers the clock of n3, which measures {share}");
        let times = json!({ "probes": { "throttle": { "counts": { "core_throttles": 40, "core_throttled_ms": 300 } } } });
        of("heat", strength, &what, MEMORY, &["heat"], &Simulated { evidence: times, ..Simulated::sound(share) })
    });
    governors.into_iter().chain(heat).collect()
}

fn gpu() -> Vec<Planted> {
    let lanes = [(Plain, 4, 0.25), (Weak, 8, 0.5)].map(|(strength, lanes, share)| {
        let what = format!("the GPU of n3 has {lanes} lanes of 16");
        let n3 = Simulated { lanes, ..Simulated::sound(share) };
        of("narrow-link", strength, &what, GPU, &["pci express link"], &n3)
    });
    let watched = |reading: Value| json!({ "watch": { ADDRESS: reading } });
    let shared = SHARES.map(|(strength, share)| {
        let what = format!("another program uses the GPU of n3, which measures {share}");
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
    let slowed = SHARES.map(|(strength, share)| {
        let what = format!("the driver slows the GPU of n3 down for its heat, which measures {share}");
        let evidence = watched(
            json!({ "others": [], "throttle_bits": 32, "throttled_by": ["software thermal slowdown"] }),
        );
        of(
            "gpu-clock",
            strength,
            &what,
            GPU,
            &["clock was throttled"],
            &Simulated { evidence, ..Simulated::sound(share) },
        )
    });
    lanes.into_iter().chain(shared).chain(slowed).collect()
}

fn port() -> [Planted; 3] {
    [(Plain, 1), (Weak, 10), (Just, 20)].map(|(strength, gbit)| {
        let what = format!("the port of n3 has {gbit} Gbit/s, the others have 25");
        let n3 = Simulated { port_gbit: gbit, ..Simulated::sound(f64::from(gbit) / 25.0) };
        of("slow-port", strength, &what, STREAMS, &["port of n3 runs at a lower speed"], &n3)
    })
}

/// Other programs take most of the CPU time.
fn load() -> Value {
    json!({ "probes": { "load": { "counts": { "busy_ns": 1000, "own_ns": 300 } } } })
}

/// What differs between nodes.
struct Simulated {
    /// What it measures of what a sound node measures.
    share: f64,
    modules: u32,
    memory_mts: u32,
    corrected: u64,
    governor: &'static str,
    lanes: u32,
    port_gbit: u32,
    evidence: Value,
}

impl Simulated {
    fn sound(share: f64) -> Self {
        Self {
            share,
            modules: 16,
            memory_mts: 4800,
            corrected: 0,
            governor: "performance",
            lanes: 16,
            port_gbit: 25,
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
        let gpu = json!({ "index": 0, "vendor": { "known": "NVIDIA" }, "model": { "known": "H200" },
            "memory_bytes": { "known": 140_u64 << 30 },
            "pci": { "address": ADDRESS, "ids": { "known": "10de:2335" }, "path": { "ports": [link(ADDRESS)] } } });
        let nic =
            json!({ "name": "eth0", "kind": "physical", "speed_mbit_s": { "known": self.port_gbit * 1000 } });
        let reading = |setting: &str, value: Value| json!({ "setting": setting, "subject": "node", "facts": {}, "present": { "value": value } });
        let settings = [
            reading("cpu.governor", json!(self.governor)),
            reading("state.memory_corrected", json!(self.corrected)),
        ];
        let machine = json!({
            "cpu": { "isa": { "known": ["sse2", "avx2"] }, "threads": [thread(0), thread(1)] },
            "caches": { "instances": [{ "level": 3, "size_bytes": 32 << 20, "cpus": [0, 1] }] },
            "numa": [{ "id": 0, "cpus": [0, 1], "total_bytes": { "known": 64_u64 << 30 }, "available_bytes": available }],
            "memory": { "effective_available_bytes": available },
            "virtualization": { "known": {} },
            "gpus": { "known": [gpu] },
            "nics": { "known": [nic] },
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
}

fn of(
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
    let stream = |share: f64| {
        let received = json!({ "channel": "received", "at": { "direction": "forward", "flow": 0 }, "unit": "B",
            "span": "100 ms", "amounts": [share * 23.5e9 / 80.0], "repeat": 10, "noise_percent": NOISE_PERCENT });
        json!([received])
    };
    let rules = json!([
        { "when": { "bench": "net.*", "part": "server", "case": "*n3*" }, "samples": stream(n3.share) },
        { "when": { "bench": "net.*", "part": "server" }, "samples": stream(1.0) },
        { "when": { "bench": "net.*" } },
        { "when": { "node": "n3" }, "samples": n3.samples(), "evidence": n3.evidence },
        { "samples": sound.samples() },
    ]);
    let script = json!({ "schema": 1, "nodes": nodes, "rules": rules });
    Planted { script: Some(script), ..Planted::new(name, strength, what, run, cause) }
}
