//! Levels, modes and warm-ups are found where they were planted and seldom where there are none.

use seatrial_stats::{Modes, Steady, levels, modes, steady_from};

use crate::noise::Noise;

const REPEATS: usize = 1000;

/// Percentage of series, each made by `make`, for which `claim` holds.
fn percentage(make: impl Fn(&mut Noise) -> Vec<f64>, claim: impl Fn(&[f64]) -> bool) -> f64 {
    let mut noise = Noise::seeded(1_985);
    let hits = (0..REPEATS).filter(|_| claim(&make(&mut noise))).count();
    100.0 * hits as f64 / REPEATS as f64
}

fn changes(samples: &[f64]) -> usize {
    levels(samples).unwrap().len() - 1
}

fn two_modes(samples: &[f64]) -> bool {
    matches!(modes(samples).unwrap(), Modes::Two { .. })
}

#[test]
fn flat_series_seldom_have_two_levels() {
    for (count, rho, ceiling) in [(20, 0.0, 3.0), (50, 0.0, 3.0), (20, 0.5, 12.0), (100, 0.5, 8.0)] {
        let alarms = percentage(|noise| noise.autoregression(count, rho), |samples| changes(samples) > 0);
        assert!(alarms <= ceiling, "{alarms} % of {count} samples at {rho}");
    }
}

#[test]
fn a_step_of_two_deviations_is_found_where_it_is() {
    let make = |noise: &mut Noise| {
        let mut samples = noise.autoregression(60, 0.0);
        samples[30..].iter_mut().for_each(|sample| *sample += 2.0);
        samples
    };
    let near = |samples: &[f64]| {
        let found = levels(samples).unwrap();
        found.len() == 2 && found[1].start.abs_diff(30) <= 3
    };
    let found = percentage(make, near);
    assert!(found >= 90.0, "{found} %");
}

#[test]
fn a_single_peak_is_seldom_called_two() {
    for count in [20, 100] {
        let uniform = percentage(|noise| (0..count).map(|_| noise.uniform()).collect(), two_modes);
        assert!(uniform <= 7.0, "{uniform} % of {count} uniform samples");
        let normal = percentage(|noise| noise.autoregression(count, 0.0), two_modes);
        assert!(normal <= 2.0, "{normal} % of {count} normal samples");
        let ticks = |noise: &mut Noise| {
            noise.autoregression(count, 0.0).iter().map(|sample| (2.0 * sample).round()).collect()
        };
        let ticks = percentage(ticks, two_modes);
        assert!(ticks <= 2.0, "{ticks} % of {count} samples of a coarse clock");
    }
}

#[test]
fn two_peaks_five_deviations_apart_are_found() {
    let make = |noise: &mut Noise| {
        let mut samples = noise.autoregression(60, 0.0);
        samples.iter_mut().step_by(2).for_each(|sample| *sample += 5.0);
        samples
    };
    let found = percentage(make, two_modes);
    assert!(found >= 90.0, "{found} %");
}

#[test]
fn flat_series_are_seldom_called_unsteady() {
    for (count, rho) in [(20, 0.0), (50, 0.0), (100, 0.0), (100, 0.5)] {
        let make = |noise: &mut Noise| noise.autoregression(count, rho);
        let alarms = percentage(make, |samples| steady_from(samples).unwrap() == Steady::NotReached);
        assert!(alarms <= 4.0, "{alarms} % of {count} samples at {rho}");
    }
}

#[test]
fn a_slow_start_is_dropped_without_much_else() {
    let make = |noise: &mut Noise| {
        let mut samples = noise.autoregression(50, 0.0);
        samples[..5].iter_mut().for_each(|sample| *sample += 5.0);
        samples
    };
    let dropped = |samples: &[f64]| matches!(steady_from(samples).unwrap(), Steady::From(5..=12));
    let found = percentage(make, dropped);
    assert!(found >= 90.0, "{found} %");
}
