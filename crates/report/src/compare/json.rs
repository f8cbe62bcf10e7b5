//! A comparison as JSON.

use seatrial_analysis::{
    Changed, Comparison, Curves, Difference, DifferingParam, Ended, PerPrice, Priced, Side,
};
use seatrial_model::record::SeriesRecord;
use seatrial_stats::Verdict;
use serde_json::{Value, json};

use super::{Compared, Names};
use crate::view::per_price::amount;

/// One JSON value: each comparison with its differences, the curves of all sides, and figures per price.
pub fn value(compared: &Compared<'_>) -> Value {
    let amount = amount(compared.per_price);
    json!({
        "schema": 1,
        "comparisons": compared.pairs().map(|(names, comparison)| of_pair(names, comparison)).collect::<Vec<_>>(),
        "legend": compared.legend,
        "curves": compared.curves.iter().map(|curves| of_curves(curves, compared.names)).collect::<Vec<_>>(),
        "per_price": compared.per_price.iter().map(|found| of_price(found, compared.names, amount)).collect::<Vec<_>>(),
        "price_unit": compared.price_unit,
    })
}

fn of_curves(curves: &Curves, names: &[String]) -> Value {
    let curve =
        |(side, series): &(usize, SeriesRecord)| json!({ "side": names.get(*side), "series": series });
    json!({
        "bench": curves.bench,
        "name": curves.name,
        "nodes": curves.nodes,
        "subject": curves.subject,
        "params": curves.params,
        "at": curves.at.as_ref().map(|(name, value)| json!({ name: value })),
        "curves": curves.of_sides.iter().map(curve).collect::<Vec<_>>(),
    })
}

fn of_price(found: &PerPrice, names: &[String], amount: f64) -> Value {
    let priced = |side: &Priced| {
        json!({
            "side": names.get(side.side),
            "value": side.value,
            "price": side.price,
            "per_amount": amount * side.per_price,
        })
    };
    json!({
        "bench": found.bench,
        "metric": found.metric,
        "unit": found.unit,
        "nodes": found.nodes,
        "subject": found.subject,
        "params": found.params,
        "amount": amount,
        "ranking": found.ranking.iter().map(priced).collect::<Vec<_>>(),
    })
}

/// `a`, `b`, `differences` with numbers and units, cases that only one side has or that were measured on one side only,
/// and changes of settings and inventory.
fn of_pair(names: Names<'_>, comparison: &Comparison) -> Value {
    json!({
        "a": names.a,
        "b": names.b,
        "differences": comparison.differences.iter().map(difference).collect::<Vec<_>>(),
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "differing_params": comparison.differing.iter().map(differing).collect::<Vec<_>>(),
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
        "headline": difference.is_headline,
        "unit": difference.unit,
        "better": difference.better,
        "a": side(&difference.a),
        "b": side(&difference.b),
        "verdict": change.map_or("cannot_tell", |change| word(change.verdict)),
        "percent": change.and_then(|change| change.percent),
        "ci95_percent": change.and_then(|change| change.interval),
        "p": change.and_then(|change| change.p),
        "may_be_chance": change.map(|change| change.may_be_chance),
        "smallest_detectable_percent": change.and_then(|change| change.smallest_percent),
        "reason": reason,
    })
}

fn differing(param: &DifferingParam) -> Value {
    json!({ "bench": param.bench, "name": param.name, "a": param.a, "b": param.b })
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
