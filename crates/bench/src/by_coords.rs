//! Samples by their coordinates on a series' axes, or by another key.

use std::collections::BTreeMap;

use seatrial_model::{Params, PartRecord, Row, Sample, Unit, Values};
use seatrial_stats::Sorted;

/// A list of values per trial; trials without values are left out.
pub type Trials = Vec<Vec<f64>>;

/// The observations at one point of the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct AtCoords {
    pub at: Params,
    pub trials: Trials,
}

impl AtCoords {
    /// The median of all values; 0 where there are none.
    pub fn median(&self) -> f64 {
        median(&self.trials)
    }

    pub fn values(&self, unit: Unit) -> Values {
        Values { unit, trials: self.trials.clone() }
    }

    pub fn row(&self, unit: Unit) -> Row {
        Row { at: self.at.clone(), values: self.values(unit) }
    }
}

/// The median of the values of all trials; 0 where there are none.
pub fn median(trials: &[Vec<f64>]) -> f64 {
    Sorted::pooled(trials).map_or(0.0, |all| all.median())
}

/// The values that `values` makes of each part, by key in order of appearance, and by trial.
pub fn by_key<'a, K: PartialEq>(
    parts: &'a [PartRecord],
    values: impl Fn(&'a PartRecord) -> Vec<(K, f64)>,
) -> Vec<(K, Trials)> {
    let mut numbers: Vec<u32> = parts.iter().map(|part| part.trial).collect();
    numbers.dedup();
    let mut found: Vec<(K, Trials)> = Vec::new();
    for part in parts {
        let trial = numbers.iter().position(|number| *number == part.trial).unwrap_or(0);
        for (key, value) in values(part) {
            let index = found.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                found.push((key, vec![Vec::new(); numbers.len()]));
                found.len() - 1
            });
            found[index].1[trial].push(value);
        }
    }
    found.iter_mut().for_each(|(_, trials)| trials.retain(|trial| !trial.is_empty()));
    found
}

/// The values of all samples of `channel`, by coordinates in order of appearance, and by trial, without samples where
/// `value` returns `None`.
pub fn by_coords(
    parts: &[PartRecord],
    channel: &str,
    value: impl Fn(&Sample) -> Option<f64>,
) -> Vec<AtCoords> {
    let found = by_key(parts, |part| {
        let samples = part.samples.iter().filter(|sample| sample.channel == channel);
        samples.filter_map(|sample| Some((&sample.at, value(sample)?))).collect()
    });
    found.into_iter().map(|(at, trials)| AtCoords { at: at.clone(), trials }).collect()
}

/// The samples of `channel` by their slice; a sample without the number of a slice is one by itself.
pub fn slices<'a>(part: &'a PartRecord, channel: &str) -> impl Iterator<Item = Vec<&'a Sample>> {
    let mut slices: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for (order, sample) in (0..).zip(part.samples.iter().filter(|sample| sample.channel == channel)) {
        slices.entry(sample.at.count("slice").unwrap_or(order)).or_default().push(sample);
    }
    slices.into_values()
}

/// The values of all samples of `channel`, one list a part. A sample of which `value` makes nothing is left out.
pub fn by_part<'a>(
    parts: impl IntoIterator<Item = &'a PartRecord>,
    channel: &str,
    value: impl Fn(&Sample) -> Option<f64>,
) -> Vec<Vec<f64>> {
    let of = |part: &PartRecord| {
        part.samples.iter().filter(|sample| sample.channel == channel).filter_map(&value).collect()
    };
    parts.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::Nanos;

    fn part(trial: u32, samples: &[(&str, u64, u64)]) -> PartRecord {
        let sample = |(channel, size, span): &(&str, u64, u64)| Sample {
            channel: (*channel).to_owned(),
            at: [("size".to_owned(), (*size).into())].into_iter().collect(),
            start: Nanos(0),
            end: Nanos(*span),
            amount: "10".parse().unwrap(),
        };
        PartRecord { trial, ..seatrial_testkit::part(samples.iter().map(sample).collect()) }
    }

    #[test]
    fn values_are_told_apart_by_place_and_trial_and_channel() {
        let parts = [
            part(0, &[("chase", 1, 7), ("load", 1, 9), ("chase", 2, 8), ("chase", 1, 5)]),
            part(3, &[("chase", 2, 6), ("chase", 2, 0)]),
        ];
        let span = |sample: &Sample| (sample.span() > Nanos(0)).then(|| sample.span().get() as f64);
        let places = by_coords(&parts, "chase", span);
        let trials: Vec<_> = places.iter().map(|place| place.trials.clone()).collect();
        assert_eq!(trials, [vec![vec![7.0, 5.0]], vec![vec![8.0], vec![6.0]]]);
        assert_eq!(places[1].at.count("size"), Ok(2));
    }
}
