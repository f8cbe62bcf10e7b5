//! Messages that each thread has completed, as samples over time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use seatrial_model::{Bytes, Nanos, Params, Quantity, Sample, Unit};
use seatrial_sys::clock::now_ns;

use seatrial_bench::Direction;
use seatrial_bench::Sink;

/// Channel of the samples: bytes over time.
pub const CHANNEL: &str = "moved";

/// Coordinate of a sample: the port's number, if there are several ports.
pub const PORT: &str = "port";

const SLICE: Nanos = Nanos::millis(10);

/// Time between two readings of the counts. Sample times are completion times, so reading more often would only take
/// CPU time from the threads. At the longest, three trials of 1 s have more than the hundred samples that a 99th
/// percentile needs.
const LOOKS: std::ops::RangeInclusive<Duration> = Duration::from_millis(5)..=Duration::from_millis(25);

/// Readings per size, within the bounds of `LOOKS`.
const EACH: u32 = 40;

/// A path on which nothing was completed for this long before the end of a phase stood still, if completions came ten times
/// as often before.
const STALL: Nanos = Nanos::millis(100);

/// Least completions of a sample: one completion more or less changes it by a few percent at most.
const FEWEST: u64 = 20;

/// Time between two readings of a size that is sent for `span`.
pub fn between_looks(span: Duration) -> Duration {
    (span / EACH).clamp(*LOOKS.start(), *LOOKS.end())
}

/// Counters of one thread, which alone writes them; on separate cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub struct Tally {
    at: AtomicU64,
    messages: Box<[AtomicU64]>,
}

/// Is told of completed messages.
pub trait Counts {
    /// So many messages of the size of this index were completed, the last of them at `at` nanoseconds.
    fn add(&mut self, size: usize, messages: u64, at: u64);
}

impl Counts for &Tally {
    #[inline]
    fn add(&mut self, size: usize, messages: u64, at: u64) {
        Tally::add(self, size, messages, at);
    }
}

impl Tally {
    pub fn new(sizes: usize) -> Self {
        Self { at: AtomicU64::new(0), messages: (0..sizes).map(|_| AtomicU64::new(0)).collect() }
    }

    #[inline]
    pub fn add(&self, size: usize, messages: u64, at: u64) {
        self.at.store(at, Ordering::Relaxed);
        let sum = self.messages[size].load(Ordering::Relaxed) + messages;
        self.messages[size].store(sum, Ordering::Release);
    }

    pub fn total(&self) -> u64 {
        self.messages.iter().map(|count| count.load(Ordering::Acquire)).sum()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Reading {
    at: u64,
    messages: Vec<u64>,
}

impl Reading {
    fn of(tallies: &[Arc<Tally>], sizes: usize) -> Self {
        let mut reading = Self { at: 0, messages: vec![0; sizes] };
        for tally in tallies {
            for (sum, count) in reading.messages.iter_mut().zip(&tally.messages) {
                *sum += count.load(Ordering::Acquire);
            }
            reading.at = reading.at.max(tally.at.load(Ordering::Relaxed));
        }
        reading
    }
}

/// An interval in which messages of one size or of several sizes were completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    start: u64,
    end: u64,
    size: Option<usize>,
    messages: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Whole {
    first: u64,
    last: u64,
    /// Messages after the first ones.
    messages: u64,
    told: bool,
}

pub fn samplers(
    direction: Direction,
    sizes: &[u64],
    grouped: &[u64],
    by_port: &[Vec<Arc<Tally>>],
) -> Vec<Sampler> {
    let of = |tallies: Vec<Arc<Tally>>| Sampler::new(direction, sizes, grouped.to_vec(), tallies, now_ns());
    let mut all = vec![of(by_port.concat())];
    if by_port.len() > 1 {
        all.extend((0..).zip(by_port).map(|(port, own)| Sampler { port: Some(port), ..of(own.clone()) }));
    }
    all
}

/// Bytes in a direction since the samplers started, by port; empty without a sampler of this direction.
pub fn moved(samplers: &[Sampler], direction: Direction, ports: usize) -> Vec<u64> {
    let own = samplers
        .iter()
        .filter(|sampler| sampler.direction == direction && sampler.port.is_some() == (ports > 1));
    own.map(|sampler| sampler.moved().1).collect()
}

/// Makes samples of the counters of one direction.
///
/// An interval only counts if the intervals before and after it have the same size: before it, threads start at
/// different times and the other end may not have sent yet, and after it they stop at different times.
#[derive(Debug)]
pub struct Sampler {
    direction: Direction,
    port: Option<u64>,
    sizes: Vec<u64>,
    tallies: Vec<Arc<Tally>>,
    /// Messages per completion, by size.
    grouped: Vec<u64>,
    begun: Vec<u64>,
    /// At the last reading, and at the end of the last interval.
    seen: Reading,
    last: Reading,
    start: u64,
    /// When the counters were read last.
    looked: u64,
    before: Option<usize>,
    current: Option<Interval>,
    wholes: Vec<Whole>,
}

impl Sampler {
    pub fn new(
        direction: Direction,
        sizes: &[u64],
        grouped: Vec<u64>,
        tallies: Vec<Arc<Tally>>,
        now: u64,
    ) -> Self {
        let last = Reading::of(&tallies, sizes.len());
        let begun = last.messages.clone();
        let wholes = vec![Whole::default(); sizes.len()];
        Self {
            direction,
            port: None,
            sizes: sizes.to_vec(),
            tallies,
            grouped,
            begun,
            seen: last.clone(),
            last,
            start: now,
            looked: now,
            before: None,
            current: None,
            wholes,
        }
    }

    /// Reads the counters, and emits a sample if one is complete.
    pub fn read_counts(&mut self, now: u64, out: &mut dyn Sink) {
        let reading = Reading::of(&self.tallies, self.sizes.len());
        self.looked = now;
        self.take(reading, now, out);
    }

    fn take(&mut self, reading: Reading, now: u64, out: &mut dyn Sink) {
        self.remember(&reading);
        if now.saturating_sub(self.start) < SLICE.get() {
            return;
        }
        let moved: Vec<u64> =
            reading.messages.iter().zip(&self.last.messages).map(|(now, before)| now - before).collect();
        let mut some = moved.iter().enumerate().filter(|(_, count)| **count > 0);
        let (size, end) = match (some.next(), some.next()) {
            // The interval goes on, so that a stall is part of it.
            (None, _) => return,
            (Some((size, count)), None) => {
                if *count < FEWEST * self.grouped[size] && now - self.start < 100 * SLICE.get() {
                    return;
                }
                (Some(size), reading.at.max(self.start + 1))
            }
            _ => (None, now),
        };
        let interval = Interval { start: self.start, end, size, messages: moved.iter().sum() };
        (self.last, self.start) = (reading, end);
        self.close(interval, out);
    }

    fn remember(&mut self, reading: &Reading) {
        let counts = reading.messages.iter().zip(&self.seen.messages).map(|(now, before)| now - before);
        for (whole, count) in self.wholes.iter_mut().zip(counts).filter(|(_, count)| *count > 0) {
            if whole.first == 0 {
                whole.first = reading.at;
            } else {
                (whole.last, whole.messages) = (reading.at, whole.messages + count);
            }
        }
        self.seen.clone_from(reading);
    }

    fn close(&mut self, next: Interval, out: &mut dyn Sink) {
        if let Some(current) = self.current.replace(next) {
            if let Some(size) = current.size
                && self.before == current.size
                && next.size == current.size
            {
                self.wholes[size].told = true;
                self.tell(size, current.start, current.end, current.messages, out);
            }
            self.before = current.size;
        }
    }

    pub fn end(&mut self, out: &mut dyn Sink) {
        self.close_stall(out);
        self.remember(&Reading::of(&self.tallies, self.sizes.len()));
        for size in 0..self.sizes.len() {
            let whole = self.wholes[size];
            if !whole.told && whole.messages > 0 && whole.last > whole.first {
                self.tell(size, whole.first, whole.last, whole.messages, out);
            }
        }
    }

    /// A stall that lasts to the end of the phase has no completion that would end its interval.
    fn close_stall(&mut self, out: &mut dyn Sink) {
        let stalled = self.looked.saturating_sub(self.start);
        let Some(last @ Interval { size: Some(size), .. }) = self.current else { return };
        let completions = (last.messages / self.grouped[size]).max(1);
        if self.seen.messages == self.last.messages
            && stalled >= STALL.get().max(10 * (last.end - last.start) / completions)
        {
            let stall = Interval { start: self.start, end: self.looked, size: Some(size), messages: 0 };
            self.close(stall, out);
            self.tell(size, stall.start, stall.end, 0, out);
        }
    }

    /// Messages and bytes since the sampler started.
    pub fn moved(&self) -> (u64, u64) {
        let reading = Reading::of(&self.tallies, self.sizes.len());
        let since = reading.messages.iter().zip(&self.begun).map(|(now, before)| now - before);
        since.zip(&self.sizes).fold((0, 0), |sum, (count, size)| (sum.0 + count, sum.1 + count * size))
    }

    fn tell(&self, size: usize, start: u64, end: u64, messages: u64, out: &mut dyn Sink) {
        let bytes = self.sizes[size];
        let mut at = Params::default();
        at.set("direction", self.direction.word());
        at.set("size", Bytes(bytes));
        if let Some(port) = self.port {
            at.set(PORT, port);
        }
        let amount = Quantity::new((messages * bytes) as f64, Unit::Byte).expect("a count is finite");
        out.sample(Sample { channel: CHANNEL.to_owned(), at, start: Nanos(start), end: Nanos(end), amount });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Kept(Vec<(String, u64, u64, f64)>);

    impl Sink for Kept {
        fn sample(&mut self, sample: Sample) {
            let size = sample.at.text("size").expect("told").to_owned();
            self.0.push((size, sample.start.get(), sample.end.get(), sample.amount.value()));
        }

        fn evidence(&mut self, _: &str, _: serde_json::Value) {}
    }

    const MS: u64 = 1_000_000;

    fn sampled(sizes: &[u64], counts: &[&[u64]]) -> Vec<(String, u64, u64, f64)> {
        let tally = Arc::new(Tally::new(sizes.len()));
        let tallies = vec![Arc::clone(&tally)];
        let mut kept = Kept(Vec::new());
        let mut sampler = Sampler::new(Direction::Forward, sizes, vec![1; sizes.len()], tallies, 0);
        for (number, count) in (1..).zip(counts) {
            for (size, messages) in count.iter().enumerate().filter(|(_, messages)| **messages > 0) {
                tally.add(size, *messages, number * 10 * MS);
            }
            sampler.read_counts(number * 10 * MS, &mut kept);
        }
        sampler.end(&mut kept);
        kept.0
    }

    #[test]
    fn the_first_and_the_last_stretch_are_left_out_and_the_others_are_exact() {
        let told = sampled(&[1001], &[&[10], &[100], &[100], &[200], &[100], &[3]]);
        assert_eq!(
            told,
            [
                ("1001 B".to_owned(), 20 * MS, 30 * MS, 100_100.0),
                ("1001 B".to_owned(), 30 * MS, 40 * MS, 200_200.0)
            ]
        );
    }

    #[test]
    fn a_stall_is_part_of_the_rate() {
        let told = sampled(&[1], &[&[99], &[99], &[0], &[0], &[99], &[99], &[99]]);
        let times: Vec<(u64, u64)> = told.iter().map(|(_, start, end, _)| (start / MS, end / MS)).collect();
        assert_eq!(times, [(10, 20), (20, 50), (50, 60)]);
        assert!(told.iter().all(|(.., bytes)| *bytes == 99.0));
    }

    #[test]
    fn a_stall_to_the_end_is_part_of_the_rate_and_a_slow_message_is_no_stall() {
        let nothing: &[u64] = &[0];
        let counts = [&[&[99_u64][..]; 4][..], &[nothing; 12][..]].concat();
        let told = sampled(&[1], &counts);
        let last = told.last().expect("a sample");
        assert_eq!((last.1 / MS, last.2 / MS, last.3), (40, 160, 0.0));
        assert_eq!(sampled(&[1], &counts[..10]).len(), 2, "60 ms may be the last messages on their way");
    }

    #[test]
    fn stretches_with_two_sizes_in_them_are_of_neither() {
        let told = sampled(&[1, 2], &[&[99, 0], &[99, 0], &[99, 0], &[50, 50], &[0, 99], &[0, 99], &[0, 99]]);
        let sizes: Vec<&str> = told.iter().map(|(size, ..)| size.as_str()).collect();
        assert_eq!(sizes, ["1 B", "2 B"]);
        assert_eq!((told[0].1, told[1].1), (10 * MS, 50 * MS));
    }

    #[test]
    fn few_slow_messages_are_told_from_the_first_to_the_last() {
        let told = sampled(&[1 << 20], &[&[0], &[1], &[0], &[1], &[0], &[0], &[1]]);
        assert_eq!(told.len(), 1);
        let (_, start, end, bytes) = told[0];
        assert_eq!(bytes / (end - start) as f64, f64::from(1 << 20) / (25.0 * MS as f64));
    }
}
