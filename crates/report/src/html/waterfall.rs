//! A waterfall from the loosest bound to the measured value, with the largest loss named.

use askama::Template;
use seatrial_analysis::{Fall, FallKind, Waterfall};
use seatrial_model::record::MetricRecord;

use super::words::{fixed, number, text};
use crate::number::decimals;
use crate::view::waterfall::{before, largest, step};
use crate::words::unit;

#[derive(Clone, Debug, Template)]
#[template(path = "waterfall.html")]
pub struct Drawn {
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
    /// `bound`, `binding`, `held` or `measured`.
    pub class: &'static str,
}

/// The waterfall `found` of the metric `name`.
pub fn drawn(name: &str, metric: &MetricRecord, found: &Waterfall) -> Drawn {
    let most = found.falls.iter().map(|fall| fall.value.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let decimals = decimals(found.falls.iter().map(|fall| fall.value));
    let of_fall = |(at, fall): (usize, &Fall)| {
        let before = before(found, at);
        let lost = before.map_or(0.0, |before| metric.better.loss(before, fall.value));
        let is_floor = before.is_some_and(|before| before < fall.value) && lost > 0.0;
        Step {
            name: text(&fall.name),
            formula: text(&fall.formula),
            value: fixed(fall.value, decimals),
            lost: step(before, fall.value).unwrap_or_default(),
            filled: percentage(if is_floor { fall.value - lost } else { fall.value }, most),
            missing: percentage(lost, most),
            class: match fall.kind {
                FallKind::Bound => "bound",
                FallKind::Limit => "binding",
                FallKind::Held => "held",
                FallKind::Measured => "measured",
            },
        }
    };
    Drawn {
        name: text(name),
        unit: if unit(metric.unit).is_empty() { String::new() } else { metric.unit.to_string() },
        largest: text(&largest(found, metric)),
        steps: found.falls.iter().enumerate().map(of_fall).collect(),
    }
}

fn percentage(value: f64, of: f64) -> String {
    let share = (100.0 * value / of).clamp(0.0, 100.0);
    if share == 0.0 { "0".to_owned() } else { number((share * 10.0).round() / 10.0) }
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Better, Bound, Hold, Limit, Unit};

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
        MetricRecord::new(unit, better, &seatrial_testkit::summary(median), limit)
    }

    fn fall(name: &str, metric: MetricRecord) -> Drawn {
        drawn(name, &metric, &Waterfall::with_holds(&metric, Vec::new()).expect("a limit"))
    }

    #[test]
    fn what_held_the_rate_back_has_its_own_bar_and_is_named() {
        let hold = |what: &str, share| Hold {
            what: what.to_owned(),
            share,
            source: "tcpi".to_owned(),
            ..Hold::default()
        };
        let metric = metric(4.0, Better::Higher, &[("10 Gbit/s", "nic speed")]);
        let holds = vec![hold("receive window", 0.5), hold("packet loss", 0.05)];
        let found = drawn("throughput", &metric, &Waterfall::with_holds(&metric, holds).expect("a limit"));
        let steps: Vec<[&str; 4]> =
            found.steps.iter().map(|one| [one.class, &*one.name, &*one.value, &*one.lost]).collect();
        let expected = [
            ["binding", "nic speed", "10.00", ""],
            ["held", "receive window", "4.44", "−56%"],
            ["held", "packet loss", "4.21", "−5%"],
            ["measured", "measured", "4.00", "−5%"],
        ];
        assert_eq!(steps, expected);
        assert_eq!(found.largest, "The largest loss is 5.56 Gbit/s (56%): receive window.");
    }

    #[test]
    fn bars_go_from_the_loosest_bound_to_what_was_measured_and_the_largest_loss_is_named() {
        let bounds = [("10 Gbit/s", "nic speed"), ("8 GB/s", "pcie link"), ("9.49 Gbit/s", "framing")];
        let found = fall("throughput", metric(7.5, Better::Higher, &bounds));
        let names: Vec<&str> = found.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["pcie link", "nic speed", "framing", "measured"]);
        assert_eq!(found.steps[2].class, "binding");
        assert_eq!(found.steps[3].lost, "−21%");
        assert!(found.largest.contains("between pcie link and nic speed"), "{}", found.largest);
        let alone = fall("throughput", metric(7.5, Better::Higher, &bounds[2..]));
        assert_eq!(
            alone.largest,
            "The largest loss is 1.99 Gbit/s (21%), between framing and what was measured."
        );
    }

    #[test]
    fn of_a_latency_it_is_what_was_added_to_the_floor() {
        let found = fall("latency", metric(3.0, Better::Lower, &[("2 us", "cable")]));
        assert_eq!((found.steps[1].lost.as_str(), found.steps[1].filled.as_str()), ("+50%", "66.7"));
        assert!(found.largest.starts_with("The largest addition is 1.00 us (50%)"), "{}", found.largest);
        assert_eq!(Waterfall::with_holds(&metric(3.0, Better::Lower, &[]), Vec::new()), None);
    }
}
