//! A position on a ring that times its hops.

use seatrial_model::{Nanos, Sample};
use seatrial_sys::clock;

use super::{HOPS_MULTIPLE, Order, Rings};

/// Hops that settle a position: caches, translations and clock are then as they are in the middle of a run. Above what
/// the caches' own latency needs, and a few milliseconds at most.
const MOST_SETTLING: u64 = 1 << 15;

/// Memory that one line of page table entries describes: 8 entries of 4 KiB pages. With larger pages it is more, and this
/// is only more often than needed; so it is where a hypervisor maps small pages under large ones.
const LINE_OF_PAGES: usize = 8 * 4096;

/// Longest time of a hop that a single timed call is planned with. A remote memory behind a slow link takes a
/// microsecond; more than this is an interruption that must not make the next call too short.
const SLOWEST_HOP_NS: f64 = 2000.0;

/// A timed run along a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChaseRun {
    /// Start on the monotonic clock.
    pub start: Nanos,
    /// End on the same clock.
    pub end: Nanos,
    /// Pointers followed in between.
    pub hops: u64,
}

/// Nanoseconds a hop of a sample whose amount is hops; `None` without hops.
pub fn hop_ns(sample: &Sample) -> Option<f64> {
    let hops = sample.amount.value();
    (hops > 0.0).then(|| sample.span().get() as f64 / hops)
}

/// A position on a ring.
#[derive(Clone, Debug)]
pub struct Chaser {
    ring: usize,
    lines: usize,
    at: usize,
    /// Where the last run began, and how far it went.
    last: (usize, u64),
}

impl Chaser {
    /// A position at line 0 of the ring of that number, which has `lines`.
    pub fn new(ring: usize, lines: usize) -> Self {
        Self { ring, lines, at: 0, last: (0, 0) }
    }

    pub fn ring(&self) -> usize {
        self.ring
    }

    /// The number of its lines.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Goes on for `hops` at least.
    ///
    /// # Panics
    /// When `rings` has no such ring, or the last run ended outside of it.
    pub fn run(&mut self, rings: &Rings, hops: u64) -> ChaseRun {
        let from = self.at;
        let start = Nanos(clock::now_ns());
        let (reached, made) = rings.follow(self.ring, from, hops);
        let end = Nanos(clock::now_ns());
        (self.at, self.last) = (reached, (from, made));
        ChaseRun { start, end, hops: made }
    }

    /// Brings the page table entries of the ring into the caches, then makes two laps, or a few milliseconds of a long one.
    ///
    /// In a run without end the entries are always there: a line of them is used hundreds of times as often as a line of the
    /// ring. A visit is too short to fetch them by its own hops, and would be up to half slower. Returns the time of a hop in the second half, in nanoseconds: an
    /// estimate to plan the next run with.
    pub fn settle(&mut self, rings: &Rings) -> f64 {
        rings.sweep(self.ring, rings.lines_in(LINE_OF_PAGES));
        let hops = (2 * self.lines as u64).clamp(64 * HOPS_MULTIPLE, MOST_SETTLING);
        self.run(rings, hops / 2);
        let ran = self.run(rings, hops / 2);
        (ran.end.since(ran.start).get() as f64 / ran.hops as f64).clamp(0.1, SLOWEST_HOP_NS)
    }

    /// Goes on for about `span`, by the estimate of [`Self::settle`]. The clock is looked at twice only, before and after.
    pub fn run_for(&mut self, rings: &Rings, span: Nanos, hop_ns: f64) -> ChaseRun {
        self.run(rings, (span.get() as f64 / hop_ns) as u64)
    }

    /// Walks the last run again along the order and says how the end differs, if it does.
    ///
    /// # Panics
    /// When `order` is shorter than the ring.
    pub fn strayed(&self, order: &Order) -> Option<String> {
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
