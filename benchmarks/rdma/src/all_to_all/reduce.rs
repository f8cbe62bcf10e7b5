//! Rates of the exchange, and the devices that carried it.

use seatrial_bench::all_to_all;
use seatrial_model::{Case, Measures, PartRecord, Reason};
use serde_json::{Value, json};

use super::COUNTED;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let mut measures = all_to_all::reduce(COUNTED, case, parts)?;
    let mut devices: Vec<Value> = Vec::new();
    for device in parts.iter().filter_map(|part| part.evidence.get("device")) {
        let device = without_addresses(device.clone());
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    measures.evidence.insert("device".to_owned(), json!(devices));
    Ok(measures)
}

/// The facts of a device without the addresses of its last flow, so that nodes that are alike are told once.
fn without_addresses(mut device: Value) -> Value {
    if let Some(gid) = device.get_mut("gid").and_then(Value::as_object_mut) {
        gid.remove("gid");
        if let Some(why) = gid.get_mut("why")
            && let Some((_, reason)) = why.as_str().and_then(|why| why.split_once("; "))
        {
            *why = json!(reason);
        }
    }
    device
}
