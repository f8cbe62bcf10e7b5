//! How many messages each thread has seen through, and what that makes over time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use seatrial_model::{Bytes, Nanos, Params, Quantity, Sample, Unit};
use seatrial_sys::clock::now_ns;

use seatrial_bench::Direction;
use seatrial_bench::Sink;

/// The channel of the samples: bytes over the time in which they moved.
pub const CHANNEL: &str = "moved";

/// What names the port of a sample, by its number, where it is of one of several.
pub const PORT: &str = "port";

/// A sample lasts so long at least.
const SLICE: Nanos = Nanos::millis(10);

/// The time between two looks at the counts. Their times are those of the completions, so that looking more often would only take
/// time from the threads that count, which may have the same processor. The longest leaves three trials of a second each more
/// than the hundred samples that a 99th percentile needs.
const LOOKS: std::ops::RangeInclusive<Duration> = Duration::from_millis(5)..=Duration::from_millis(25);

/// Looks at the counts of a size, where that makes the time between them neither too short nor too long.
const EACH: u32 = 40;

/// A sample has so many completions at least, so that where one falls changes it by no more than a few percent.
const FEWEST: u64 = 20;

/// How long to rest between two looks at the counts of a size that is moved for `span`.
pub fn between_looks(span: Duration) -> Duration {
    (span / EACH).clamp(*LOOKS.start(), *LOOKS.end())
}

/// What one thread has counted; written by it alone. On cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub struct Tally {
    /// When it counted last.
    at: AtomicU64,
    messages: Box<[AtomicU64]>,
}

impl Tally {
    /// For so many sizes.
    pub fn new(sizes: usize) -> Self {
        Self { at: AtomicU64::new(0), messages: (0..sizes).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Counts messages of the size with this index.
    #[inline]
    pub fn add(&self, size: usize, messages: u64, at: u64) {
        self.at.store(at, Ordering::Relaxed);
        // Only this thread writes, so that no addition gets lost.
        let sum = self.messages[size].load(Ordering::Relaxed) + messages;
        self.messages[size].store(sum, Ordering::Release);
    }

    pub fn total(&self) -> u64 {
        self.messages.iter().map(|count| count.load(Ordering::Acquire)).sum()
    }
}

/// All threads of an end together.
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

/// A stretch of time in which messages of one size moved, or of none or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    start: u64,
    end: u64,
    size: Option<usize>,
    messages: u64,
}

/// What is known of a size over the whole phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Whole {
    /// When the first messages were seen.
    first: u64,
    last: u64,
    /// Messages after the first ones.
    messages: u64,
    told: bool,
}

/// Samplers of one direction that begin now, of what the threads of each port count: one of all of them together, and
/// where there are several ports one of each.
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

/// Bytes that samplers have seen in a direction since they began, by port; nothing where none of them is of it.
pub fn moved(samplers: &[Sampler], direction: Direction, ports: usize) -> Vec<u64> {
    let own = samplers
        .iter()
        .filter(|sampler| sampler.direction == direction && sampler.port.is_some() == (ports > 1));
    own.map(|sampler| sampler.moved().1).collect()
}

/// Makes samples of what the threads of one direction count.
///
/// Only stretches count that lie between two of the same size: what comes before has no beginning in common with the
/// other threads, or lacks what the other end had not sent yet, and what comes after no end.
#[derive(Debug)]
pub struct Sampler {
    direction: Direction,
    /// The number of the port, where it is of one of several.
    port: Option<u64>,
    sizes: Vec<u64>,
    tallies: Vec<Arc<Tally>>,
    /// Messages for each completion, by size.
    grouped: Vec<u64>,
    begun: Vec<u64>,
    /// At the last look, and at the end of the last stretch.
    seen: Reading,
    last: Reading,
    start: u64,
    before: Option<usize>,
    current: Option<Interval>,
    wholes: Vec<Whole>,
}

impl Sampler {
    /// A sampler of one direction that begins now.
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
            before: None,
            current: None,
            wholes,
        }
    }

    /// Looks at the counts; gives a sample where one is complete.
    pub fn read_counts(&mut self, now: u64, out: &mut dyn Sink) {
        let reading = Reading::of(&self.tallies, self.sizes.len());
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

    /// Ends the phase: a size of which no stretch was complete is told from its first message to its last.
    pub fn end(&mut self, out: &mut dyn Sink) {
        self.remember(&Reading::of(&self.tallies, self.sizes.len()));
        for size in 0..self.sizes.len() {
            let whole = self.wholes[size];
            if !whole.told && whole.messages > 0 && whole.last > whole.first {
                self.tell(size, whole.first, whole.last, whole.messages, out);
            }
        }
    }

    /// Messages and bytes since it began.
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

    /// A sampler whose thread counts so many messages of these sizes every 10 ms.
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
