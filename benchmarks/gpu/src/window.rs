//! Rates of several streams: over the time that all ran, or over the time that any ran.

use std::collections::BTreeMap;

use seatrial_model::{Nanos, Sample};

/// Least part of the longest stream's time in which all streams must have run.
const LEAST_OVERLAP: f64 = 0.5;

#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    pub lane: u64,
    pub bytes_per_second: f64,
}

/// The rate of every stream, by the number in `lane`, over the window in which all ran. Bytes of a sample count by
/// the part of its time in the window. `None` when the streams hardly overlapped.
pub fn common_rates(samples: &[&Sample]) -> Option<Vec<Rate>> {
    let mut lanes: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        lanes.entry(sample.at.count("lane").unwrap_or(0)).or_default().push(sample);
    }
    let first = |samples: &Vec<&Sample>| samples.iter().map(|sample| sample.start).min();
    let last = |samples: &Vec<&Sample>| samples.iter().map(|sample| sample.end).max();
    let start = lanes.values().filter_map(first).max()?;
    let end = lanes.values().filter_map(last).min()?;
    let longest = lanes.values().filter_map(|lane| Some(last(lane)?.since(first(lane)?))).max()?;
    let window = end.since(start);
    if window == Nanos(0) || window.as_secs() < LEAST_OVERLAP * longest.as_secs() {
        return None;
    }
    let moved = |samples: &[&Sample]| -> f64 {
        let within = |sample: &&&Sample| {
            let span = sample.span();
            let shared = sample.end.min(end).since(sample.start.max(start));
            let share = if span > Nanos(0) { shared.as_secs() / span.as_secs() } else { 0.0 };
            sample.amount.base() * share
        };
        samples.iter().map(|sample| within(&sample)).sum()
    };
    let rate = |(lane, samples): (&u64, &Vec<&Sample>)| Rate {
        lane: *lane,
        bytes_per_second: moved(samples) / window.as_secs(),
    };
    Some(lanes.iter().map(rate).collect())
}

/// The rate of all streams together from the first start to the last end, in bytes per second. Also holds for streams
/// that queue behind one another and never all run at once: a device may have one copy engine for several targets.
pub fn whole_rate(samples: &[&Sample]) -> Option<f64> {
    let start = samples.iter().map(|sample| sample.start).min()?;
    let end = samples.iter().map(|sample| sample.end).max()?;
    let moved: f64 = samples.iter().map(|sample| sample.amount.base()).sum();
    (end > start).then(|| moved / end.since(start).as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(lane: u64, start: u64, end: u64, amount: &str) -> Sample {
        Sample {
            channel: "copy".to_owned(),
            at: [("lane".to_owned(), lane.into())].into_iter().collect(),
            start: Nanos::millis(start),
            end: Nanos::millis(end),
            amount: amount.parse().unwrap(),
        }
    }

    fn rates(samples: &[Sample]) -> Option<Vec<f64>> {
        let rates = common_rates(&samples.iter().collect::<Vec<_>>())?;
        Some(rates.into_iter().map(|rate| rate.bytes_per_second).collect())
    }

    #[test]
    fn one_stream_alone_counts_whole() {
        assert_eq!(rates(&[sample(0, 0, 500, "1 GB"), sample(0, 500, 1000, "2 GB")]), Some(vec![3e9]));
    }

    #[test]
    fn what_a_slow_stream_does_after_the_others_are_done_does_not_count() {
        // The second stream runs twice as long, half of that alone and faster.
        let both = [sample(0, 0, 1000, "10 GB"), sample(1, 0, 1000, "4 GB"), sample(1, 1000, 1800, "8 GB")];
        assert_eq!(rates(&both), Some(vec![10e9, 4e9]));
    }

    #[test]
    fn streams_that_ran_one_after_the_other_make_no_rate() {
        assert_eq!(rates(&[sample(0, 0, 1000, "1 GB"), sample(1, 700, 1700, "1 GB")]), None);
        assert_eq!(rates(&[]), None);
    }

    #[test]
    fn streams_behind_one_another_have_a_rate_together() {
        // An H200 with one engine for three targets: the second lane waits for the first, the third for both.
        let queued = [sample(0, 0, 125, "40 GB"), sample(1, 0, 250, "40 GB"), sample(2, 0, 375, "40 GB")];
        assert_eq!(rates(&queued), None);
        let whole = |samples: &[Sample]| whole_rate(&samples.iter().collect::<Vec<_>>());
        assert_eq!(whole(&queued), Some(320e9));
        assert_eq!(whole(&[sample(0, 500, 1000, "1 GB"), sample(1, 700, 1500, "2 GB")]), Some(3e9));
        assert_eq!((whole(&[]), whole(&[sample(0, 5, 5, "1 GB")])), (None, None));
    }
}
