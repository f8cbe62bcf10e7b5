//! Two modes are found where they were planted and seldom where there are none.

use seatrial_stats::{Modes, modes};

use crate::noise::Noise;

const REPEATS: usize = 1000;

/// Percentage of series, each made by `make`, for which `claim` holds.
fn percentage(make: impl Fn(&mut Noise) -> Vec<f64>, claim: impl Fn(&[f64]) -> bool) -> f64 {
    let mut noise = Noise::seeded(1_985);
    let hits = (0..REPEATS).filter(|_| claim(&make(&mut noise))).count();
    100.0 * hits as f64 / REPEATS as f64
}

fn two_modes(samples: &[f64]) -> bool {
    matches!(modes(samples).unwrap(), Modes::Two { .. })
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
