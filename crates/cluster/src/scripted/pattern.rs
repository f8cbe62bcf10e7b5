//! Samples in a script, as a list of amounts.

use seatrial_model::{Nanos, Params, Quantity, Sample, Unit};
use seatrial_stats::mix;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    pub channel: String,
    #[serde(default, skip_serializing_if = "Params::is_empty")]
    pub at: Params,
    pub unit: Unit,
    pub span: Nanos,
    #[serde(default)]
    pub start: Nanos,
    #[serde(default)]
    pub gap: Nanos,
    pub amounts: Vec<f64>,
    /// How often the list of amounts is repeated.
    #[serde(default = "once")]
    pub repeat: u32,
    /// Factors on the amounts, one per trial, cyclic.
    #[serde(default)]
    pub trial_factors: Vec<f64>,
    /// Uniform noise of up to this share of the amount, up or down; a function of case, place, trial and position.
    #[serde(default)]
    pub noise_percent: f64,
}

const fn once() -> u32 {
    1
}

/// More samples than any real trial has: a typo must not exhaust memory.
const MOST: u64 = 1_000_000;

/// Larger amounts are typos, and factors could overflow them.
const LARGEST: f64 = 1e100;

impl Pattern {
    pub(super) fn flaw(&self) -> Option<String> {
        let count = self.amounts.len() as u64 * u64::from(self.repeat);
        let bad = |value: &&f64| value.is_nan() || value.abs() > LARGEST;
        if count > MOST {
            return Some(format!("'{}' has {count} samples, at most {MOST} are allowed", self.channel));
        }
        if let Some(value) = self.amounts.iter().chain(&self.trial_factors).find(bad) {
            return Some(format!("'{}' holds {value}, which is out of range", self.channel));
        }
        (!(0.0..=100.0).contains(&self.noise_percent)).then(|| {
            format!("the noise of '{}' is {} %, not between 0 and 100", self.channel, self.noise_percent)
        })
    }

    /// The samples of a trial; `seed` depends on case and place.
    pub(super) fn samples(&self, trial: u32, seed: u64) -> impl Iterator<Item = Sample> {
        let factor = match self.trial_factors.len() {
            0 => 1.0,
            count => self.trial_factors[trial as usize % count],
        };
        let seed = mix(seed ^ u64::from(trial));
        let step = self.span.plus(self.gap).get();
        let amounts = (0..self.repeat).flat_map(|_| &self.amounts);
        amounts.zip(0_u64..).filter_map(move |(amount, position)| {
            let start = self.start.plus(Nanos(step.saturating_mul(position)));
            let noise = 1.0 + spread(mix(seed ^ position)) * self.noise_percent / 100.0;
            // A valid pattern has only finite amounts.
            let amount = Quantity::new(amount * factor * noise, self.unit).ok()?;
            let (channel, at) = (self.channel.clone(), self.at.clone());
            Some(Sample { channel, at, start, end: start.plus(self.span), amount })
        })
    }
}

/// From -1 to 1, from the 53 bits that an f64 holds exactly.
fn spread(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(json: &str) -> Pattern {
        serde_json::from_str(json).expect("a pattern")
    }

    #[test]
    fn amounts_become_samples_one_behind_the_other() {
        let found: Vec<Sample> = pattern(
            r#"{"channel": "pass", "unit": "GB", "span": "10 ms", "gap": "1 ms", "start": "5 ms", "amounts": [1, 2], "repeat": 2}"#,
        )
        .samples(0, 7)
        .collect();
        let starts: Vec<u64> = found.iter().map(|sample| sample.start.get() / 1_000_000).collect();
        let amounts: Vec<f64> = found.iter().map(|sample| sample.amount.value()).collect();
        assert_eq!((starts, amounts), (vec![5, 16, 27, 38], vec![1.0, 2.0, 1.0, 2.0]));
        assert!(
            found
                .iter()
                .all(|sample| sample.span() == Nanos::millis(10) && sample.amount.unit() == Unit::Gigabyte)
        );
    }

    #[test]
    fn factors_go_by_trial_and_begin_again() {
        let pattern = pattern(
            r#"{"channel": "x", "unit": "B", "span": "1 s", "amounts": [8], "trial_factors": [1, 0.5]}"#,
        );
        let amount = |trial| pattern.samples(trial, 7).next().map(|sample| sample.amount.value());
        assert_eq!([amount(0), amount(1), amount(2)], [Some(8.0), Some(4.0), Some(8.0)]);
    }

    #[test]
    fn noise_is_bounded_centred_and_the_same_every_time() {
        let pattern = pattern(
            r#"{"channel": "x", "unit": "B", "span": "1 ns", "amounts": [100], "repeat": 10000, "noise_percent": 2}"#,
        );
        let amounts = |trial, seed| -> Vec<f64> {
            pattern.samples(trial, seed).map(|sample| sample.amount.value()).collect()
        };
        let first = amounts(0, 1);
        assert_eq!(first, amounts(0, 1));
        assert!(first != amounts(1, 1) && first != amounts(0, 2));
        assert!(first.iter().all(|amount| (98.0..=102.0).contains(amount)));
        let mean = first.iter().sum::<f64>() / first.len() as f64;
        // The standard error of the mean of 10,000 is 0.0115.
        assert!((mean - 100.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn flaws_are_named() {
        for (json, flaw) in [
            (
                r#"{"channel": "x", "unit": "B", "span": "1 s", "amounts": [1], "repeat": 4000000000}"#,
                "4000000000 samples",
            ),
            (r#"{"channel": "x", "unit": "B", "span": "1 s", "amounts": [1e200]}"#, "out of range"),
            (r#"{"channel": "x", "unit": "B", "span": "1 s", "amounts": [], "noise_percent": -1}"#, "noise"),
        ] {
            assert!(pattern(json).flaw().is_some_and(|text| text.contains(flaw)), "{flaw}");
        }
    }
}
