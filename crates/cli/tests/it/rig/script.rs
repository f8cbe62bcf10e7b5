//! Simulated nodes with exact numbers, as of the hidden option `--script`.

use serde_json::{Value, json};

/// Memory bandwidth limit of a simulated node: 2 channels x 5000 MT/s x 8 B = 80 GB/s.
const MODULES: [&str; 2] = ["A", "B"];

/// Nodes with two cores, and rules for their measurements. Later rules win.
#[derive(Clone)]
pub struct Script {
    nodes: Vec<Value>,
    rules: Vec<Value>,
}

impl Script {
    /// Nodes and rules as the option `--script` reads them.
    pub fn of(nodes: Vec<Value>, rules: Vec<Value>) -> Self {
        Self { nodes, rules }
    }

    /// One node `n1`, limited to 80 GB/s by two memory modules, on which every kernel measures exactly `rate` GB/s.
    pub fn measuring(rate: f64) -> Self {
        let rules = vec![json!({ "samples": samples(rate, &[]) })];
        Self { nodes: vec![json!({ "name": "n1", "machine": machine() })], rules }
    }

    /// Nodes `n1` and on, with round trips of exactly 9 us.
    pub fn round_trips(count: u32) -> Self {
        let counted = json!({ "round_trips": { "buckets": [[9000, 1000]], "max_ns": 9000 } });
        let slices = json!([{ "channel": "median", "unit": "ns", "span": "100 ms", "amounts": [9000.0], "repeat": 6 }]);
        let rules = vec![json!({ "samples": slices, "evidence": counted })];
        Self { nodes: Vec::new(), rules }.nodes(count)
    }

    /// Nodes `n1` and on, with streams of exactly `gbit` Gbit/s.
    pub fn streams(count: u32, gbit: f64) -> Self {
        Self { nodes: Vec::new(), rules: vec![json!({})] }.stream("*", 1, gbit).nodes(count)
    }

    /// `flows` streams reach `gbit` Gbit/s together in cases whose id matches `case`.
    pub fn stream(self, case: &str, flows: u32, gbit: f64) -> Self {
        let bytes = gbit * 1e9 / 8.0 / 10.0 / f64::from(flows);
        let slices = |flow: u32| {
            json!({ "channel": "received", "at": { "direction": "forward", "flow": flow }, "unit": "B",
                    "span": "100 ms", "amounts": [bytes], "repeat": 10 })
        };
        let samples: Vec<Value> = (0..flows).map(slices).collect();
        self.rule(json!({ "when": { "case": case, "part": "server" }, "samples": samples }))
    }

    pub fn round_trip(self, case: &str, nanos: f64) -> Self {
        let counted = json!({ "round_trips": { "buckets": [[nanos as u64, 1000]], "max_ns": nanos as u64 } });
        let slices =
            json!([{ "channel": "median", "unit": "ns", "span": "100 ms", "amounts": [nanos], "repeat": 6 }]);
        self.rule(json!({ "when": { "case": case }, "samples": slices, "evidence": counted }))
    }

    pub fn one_kernel(mut self) -> Self {
        for node in &mut self.nodes {
            node["machine"]["boot_id"] = json!({ "known": "3f0c" });
        }
        self
    }

    /// The agent of `node` is lost during cases whose id matches `case`.
    pub fn lose(self, node: &str, case: &str) -> Self {
        let fault = json!({ "agent_lost": { "phase": "measure", "why": "the connection ended" } });
        self.rule(json!({ "when": { "case": case, "node": node }, "fault": fault }))
    }

    pub fn end_job(self, case: &str, why: &str) -> Self {
        let fault = json!({ "job_ended": { "phase": "measure", "why": why } });
        self.rule(json!({ "when": { "case": case }, "fault": fault }))
    }

    /// Nodes `n1` and on.
    pub fn nodes(mut self, count: u32) -> Self {
        self.nodes = vec![json!({ "name": "n", "count": count, "machine": machine() })];
        self
    }

    /// Host settings as pairs of id and reading in the record's form; those of an interface are of `eth0`, 10 Gbit/s, and a state
    /// is a counter.
    pub fn settings(mut self, settings: &[(&str, Value)]) -> Self {
        let reading = |(setting, present): &(&str, Value)| {
            let of_nic = setting.starts_with("nic.");
            let (subject, kind) = if of_nic { ("nic:eth0", "nic") } else { ("node", "node") };
            let facts = json!({ "kind": kind, "name": "eth0", "speed": "10 Gbit/s", "up": true });
            let counted = setting.starts_with("state.").then(|| present["value"].clone());
            json!({ "setting": setting, "subject": subject, "facts": facts, "present": present, "counted": counted })
        };
        for node in &mut self.nodes {
            node["settings"] = settings.iter().map(reading).collect();
        }
        self
    }

    pub fn interface(self, nic: &Value) -> Self {
        self.interfaces(&json!([nic]))
    }

    pub fn interfaces(mut self, nics: &Value) -> Self {
        for node in &mut self.nodes {
            node["machine"]["nics"] = json!({ "known": nics });
        }
        self
    }

    pub fn hcas(mut self, hcas: &Value) -> Self {
        for node in &mut self.nodes {
            node["machine"]["hcas"] = json!({ "known": hcas });
        }
        self
    }

    /// Hides the memory modules, so that there is no limit.
    pub fn without_limit(mut self) -> Self {
        for node in &mut self.nodes {
            node["machine"]["dimms"] = json!({ "unknown": "no table of memory modules" });
        }
        self
    }

    /// Cases whose id matches `case` measure `rate` GB/s.
    pub fn case(self, case: &str, rate: f64) -> Self {
        self.rule(json!({ "when": { "case": case }, "samples": samples(rate, &[]) }))
    }

    /// Cases whose id matches `case` measure `rate` GB/s times one of `factors` per trial.
    pub fn spread(self, case: &str, rate: f64, factors: &[f64]) -> Self {
        self.rule(json!({ "when": { "case": case }, "samples": samples(rate, factors) }))
    }

    /// Every trial measures `rate` GB/s while other processes take most CPU time.
    pub fn disturbed(self, rate: f64) -> Self {
        let probes = json!({ "probes": { "load": { "counts": { "busy_ns": 1000, "own_ns": 300 } } } });
        self.rule(json!({ "samples": samples(rate, &[]), "evidence": probes }))
    }

    /// Workers of cases whose id matches `case` have a fault, such as `{"hangs": {"phase": "measure"}}`.
    pub fn fault(self, case: &str, fault: Value) -> Self {
        self.rule(json!({ "when": { "case": case }, "samples": samples(60.0, &[]), "fault": fault }))
    }

    /// The verification finds a wrong word in cases whose id matches `case`.
    pub fn corrupt(self, case: &str) -> Self {
        let integrity = json!({ "corrupt": { "wrong": 1, "of": 1024, "first": "bit 17 of element 3" } });
        self.rule(json!({ "when": { "case": case }, "samples": samples(60.0, &[]), "integrity": integrity }))
    }

    fn rule(mut self, rule: Value) -> Self {
        self.rules.insert(0, rule);
        self
    }

    pub fn to_json(&self) -> Value {
        json!({ "schema": 1, "nodes": self.nodes, "rules": self.rules })
    }
}

/// Six samples of a tenth of a second per thread count: one thread has half the bandwidth of two.
fn samples(rate: f64, factors: &[f64]) -> Value {
    let slices = |threads: u32, rate: f64, start: &str| {
        json!({ "channel": "slice", "at": { "threads": threads }, "unit": "GB", "span": "100 ms", "start": start,
                "amounts": [rate / 10.0], "repeat": 6, "trial_factors": factors })
    };
    json!([slices(1, rate / 2.0, "0 ms"), slices(2, rate, "600 ms")])
}

/// Two cores, 64 GiB, and no device.
pub fn machine() -> Value {
    let thread =
        |id: u32| json!({ "id": id, "core": id, "node": 0, "l3": 0, "online": true, "allowed": true });
    let module = |channel: &str| {
        json!({ "locator": format!("DIMM {channel}"), "channel": channel, "kind": "DDR5",
                "configured_mts": 5000, "data_width_bits": 64 })
    };
    let available = json!({ "known": 60_000_000_000_u64 });
    json!({
        "cpu": { "isa": { "known": ["sse2", "avx2"] }, "threads": [thread(0), thread(1)] },
        "caches": { "instances": [{ "level": 3, "size_bytes": 32 << 20, "cpus": [0, 1] }] },
        "numa": [{ "id": 0, "cpus": [0, 1], "total_bytes": { "known": 64_u64 << 30 }, "available_bytes": available }],
        "memory": { "effective_available_bytes": available },
        "virtualization": { "known": {} },
        "gpus": { "known": [] },
        "dimms": { "known": { "slots": 2, "modules": MODULES.map(module) } },
    })
}
