//! The rule that derives a bound from the numbers of good nodes.

use seatrial_model::profile::Bar;
use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Quantity, Unit};
use seatrial_stats::Sorted;

use crate::believable::is_beyond;
use crate::number::in_unit;

/// Distance of a bound from the worst good value, in median absolute deviations. Three are about two standard
/// deviations of normal noise: room for variation from day to day, too little for another fault.
pub const MADS: f64 = 3.0;

/// The smallest distance of a bound from the worst good value, in percent of the median: nodes that agree to a
/// thousandth would otherwise fail by a thousandth.
pub const FLOOR_PERCENT: f64 = 5.0;

/// The numbers that a bound is derived from, all in `unit`.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Number of values, one per case and run.
    pub count: usize,
    pub median: f64,
    pub mad: f64,
    /// The worst end of all 95 % intervals.
    pub worst: f64,
    pub worst_case: String,
    pub unit: Unit,
    pub better: Better,
}

impl Spread {
    pub(super) fn of(cases: &[(&CaseRecord, &MetricRecord)]) -> Result<Self, String> {
        let Some((_, first)) = cases.first() else { return Err("nothing measured it".to_owned()) };
        let (unit, better) = (first.unit, first.better);
        if better == Better::None {
            return Err("neither more nor less is better".to_owned());
        }
        if let Some((case, _)) = cases.iter().find(|(_, metric)| metric.unit != unit) {
            return Err(format!("{} measured it in another unit", case.case));
        }
        let unbelievable = cases.iter().find(|(_, metric)| {
            metric.limit.value.is_some_and(|limit| is_beyond(metric.median, limit, better))
        });
        if let Some((case, _)) = unbelievable {
            return Err(format!("{} is beyond its limit: the limit or the measurement is wrong", case.case));
        }
        // The interval of a repeat, as judgements use it.
        let end = |metric: &MetricRecord| {
            let (low, high) = metric.ci95.unwrap_or((metric.min, metric.max));
            if better == Better::Lower { high.max(metric.median) } else { low.min(metric.median) }
        };
        let is_worse = |a: f64, b: f64| if better == Better::Lower { a > b } else { a < b };
        let mut worst = (end(first), cases[0].0);
        for (case, metric) in cases {
            if is_worse(end(metric), worst.0) {
                worst = (end(metric), case);
            }
        }
        let medians: Vec<f64> = cases.iter().map(|(_, metric)| metric.median).collect();
        let sorted = Sorted::new(&medians).map_err(|error| error.to_string())?;
        Ok(Self {
            count: medians.len(),
            median: sorted.median(),
            mad: sorted.mad(),
            worst: worst.0,
            worst_case: worst.1.case.to_string(),
            unit,
            better,
        })
    }

    /// The bound: beyond the worst value by [`MADS`] median absolute deviations, or by [`FLOOR_PERCENT`] of the
    /// median if that is more; rounded to three digits, away from the good values.
    pub fn bound(&self) -> Result<Bar, String> {
        let room = (MADS * self.mad).max(FLOOR_PERCENT / 100.0 * self.median.abs());
        if room == 0.0 {
            return Err("every value was 0, and a bound of 0 would fail at the first other value".to_owned());
        }
        let is_lower = self.better == Better::Lower;
        let bound = if is_lower { self.worst + room } else { self.worst - room };
        if !is_lower && bound <= 0.0 {
            return Err(format!(
                "the cases differ too much for a bound: the worst is {}, the median {}",
                in_unit(self.worst, self.unit),
                in_unit(self.median, self.unit)
            ));
        }
        Quantity::new(rounded(bound, is_lower), self.unit)
            .map(Bar::Absolute)
            .map_err(|error| error.to_string())
    }
}

fn rounded(value: f64, up: bool) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    // The magnitude of a finite f64 lies within -324 to 308.
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = usize::try_from(2 - magnitude).unwrap_or(0);
    let step = 10f64.powi(magnitude - 2);
    let digits = if up { (value / step).ceil() } else { (value / step).floor() };
    // Through text, so that the profile shows three digits and not seventeen.
    format!("{:.decimals$}", digits * step).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_away_from_the_good_ones() {
        assert_eq!((rounded(203.21, false), rounded(203.21, true)), (203.0, 204.0));
        assert_eq!((rounded(0.012_345, false), rounded(0.012_345, true)), (0.0123, 0.0124));
        assert_eq!((rounded(12_345.0, false), rounded(12_345.0, true)), (12_300.0, 12_400.0));
    }
}
