//! The numbers of verdicts as text, with as many digits as tell them from their bounds.

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Unit, VerdictRecord, WantedSide};

use crate::number::{decimals, decimals_apart, half_width, whole_percent};
use crate::words::{quantity, rounded, unit};

/// The measured value with half the width of its interval.
pub fn measured(record: &VerdictRecord) -> Option<String> {
    let value = record.measured?;
    let spread = record.interval.map(|(low, high)| half_width(value.value(), (low.value(), high.value())));
    Some(value_of(record)? + &spread.map(|spread| format!(" {spread}")).unwrap_or_default())
}

/// The measured value, with as many digits as tell it from its bound.
pub fn value_of(record: &VerdictRecord) -> Option<String> {
    let value = record.measured?;
    let number = value.value();
    let apart = decimals_apart(number * record.margin_percent.unwrap_or(0.0) / 100.0);
    let least = decimals([number]);
    if value.unit() == Unit::Count || apart <= least {
        return Some(rounded(value));
    }
    Some(format!("{number:.apart$}{}", unit(value.unit())))
}

/// The bound that `metric` was held against, in its unit; `None` if the verdict is about another number.
pub fn bar(record: &VerdictRecord, metric: &MetricRecord) -> Option<f64> {
    let measured = record.measured?.to(metric.unit).ok()?.value();
    let is_it = is_same(measured, metric.median);
    let margin = record.margin_percent? / 100.0;
    let share = match record.wanted_side()? {
        WantedSide::AtLeast => 1.0 + margin,
        WantedSide::AtMost => 1.0 - margin,
    };
    (is_it && share > 0.0).then(|| measured / share)
}

/// `43 % of the limit of 307 GB/s`, for the judged number of `case`.
pub fn share_of_limit(record: &VerdictRecord, case: Option<&CaseRecord>) -> Option<String> {
    let metric = metric_of(record, case)?;
    let share = percent_beside_bound(metric.percent_of_limit()?, record.margin_percent).replace('%', " %");
    Some(format!("{share} of the limit of {}", limit_of(record, case)?))
}

/// The limit of the metric that the verdict is about.
pub fn limit_of(record: &VerdictRecord, case: Option<&CaseRecord>) -> Option<String> {
    let metric = metric_of(record, case)?;
    Some(quantity(metric.limit.value?, metric.unit))
}

fn metric_of<'a>(record: &VerdictRecord, case: Option<&'a CaseRecord>) -> Option<&'a MetricRecord> {
    case?.metrics.values().find(|metric| is_about(record, metric))
}

/// Whether the verdict is about the median of `metric`.
pub fn is_about(record: &VerdictRecord, metric: &MetricRecord) -> bool {
    let measured = record.measured.and_then(|value| value.to(metric.unit).ok());
    measured.is_some_and(|measured| is_same(measured.value(), metric.median))
}

/// A share of the limit, with as many digits as tell it from the bound that it keeps `margin` percent from.
pub fn percent_beside_bound(percent: f64, margin: Option<f64>) -> String {
    let decimals = decimals_apart(percent * margin.unwrap_or(0.0) / 100.0);
    if decimals == 0 { whole_percent(percent) } else { format!("{percent:.decimals$}%") }
}

fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs()
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Better, LimitRecord, Quantity, Subject, Verdict};

    use super::*;

    fn metric(better: Better, median: f64) -> MetricRecord {
        let summary = seatrial_testkit::summary(median);
        MetricRecord::new(Unit::Microsecond, better, &summary, LimitRecord::unknown("nothing states it"))
    }

    fn record(measured: &str, margin_percent: f64) -> VerdictRecord {
        VerdictRecord {
            measured: Some(measured.parse::<Quantity>().unwrap()),
            margin_percent: Some(margin_percent),
            ..VerdictRecord::new("c", "t", Subject::node(), Verdict::Pass, "")
        }
    }

    #[test]
    fn a_value_never_looks_equal_to_a_bound_that_it_misses() {
        // At least 8 and 132 GB/s, at most 12 us.
        for (measured, margin, told) in [
            ("7.998 GB/s", -0.025, "7.998 GB/s"),
            ("131.8 GB/s", -0.1515, "131.8 GB/s"),
            ("12.02 us", -0.167, "12.02 us"),
            ("131.8 GB/s", -22.0, "132 GB/s"),
            ("132 GB/s", 0.0, "132 GB/s"),
        ] {
            assert_eq!(value_of(&record(measured, margin)).as_deref(), Some(told));
        }
        let shares =
            [Some(-0.05), Some(0.2), Some(-22.0), None].map(|margin| percent_beside_bound(69.6, margin));
        assert_eq!(shares, ["69.60%", "69.6%", "70%", "70%"]);
    }

    #[test]
    fn a_bound_follows_from_the_measured_value_and_its_margin() {
        let bar = |bound: &str, measured, margin, median| {
            let record = VerdictRecord { bound: bound.to_owned(), ..record(measured, margin) };
            // The direction is that of the bound, which may be another than that of the metric.
            bar(&record, &metric(Better::Higher, median))
        };
        // In the unit of the metric.
        assert_eq!(bar("at least 8 us", "12 us", 50.0, 12.0), Some(8.0));
        assert_eq!(bar("at most 16 us", "0.012 ms", 25.0, 12.0), Some(16.0));
        assert_eq!(bar("at least 24 us", "12 us", -50.0, 12.0), Some(24.0));
        // About another number, such as a percentile.
        assert_eq!(bar("at least 8 us", "12 us", 50.0, 11.0), None);
        assert_eq!(bar("from 6 us to 16 us", "12 us", 25.0, 12.0), None);
    }
}
