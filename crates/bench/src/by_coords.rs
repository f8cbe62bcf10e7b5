//! Samples by their coordinates on a series' axes.

use seatrial_model::{Params, PartRecord, Sample};

/// The observations at one point of the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct AtCoords {
    pub at: Params,
    /// A list of values per trial; trials without values are left out.
    pub trials: Vec<Vec<f64>>,
}

/// The values of all samples of `channel`, by coordinates in order of appearance, and by trial, without samples where
/// `value` returns `None`.
pub fn by_coords(
    parts: &[PartRecord],
    channel: &str,
    value: impl Fn(&Sample) -> Option<f64>,
) -> Vec<AtCoords> {
    let mut numbers: Vec<u32> = parts.iter().map(|part| part.trial).collect();
    numbers.dedup();
    let mut places: Vec<AtCoords> = Vec::new();
    for part in parts {
        let trial = numbers.iter().position(|number| *number == part.trial).unwrap_or(0);
        for sample in part.samples.iter().filter(|sample| sample.channel == channel) {
            let Some(value) = value(sample) else { continue };
            let index = places.iter().position(|place| place.at == sample.at).unwrap_or_else(|| {
                places.push(AtCoords { at: sample.at.clone(), trials: vec![Vec::new(); numbers.len()] });
                places.len() - 1
            });
            places[index].trials[trial].push(value);
        }
    }
    places.iter_mut().for_each(|place| place.trials.retain(|trial| !trial.is_empty()));
    places
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
    use seatrial_model::{Integrity, Nanos};

    fn part(trial: u32, samples: &[(&str, u64, u64)]) -> PartRecord {
        let sample = |(channel, size, span): &(&str, u64, u64)| Sample {
            channel: (*channel).to_owned(),
            at: [("size".to_owned(), (*size).into())].into_iter().collect(),
            start: Nanos(0),
            end: Nanos(*span),
            amount: "10".parse().unwrap(),
        };
        PartRecord {
            part: "worker".to_owned(),
            index: 0,
            node: "n1".to_owned(),
            trial,
            samples: samples.iter().map(sample).collect(),
            integrity: Integrity::Verified { checked: 1 },
            evidence: seatrial_model::Evidence::new(),
        }
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
