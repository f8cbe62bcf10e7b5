//! A rate over the time of a trial, and whether it still rises when the trial ends.

use seatrial_model::{
    AxisSpec, Case, Finding, Nanos, Params, Quantity, Row, SeriesSpec, Severity, Unit, Value, Values,
};
use seatrial_stats::{Interval, median_interval};

use crate::WARM_UP;

/// The throughput of a stream over the time of its trials.
pub const BY_TIME: SeriesSpec = SeriesSpec::higher_is_better(
    "by_time",
    Unit::GigabitsPerSecond,
    &[AxisSpec { name: "time", unit: Unit::Second }],
)
.doc("Throughput of each interval of 100 ms or more, by the time of its start since measuring began.");

/// Least time of an interval.
const SHORTEST: Nanos = Nanos::millis(100);

/// Intervals at most.
const MOST: usize = 200;

/// Fewest intervals of which a curve tells anything.
const FEWEST: usize = 3;

/// The rows of [`BY_TIME`] from the rates of equal intervals of each trial, which measured for `time`.
pub fn by_time(trials: &[Vec<f64>], time: Nanos) -> Vec<Row> {
    let longest = trials.iter().map(Vec::len).max().unwrap_or(0);
    let interval = time.as_secs() / longest.max(1) as f64;
    let least = (SHORTEST.as_secs() / interval.max(f64::MIN_POSITIVE)).round() as usize;
    let group = least.max(longest.div_ceil(MOST)).max(1);
    let groups: Vec<Vec<f64>> = trials.iter().map(|trial| trial.chunks(group).map(mean).collect()).collect();
    let row = |at: usize| {
        let start = (at * group) as f64 * interval;
        let of_trial = |trial: &Vec<f64>| trial.get(at).map(|rate| vec![*rate]);
        Row {
            at: Params::from_iter([("time".to_owned(), Value::Number((start * 1e3).round() / 1e3))]),
            values: Values {
                unit: Unit::GigabitsPerSecond,
                trials: groups.iter().filter_map(of_trial).collect(),
            },
        }
    };
    let count = longest.div_ceil(group);
    if count < FEWEST { Vec::new() } else { (0..count).map(row).collect() }
}

fn mean(rates: &[f64]) -> f64 {
    rates.iter().sum::<f64>() / rates.len() as f64
}

/// A finding where the rate in the last third of the trials is above that in the first third by more than the intervals
/// of both; `None` for benchmarks whose warm-up cannot be chosen.
pub fn still_rising(case: &Case, trials: &[Vec<f64>]) -> Option<Finding> {
    case.params.get(WARM_UP.name)?;
    let third = |of: fn(&[f64], usize) -> &[f64]| -> Option<(Interval, f64)> {
        let part = |trial: &Vec<f64>| of(trial, trial.len() / 3).to_vec();
        let parts: Vec<Vec<f64>> = trials.iter().filter(|trial| trial.len() >= FEWEST).map(part).collect();
        let interval = median_interval(&parts).ok()??;
        Some((interval, seatrial_stats::Sorted::pooled(&parts).ok()?.median()))
    };
    let (first, rate_first) = third(|trial, count| &trial[..count])?;
    let (last, rate_last) = third(|trial, count| &trial[trial.len() - count..])?;
    if last.low <= first.high || rate_first <= 0.0 {
        return None;
    }
    let warm_up = case.budget.warm_up;
    let longer = Nanos(case.budget.measure.get() + warm_up.get());
    let text = format!(
        "the rate still rises: {rate_last:.3} Gbit/s in the last third of the trials, {rate_first:.3} in the first \
         ({:.2} times): connections that are still ramping up, or a path that gives more after a while; the warm-up \
         was {warm_up}: raise -p {}={longer} or more until the curve by_time is level",
        rate_last / rate_first,
        WARM_UP.name,
    );
    let mut finding = Finding::new("still-rising", Severity::Warning, case.subject.clone(), text);
    finding.value = Quantity::new(rate_last / rate_first, Unit::Ratio).ok();
    finding.evidence = vec![BY_TIME.name.to_owned()];
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ends;
    use seatrial_model::{Site, SiteNode};

    fn case() -> Case {
        let about = &crate::toy::ABOUT;
        let site = Site { nodes: vec![SiteNode::new("n1", seatrial_model::machine::Machine::default())] };
        let mut params = about.defaults();
        params.set(WARM_UP.name, "auto");
        let ends = Ends::of(&site, &params).expect("ends");
        ends.case(about, &params, crate::budget(&params).expect("a budget"))
    }

    fn rising(trials: &[&[f64]]) -> Option<Finding> {
        still_rising(&case(), &trials.iter().map(|trial| trial.to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn a_curve_has_equal_intervals_of_100_ms_at_least_and_not_too_many() {
        let times = |trials: &[Vec<f64>], time: Nanos| -> Vec<(f64, Vec<Vec<f64>>)> {
            let at = |row: &Row| match row.at.get("time") {
                Some(Value::Number(at)) => *at,
                other => panic!("{other:?}"),
            };
            by_time(trials, time).iter().map(|row| (at(row), row.values.trials.clone())).collect()
        };
        let second = [vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![1.0, 2.0, 3.0, 4.0]];
        let rows = times(&second, Nanos::millis(500));
        assert_eq!(rows[3], (0.3, vec![vec![4.0], vec![4.0]]));
        assert_eq!(rows[4], (0.4, vec![vec![5.0]]), "one trial had an interval less");
        let fine: Vec<f64> = (0..100).map(f64::from).collect();
        let rows = times(std::slice::from_ref(&fine), Nanos::secs(1));
        assert_eq!((rows.len(), rows[1].clone()), (10, (0.1, vec![vec![14.5]])));
        assert_eq!(times(&[vec![1.0; 36_000]], Nanos::secs(3600)).len(), MOST);
        assert!(times(&[vec![1.0, 2.0]], Nanos::millis(200)).is_empty());
    }

    #[test]
    fn a_rate_that_rises_beyond_its_scatter_is_told_with_the_option_to_set() {
        let ramp: &[f64] = &[1.0, 1.1, 1.2, 4.0, 6.0, 8.0, 9.0, 9.1, 9.2];
        let finding = rising(&[ramp, ramp, &[1.1, 1.1, 1.3, 3.0, 6.0, 8.0, 9.1, 9.3, 9.0]]).expect("told");
        assert!(finding.text.contains("-p warm_up="), "{}", finding.text);
        assert!((finding.value.expect("a ratio").value() - 9.1 / 1.1).abs() < 0.2, "{:?}", finding.value);
        let falling: Vec<f64> = ramp.iter().rev().copied().collect();
        assert_eq!(rising(&[&falling, &falling, &falling]), None);
        let level: &[f64] = &[9.0, 9.1, 8.9, 9.0, 9.0, 9.1, 9.0, 8.9, 9.1];
        assert_eq!(rising(&[level, level, level]), None);
        // Trials that differ more than their thirds.
        assert_eq!(rising(&[&[1.0, 1.1, 1.2], &[5.0, 5.1, 5.2], &[9.0, 9.1, 9.2]]), None);
        assert_eq!(rising(&[&[1.0, 9.0]]), None, "too few to tell");
    }
}
