//! Makes measurements whose true median is known to be 1, from a fixed seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Standard deviation of a sample about its trial, relative to the true median, unless a test says otherwise.
pub const SIGMA: f64 = 0.05;

/// A source of normal numbers that is the same in every run.
pub struct Noise {
    source: Xoshiro256PlusPlus,
}

/// How samples lie about the true median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    Normal,
    /// Lognormal: a longer tail above, as times have.
    Skewed,
}

/// A way of measuring: how many trials and samples, and what disturbs them.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    pub trials: usize,
    pub samples: usize,
    /// Lag-1 correlation of the first-order autoregression inside a trial.
    pub rho: f64,
    /// Standard deviation of the trials' own offsets, in units of `sigma`.
    pub between: f64,
    /// Relative standard deviation of a sample.
    pub sigma: f64,
    pub shape: Shape,
}

impl Noise {
    pub fn seeded(seed: u64) -> Self {
        Self { source: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// Uniform in the open interval from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.source.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A stationary first-order autoregression with standard normal values.
    pub fn autoregression(&mut self, count: usize, rho: f64) -> Vec<f64> {
        let mut value = self.normal();
        let innovation = (1.0 - rho * rho).sqrt();
        (0..count)
            .map(|_| {
                let now = value;
                value = rho * now + innovation * self.normal();
                now
            })
            .collect()
    }

    /// One fresh trial of a scenario; its samples' true median over all trials is 1.
    pub fn trial(&mut self, scenario: &Scenario) -> Vec<f64> {
        let offset = scenario.between * self.normal();
        let mut samples = self.autoregression(scenario.samples, scenario.rho);
        for sample in &mut samples {
            let deviation = scenario.sigma * (*sample + offset);
            *sample = match scenario.shape {
                Shape::Normal => 1.0 + deviation,
                Shape::Skewed => deviation.exp(),
            };
        }
        samples
    }

    /// All trials of a scenario.
    pub fn measure(&mut self, scenario: &Scenario) -> Vec<Vec<f64>> {
        (0..scenario.trials).map(|_| self.trial(scenario)).collect()
    }
}
