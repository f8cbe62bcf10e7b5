//! The samples of foreign evidence: what `verify` makes of the parts of a case, for every benchmark.

use seatrial_engine::{Recomputation, recompute};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Case, PartRecord, Site};
use serde::Deserialize;

use crate::Target;

pub const TARGET: Target = Target { name: "samples", run, longest: 12_000, most_allocated: 64 << 20 };

#[derive(Deserialize)]
struct Measured {
    case: Case,
    parts: Vec<PartRecord>,
    #[serde(default)]
    site: Site,
}

fn run(input: &[u8]) {
    let Ok(Measured { case, parts, site }) = serde_json::from_slice(input) else { return };
    let mut recorded = CaseRecord::measured(&case);
    let registry = seatrial_registry::REGISTRY;
    if let Some(bench) = registry.find(&case.bench) {
        recorded.version = bench.about.version;
    }
    if let Recomputation::Record(record) = recompute(registry, &case, &recorded, &parts, &site) {
        // The engine takes a panic of a benchmark for a reason; it is a finding all the same.
        let is_defect = record.reason.as_ref().is_some_and(|reason| reason.contains(" panicked: "));
        assert!(!is_defect, "{:?}", record.reason);
        serde_json::to_vec(&record).expect("a record can be written");
    }
}
