//! Measures what the intervals, the stop rule and the comparison hold, and prints the tables of the docs.
//!
//! `cargo run --release -p seatrial-stats --example coverage`
#![expect(clippy::print_stdout, reason = "printing the tables is the purpose")]

use seatrial_stats::{Better, CompareRule, Stop, StopRule, Summary, Verdict, compare, median_interval};

#[path = "../tests/simulation/noise.rs"]
mod noise;

use noise::{Noise, SIGMA, Scenario, Shape};

const REPEATS: usize = 20_000;

fn percent(count: usize, of: usize) -> f64 {
    100.0 * count as f64 / of.max(1) as f64
}

fn main() {
    intervals();
    stopping();
    comparisons();
}

/// Coverage of the interval by trials, samples and kind of noise.
fn intervals() {
    println!("| trials x samples | noise | rho | between | covers % | no interval % | misses % of all |");
    for (trials, samples) in [(5, 20), (3, 30), (10, 10), (2, 30), (1, 100), (1, 200), (1, 1000)] {
        for (rho, between) in [(0.0, 0.0), (0.5, 0.0), (0.9, 0.0), (0.0, 1.0), (0.5, 3.0)] {
            for shape in [Shape::Normal, Shape::Skewed] {
                if trials > 1 || between == 0.0 {
                    coverage(&Scenario { trials, samples, rho, between, sigma: SIGMA, shape });
                }
            }
        }
    }
}

fn coverage(scenario: &Scenario) {
    let mut noise = Noise::seeded(99);
    let (mut given, mut covered) = (0, 0);
    for _ in 0..REPEATS {
        if let Some(interval) = median_interval(&noise.measure(scenario)).expect("finite samples") {
            given += 1;
            covered += usize::from(interval.contains(1.0));
        }
    }
    let Scenario { trials, samples, rho, between, shape, .. } = scenario;
    println!(
        "| {trials} x {samples} | {shape:?} | {rho} | {between} | {:.1} | {:.1} | {:.1} |",
        percent(covered, given),
        percent(REPEATS - given, REPEATS),
        percent(given - covered, REPEATS)
    );
}

/// Coverage when measuring until the stop rule is content.
fn stopping() {
    println!("| min_trials | trial medians' deviation | trials | converged % | covers % | of converged % |");
    for min_trials in [3, 5] {
        for sigma in [0.005, 0.01, 0.015, 0.02, 0.03, 0.05] {
            let rule = StopRule { min_trials, ..StopRule::default() };
            // One sample a trial would be too few at three trials; ten equal ones make the trial its median.
            let scenario =
                Scenario { trials: 0, samples: 10, rho: 1.0, between: 0.0, sigma, shape: Shape::Normal };
            let mut noise = Noise::seeded(5);
            let (mut spent, mut converged, mut covered, mut both) = (0, 0, 0, 0);
            for _ in 0..REPEATS {
                let mut trials = Vec::new();
                let content = loop {
                    match rule.decide(&trials).expect("finite samples") {
                        Stop::More { .. } => trials.push(noise.trial(&scenario)),
                        end => break matches!(end, Stop::Converged { .. }),
                    }
                };
                let covers =
                    Summary::of(&trials).expect("finite samples").ci95.is_some_and(|ci| ci.contains(1.0));
                spent += trials.len();
                converged += usize::from(content);
                covered += usize::from(covers);
                both += usize::from(content && covers);
            }
            println!(
                "| {min_trials} | {:.1} % | {:.1} | {:.0} | {:.1} | {:.1} |",
                100.0 * sigma,
                spent as f64 / REPEATS as f64,
                percent(converged, REPEATS),
                percent(covered, REPEATS),
                percent(both, converged)
            );
        }
    }
}

/// False alarms of equal sets, and how often a shift of 1 % is found.
fn comparisons() {
    println!("| trials a side | sample noise | trials differ by | equal called different % | 1 % found % |");
    let rule = CompareRule { better: Better::Higher, same_within: None };
    for trials in [2, 3, 4, 5, 10] {
        for between in [0.0, 1.0 / 3.0, 1.0] {
            let scenario =
                Scenario { trials, samples: 20, rho: 0.5, between, sigma: 0.003, shape: Shape::Skewed };
            let mut noise = Noise::seeded(5);
            let (mut alarms, mut found) = (0, 0);
            for _ in 0..REPEATS {
                let (baseline, mut candidate) = (noise.measure(&scenario), noise.measure(&scenario));
                let judge = |candidate: &[Vec<f64>]| {
                    compare(&baseline, candidate, &rule).expect("positive samples").verdict
                };
                alarms += usize::from(judge(&candidate) != Verdict::CannotTell);
                candidate.iter_mut().flatten().for_each(|sample| *sample *= 1.01);
                found += usize::from(judge(&candidate) == Verdict::Better);
            }
            println!(
                "| {trials} | 0.3 % | {:.1} % | {:.1} | {:.1} |",
                0.3 * between,
                percent(alarms, REPEATS),
                percent(found, REPEATS)
            );
        }
    }
}
