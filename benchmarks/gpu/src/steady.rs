//! Ends a warm-up when rounds agree in their rates and clocks.

use serde_json::{Value, json};

const ROUNDS: usize = 3;

/// Largest ratio of the maximum to the minimum.
const WITHIN: f64 = 1.02;

#[derive(Debug, Default)]
pub struct Steady {
    rates: Vec<f64>,
    /// By round and GPU, in MHz; `None` where the clock is not reported.
    clocks: Vec<Vec<Option<u32>>>,
}

impl Steady {
    pub fn note(&mut self, rate: f64, clocks: Vec<Option<u32>>) {
        self.rates.push(rate);
        self.clocks.push(clocks);
    }

    /// Whether the last rounds agree in rates, and in clocks where they are reported.
    pub fn is_reached(&self) -> bool {
        let Some(from) = self.rates.len().checked_sub(ROUNDS) else { return false };
        let clocks = &self.clocks[from..];
        let gpus = clocks.iter().map(Vec::len).min().unwrap_or(0);
        let of = |gpu: usize| clocks.iter().filter_map(move |round| round[gpu]).map(f64::from);
        agree(self.rates[from..].iter().copied()) && (0..gpus).all(|gpu| agree(of(gpu)))
    }

    pub fn evidence(&self) -> Value {
        let told = self.clocks.iter().flatten().any(Option::is_some);
        json!({
            "rounds": self.rates.len(),
            "steady": self.is_reached(),
            "by": if told { "clocks and rates" } else { "rates: the clocks are not reported" },
            "processors_mhz": self.clocks.last(),
        })
    }
}

fn agree(values: impl Iterator<Item = f64>) -> bool {
    let (least, most) =
        values.fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    most <= least * WITHIN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rounds: &[(f64, Option<u32>)]) -> bool {
        let mut steady = Steady::default();
        rounds.iter().for_each(|(rate, clock)| steady.note(*rate, vec![*clock, Some(1000)]));
        steady.is_reached()
    }

    #[test]
    fn clocks_that_rise_are_waited_for_although_the_rates_agree() {
        let rising = [(10.0, Some(345)), (10.0, Some(1200)), (10.0, Some(1980)), (10.0, Some(1980))];
        assert!(!after(&rising));
        assert!(after(&[&rising[..], &[(10.1, Some(1965))]].concat()));
    }

    #[test]
    fn rates_that_rise_are_waited_for_and_clocks_that_nobody_tells_are_not() {
        assert!(!after(&[(10.0, None), (10.0, None)]), "too few");
        assert!(!after(&[(9.0, None), (10.0, None), (10.0, None)]));
        assert!(after(&[(9.0, None), (10.0, None), (10.0, None), (10.0, None)]));
    }
}
