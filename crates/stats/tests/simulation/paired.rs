//! Ratios of what was measured in turn: their intervals hold on a machine that drifts, where comparing all with all finds
//! nothing.

use seatrial_stats::{Better, CompareRule, Interval, Verdict, compare, paired_ratio};

use crate::noise::Noise;

const REPEATS: usize = 4000;

/// What one side is over the other, in truth.
const GAIN: f64 = 1.03;

/// Pairs on a machine that wanders by a tenth from one to the next, with 1 % of noise in each value.
fn pairs(noise: &mut Noise, count: usize) -> Vec<(f64, f64)> {
    let mut level = 0.0;
    let mut pair = || {
        level += 0.1 * noise.normal();
        let mut value = |gain: f64| gain * (level + 0.01 * noise.normal()).exp();
        (value(GAIN), value(1.0))
    };
    (0..count).map(|_| pair()).collect()
}

#[test]
fn ninety_five_of_a_hundred_intervals_hold_the_truth_whatever_the_drift() {
    for count in [3, 6, 12] {
        let mut noise = Noise::seeded(1_907);
        let holds = |interval: Interval| interval.contains(GAIN);
        let hits = (0..REPEATS)
            .filter(|_| paired_ratio(&pairs(&mut noise, count)).unwrap().ci95.is_some_and(holds))
            .count();
        let percent = 100.0 * hits as f64 / REPEATS as f64;
        // The standard error of the share is 0.34 %.
        assert!((93.6..=96.4).contains(&percent), "{percent} % of {count} pairs");
    }
}

#[test]
fn six_pairs_find_three_percent_that_unpaired_sets_hide_in_the_drift() {
    let mut noise = Noise::seeded(1_907);
    let rule = CompareRule { better: Better::Higher, same_within: None };
    let (mut paired, mut unpaired) = (0, 0);
    for _ in 0..REPEATS {
        let pairs = pairs(&mut noise, 6);
        let interval = paired_ratio(&pairs).unwrap().ci95.expect("six pairs");
        paired += usize::from(interval.low > 1.0);
        let side = |of: fn(&(f64, f64)) -> f64| -> Vec<Vec<f64>> {
            pairs.iter().map(|pair| vec![of(pair)]).collect()
        };
        let found = compare(&side(|pair| pair.1), &side(|pair| pair.0), &rule).unwrap();
        unpaired += usize::from(found.verdict == Verdict::Better);
    }
    let percent = |hits: usize| 100.0 * hits as f64 / REPEATS as f64;
    assert!(percent(paired) > 95.0, "{} %", percent(paired));
    assert!(percent(unpaired) < 10.0, "{} %", percent(unpaired));
}
