//! Studies of factors: a baseline, the same without one factor at a time, and crossed, without each two of them.
//!
//! Every repeat measures all levels once, in a random order. So drift over the run affects all levels and cancels in
//! the ratios within a repeat, and effects of a case on the next one are spread over all levels.

mod level;
#[cfg(test)]
mod tests;

use seatrial_bench::Registry;
use seatrial_model::profile::Test;
use seatrial_model::{Case, FactorCase};
use seatrial_stats::Random;

use crate::inputs::{PlanError, PlanInputs, bench_of};
use crate::pattern::Pattern;
use crate::placement;
use crate::plan::Plan;

pub use level::{BASELINE, Level};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    /// As given on the command line: `flows`, `affinity=none`.
    pub typed: Vec<String>,
    /// Whether each two factors are left out at the same time too.
    pub is_crossed: bool,
    pub repeats: u32,
    pub seed: u64,
}

impl Factors {
    /// The default: six ratios have an interval of 2.6 standard errors, three ratios one of 4.3.
    pub const REPEATS: u32 = 6;

    /// The default seed is fixed, so that `--plan` shows what would run.
    pub const SEED: u64 = 1;

    /// The cases of all repeats of `test`, in the order in which they run.
    pub fn plan(&self, test: &Test, registry: &Registry, inputs: PlanInputs<'_>) -> Result<Plan, PlanError> {
        let bench = bench_of(registry, test)?;
        one_by_one(test)?;
        let mut levels = level::levels(bench, test, &self.typed)?;
        if self.is_crossed {
            level::cross(&mut levels)?;
        }
        let headline = bench.about.metrics.first().map_or("", |metric| metric.name);
        let (mut plan, mut of_levels) = (Plan::default(), Vec::new());
        for level in &levels {
            let own = Plan::new(&[level.test(test)], registry, inputs).map_err(|error| match error {
                PlanError::Contradiction(text) => {
                    PlanError::Contradiction(format!("{} of --factors: {text}", level.label))
                }
                other => other,
            })?;
            plan.settled.extend(own.settled);
            of_levels.push((level, own.cases));
        }
        let mut lots = Random::of(self.seed);
        for repeat in 1..=self.repeats {
            let mut order: Vec<usize> = (0..of_levels.len()).collect();
            lots.shuffle(&mut order);
            for at in order {
                let (level, cases) = &of_levels[at];
                let marked = |case: &Case| {
                    let mut case = case.clone();
                    case.origin.study = Some(FactorCase {
                        factor: level.label.clone(),
                        crossed: level.crossed.clone(),
                        repeat,
                        seed: self.seed,
                        metric: headline.to_owned(),
                        block: None,
                    });
                    case.id = placement::with_repeat(&case.id, repeat);
                    case
                };
                plan.cases.extend(cases.iter().map(marked));
            }
        }
        Ok(plan)
    }
}

/// Refuses tests whose cases share links on purpose or whose partners are random: such cases have no counterpart.
pub fn one_by_one(test: &Test) -> Result<(), PlanError> {
    let pattern = test.pattern.as_deref().and_then(Pattern::find);
    match pattern.filter(|pattern| pattern.at_once || pattern.has_rounds) {
        None => Ok(()),
        Some(pattern) => Err(PlanError::Contradiction(format!(
            "--factors needs pairs that are measured one by one, which the pattern {} does not do; leave it \
             out, or use pair, ring or all-pairs",
            pattern.id
        ))),
    }
}
