//! A machine as a readable text, with tables for what repeats.

mod compact;

use std::collections::BTreeMap;
use std::fmt::Write;

use seatrial_inventory::{memory_bandwidth, memory_limit, node_memory_bandwidth, part_limits};
use seatrial_model::machine::{Known, Machine, PartLimit};
use seatrial_model::{Better, Bound, Bytes, Limit};
use serde_json::{Map, Value};

const DEVICES: [&str; 5] = ["nics", "hcas", "gpus", "disks", "file_systems"];

pub fn portrait(machine: &Machine) -> String {
    let mut whole = serde_json::to_value(machine).expect("serialises");
    let devices = whole.as_object_mut().map(devices).expect("a record");
    let mut rest = machine.clone();
    rest.cpu.threads.clear();
    rest.caches.instances.clear();
    let shown = || "above".to_owned();
    (rest.nics, rest.hcas, rest.gpus) =
        (Known::Unknown(shown()), Known::Unknown(shown()), Known::Unknown(shown()));
    (rest.disks, rest.file_systems) = (Known::Unknown(shown()), Known::Unknown(shown()));
    let rest = serde_json::to_string_pretty(&rest).expect("serialises");
    format!("{}{}\n{devices}\n{}\n{rest}", threads(machine), caches(machine), limits(machine))
}

fn threads(machine: &Machine) -> String {
    let place = |place: Option<u32>| place.map_or("-".to_owned(), |place| place.to_string());
    let mut text = "cpu  core socket node l3 rank online allowed\n".to_owned();
    for t in &machine.cpu.threads {
        let places = [t.core, t.socket, t.node, t.l3, t.smt_rank].map(place);
        let [core, socket, node, l3, rank] = &places;
        let (online, allowed) = (u8::from(t.online), u8::from(t.allowed));
        writeln!(text, "{:<4} {core:<4} {socket:<6} {node:<4} {l3:<2} {rank:<4} {online:<6} {allowed}", t.id)
            .expect("text");
    }
    text + "\n"
}

fn caches(machine: &Machine) -> String {
    let mut text = String::new();
    for cache in &machine.caches.instances {
        let (level, kind, size) = (cache.level, cache.kind, Bytes(cache.size_bytes));
        let line = cache.line_bytes.map_or("-".to_owned(), |line| line.to_string());
        writeln!(text, "L{level} {kind:?} {size}, line {line}, CPUs {:?}", cache.cpus).expect("text");
    }
    let all: Vec<u32> = machine.cpu.usable().map(|thread| thread.id).collect();
    writeln!(text, "\nlast level of the usable CPUs: {:?}", machine.last_level_cache(&all)).expect("text");
    writeln!(text, "memory bandwidth: {}", limit(&memory_bandwidth(machine))).expect("text");
    if let Limit::AtMost { bound, .. } = memory_limit(machine) {
        writeln!(text, "  at most {:.3} = {} ({})", bound.value, bound.formula, bound.provenance)
            .expect("text");
    }
    for node in &machine.numa {
        let bound = node_memory_bandwidth(machine, node.id);
        writeln!(text, "memory bandwidth of node {}: {}", node.id, limit(&bound)).expect("text");
    }
    text
}

fn limit(bound: &Known<Bound>) -> String {
    match bound {
        Known::Known(bound) => format!("{} = {} ({})", bound.value, bound.formula, bound.provenance),
        Known::Unknown(why) => format!("unknown: {why}"),
    }
}

/// Moves devices out of the record, and PCI functions out of devices: each is shown once.
fn devices(record: &mut Map<String, Value>) -> String {
    let mut functions = BTreeMap::new();
    let mut text = String::new();
    for name in DEVICES {
        let mut devices = record.remove(name).unwrap_or_default();
        take_functions(&mut devices, &mut functions);
        writeln!(text, "{name}:{}", compact::text(&devices, 1)).expect("text");
    }
    for function in functions.values() {
        writeln!(text, "pci function:{}", compact::text(function, 1)).expect("text");
    }
    text
}

fn take_functions(value: &mut Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| take_functions(item, found)),
        Value::Object(fields) if fields.contains_key("local_cpus") => {
            let address = fields["address"].clone();
            let key = address.as_str().expect("an address").to_owned();
            let before = found.insert(key, value.clone());
            assert!(
                before.is_none_or(|before| before == *value),
                "a function is the same for all its devices"
            );
            *value = address;
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| take_functions(field, found)),
        _ => {}
    }
}

fn limits(machine: &Machine) -> String {
    let mut text = "limits:\n".to_owned();
    for part in part_limits(machine).iter().filter(|part| part.what != "memory bandwidth") {
        let PartLimit { subject, what, limit } = part;
        let bounds = match limit {
            Limit::Unknown { reason } => {
                writeln!(text, "  {subject}: {what}: unknown: {reason}").expect("text");
                continue;
            }
            Limit::AtMost { bound, reason } => {
                writeln!(text, "  {subject}: {what}: unknown: {reason}; at most {:.3}", bound.value)
                    .expect("text");
                continue;
            }
            Limit::Chain(bounds) => bounds,
        };
        let mark =
            |bound: &Bound| if part.limit.tightest(Better::Higher) == Some(bound) { "<- binds" } else { "" };
        writeln!(text, "  {subject}: {what}").expect("text");
        for bound in bounds {
            let line =
                format!("    {:.3} = {} ({}) {}", bound.value, bound.formula, bound.provenance, mark(bound));
            writeln!(text, "{}", line.trim_end()).expect("text");
        }
    }
    text
}
