//! Rates of the exchange, and the devices that carried it.

use seatrial_bench::all_to_all;
use seatrial_model::{Case, Measures, PartRecord, Reason};
use serde_json::{Value, json};

use super::COUNTED;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let mut measures = all_to_all::reduce(COUNTED, case, parts)?;
    let mut devices: Vec<&Value> = Vec::new();
    for device in parts.iter().filter_map(|part| part.evidence.get("device")) {
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    measures.evidence.insert("device".to_owned(), json!(devices));
    Ok(measures)
}
