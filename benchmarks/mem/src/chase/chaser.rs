//! A position on a ring, with timed hops.

use seatrial_model::{Integrity, Nanos, Sample};
use seatrial_sys::clock;

use super::{HOPS_MULTIPLE, Order, Rings};

/// Hops until caches, TLB and clock are as in the middle of a run: more than the caches need, and a few milliseconds
/// at most.
const MOST_SETTLING: u64 = 1 << 15;

/// Memory described by one cache line of page table entries: 8 entries of 4 KiB pages. For larger pages, and under a
/// hypervisor that maps small ones, this is only more often than needed.
const LINE_OF_PAGES: usize = 8 * 4096;

/// Longest time of a hop for planning a timed call. Remote memory over a slow link takes 1 us; anything longer is an
/// interruption, which must not shorten the next call.
const SLOWEST_HOP_NS: f64 = 2000.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChaseRun {
    pub start: Nanos,
    pub end: Nanos,
    pub hops: u64,
}

pub fn hop_ns(sample: &Sample) -> Option<f64> {
    let hops = sample.amount.value();
    (hops > 0.0).then(|| sample.span().get() as f64 / hops)
}

#[derive(Clone, Debug)]
pub struct Chaser {
    ring: usize,
    lines: usize,
    at: usize,
    /// Start of the last run, and its hops.
    last: (usize, u64),
}

impl Chaser {
    /// A position at line 0 of a ring with this number of `lines`.
    pub fn new(ring: usize, lines: usize) -> Self {
        Self { ring, lines, at: 0, last: (0, 0) }
    }

    pub fn ring(&self) -> usize {
        self.ring
    }

    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Follows at least `hops` pointers. Panics without such a ring, or if the last run ended outside of it.
    pub fn run(&mut self, rings: &Rings, hops: u64) -> ChaseRun {
        let from = self.at;
        let start = Nanos(clock::now_ns());
        let (reached, made) = rings.follow(self.ring, from, hops);
        let end = Nanos(clock::now_ns());
        (self.at, self.last) = (reached, (from, made));
        ChaseRun { start, end, hops: made }
    }

    /// Brings the ring's page table entries into the caches, then makes two laps, or a few milliseconds of a long
    /// one. In an endless run the entries are always cached, since a line of them is used hundreds of times as often
    /// as a line of the ring; a visit is too short to fetch them by its own hops, and would be up to half slower.
    /// Returns the time of a hop in the second half in nanoseconds, to plan the next run.
    pub fn settle(&mut self, rings: &Rings) -> f64 {
        rings.sweep(self.ring, rings.lines_in(LINE_OF_PAGES));
        let hops = (2 * self.lines as u64).clamp(64 * HOPS_MULTIPLE, MOST_SETTLING);
        self.run(rings, hops / 2);
        let ran = self.run(rings, hops / 2);
        (ran.end.since(ran.start).get() as f64 / ran.hops as f64).clamp(0.1, SLOWEST_HOP_NS)
    }

    /// Runs for about `span`, by the estimate of [`Self::settle`]. The clock is read only before and after.
    pub fn run_for(&mut self, rings: &Rings, span: Nanos, hop_ns: f64) -> ChaseRun {
        self.run(rings, (span.get() as f64 / hop_ns) as u64)
    }

    /// Compares every pointer of the ring, which is called `ring`, with a new `order`, and repeats the last run. Panics when
    /// the order has another length.
    pub fn verify(&self, rings: &Rings, order: &Order, ring: &str) -> Integrity {
        let of = self.lines as u64;
        let wrong = rings.compare(self.ring, order.next()).map(|wrong| (wrong.count, wrong.first));
        match wrong.or_else(|| Some((1, self.strayed(order)?))) {
            Some((wrong, how)) => Integrity::Corrupt { wrong, of, first: format!("in {ring}, {how}") },
            None => Integrity::Verified { checked: of * size_of::<u64>() as u64 },
        }
    }

    /// Repeats the last run along the order, and describes a different end. Panics when `order` is shorter than the
    /// ring.
    fn strayed(&self, order: &Order) -> Option<String> {
        let (from, hops) = self.last;
        let expected = order.walk(from, hops);
        let lines = self.lines;
        (self.at != expected).then(|| {
            format!(
                "{hops} hops from line {from} of {lines} ended at line {}, not at line {expected}",
                self.at
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use seatrial_sys::memory::Pages;

    use super::*;
    use seatrial_bench::Held;

    fn ring(lines: usize) -> (Rings, Order, Chaser) {
        let mut order = Order::with_room_for(lines);
        order.grow(lines);
        let held = Held::take(lines * 64, &[Pages::Base], None).expect("a little memory");
        let mut rings = Rings::new(held, 64);
        let ring = rings.lay(0, order.next());
        (rings, order, Chaser::new(ring, lines))
    }

    #[test]
    fn a_chaser_goes_on_where_it_stopped_and_ends_where_the_order_says() {
        let (rings, order, mut chaser) = ring(500);
        chaser.settle(&rings);
        let ran = chaser.run(&rings, 1000);
        assert_eq!(ran.hops, 1024);
        assert!(ran.end > ran.start);
        assert_eq!(chaser.strayed(&order), None);
        let there = chaser.at;
        chaser.run_for(&rings, Nanos::millis(1), 100.0);
        assert_eq!(chaser.last.0, there, "it began where it had stopped");
        assert_eq!(chaser.last.1, 10_016);
        assert_eq!(chaser.strayed(&order), None);
    }

    #[test]
    fn a_short_cut_in_the_ring_is_noticed_by_where_the_chaser_ends() {
        let (mut rings, order, mut chaser) = ring(500);
        chaser.settle(&rings);
        // A loop of a hundred lines instead of five hundred.
        let (entry, exit) = (order.walk(0, 100), order.walk(0, 199));
        rings.redirect(chaser.ring(), exit, entry);
        chaser.run(&rings, 3000);
        let told = chaser.strayed(&order).expect("noticed");
        assert!(told.starts_with("3008 hops from line "), "{told}");
    }
}
