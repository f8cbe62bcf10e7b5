//! From the pieces of slices to values: what every benchmark's `reduce` does with copies that ran at once.

use std::collections::BTreeMap;

use seatrial_model::{Params, PartRecord, Sample};
use seatrial_stats::Sorted;

use super::{Rate, common_rates};

/// Values by trial; a trial without any is left out.
pub type Trials = Vec<Vec<f64>>;

/// The values that `values` makes of the place on the axes and the rates of every slice of copies, by their key in the
/// order of its first slice, and by trial. Slices whose streams hardly overlapped make none.
pub fn by_slice<K: PartialEq>(
    parts: &[PartRecord],
    values: impl Fn(&Params, &[Rate]) -> Vec<(K, f64)>,
) -> Vec<(K, Trials)> {
    let mut numbers: Vec<u32> = parts.iter().map(|part| part.trial).collect();
    numbers.dedup();
    let mut found: Vec<(K, Trials)> = Vec::new();
    for part in parts {
        let trial = numbers.iter().position(|number| *number == part.trial).unwrap_or(0);
        let mut slices: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
        for sample in part.samples.iter().filter(|sample| sample.channel == "copy") {
            slices.entry(sample.at.count("slice").unwrap_or(0)).or_default().push(sample);
        }
        for samples in slices.values() {
            let Some(rates) = common_rates(samples) else { continue };
            for (key, value) in values(&samples[0].at, &rates) {
                let index = found.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                    found.push((key, vec![Vec::new(); numbers.len()]));
                    found.len() - 1
                });
                found[index].1[trial].push(value);
            }
        }
    }
    found.iter_mut().for_each(|(_, trials)| trials.retain(|trial| !trial.is_empty()));
    found
}

/// The median of all values; 0 when there is none.
pub fn median(trials: &[Vec<f64>]) -> f64 {
    Sorted::pooled(trials).map_or(0.0, |values| values.median())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Evidence, Integrity, Nanos};

    fn part(trial: u32, slices: &[(u64, &str)]) -> PartRecord {
        let sample = |(slice, way): &(u64, &str)| Sample {
            channel: "copy".to_owned(),
            at: [("slice", (*slice).into()), ("way", (*way).into())]
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
            start: Nanos::millis(1000 * slice),
            end: Nanos::millis(1000 * slice + 500),
            amount: "1 GB".parse().expect("an amount"),
        };
        PartRecord {
            part: "worker".to_owned(),
            index: 0,
            node: "n1".to_owned(),
            trial,
            samples: slices.iter().map(sample).collect(),
            integrity: Integrity::Verified { checked: 1 },
            evidence: Evidence::new(),
        }
    }

    #[test]
    fn values_are_told_apart_by_key_and_trial() {
        let parts = [part(0, &[(0, "in"), (1, "out"), (2, "in")]), part(4, &[(0, "out")])];
        let rate = |at: &Params, rates: &[Rate]| {
            vec![(at.text("way").unwrap_or_default().to_owned(), rates[0].bytes_per_second)]
        };
        let expected =
            [("in".to_owned(), vec![vec![2e9, 2e9]]), ("out".to_owned(), vec![vec![2e9], vec![2e9]])];
        assert_eq!(by_slice(&parts, rate), expected);
        assert_eq!(median(&expected[0].1), 2e9);
        assert_eq!(median(&[]), 0.0);
    }
}
