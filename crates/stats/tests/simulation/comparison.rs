//! Comparisons call equal sets different in at most 6.5 % of the cases, and find a shift of 1 %.

use seatrial_stats::{Better, CompareRule, Verdict, compare};

use crate::noise::{Noise, Scenario, Shape};

const REPEATS: usize = 1000;
const HIGHER: CompareRule = CompareRule { better: Better::Higher, same_within: None };

/// Twenty samples a trial, with autocorrelation and a longer tail above, as rates and times have.
fn scenario(trials: usize, sigma: f64, between: f64) -> Scenario {
    Scenario { trials, samples: 20, rho: 0.5, between, sigma, shape: Shape::Skewed }
}

/// Percentage of repeats with one of these verdicts, the candidate being `shift` times as fast.
fn percentage(scenario: &Scenario, rule: &CompareRule, shift: f64, wanted: &[Verdict]) -> f64 {
    let mut noise = Noise::seeded(4_711);
    let mut hits = 0;
    for _ in 0..REPEATS {
        let baseline = noise.measure(scenario);
        let mut candidate = noise.measure(scenario);
        candidate.iter_mut().flatten().for_each(|sample| *sample *= shift);
        hits += usize::from(wanted.contains(&compare(&baseline, &candidate, rule).unwrap().verdict));
    }
    100.0 * hits as f64 / REPEATS as f64
}

#[test]
fn equal_sets_are_seldom_called_different() {
    for trials in [2, 3, 5, 10] {
        for (sigma, between) in [(0.003, 0.0), (0.003, 1.0), (0.05, 3.0)] {
            let scenario = scenario(trials, sigma, between);
            let different = percentage(&scenario, &HIGHER, 1.0, &[Verdict::Better, Verdict::Worse]);
            assert!(different <= 6.5, "{different} % of {scenario:?}");
        }
    }
}

#[test]
fn equal_sets_are_called_different_as_often_as_a_test_must() {
    // A test that never speaks would pass the one above.
    let different = percentage(&scenario(10, 0.05, 1.0), &HIGHER, 1.0, &[Verdict::Better, Verdict::Worse]);
    assert!(different >= 3.0, "{different} %");
}

#[test]
fn a_shift_of_one_percent_is_found_in_noise_of_a_third_percent() {
    for trials in [3, 5] {
        let found = percentage(&scenario(trials, 0.003, 0.0), &HIGHER, 1.01, &[Verdict::Better]);
        assert!(found >= 90.0, "{found} % with {trials} trials");
    }
    // Where the trials themselves differ by 0.3 %, three of them cannot do it and five can.
    let found = percentage(&scenario(5, 0.003, 1.0), &HIGHER, 1.01, &[Verdict::Better]);
    assert!(found >= 90.0, "{found} % with 5 trials that differ");
}

#[test]
fn a_slowdown_of_one_percent_is_worse() {
    let found = percentage(&scenario(5, 0.003, 0.0), &HIGHER, 0.99, &[Verdict::Worse]);
    assert!(found >= 90.0, "{found} %");
}

#[test]
fn sets_at_the_margin_are_seldom_called_the_same() {
    let rule = CompareRule { same_within: Some(0.01), ..HIGHER };
    let same = percentage(&scenario(5, 0.003, 1.0), &rule, 1.01, &[Verdict::Same]);
    assert!(same <= 6.5, "{same} %");
    let same = percentage(&scenario(5, 0.003, 1.0), &rule, 1.0, &[Verdict::Same]);
    assert!(same >= 90.0, "{same} % of equal sets");
}

#[test]
fn the_smallest_detectable_shift_is_detected_as_promised() {
    let scenario = scenario(10, 0.01, 1.0);
    let mut noise = Noise::seeded(5);
    let first = compare(&noise.measure(&scenario), &noise.measure(&scenario), &HIGHER).unwrap();
    // One estimate of it wavers with the noise that it is made from; its mean over many does not.
    let mut total = first.smallest_detectable.unwrap();
    for _ in 1..REPEATS {
        let next = compare(&noise.measure(&scenario), &noise.measure(&scenario), &HIGHER).unwrap();
        total += next.smallest_detectable.unwrap();
    }
    let found = percentage(&scenario, &HIGHER, 1.0 + total / REPEATS as f64, &[Verdict::Better]);
    assert!((87.0..=93.0).contains(&found), "{found} %");
}
