//! How late blocks were, as counts that add up exactly over threads and trials.

use hdrhistogram::Histogram;
use seatrial_model::Nanos;
use serde_json::{Value, json};

/// Two significant digits: percentiles are right to one percent.
const DIGITS: u8 = 2;

/// Lateness above this counts as this; only its maximum is kept exactly.
const MOST: u64 = Nanos::secs(3600).get();

/// Time from the deadline to the end of each block; zero for a block in time.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Histogram<u64>,
    most: Nanos,
}

impl Default for Lateness {
    fn default() -> Self {
        let counts =
            Histogram::new_with_bounds(1, MOST, DIGITS).expect("bounds and digits are constants that fit");
        Self { counts, most: Nanos(0) }
    }
}

impl Lateness {
    /// Counts a block. Allocates nothing.
    pub fn record(&mut self, lateness: Nanos) {
        self.counts.saturating_record(lateness.get());
        self.most = self.most.max(lateness);
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts).expect("all have the same bounds");
        self.most = self.most.max(other.most);
    }

    /// The lateness that 99 % of the blocks did not exceed.
    pub fn p99(&self) -> Nanos {
        Nanos(self.counts.value_at_quantile(0.99)).min(self.most)
    }

    pub fn most(&self) -> Nanos {
        self.most
    }

    /// For the record: how many blocks were how late, `[[ns, blocks], ...]`, each bucket by its upper end, and the exact
    /// maximum.
    pub fn to_evidence(&self) -> Value {
        let buckets: Vec<(u64, u64)> = self
            .counts
            .iter_recorded()
            .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
            .collect();
        json!({ "buckets": buckets, "max_ns": self.most.get() })
    }

    /// Reads what [`Self::to_evidence`] wrote; `None` when it is something else.
    pub fn from_evidence(evidence: &Value) -> Option<Self> {
        let mut lateness = Self { most: Nanos(evidence.get("max_ns")?.as_u64()?), ..Self::default() };
        for bucket in evidence.get("buckets")?.as_array()? {
            let (value, count) = (bucket.get(0)?.as_u64()?, bucket.get(1)?.as_u64()?);
            lateness.counts.saturating_record_n(value, count);
        }
        Some(lateness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(millis: impl IntoIterator<Item = u64>) -> Lateness {
        let mut lateness = Lateness::default();
        millis.into_iter().for_each(|late| lateness.record(Nanos::millis(late)));
        lateness
    }

    fn close(found: Nanos, wanted: Nanos) -> bool {
        found.get().abs_diff(wanted.get()) * 100 <= wanted.get()
    }

    #[test]
    fn percentiles_count_every_block_and_the_maximum_is_exact() {
        let lateness = of((0..980).map(|_| 0).chain((0..20).map(|late| 10 + late)));
        assert!(close(lateness.p99(), Nanos::millis(19)), "{:?}", lateness.p99());
        assert_eq!(lateness.most(), Nanos::millis(29));
        assert_eq!(of([0; 1000]).p99(), Nanos(0));
    }

    #[test]
    fn counts_of_several_add_up() {
        let mut sum = of([0; 50]);
        sum.add(&of([7; 50]));
        assert!(close(sum.p99(), Nanos::millis(7)), "{:?}", sum.p99());
        assert_eq!(sum.most(), Nanos::millis(7));
    }

    #[test]
    fn evidence_reads_back_and_something_else_does_not() {
        let lateness = of([0, 0, 3, 7_200_000]);
        let text = lateness.to_evidence().to_string();
        let read = Lateness::from_evidence(&serde_json::from_str(&text).expect("JSON")).expect("reads");
        assert_eq!(read.to_evidence().to_string(), text);
        assert_eq!(read.most(), Nanos::secs(7200));
        assert!(Lateness::from_evidence(&json!({ "max_ns": 1 })).is_none());
    }
}
