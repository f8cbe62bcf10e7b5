//! A comparison as JSON.

use seatrial_analysis::{Comparison, Difference, Side};
use seatrial_stats::Verdict;
use serde_json::{Value, json};

use crate::compare::Names;

/// The comparison as one JSON value: `a`, `b`, `differences` with numbers in the unit beside them, and the cases that
/// only one of the runs has.
pub fn value(names: Names<'_>, comparison: &Comparison) -> Value {
    json!({
        "a": names.a,
        "b": names.b,
        "differences": comparison.differences.iter().map(difference).collect::<Vec<_>>(),
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
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
        "smallest_detectable_percent": change.and_then(|change| change.smallest_percent),
        "reason": reason,
    })
}

fn side(side: &Side) -> Value {
    json!({ "case": side.case, "nodes": side.nodes, "median": side.median })
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::CannotTell => "cannot_tell",
    }
}
