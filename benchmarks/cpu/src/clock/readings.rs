//! The samples of all trials, sorted.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::{PartRecord, Sample};
use seatrial_stats::{Sorted, median};

use super::part::{ALL, ONE};

/// Clock in GHz by trial, CPU and slice.
pub type Clocks = Vec<BTreeMap<u64, BTreeMap<u64, f64>>>;

#[derive(Clone, Debug, Default)]
pub struct Readings {
    pub one: Clocks,
    pub all: Clocks,
    /// Ratio of the checking chain to the addition chain, for every slice of every core.
    pub ratios: Vec<f64>,
}

impl Readings {
    pub fn new(parts: &[PartRecord]) -> Self {
        let trials: BTreeSet<u32> = parts.iter().map(|part| part.trial).collect();
        let clocks = |channel: &str, cores: &str| -> Clocks {
            let of_trial = |trial: &u32| {
                let mut by_cpu: BTreeMap<u64, BTreeMap<u64, f64>> = BTreeMap::new();
                let samples = parts.iter().filter(|part| part.trial == *trial).flat_map(|part| &part.samples);
                for sample in samples.filter(|sample| sample.channel == channel) {
                    if let (Some((cpu, slice)), Some(clock)) = (place(sample, cores), gigahertz(sample)) {
                        by_cpu.entry(cpu).or_default().insert(slice, clock);
                    }
                }
                by_cpu
            };
            trials.iter().map(of_trial).collect()
        };
        let [one, all] = [ONE, ALL].map(|cores| clocks("add", cores));
        let mut ratios = Vec::new();
        for (adds, cores) in [(&one, ONE), (&all, ALL)] {
            for (adds, checks) in adds.iter().zip(clocks("check", cores)) {
                for (cpu, slice, add) in flat(adds) {
                    ratios.extend(
                        checks.get(&cpu).and_then(|slices| slices.get(&slice)).map(|check| check / add),
                    );
                }
            }
        }
        Self { one, all, ratios }
    }

    pub fn alone(&self) -> Vec<Vec<f64>> {
        kept(self.one.iter().map(|trial| flat(trial).map(|(_, _, clock)| clock).collect()))
    }

    pub fn by_cpu(&self) -> BTreeMap<u64, Vec<Vec<f64>>> {
        let cpus: BTreeSet<u64> = self.all.iter().flat_map(|trial| trial.keys().copied()).collect();
        let of_cpu = |cpu: u64| {
            kept(self.all.iter().map(|trial| {
                trial.get(&cpu).map(|slices| slices.values().copied().collect()).unwrap_or_default()
            }))
        };
        cpus.into_iter().map(|cpu| (cpu, of_cpu(cpu))).collect()
    }

    /// The clock of the slowest core, in percent of the median core with the same highest clock, by trial and slice.
    pub fn slowest_core(&self, highest: &BTreeMap<u64, u64>) -> Vec<Vec<f64>> {
        let shares = |slices: &BTreeMap<u64, BTreeMap<u64, f64>>, cpu: u64| -> Vec<f64> {
            let alike = slices.iter().filter(|(other, _)| highest.get(other) == highest.get(&cpu));
            let alike: Vec<_> = alike.map(|(_, clocks)| clocks).collect();
            let share = |(slice, clock): (&u64, &f64)| {
                let clocks: Vec<f64> = alike.iter().filter_map(|clocks| clocks.get(slice).copied()).collect();
                Some(100.0 * clock / median(&clocks)?)
            };
            slices.get(&cpu).into_iter().flatten().filter_map(share).collect()
        };
        let cpus: BTreeSet<u64> = self.all.iter().flat_map(|trial| trial.keys().copied()).collect();
        let by_cpu = cpus.iter().map(|cpu| self.all.iter().map(|trial| shares(trial, *cpu)).collect());
        let pooled =
            |trials: &Vec<Vec<f64>>| Sorted::pooled(trials).map_or(f64::INFINITY, |all| all.median());
        let slowest = by_cpu.min_by(|a: &Vec<Vec<f64>>, b| pooled(a).total_cmp(&pooled(b)));
        kept(slowest.unwrap_or_default().into_iter())
    }

    pub fn over_time(&self) -> Vec<BTreeMap<u64, f64>> {
        let of_trial = |trial: &BTreeMap<u64, BTreeMap<u64, f64>>| {
            let mut by_slice: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
            for (_, slice, clock) in flat(trial) {
                by_slice.entry(slice).or_default().push(clock);
            }
            by_slice.into_iter().filter_map(|(slice, clocks)| Some((slice, median(&clocks)?))).collect()
        };
        self.all.iter().map(of_trial).collect()
    }
}

fn kept(trials: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    trials.filter(|trial| !trial.is_empty()).collect()
}

fn flat(trial: &BTreeMap<u64, BTreeMap<u64, f64>>) -> impl Iterator<Item = (u64, u64, f64)> {
    trial.iter().flat_map(|(cpu, slices)| slices.iter().map(|(slice, clock)| (*cpu, *slice, *clock)))
}

fn place(sample: &Sample, cores: &str) -> Option<(u64, u64)> {
    let same = sample.at.text("cores").is_ok_and(|word| word == cores);
    same.then(|| Some((sample.at.count("cpu").ok()?, sample.at.count("slice").ok()?))).flatten()
}

fn gigahertz(sample: &Sample) -> Option<f64> {
    sample.per_second().map(|cycles| cycles / 1e9)
}
