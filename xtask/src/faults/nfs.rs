//! Faults of NFS servers, of simulated nodes: the lab's nodes share one kernel, which would be its own server.

use serde_json::{Value, json};

use super::hardware::{NODES, NOISE_PERCENT, Simulated, of};
use super::planted::Strength::{Just, Plain, Weak};
use super::planted::{Planted, Who};

/// All nodes write to one server.
const WRITES: &[&str] =
    &["run", "storage.file", "-p", "directory=/srv/shared", "-p", "operation=write", "-p", "size=64MiB"];

/// How long a sound server takes for a write, in ms.
const SOUND_MS: u64 = 2;

/// Of 1,000 writes by two threads: how long the server took for each, and how many were sent again.
fn counts(answer_ms: u64, sent_again: u64) -> Value {
    let of = |what: &str| format!("{what} WRITE 10.78.1.1:/srv /srv/shared");
    json!({ "probes": { "nfs": {
        "counts": {
            "elapsed_ms": 500 * answer_ms, (of("operations")): 1000, (of("retransmissions")): sent_again,
            (of("timeouts")): 0, (of("queue_ms")): 100, (of("rtt_ms")): 1000 * answer_ms,
            (of("execute_ms")): 1000 * answer_ms + 100,
        },
        "levels": { "round_trip_us 10.78.1.1:/srv /srv/shared": 250 },
    } } })
}

/// What a thread writes, in MB within 100 ms.
fn written(answer_ms: u64) -> Value {
    let amount = 40.0 * SOUND_MS as f64 / answer_ms as f64;
    let slices = |channel: &str, amount: f64| {
        json!({ "channel": channel, "at": { "thread": 0 }, "unit": "MB", "span": "100 ms", "repeat": 10,
                "amounts": [amount], "noise_percent": NOISE_PERCENT })
    };
    json!([slices("read", 0.0), slices("written", amount)])
}

/// n3 has the counts of its own, the others those of `others`.
fn fault(
    name: &'static str,
    what: &str,
    cause: &'static [&'static str],
    own: (u64, u64),
    others: u64,
) -> Planted {
    let mut fault = of(name, Plain, what, WRITES, cause, &Simulated::sound(1.0));
    let rules = json!([
        { "when": { "bench": "storage.*", "node": "n3" }, "samples": written(own.0), "evidence": counts(own.0, own.1) },
        { "when": { "bench": "storage.*" }, "samples": written(others), "evidence": counts(others, 0) },
    ]);
    let all = fault.script.as_mut().and_then(|script| script["rules"].as_array_mut());
    all.into_iter().for_each(|all| _ = all.splice(0..0, rules.as_array().cloned().unwrap_or_default()));
    fault
}

pub fn faults() -> Vec<Planted> {
    let mut all = Vec::new();
    for (strength, answer_ms) in [(Plain, 84), (Weak, 20), (Just, 6)] {
        let what = format!("the NFS server answers n3 after {answer_ms} ms, the others after {SOUND_MS}");
        let cause = &["nfs server answers slowly"];
        all.push(Planted { strength, ..fault("slow-nfs-server", &what, cause, (answer_ms, 0), SOUND_MS) });
    }
    let what = format!("the NFS server answers all {NODES} nodes after 84 ms");
    let cause = &["write takes 84 ms to be answered"];
    let server = fault("slow-nfs-server", &what, cause, (84, 0), 84);
    all.push(Planted { who: Who::Finding("slow-nfs-server"), ..server });
    let what = "n3 sends 20 of 1,000 requests to the NFS server again";
    all.push(fault("nfs-retransmissions", what, &["nfs server are sent again"], (20, 20), SOUND_MS));
    all
}
