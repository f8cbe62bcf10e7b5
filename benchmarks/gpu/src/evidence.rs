//! Evidence that parts of GPU benchmarks emit, and what the case keeps of it.

use std::collections::BTreeMap;

use seatrial_model::{Case, Evidence, Fact, Finding, Measures, PartRecord, Severity, Subject};
use serde_json::Value;

use super::watch::{GpuReadings, findings_of};
use seatrial_bench::numa_check;

/// Evidence that the case takes from the last part.
const KEPT: [&str; 10] =
    ["gpu", "gpus", "place", "places", "pages", "held_by", GpuReadings::NAME, "warm_up", "missing", "apart"];

/// Adds evidence and findings to `measures`: from the parts, on missing GPUs, on misplaced memory.
pub fn tell(measures: &mut Measures, case: &Case, parts: &[PartRecord]) {
    measures.keep_evidence(parts.last(), &KEPT);
    // Other processes that ended before the last trial slowed down earlier ones.
    if let Some(mut kept) = GpuReadings::of(&measures.evidence) {
        let all = parts.iter().filter_map(|part| GpuReadings::of(&part.evidence));
        all.for_each(|seen| add_others(&mut kept, seen));
        kept.put(&mut measures.evidence);
    }
    measures.keep_integrity(parts.first());
    measures.findings.extend(findings_of(case, parts));
    measures.findings.extend(parts.first().into_iter().flat_map(elsewhere));
    measures.findings.extend(missing(parts).into_iter().map(|(address, why)| {
        let text = format!(
            "this GPU was not measured, so there is no result for all GPUs or for the slowest: {why}"
        );
        Finding::new("gpu-not-measured", Severity::Problem, Subject::device("gpu", &address), text)
    }));
    measures.findings.extend(restless(parts));
}

/// Adds the other processes of `seen` to what is `kept` of the same GPUs.
fn add_others(kept: &mut GpuReadings, seen: GpuReadings) {
    for (address, seen) in seen.0 {
        let Some(kept) = kept.0.get_mut(&address) else { continue };
        for pid in seen.processes.others.into_iter().flatten() {
            let others = kept.processes.others.get_or_insert_default();
            if !others.contains(&pid) {
                others.push(pid);
            }
        }
        kept.processes.other_names.extend(seen.processes.other_names);
    }
}

/// Findings on memory off its NUMA node: of the only GPU, or of each GPU by address.
fn elsewhere(part: &PartRecord) -> Vec<Finding> {
    let each = part.evidence.get("places").and_then(Value::as_object).into_iter().flatten();
    let each = each.filter_map(|(address, place)| {
        let finding = numa_check(&Evidence::from([("place".to_owned(), place.clone())]))?;
        Some(Finding { subject: Subject::device("gpu", address), ..finding })
    });
    numa_check(&part.evidence).into_iter().chain(each).collect()
}

pub fn missing(parts: &[PartRecord]) -> BTreeMap<String, String> {
    let all = parts.iter().filter_map(|part| part.evidence.get("missing")?.as_object());
    all.flatten()
        .map(|(address, why)| (address.clone(), why.as_str().unwrap_or_default().to_owned()))
        .collect()
}

fn restless(parts: &[PartRecord]) -> Option<Finding> {
    let is = |part: &&PartRecord| part.evidence.get("warm_up").and_then(|told| told["steady"].as_bool());
    let count = parts.iter().filter(|part| is(part) == Some(false)).count();
    (count > 0).then(|| {
        let of = parts.len();
        let text = format!(
            "in {count} of {of} trials the GPU clocks and rates still varied by more than 2 % when the \
             warm-up ended: see warm_up in the evidence"
        );
        Finding::new("gpu-not-steady", Severity::Info, Subject::node(), text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::OtherProcesses;
    use serde_json::json;

    use crate::watch::GpuReading;

    #[test]
    fn memory_elsewhere_is_told_of_the_gpu_that_it_belongs_to() {
        let told = |evidence: Value| {
            let part = PartRecord {
                evidence: serde_json::from_value(evidence).expect("a map"),
                ..seatrial_testkit::part(Vec::new())
            };
            let found = elsewhere(&part).into_iter();
            found.map(|one| (one.kind, one.subject.as_str().to_owned())).collect::<Vec<_>>()
        };
        let at = |percent: f64| json!({ "right_percent": percent });
        let of = |kind: &str, subject: &str| (kind.to_owned(), subject.to_owned());
        assert_eq!(told(json!({ "place": at(50.0) })), [of("misplaced-memory", "node")]);
        assert_eq!(
            told(
                json!({ "places": { "0000:10:00.0": at(100.0), "0000:11:00.0": at(50.0), "0000:12:00.0": { "denied": "EPERM" } } })
            ),
            [of("misplaced-memory", "gpu:0000:11:00.0"), of("placement-unverified", "gpu:0000:12:00.0")]
        );
        assert_eq!(told(json!({ "places": { "0000:10:00.0": at(100.0) } })), []);
    }

    #[test]
    fn a_process_that_was_there_in_any_trial_is_kept() {
        let seen = |others: &[u32], names: &[(&str, &str)]| {
            let other_names = names.iter().map(|(pid, name)| (pid.to_string(), name.to_string())).collect();
            let mut reading = GpuReading::default();
            reading.processes = OtherProcesses { others: Some(others.to_vec()), other_names };
            GpuReadings([("0000:10:00.0".to_owned(), reading)].into())
        };
        let mut kept = seen(&[], &[]);
        let earlier = seen(&[4711], &[("4711", "python3")]);
        for _ in 0..2 {
            add_others(&mut kept, earlier.clone());
        }
        assert_eq!(kept, earlier);
    }
}
