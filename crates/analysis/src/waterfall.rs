//! Where a rate or time is lost: from the loosest bound of the hardware over what held it back to what was measured.

mod host;
mod nfs;

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Fact, HeldBack, Hold};

/// The way from the loosest bound of a metric to its median, in the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Waterfall {
    /// At least a bound and what was measured, in this order.
    pub falls: Vec<Fall>,
}

/// A value on the way, which is what the value before it loses.
#[derive(Clone, Debug, PartialEq)]
pub struct Fall {
    /// Where the loss comes from.
    pub name: String,
    /// From what it is derived.
    pub formula: String,
    /// What is left.
    pub value: f64,
    /// What this one is.
    pub kind: FallKind,
}

/// What a value on the way is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallKind {
    /// A bound of the hardware or a setting.
    Bound,
    /// The tightest of them: the limit.
    Limit,
    /// What is left after a cause that counters of the run tell.
    Held,
    /// The median; what it is below the value before is not explained.
    Measured,
}

impl Waterfall {
    /// Of the metric `name` of `case`; `None` without a limit.
    pub fn of(case: &CaseRecord, name: &str, metric: &MetricRecord) -> Option<Self> {
        let is_headline = case.headline().is_some_and(|(headline, _)| headline == name);
        let is_held = is_headline && metric.better == Better::Higher;
        Self::with_holds(metric, if is_held { holds_of(case) } else { Vec::new() })
    }

    /// Of `metric`, a rate if there are `holds` that held it back; `None` without a limit.
    pub fn with_holds(metric: &MetricRecord, holds: Vec<Hold>) -> Option<Self> {
        let mut falls = bounds(metric)?;
        let limit = falls.last()?.value;
        falls.extend(held(limit, metric.median, holds));
        let formula = format!("median of {} samples", metric.n);
        falls.push(Fall {
            name: "measured".to_owned(),
            formula,
            value: metric.median,
            kind: FallKind::Measured,
        });
        Some(Self { falls })
    }

    /// The largest loss: the value before it, and the value after it. `None` when nothing is lost.
    pub fn largest(&self, better: Better) -> Option<(&Fall, &Fall)> {
        let lost = |pair: &[Fall]| better.loss(pair[0].value, pair[1].value);
        let most = self.falls.windows(2).max_by(|one, other| lost(one).total_cmp(&lost(other)))?;
        (lost(most) > 0.0).then(|| (&most[0], &most[1]))
    }
}

/// The bounds from the loosest on; the last of them is the limit.
fn bounds(metric: &MetricRecord) -> Option<Vec<Fall>> {
    let limit = metric.limit.value?;
    let mut bounds: Vec<Fall> = metric
        .limit
        .chain
        .iter()
        .filter_map(|bound| {
            let value = bound.value.to(metric.unit).ok()?.value();
            let (name, formula) = (bound.provenance.clone(), bound.formula.clone());
            Some(Fall { name, formula, value, kind: FallKind::Bound })
        })
        .collect();
    if bounds.is_empty() {
        let told = |text: &Option<String>| text.clone().unwrap_or_default();
        let (name, formula) = (told(&metric.limit.provenance), told(&metric.limit.formula));
        bounds.push(Fall { name, formula, value: limit, kind: FallKind::Bound });
    }
    bounds.sort_by(|one, other| metric.better.loss(other.value, one.value).total_cmp(&0.0));
    if let Some(last) = bounds.last_mut() {
        last.kind = FallKind::Limit;
    }
    Some(bounds)
}

/// What held the headline of `case` back: what its benchmark counted, what took CPU time from it, and where its requests to a
/// file server waited.
pub fn holds_of(case: &CaseRecord) -> Vec<Hold> {
    let mut holds = HeldBack::of(&case.evidence).unwrap_or_default().0;
    holds.extend(host::holds(case));
    holds.extend(nfs::holds(case));
    holds
}

/// What is left after each cause. At the limit the data would have taken `measured / limit` of the time; the rest of the time
/// is lost, and the causes share it in the order of their size.
fn held(limit: f64, measured: f64, holds: Vec<Hold>) -> Vec<Fall> {
    if !(measured > 0.0 && limit > measured) {
        return Vec::new();
    }
    let (mut taken, needed) = (0.0, measured / limit);
    let lost = |hold: &Hold| {
        let moved = if hold.moves_data { needed } else { 0.0 };
        (hold.share - moved).max(0.0) + hold.beside * needed
    };
    let mut holds: Vec<(f64, Hold)> = holds.into_iter().map(|hold| (lost(&hold), hold)).collect();
    holds.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let fall = |(lost, hold): (f64, Hold)| {
        let lost = lost.min(1.0 - needed - taken);
        if lost < LEAST {
            return None;
        }
        taken += lost;
        let share = hold.share + hold.beside * needed;
        let formula = format!("{} % of the time, by {}", (100.0 * share).round(), hold.source);
        Some(Fall { name: hold.what, formula, value: measured / (needed + taken), kind: FallKind::Held })
    };
    holds.into_iter().filter_map(fall).collect()
}

/// A share of the time too small to be told.
const LEAST: f64 = 0.005;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{case, limit, metric};

    fn hold(what: &str, share: f64) -> Hold {
        Hold { what: what.to_owned(), share, source: "a counter".to_owned(), ..Hold::default() }
    }

    fn fall(limit_of: f64, measured: f64, holds: &[Hold]) -> Vec<(String, f64)> {
        let metric = metric(measured, (measured, measured), limit(limit_of));
        let found = Waterfall::with_holds(&metric, holds.to_vec()).expect("a limit");
        let round = |value: f64| (value * 100.0).round() / 100.0;
        found.falls.into_iter().skip(1).map(|fall| (fall.name, round(fall.value))).collect()
    }

    #[test]
    fn causes_share_the_lost_time_and_the_rest_is_not_explained() {
        // Of 10 s at 4 GB/s the data needed 4 s at 10 GB/s: 6 s are lost, 4 and 1 of them to the causes.
        let found = fall(10.0, 4.0, &[hold("loss", 0.1), hold("window", 0.4)]);
        let left = |lost: f64| (4.0 / (0.4 + lost) * 100.0_f64).round() / 100.0;
        let expected = [("window", left(0.4)), ("loss", left(0.5)), ("measured", 4.0)];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn time_in_which_data_moved_is_lost_as_far_as_the_data_did_not_need_it() {
        // 4 s of 10 s were needed: of 7 s at the device 3 s are lost, and bytes beside the counted ones cost 1 s.
        let device = Hold { moves_data: true, ..hold("device", 0.7) };
        let beside = Hold { beside: 0.25, ..hold("other bytes", 0.0) };
        let found = fall(10.0, 4.0, &[beside, device, hold("idle", 0.2)]);
        let left = |lost: f64| (4.0 / (0.4 + lost) * 100.0_f64).round() / 100.0;
        let expected =
            [("device", left(0.3)), ("idle", left(0.5)), ("other bytes", left(0.6)), ("measured", 4.0)];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn only_the_headline_of_a_case_has_causes() {
        let mut case = case("n1", "node");
        HeldBack(vec![hold("window", 0.4)]).put(&mut case.evidence);
        for name in ["throughput", "slowest"] {
            case.metrics.insert(name.to_owned(), metric(4.0, (4.0, 4.0), limit(10.0)));
        }
        case.headline = Some("throughput".to_owned());
        let falls =
            |name: &str| Waterfall::of(&case, name, &case.metrics[name]).map(|found| found.falls.len());
        assert_eq!((falls("throughput"), falls("slowest")), (Some(3), Some(2)));
    }

    #[test]
    fn more_time_than_was_lost_is_not_taken() {
        let found = fall(10.0, 9.0, &[hold("window", 1.0), hold("loss", 0.5)]);
        assert_eq!(found, [("window".to_owned(), 9.0), ("measured".to_owned(), 9.0)]);
        assert_eq!(fall(10.0, 11.0, &[hold("window", 1.0)]), [("measured".to_owned(), 11.0)]);
    }
}
