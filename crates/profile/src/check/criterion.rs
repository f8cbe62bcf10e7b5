//! Checks criteria and limits against the tests and metrics that they name.

use std::collections::BTreeMap;

use seatrial_model::profile::{Bar, Bounds, Criterion, LimitRule, Statistic};
use seatrial_model::{About, Better, Params, Quantity, Unit, Value};

use super::Names;
use super::bar::{bars, is_never_negative};
use super::judged::{Judged, judged};
use super::test::Checked;
use crate::Diagnostics;
use crate::catalog::Known;
use crate::diagnostic::At;
use crate::layer::{CriterionEntry, LimitEntry, Pairs, plain};

pub(super) type Tests<'t, 'a> = BTreeMap<&'t str, &'t Checked<'a>>;

pub(super) fn criterion(
    entry: &CriterionEntry,
    tests: &Tests<'_, '_>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Option<Criterion> {
    let checked = find(&entry.test, tests, names, found)?;
    let judged = judged(&entry.metric, checked.known?, found)?;
    let cases = cases(&entry.cases, checked, found);
    let at = places(&entry.axes, &entry.metric, judged, found);
    if entry.of.value == Statistic::Worst && judged.better == Better::None {
        let title = format!("'{}' has no worst value: it has no better direction", entry.metric.value);
        found.error(entry.of.at, title);
    }
    bars(&entry.bounds, &entry.bars, judged, found);
    if let Some(without) = entry.without_limit.as_ref().filter(|_| !rests_on_limit(&entry.bounds)) {
        found.error(
            without.at,
            "'without_limit' is for a bound that is a percentage of the limit or of the nominal rate",
        );
    }
    Some(Criterion {
        id: entry.id.value.clone(),
        test: entry.test.value.clone(),
        metric: entry.metric.value.clone(),
        cases,
        at,
        of: entry.of.value,
        bounds: entry.bounds.clone(),
        without_limit: entry.without_limit.as_ref().map(|without| without.value).unwrap_or_default(),
        missed: entry.missed,
    })
}

fn rests_on_limit(bounds: &Bounds) -> bool {
    bounds.bars().any(|bar| matches!(bar, Bar::PercentOfLimit(_) | Bar::PercentOfNominal(_)))
}

pub(super) fn limit(
    entry: &LimitEntry,
    tests: &Tests<'_, '_>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Option<LimitRule> {
    let checked = find(&entry.test, tests, names, found)?;
    let judged = judged(&entry.metric, checked.known?, found)?;
    let cases = cases(&entry.cases, checked, found);
    if judged.axes.is_some() {
        found.error(
            entry.metric.at,
            format!("'{}' is a series, and limits are of metrics", entry.metric.value),
        );
    }
    bars(&Bounds::AtLeast(Bar::Absolute(entry.value.value)), &[entry.value.at], judged, found);
    if entry.value.value.value() == 0.0 && is_never_negative(judged.unit) {
        found.error(entry.value.at, "a limit needs a value");
    }
    Some(LimitRule {
        test: entry.test.value.clone(),
        metric: entry.metric.value.clone(),
        cases,
        value: entry.value.value,
        source: entry.source.clone(),
    })
}

pub(super) fn find<'t, 'a>(
    name: &At<String>,
    tests: &Tests<'t, 'a>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Option<&'t Checked<'a>> {
    let checked = tests.get(name.value.as_str()).copied();
    if checked.is_none() {
        names.missing("test", name, tests.keys().copied(), found);
    }
    checked
}

/// `where` in canonical form. Reports values that the test never runs: such a criterion would judge nothing.
pub(super) fn cases(pairs: &Pairs<At<Value>>, checked: &Checked<'_>, found: &mut Diagnostics) -> Params {
    let Some(Known::Here(about)) = checked.known else {
        for (name, value) in pairs {
            if let Some(run) = checked.test.params.get(&name.value) {
                refuse_unless_run(name, value, &value.value.to_string(), run, checked, found);
            }
        }
        return plain(pairs);
    };
    pairs
        .iter()
        .filter_map(|(name, value)| Some((name.value.clone(), case(name, value, about, checked, found)?)))
        .collect()
}

fn case(
    name: &At<String>,
    value: &At<Value>,
    about: &'static About,
    checked: &Checked<'_>,
    found: &mut Diagnostics,
) -> Option<Value> {
    let Some(spec) = about.param(&name.value) else {
        let known = about.params.iter().map(|spec| spec.name);
        let title = format!("{} has no parameter '{}'", about.id, name.value);
        found.error(name.at, title).suggest(&name.value, known);
        return None;
    };
    let canonical = match spec.parse(&value.value.to_string()) {
        Ok(canonical) => canonical,
        Err(why) => {
            found.error(value.at, format!("parameter '{}': {why}", name.value));
            return None;
        }
    };
    let default = [spec.default_value().to_string()];
    let run = checked.test.params.get(spec.name).map_or(&default[..], Vec::as_slice);
    refuse_unless_run(name, value, &canonical.to_string(), run, checked, found);
    Some(canonical)
}

fn refuse_unless_run(
    name: &At<String>,
    value: &At<Value>,
    canonical: &str,
    run: &[String],
    checked: &Checked<'_>,
    found: &mut Diagnostics,
) {
    // A test whose values were all refused is reported for that.
    if run.is_empty() || run.iter().any(|value| value == canonical) {
        return;
    }
    let title = format!("test '{}' never runs {} = {canonical}", checked.test.id, name.value);
    found.error(value.at, title).label(format!("it runs {}", run.join(", ")));
}

/// `at` as written; reports axes that the series does not have, values of the wrong kind, and places in a metric.
pub(super) fn places(
    pairs: &Pairs<At<Value>>,
    metric: &At<String>,
    judged: Judged,
    found: &mut Diagnostics,
) -> Params {
    let Some(axes) = judged.axes else {
        if let Some((axis, _)) = pairs.first() {
            found.error(axis.at, format!("'at' works only with a series; '{}' is a metric", metric.value));
        }
        return plain(pairs);
    };
    for (name, value) in pairs {
        let Some(axis) = axes.iter().find(|axis| axis.name == name.value) else {
            let title = format!("the series has no axis '{}'", name.value);
            found.error(name.at, title).suggest(&name.value, axes.iter().map(|axis| axis.name));
            continue;
        };
        let text = value.value.to_string();
        if axis.unit == Unit::Count {
            continue;
        }
        if let Err(error) = text.parse::<Quantity>().and_then(|quantity| quantity.to(axis.unit)) {
            found.error(value.at, format!("axis '{}': {error}", axis.name));
        }
    }
    plain(pairs)
}
