//! Checks that a bound makes sense for its metric.

use seatrial_model::profile::{Bar, Bounds};
use seatrial_model::{Better, Dimension, Quantity, Unit};

use super::judged::Judged;
use crate::Diagnostics;
use crate::diagnostic::Position;

/// A fleet or a reference that one node exceeds by more than this is not comparable with the node.
const MOST_PERCENT: f64 = 1000.0;

/// Reports bars that no result could meet or miss, or of another kind than `judged`; `places` has one position per
/// bar.
pub(super) fn bars(bounds: &Bounds, places: &[Position], judged: Judged, found: &mut Diagnostics) {
    let sound = bounds.bars().zip(places).filter(|(bar, at)| one_bar(bar, **at, judged, found)).count();
    if let Bounds::Within(low, high) = bounds
        && sound == bounds.bars().count()
        && is_empty(low, high)
    {
        found.error(places[0], "the lower bound of 'within' is above the upper bound");
    }
}

fn one_bar(bar: &Bar, at: Position, judged: Judged, found: &mut Diagnostics) -> bool {
    match *bar {
        Bar::Absolute(quantity) => absolute(quantity, at, judged, found),
        Bar::PercentOfLimit(percent) | Bar::PercentOfNominal(percent) => {
            if judged.axes.is_some() {
                found.error(at, "a series has no limit").help("judge a metric, or give the bar as a number");
                return false;
            }
            // A derived limit is the best that the hardware can do, and a result beyond it is not believed.
            let (is_reachable, range) = match judged.better {
                Better::Higher => (percent > 0.0 && percent <= 100.0, "above 0 and at most 100"),
                Better::Lower => {
                    (percent >= 100.0, "100 or more, for the limit is the smallest value possible")
                }
                Better::None => (percent > 0.0, "above 0"),
            };
            in_range(percent, is_reachable, range, at, found)
        }
        Bar::PercentOfFleetMedian(percent) | Bar::PercentOfReference(percent) => {
            let is_sensible = percent > 0.0 && percent <= MOST_PERCENT;
            in_range(percent, is_sensible, "above 0 and at most 1000", at, found)
        }
    }
}

fn in_range(percent: f64, is_inside: bool, range: &str, at: Position, found: &mut Diagnostics) -> bool {
    if !is_inside {
        found.error(at, format!("{percent} % makes no sense here")).label(format!("must be {range}"));
    }
    is_inside
}

/// Whether `quantity` is a value that `judged` can have; reports one that is not.
pub(super) fn absolute(quantity: Quantity, at: Position, judged: Judged, found: &mut Diagnostics) -> bool {
    if let Err(error) = quantity.to(judged.unit) {
        if quantity.unit() == Unit::Count {
            let advice = format!("write the number with its unit: \"{} {}\"", quantity.value(), judged.unit);
            found.error(at, format!("{} has no unit", quantity.value())).help(advice);
        } else {
            found.error(at, error.to_string());
        }
        return false;
    }
    if quantity.value() < 0.0 && is_never_negative(judged.unit) {
        found.error(at, format!("{} is never negative", judged.unit.dimension()));
        return false;
    }
    true
}

/// Whether every result in `unit` is zero or more; counts and shares may be differences.
pub(super) fn is_never_negative(unit: Unit) -> bool {
    !matches!(unit.dimension(), Dimension::Count | Dimension::Share)
}

/// Whether two bars of one kind exclude every value; bars of two kinds are known only when judged.
fn is_empty(low: &Bar, high: &Bar) -> bool {
    match (low, high) {
        (Bar::Absolute(low), Bar::Absolute(high)) => {
            high.to(low.unit()).is_ok_and(|high| low.value() > high.value())
        }
        (Bar::PercentOfLimit(low), Bar::PercentOfLimit(high))
        | (Bar::PercentOfNominal(low), Bar::PercentOfNominal(high))
        | (Bar::PercentOfFleetMedian(low), Bar::PercentOfFleetMedian(high))
        | (Bar::PercentOfReference(low), Bar::PercentOfReference(high)) => low > high,
        _ => false,
    }
}
