//! Checks by evidence whether memory is on the NUMA node that it was bound to.

use seatrial_model::{Evidence, Finding, Severity, Subject};

/// Share of pages that must be on the right node, in percent.
const ENOUGH: f64 = 99.0;

/// A finding when the evidence of [`evidence_of_place`](super::evidence_of_place) shows misplaced pages, or could not
/// be collected.
pub fn numa_check(evidence: &Evidence) -> Option<Finding> {
    let place = evidence.get("place")?;
    let share = place.get("right_percent").and_then(serde_json::Value::as_f64);
    let (kind, text) = match (share, place.get("denied")) {
        (Some(share), _) if share >= ENOUGH => return None,
        (Some(share), _) => {
            let text = format!(
                "only {share:.1} % of the pages are on the node they were bound to: memory was short there"
            );
            ("misplaced-memory", text)
        }
        (None, Some(why)) => {
            let why = why.as_str().unwrap_or("unknown");
            let text = format!(
                "the place of the memory could not be verified: {why}; local and remote may be mixed"
            );
            ("placement-unverified", text)
        }
        (None, None) => return None,
    };
    Some(Finding::new(kind, Severity::Warning, Subject::node(), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kind(place: serde_json::Value) -> Option<String> {
        numa_check(&Evidence::from([("place".to_owned(), place)])).map(|finding| finding.kind)
    }

    #[test]
    fn pages_elsewhere_and_pages_of_unknown_place_are_told_and_others_not() {
        assert_eq!(kind(json!({ "right_percent": 100.0 })), None);
        assert_eq!(kind(json!({ "right_percent": 98.9 })).as_deref(), Some("misplaced-memory"));
        assert_eq!(kind(json!({ "denied": "EPERM" })).as_deref(), Some("placement-unverified"));
        assert_eq!(numa_check(&Evidence::new()), None);
    }
}
