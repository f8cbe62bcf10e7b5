//! Which kind of software prefetch is fastest differs between generations of one vendor's CPUs, so each is tried.

use std::time::{Duration, Instant};

use seatrial_stats::median;
use serde_json::{Value, json};

use super::pass::Pass;
use super::prefetch::Prefetch;

/// How long a loop runs in a round of a trial, at least.
const TURN: Duration = Duration::from_millis(4);

/// Rounds of a trial, in turn forward and in reverse order.
const ROUNDS: usize = 6;

/// How much faster than the loop without prefetch another must be to replace it, so that trials do not differ in their loop by
/// chance.
const WORTH: f64 = 1.02;

/// A loop with each kind of prefetch that it has, and the bytes a nanosecond that it moved.
#[derive(Clone, Debug, Default)]
pub struct PrefetchTrial(Vec<(Pass, f64)>);

impl PrefetchTrial {
    /// Tries the loop of `pass` with every kind. `step` works for a while and returns the bytes that it moved.
    pub fn run(pass: &Pass, mut step: impl FnMut(&Pass) -> u64) -> Self {
        let kinds = pass.of_each_prefetch();
        if kinds.len() < 2 {
            return Self::default();
        }
        let mut rates = vec![Vec::with_capacity(ROUNDS); kinds.len()];
        for round in 0..ROUNDS {
            for place in 0..kinds.len() {
                let kind = if round.is_multiple_of(2) { place } else { kinds.len() - 1 - place };
                let (start, mut bytes) = (Instant::now(), 0);
                while start.elapsed() < TURN {
                    bytes += step(&kinds[kind]);
                }
                rates[kind].push(bytes as f64 / start.elapsed().as_nanos() as f64);
            }
        }
        Self(
            kinds.into_iter().zip(rates).map(|(pass, rates)| (pass, median(&rates).unwrap_or(0.0))).collect(),
        )
    }

    /// The trials of several threads as one.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        for Self(kinds) in all {
            if sum.0.is_empty() {
                sum.0.clone_from(kinds);
            } else {
                sum.0.iter_mut().zip(kinds).for_each(|((_, rate), (_, more))| *rate += more);
            }
        }
        sum
    }

    /// The loop to measure with; `None` where there was nothing to choose.
    pub fn fastest(&self) -> Option<&Pass> {
        let (plain, without) = self.0.first()?;
        let (best, rate) = self.0.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
        Some(if *rate > without * WORTH { best } else { plain })
    }

    /// The kind that was chosen, and the rates in GB/s.
    pub fn to_evidence(&self) -> Value {
        let chosen = self.fastest().map_or(Prefetch::None, Pass::prefetch);
        let rates = self.0.iter().map(|(pass, rate)| (pass.prefetch().name().to_owned(), json!(rate)));
        json!({ "chosen": chosen.name(), "gigabytes_per_second": Value::Object(rates.collect()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Isa, Kernel};

    fn trial(rates: &[f64]) -> PrefetchTrial {
        let pass = Pass::select(Kernel::Read, None, Isa::available()[0]).expect("a loop");
        let kinds = Prefetch::ALL.iter().zip(rates);
        PrefetchTrial(kinds.map(|(kind, rate)| (pass.clone().with_prefetch(*kind), *rate)).collect())
    }

    fn chosen(trial: &PrefetchTrial) -> Option<Prefetch> {
        trial.fastest().map(Pass::prefetch)
    }

    #[test]
    fn another_kind_than_none_must_be_worth_it() {
        assert_eq!(chosen(&trial(&[10.0, 10.1, 9.0])), Some(Prefetch::None));
        assert_eq!(chosen(&trial(&[10.0, 10.5, 11.0])), Some(Prefetch::L2));
        assert_eq!(chosen(&PrefetchTrial::default()), None);
    }

    #[test]
    fn threads_choose_together() {
        let both = [trial(&[10.0, 12.0, 1.0]), PrefetchTrial::default(), trial(&[10.0, 5.0, 1.0])];
        let sum = PrefetchTrial::sum(&both);
        assert_eq!(chosen(&both[0]), Some(Prefetch::Nta));
        assert_eq!(chosen(&sum), Some(Prefetch::None));
        let told = sum.to_evidence();
        assert_eq!((&told["chosen"], &told["gigabytes_per_second"]["none"]), (&json!("none"), &json!(20.0)));
    }

    #[test]
    fn a_loop_with_one_kind_is_not_tried() {
        let pass = Pass::select(Kernel::Memset, None, Isa::available()[0]).expect("a loop");
        let trial = PrefetchTrial::run(&pass, |_| panic!("nothing to choose"));
        assert_eq!(trial.to_evidence()["chosen"], "none");
    }

    #[test]
    fn the_slower_kinds_are_left() {
        let pass = Pass::select(Kernel::Read, None, Isa::available()[0]).expect("a loop");
        // As if the last kind moved ten times as much.
        let last = pass.of_each_prefetch().last().expect("one at least").prefetch();
        let step = |kind: &Pass| {
            std::thread::sleep(TURN);
            if kind.prefetch() == last { 10_000 } else { 1000 }
        };
        let trial = PrefetchTrial::run(&pass, step);
        assert_eq!(chosen(&trial).unwrap_or(last), last);
    }
}
