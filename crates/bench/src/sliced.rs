//! Consecutive latencies: medians of short slices as samples, and a histogram of all.

use seatrial_model::{Nanos, Params, Quantity, Sample, Unit};

use super::Latencies;
use crate::Sink;

/// Length of a slice: some dozens of round trips over a slow network, short against scheduler effects.
const SLICE: Nanos = Nanos::millis(10);

/// Latencies per slice for its median at most: 6.5 million a second.
const ROOM: usize = 1 << 16;

/// Collects latencies in a measured loop: adding one allocates nothing.
#[derive(Debug)]
pub struct Sliced {
    channels: [&'static str; 2],
    start: Nanos,
    latencies: Vec<u64>,
    /// All latencies of the slice, also beyond the room.
    count: u64,
    all: Latencies,
}

impl Sliced {
    /// With the names of its two channels: number of latencies per slice, and their median.
    pub fn new(channels: [&'static str; 2]) -> Self {
        Self {
            channels,
            start: Nanos(0),
            latencies: Vec::with_capacity(ROOM),
            count: 0,
            all: Latencies::default(),
        }
    }

    /// Clears all; the first slice begins at `now`.
    pub fn begin(&mut self, now: Nanos) {
        self.start = now;
        self.latencies.clear();
        self.count = 0;
        self.all.clear();
    }

    /// Adds a latency that ended at `now`, and emits the samples of a finished slice.
    pub fn add(&mut self, latency: Nanos, now: Nanos, out: &mut dyn Sink) {
        self.all.record(latency);
        self.count += 1;
        if self.latencies.len() < ROOM {
            self.latencies.push(latency.get());
        }
        if now.since(self.start) >= SLICE {
            self.end(now, out);
        }
    }

    /// Ends the slice at `now`, emits its samples and begins the next slice.
    pub fn end(&mut self, now: Nanos, out: &mut dyn Sink) {
        let (start, count) = (self.start, self.count);
        (self.start, self.count) = (now, 0);
        if self.latencies.is_empty() {
            return;
        }
        let middle = self.latencies.len() / 2;
        let median = *self.latencies.select_nth_unstable(middle).1;
        self.latencies.clear();
        let values = [(count as f64, Unit::Count), (median as f64, Unit::Nanosecond)];
        for (channel, (value, unit)) in self.channels.into_iter().zip(values) {
            let amount = Quantity::new(value, unit).expect("counts and times are finite and not negative");
            let (channel, at) = (channel.to_owned(), Params::default());
            out.sample(Sample { channel, at, start, end: now, amount });
        }
    }

    /// All latencies since [`Self::begin`].
    pub fn all(&self) -> &Latencies {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Kept;

    #[test]
    fn a_slice_gives_its_count_and_its_median_and_nothing_is_in_two() {
        let mut kept = Kept::default();
        let mut sliced = Sliced::new(["count", "median"]);
        sliced.begin(Nanos(0));
        for at in 1..=25 {
            sliced.add(Nanos(at * 100), Nanos::millis(at), &mut kept);
        }
        sliced.end(Nanos::millis(26), &mut kept);
        let told: Vec<String> =
            kept.samples.iter().map(|sample| format!("{} {}", sample.channel, sample.amount)).collect();
        assert_eq!(
            told,
            ["count 10", "median 600 ns", "count 10", "median 1600 ns", "count 5", "median 2300 ns"]
        );
        assert_eq!((kept.samples[2].start, kept.samples[2].end), (Nanos::millis(10), Nanos::millis(20)));
        assert_eq!((sliced.all().count(), sliced.all().longest()), (25, Nanos(2500)));
        sliced.begin(Nanos(0));
        sliced.end(Nanos(1), &mut kept);
        assert_eq!((sliced.all().count(), kept.samples.len()), (0, 6), "nothing is no sample");
    }
}
