//! A comparison as JSON.

use seatrial_analysis::{Changed, Comparison, Difference, Ended, Side};
use seatrial_stats::Verdict;
use serde_json::{Value, json};

use super::Names;

/// One JSON value: `a`, `b`, `differences` with numbers and units, cases that only one run has or that were measured
/// in one run only, and changes of settings and inventory.
pub fn value(names: Names<'_>, comparison: &Comparison) -> Value {
    json!({
        "a": names.a,
        "b": names.b,
        "differences": comparison.differences.iter().map(difference).collect::<Vec<_>>(),
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "failing_now": comparison.broken.iter().map(ended).collect::<Vec<_>>(),
        "failed_before": comparison.mended.iter().map(ended).collect::<Vec<_>>(),
        "unmeasured_now": comparison.unmeasured.iter().map(ended).collect::<Vec<_>>(),
        "changed": comparison.changed.iter().map(changed).collect::<Vec<_>>(),
        "same_within_percent": comparison.same_within.map(|share| 100.0 * share),
        "worse": comparison.is_worse(),
    })
}

fn difference(difference: &Difference) -> Value {
    let (change, reason) = match &difference.change {
        Ok(change) => (Some(change), None),
        Err(why) => (None, Some(why)),
    };
    json!({
        "bench": difference.bench,
        "subject": difference.subject,
        "params": difference.params,
        "metric": difference.metric,
        "unit": difference.unit,
        "better": difference.better,
        "a": side(&difference.a),
        "b": side(&difference.b),
        "verdict": change.map_or("cannot_tell", |change| word(change.verdict)),
        "percent": change.map(|change| change.percent),
        "ci95_percent": change.and_then(|change| change.interval),
        "p": change.and_then(|change| change.p),
        "may_be_chance": change.map(|change| change.may_be_chance),
        "smallest_detectable_percent": change.and_then(|change| change.smallest_percent),
        "reason": reason,
    })
}

fn ended(ended: &Ended) -> Value {
    json!({ "case": ended.case, "reason": ended.reason })
}

fn changed(changed: &Changed) -> Value {
    json!({ "what": changed.what, "before": changed.before, "after": changed.after, "nodes": changed.nodes })
}

fn side(side: &Side) -> Value {
    json!({ "case": side.case, "nodes": side.nodes, "value": side.value })
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::CannotTell => "cannot_tell",
    }
}
