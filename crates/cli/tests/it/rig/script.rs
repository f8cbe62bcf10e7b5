//! Simulated nodes with exact numbers; the form is that of the hidden option `--script`.

use serde_json::{Value, json};

/// The bandwidth limit of a simulated node in GB/s: 2 channels x 5000 MT/s x 8 B.
const MODULES: [&str; 2] = ["A", "B"];

/// Nodes of two cores and what is measured on them. Rules added later win.
#[derive(Clone)]
pub struct Script {
    nodes: Vec<Value>,
    rules: Vec<Value>,
}

impl Script {
    /// One node `n1`, limited to 80 GB/s by its two memory modules, on which every loop measures exactly `rate` GB/s.
    pub fn measuring(rate: f64) -> Self {
        let rules = vec![json!({ "samples": samples(rate, &[]) })];
        Self { nodes: vec![json!({ "name": "n1", "machine": machine() })], rules }
    }

    /// So many nodes, `n1` and on, between which a round trip takes exactly 9 us.
    pub fn round_trips(count: u32) -> Self {
        let counted = json!({ "round_trips": { "buckets": [[9000, 1000]], "max_ns": 9000 } });
        let slices = json!([{ "channel": "median", "unit": "ns", "span": "100 ms", "amounts": [9000.0], "repeat": 6 }]);
        let rules = vec![json!({ "samples": slices, "evidence": counted })];
        Self { nodes: Vec::new(), rules }.nodes(count)
    }

    /// So many nodes, `n1` and on, between which one stream comes to exactly so many Gbit/s.
    pub fn streams(count: u32, gbit: f64) -> Self {
        Self { nodes: Vec::new(), rules: vec![json!({})] }.stream("*", 1, gbit).nodes(count)
    }

    /// So many streams come to so many Gbit/s together in cases whose id fits `case`.
    pub fn stream(self, case: &str, flows: u32, gbit: f64) -> Self {
        let bytes = gbit * 1e9 / 8.0 / 10.0 / f64::from(flows);
        let slices = |flow: u32| {
            json!({ "channel": "received", "at": { "direction": "forward", "flow": flow }, "unit": "B",
                    "span": "100 ms", "amounts": [bytes], "repeat": 10 })
        };
        let samples: Vec<Value> = (0..flows).map(slices).collect();
        self.rule(json!({ "when": { "case": case, "part": "server" }, "samples": samples }))
    }

    /// Round trips take so many nanoseconds in cases whose id fits `case`.
    pub fn round_trip(self, case: &str, nanos: f64) -> Self {
        let counted = json!({ "round_trips": { "buckets": [[nanos as u64, 1000]], "max_ns": nanos as u64 } });
        let slices =
            json!([{ "channel": "median", "unit": "ns", "span": "100 ms", "amounts": [nanos], "repeat": 6 }]);
        self.rule(json!({ "when": { "case": case }, "samples": slices, "evidence": counted }))
    }

    /// All nodes run on one kernel.
    pub fn one_kernel(mut self) -> Self {
        for node in &mut self.nodes {
            node["machine"]["boot_id"] = json!({ "known": "3f0c" });
        }
        self
    }

    /// The agent of `node` is lost while a case whose id fits `case` is measured.
    pub fn lose(self, node: &str, case: &str) -> Self {
        let fault = json!({ "agent_lost": { "phase": "measure", "why": "the connection ended" } });
        self.rule(json!({ "when": { "case": case, "node": node }, "fault": fault }))
    }

    /// The job that holds all nodes is ended while a case whose id fits `case` is measured.
    pub fn end_job(self, case: &str, why: &str) -> Self {
        let fault = json!({ "job_ended": { "phase": "measure", "why": why } });
        self.rule(json!({ "when": { "case": case }, "fault": fault }))
    }

    /// So many nodes, `n1` and on.
    pub fn nodes(mut self, count: u32) -> Self {
        self.nodes = vec![json!({ "name": "n", "count": count, "machine": machine() })];
        self
    }

    /// Nodes whose hosts are set so: pairs of a setting and what it is, in the form of the record. Settings of an
    /// interface are those of `eth0`, which has 10 Gbit/s.
    pub fn settings(mut self, settings: &[(&str, Value)]) -> Self {
        let reading = |(setting, present): &(&str, Value)| {
            let of_nic = setting.starts_with("nic.");
            let (subject, kind) = if of_nic { ("nic:eth0", "nic") } else { ("node", "node") };
            let facts = json!({ "kind": kind, "name": "eth0", "speed": "10 Gbit/s", "up": true });
            json!({ "setting": setting, "subject": subject, "facts": facts, "present": present })
        };
        for node in &mut self.nodes {
            node["settings"] = settings.iter().map(reading).collect();
        }
        self
    }

    /// Every node has this interface beside nothing else.
    pub fn interface(self, nic: &Value) -> Self {
        self.interfaces(&json!([nic]))
    }

    /// Every node has these interfaces.
    pub fn interfaces(mut self, nics: &Value) -> Self {
        for node in &mut self.nodes {
            node["machine"]["nics"] = json!({ "known": nics });
        }
        self
    }

    /// A node whose memory modules nobody can see, so that it has no limit.
    pub fn without_limit(mut self) -> Self {
        for node in &mut self.nodes {
            node["machine"]["dimms"] = json!({ "unknown": "no table of memory modules" });
        }
        self
    }

    /// Cases whose id fits `case` measure `rate` GB/s.
    pub fn case(self, case: &str, rate: f64) -> Self {
        self.rule(json!({ "when": { "case": case }, "samples": samples(rate, &[]) }))
    }

    /// Cases whose id fits `case` measure `rate` GB/s times one of `factors`, another one in each trial.
    pub fn spread(self, case: &str, rate: f64, factors: &[f64]) -> Self {
        self.rule(json!({ "when": { "case": case }, "samples": samples(rate, factors) }))
    }

    /// Every trial measures `rate` GB/s while other processes take most of the processor.
    pub fn disturbed(self, rate: f64) -> Self {
        let probes = json!({ "probes": { "load": { "counts": { "busy_ns": 1000, "own_ns": 300 } } } });
        self.rule(json!({ "samples": samples(rate, &[]), "evidence": probes }))
    }

    /// The workers of cases whose id fits `case` meet with a fault, such as `{"hangs": {"phase": "measure"}}`.
    pub fn fault(self, case: &str, fault: Value) -> Self {
        self.rule(json!({ "when": { "case": case }, "samples": samples(60.0, &[]), "fault": fault }))
    }

    /// The check of the data finds a wrong word in cases whose id fits `case`.
    pub fn corrupt(self, case: &str) -> Self {
        let integrity = json!({ "corrupt": { "wrong": 1, "of": 1024, "first": "bit 17 of element 3" } });
        self.rule(json!({ "when": { "case": case }, "samples": samples(60.0, &[]), "integrity": integrity }))
    }

    fn rule(mut self, rule: Value) -> Self {
        self.rules.insert(0, rule);
        self
    }

    /// The text of the file.
    pub fn to_json(&self) -> Value {
        json!({ "schema": 1, "nodes": self.nodes, "rules": self.rules })
    }
}

/// Six slices of a tenth of a second for each thread count: one thread has half the bandwidth of two.
fn samples(rate: f64, factors: &[f64]) -> Value {
    let slices = |threads: u32, rate: f64, start: &str| {
        json!({ "channel": "slice", "at": { "threads": threads }, "unit": "GB", "span": "100 ms", "start": start,
                "amounts": [rate / 10.0], "repeat": 6, "trial_factors": factors })
    };
    json!([slices(1, rate / 2.0, "0 ms"), slices(2, rate, "600 ms")])
}

fn machine() -> Value {
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
