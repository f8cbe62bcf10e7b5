//! The time that the parts of a trial on several nodes share: counted from the moment at which they agreed to begin.

use seatrial_model::{AgreedStart, Evidence, Fact, PartRecord};
use serde_json::json;

/// The moment at which the parts of a trial were to begin, by the clock of each: the zero of the time that they share.
/// `None` where the clock of a node was not known.
pub fn agreed_starts(parts: &[&PartRecord]) -> Option<Vec<u64>> {
    parts.iter().map(|part| AgreedStart::of(&part.evidence).map(|start| start.0)).collect()
}

/// Evidence of each trial whose parts agreed on a start: how far apart the first and the last part began, and ended, and for how
/// long all of them worked.
pub fn tell_spread<'a>(trials: impl IntoIterator<Item = &'a [&'a PartRecord]>, evidence: &mut Evidence) {
    let spread = |parts: &[&PartRecord]| {
        let mut spans = Vec::new();
        for (part, zero) in parts.iter().zip(agreed_starts(parts)?) {
            let start = part.samples.iter().map(|sample| sample.start.get()).min()?;
            let end = part.samples.iter().map(|sample| sample.end.get()).max()?;
            spans.push((start.saturating_sub(zero), end.saturating_sub(zero)));
        }
        let (first, last) = (spans.iter().map(|span| span.0).min()?, spans.iter().map(|span| span.0).max()?);
        let (early, late) = (spans.iter().map(|span| span.1).min()?, spans.iter().map(|span| span.1).max()?);
        Some(json!({
            "starts_apart_ns": last - first,
            "ends_apart_ns": late - early,
            "all_worked_ns": early.saturating_sub(last),
        }))
    };
    let told: Vec<_> = trials.into_iter().filter_map(spread).collect();
    if !told.is_empty() {
        evidence.insert("common_time".to_owned(), told.into());
    }
}
