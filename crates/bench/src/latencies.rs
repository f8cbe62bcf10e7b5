//! Latency histograms that add up exactly over threads, parts and trials.

use hdrhistogram::Histogram;
use seatrial_model::{Measures, Nanos, Unit};
use serde_json::{Value, json};

/// Three significant digits: a percentile is accurate to 0.1 %.
const DIGITS: u8 = 3;

/// Larger latencies count as this value; only the maximum is kept exactly.
const MOST: u64 = Nanos::secs(600).get();

/// An HDR histogram of latencies.
#[derive(Clone, Debug)]
pub struct Latencies {
    counts: Histogram<u64>,
    longest: Nanos,
}

impl Default for Latencies {
    fn default() -> Self {
        let counts =
            Histogram::new_with_bounds(1, MOST, DIGITS).expect("bounds and digits are constants that fit");
        Self { counts, longest: Nanos(0) }
    }
}

impl Latencies {
    /// Adds a latency without allocation.
    pub fn record(&mut self, latency: Nanos) {
        self.counts.saturating_record(latency.get());
        self.longest = self.longest.max(latency);
    }

    /// Adds all latencies of `other`.
    pub fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts).expect("both have the same bounds");
        self.longest = self.longest.max(other.longest);
    }

    /// Adds, of all `trials`, the quantiles of these names and parts and the `slowest` to the metrics, in units of this many
    /// nanoseconds that count as microseconds.
    pub fn add_metrics(trials: &[Self], quantiles: &[(&str, f64)], unit_ns: f64, measures: &mut Measures) {
        let mut add = |name: &str, of: &dyn Fn(&Self) -> Option<Nanos>| {
            let value = |trial| of(trial).map(|latency| latency.get() as f64 / unit_ns).into_iter().collect();
            measures.metric_of_all(name, Unit::Microsecond, trials.iter().map(value).collect());
        };
        for (name, part) in quantiles {
            add(name, &|trial| trial.quantile(*part));
        }
        add("slowest", &|trial| Some(trial.longest()));
    }

    /// Forgets all of them and keeps its memory.
    pub fn clear(&mut self) {
        self.counts.reset();
        self.longest = Nanos(0);
    }

    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// The quantile `part` (0 to 1); `None` with fewer than ten values beyond it.
    pub fn quantile(&self, part: f64) -> Option<Nanos> {
        let beyond = self.count() as f64 * (1.0 - part);
        (beyond >= 10.0).then(|| self.value_at(part))
    }

    /// The quantile `part` (0 to 1), however few values there are.
    pub fn value_at(&self, part: f64) -> Nanos {
        Nanos(self.counts.value_at_quantile(part)).min(self.longest)
    }

    pub fn longest(&self) -> Nanos {
        self.longest
    }

    /// Evidence: `[[ns, count], ...]` by the upper end of each bucket, and the maximum.
    pub fn to_evidence(&self) -> Value {
        let recorded = self.counts.iter_recorded();
        let buckets: Vec<(u64, u64)> =
            recorded.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect();
        json!({ "buckets": buckets, "max_ns": self.longest.get() })
    }

    /// Parses the form of [`Self::to_evidence`].
    pub fn from_evidence(evidence: &Value) -> Option<Self> {
        let mut latencies = Self { longest: Nanos(evidence.get("max_ns")?.as_u64()?), ..Self::default() };
        for bucket in evidence.get("buckets")?.as_array()? {
            let (value, count) = (bucket.get(0)?.as_u64()?, bucket.get(1)?.as_u64()?);
            latencies.counts.saturating_record_n(value, count);
        }
        Some(latencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_a_thousandth_and_only_told_where_they_can_be() {
        let mut latencies = Latencies::default();
        (1..=2_000).for_each(|micros| latencies.record(Nanos(micros * 1_000)));
        let p99 = latencies.quantile(0.99).expect("twenty are beyond").get();
        assert!(p99.abs_diff(1_980_000) <= 1_980, "{p99}");
        assert_eq!(latencies.quantile(0.999), None, "two values beyond it are too few");
        assert_eq!((latencies.count(), latencies.longest()), (2_000, Nanos(2_000_000)));
    }

    #[test]
    fn counts_of_several_add_up_and_few_have_a_value_too() {
        let mut sum = Latencies::default();
        for late in [0, 7_000] {
            let mut one = Latencies::default();
            (0..50).for_each(|_| one.record(Nanos(late)));
            sum.add(&one);
        }
        assert_eq!(
            (sum.value_at(0.5), sum.value_at(0.99), sum.quantile(0.99)),
            (Nanos(0), Nanos(7_000), None)
        );
    }

    #[test]
    fn the_record_holds_all_of_it() {
        let mut latencies = Latencies::default();
        [0, 1_500, 1_500, 7_200_000_000_000]
            .map(Nanos)
            .into_iter()
            .for_each(|latency| latencies.record(latency));
        let read = Latencies::from_evidence(&latencies.to_evidence()).expect("reads");
        assert_eq!(read.counts, latencies.counts);
        assert_eq!((read.longest(), read.value_at(0.5)), (Nanos::secs(7200), Nanos(1_500)));
        assert!(Latencies::from_evidence(&json!({ "buckets": 3 })).is_none());
    }
}
