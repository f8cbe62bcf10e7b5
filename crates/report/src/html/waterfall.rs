//! A waterfall from the loosest bound to the measured value, with the largest loss named.

use askama::Template;
use seatrial_model::Better;
use seatrial_model::record::MetricRecord;

use super::words::{fixed, number, quantity, text};
use crate::number::{decimals, whole_percent};
use crate::words::unit;

#[derive(Clone, Debug, Template)]
#[template(path = "waterfall.html")]
pub struct Waterfall {
    pub name: String,
    /// The unit of all numbers.
    pub unit: String,
    /// The largest loss in a sentence.
    pub largest: String,
    /// From the loosest bound to the measured value.
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub name: String,
    pub formula: String,
    pub value: String,
    /// The loss against the bar above; empty for the first.
    pub lost: String,
    /// Filled part of the track in percent.
    pub filled: String,
    /// Lost part of the track after it, in percent.
    pub missing: String,
    /// `bound`, `binding` or `measured`.
    pub class: &'static str,
}

/// The waterfall of `metric`; `None` without a limit.
pub fn waterfall(name: &str, metric: &MetricRecord) -> Option<Waterfall> {
    let limit = metric.limit.value?;
    let is_floor = metric.better == Better::Lower;
    let in_unit = |bound: &seatrial_model::Bound| {
        let value = bound.value.to(metric.unit).ok()?.value();
        Some((value, text(&bound.provenance), text(&bound.formula)))
    };
    let mut bounds: Vec<(f64, String, String)> = metric.limit.chain.iter().filter_map(in_unit).collect();
    if bounds.is_empty() {
        let told = |text: &Option<String>| super::words::text(text.as_deref().unwrap_or_default());
        bounds.push((limit, told(&metric.limit.provenance), told(&metric.limit.formula)));
    }
    bounds.sort_by(|one, other| if is_floor { one.0.total_cmp(&other.0) } else { other.0.total_cmp(&one.0) });
    let mut bars = bounds;
    bars.push((metric.median, "measured".to_owned(), format!("median of {} samples", metric.n)));
    let most = bars.iter().map(|bar| bar.0.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let decimals = decimals(bars.iter().map(|bar| bar.0));
    let last = bars.len() - 1;
    let mut steps = Vec::with_capacity(bars.len());
    for (at, (value, name, formula)) in bars.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| bars[at].0);
        let lost = before.map(|before| if is_floor { value - before } else { before - value });
        let share =
            before.filter(|before| *before != 0.0).zip(lost).map(|(before, lost)| 100.0 * lost / before);
        steps.push(Step {
            name: name.clone(),
            formula: formula.clone(),
            value: fixed(*value, decimals),
            lost: share.map_or(String::new(), |share| {
                let sign = if is_floor == (share >= 0.0) { "+" } else { "−" };
                format!("{sign}{}", whole_percent(share.abs()))
            }),
            filled: percentage(if is_floor { before.unwrap_or(*value).min(*value) } else { *value }, most),
            missing: percentage(lost.unwrap_or(0.0), most),
            class: match at {
                at if at == last => "measured",
                at if at + 1 == last => "binding",
                _ => "bound",
            },
        });
    }
    Some(Waterfall {
        name: text(name),
        unit: if unit(metric.unit).is_empty() { String::new() } else { metric.unit.to_string() },
        largest: largest(&bars, metric, is_floor),
        steps,
    })
}

fn largest(bars: &[(f64, String, String)], metric: &MetricRecord, is_floor: bool) -> String {
    let lost =
        |pair: &[(f64, String, String)]| if is_floor { pair[1].0 - pair[0].0 } else { pair[0].0 - pair[1].0 };
    let most = bars.windows(2).max_by(|one, other| lost(one).total_cmp(&lost(other)));
    let Some(pair) = most.filter(|pair| lost(pair) > 0.0) else {
        return "What was measured reaches the limit.".to_owned();
    };
    let share = if pair[0].0 == 0.0 {
        String::new()
    } else {
        format!(" ({})", whole_percent(100.0 * lost(pair) / pair[0].0.abs()))
    };
    let word = if is_floor { "The largest addition" } else { "The largest loss" };
    let to = if pair[1].1 == "measured" { "what was measured".to_owned() } else { pair[1].1.clone() };
    format!("{word} is {}{share}, between {} and {to}.", quantity(lost(pair), metric.unit), pair[0].1)
}

fn percentage(value: f64, of: f64) -> String {
    let share = (100.0 * value / of).clamp(0.0, 100.0);
    if share == 0.0 { "0".to_owned() } else { number((share * 10.0).round() / 10.0) }
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Bound, Limit, Unit};

    use super::*;

    fn metric(median: f64, better: Better, bounds: &[(&str, &str)]) -> MetricRecord {
        let bound = |(value, provenance): &(&str, &str)| Bound {
            value: value.parse().expect("a quantity"),
            formula: format!("{value} by {provenance}"),
            provenance: (*provenance).to_owned(),
            nominal: None,
        };
        let limit = Limit::Chain(bounds.iter().map(bound).collect());
        let unit = Unit::GigabitsPerSecond;
        let unit = if better == Better::Lower { Unit::Microsecond } else { unit };
        let limit = limit.record(better, unit).expect("the same dimension");
        let summary = seatrial_model::record::Summary {
            n: 9,
            trials: 3,
            median,
            mad: 0.0,
            min: median,
            max: median,
            mean: median,
            p99: None,
            ci95: None,
        };
        MetricRecord::new(unit, better, &summary, limit)
    }

    #[test]
    fn bars_go_from_the_loosest_bound_to_what_was_measured_and_the_largest_loss_is_named() {
        let bounds = [("10 Gbit/s", "nic speed"), ("8 GB/s", "pcie link"), ("9.49 Gbit/s", "framing")];
        let found = waterfall("throughput", &metric(7.5, Better::Higher, &bounds)).expect("a limit");
        let names: Vec<&str> = found.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["pcie link", "nic speed", "framing", "measured"]);
        assert_eq!(found.steps[2].class, "binding");
        assert_eq!(found.steps[3].lost, "−21%");
        assert!(found.largest.contains("between pcie link and nic speed"), "{}", found.largest);
        let alone = waterfall("throughput", &metric(7.5, Better::Higher, &bounds[2..])).expect("a limit");
        assert_eq!(
            alone.largest,
            "The largest loss is 1.99 Gbit/s (21%), between framing and what was measured."
        );
    }

    #[test]
    fn of_a_latency_it_is_what_was_added_to_the_floor() {
        let found = waterfall("latency", &metric(3.0, Better::Lower, &[("2 us", "cable")])).expect("a limit");
        assert_eq!((found.steps[1].lost.as_str(), found.steps[1].filled.as_str()), ("+50%", "66.7"));
        assert!(found.largest.starts_with("The largest addition is 1.00 us (50%)"), "{}", found.largest);
        assert!(waterfall("latency", &metric(3.0, Better::Lower, &[])).is_none());
    }
}
