//! What parts of GPU benchmarks leave in their records, and what becomes of it in the case's.

use std::collections::BTreeMap;

use seatrial_model::{Case, Finding, Measures, PartRecord, Severity, Subject};
use serde_json::json;

use super::watch::findings_of;
use crate::common::misplaced;

/// What of the last part's evidence stands in the case's.
const KEPT: [&str; 10] =
    ["gpu", "gpus", "place", "places", "pages", "held_by", "watch", "warm_up", "missing", "apart"];

/// Puts evidence and findings into `measures`: what the parts left, GPUs that are missing, memory elsewhere.
pub fn tell(measures: &mut Measures, case: &Case, parts: &[PartRecord]) {
    for name in KEPT {
        if let Some(value) = parts.last().and_then(|part| part.evidence.get(name)) {
            measures.evidence.insert(name.to_owned(), value.clone());
        }
    }
    measures.evidence.insert("integrity".to_owned(), json!(parts.first().map(|part| &part.integrity)));
    measures.findings.extend(findings_of(case, parts));
    measures.findings.extend(parts.first().and_then(|part| misplaced(&part.evidence)));
    measures.findings.extend(missing(parts).into_iter().map(|(address, why)| {
        let text = format!("not measured, so there are no figures of all GPUs or of the slowest: {why}");
        Finding::new("gpu-not-measured", Severity::Problem, Subject::device("gpu", &address), text)
    }));
    measures.findings.extend(restless(parts));
}

/// GPUs that any trial had to do without, and why.
pub fn missing(parts: &[PartRecord]) -> BTreeMap<String, String> {
    let all = parts.iter().filter_map(|part| part.evidence.get("missing")?.as_object());
    all.flatten()
        .map(|(address, why)| (address.clone(), why.as_str().unwrap_or_default().to_owned()))
        .collect()
}

/// A finding when a warm-up ended before clocks and rates were steady.
fn restless(parts: &[PartRecord]) -> Option<Finding> {
    let is = |part: &&PartRecord| part.evidence.get("warm_up").and_then(|told| told["steady"].as_bool());
    let count = parts.iter().filter(|part| is(part) == Some(false)).count();
    (count > 0).then(|| {
        let of = parts.len();
        let text = format!(
            "in {count} of {of} trials neither more rounds nor more time of warm-up made the clocks of the GPUs and the \
             rates agree within 2 %: see warm_up in the evidence"
        );
        Finding::new("gpu-not-steady", Severity::Info, Subject::node(), text)
    })
}
