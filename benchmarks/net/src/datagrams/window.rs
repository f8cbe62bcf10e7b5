//! Counts which datagrams of a flow arrived, were duplicated, reordered or lost: exactly, in constant memory.

use std::collections::VecDeque;

use super::bursts::Bursts;

/// Sequence numbers that the window spans. A datagram that arrives after one with a number higher by this is late:
/// whether it is a duplicate can no longer be known.
pub const SPAN: u64 = 1 << 18;

const BITS: u64 = u64::BITS as u64;

/// Gaps that are kept to compute the reordering extent of a datagram that fills one.
const GAPS: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Gap {
    from: u64,
    to: u64,
    /// Index of the arrival that skipped them.
    arrival: u64,
}

#[derive(Clone, Debug)]
pub struct Window {
    /// A bit for each number from `base` to `base + SPAN`, at the number modulo `SPAN`.
    bits: Box<[u64]>,
    /// The lowest number in the window: a multiple of 64. All numbers below are decided.
    base: u64,
    next: u64,
    gaps: VecDeque<Gap>,
    arrivals: u64,
    pub received: u64,
    pub duplicates: u64,
    /// Arrivals after a later number (RFC 4737, section 3).
    pub reordered: u64,
    /// The largest extent: how many arrivals ago the first later number arrived (RFC 4737, section 4.2).
    pub extent: u64,
    /// Arrivals too late for the window to find duplicates.
    pub late: u64,
    pub bursts: Bursts,
}

impl Default for Window {
    fn default() -> Self {
        Self::with(vec![0; (SPAN / BITS) as usize].into_boxed_slice(), VecDeque::with_capacity(GAPS))
    }
}

impl Window {
    fn with(mut bits: Box<[u64]>, mut gaps: VecDeque<Gap>) -> Self {
        bits.fill(0);
        gaps.clear();
        Self {
            bits,
            gaps,
            base: 0,
            next: 0,
            arrivals: 0,
            received: 0,
            duplicates: 0,
            reordered: 0,
            extent: 0,
            late: 0,
            bursts: Bursts::default(),
        }
    }

    pub fn clear(&mut self) {
        *self = Self::with(std::mem::take(&mut self.bits), std::mem::take(&mut self.gaps));
    }

    pub fn next(&self) -> u64 {
        self.next
    }

    /// Counts a datagram. Does not allocate.
    pub fn note(&mut self, sequence: u64) {
        self.arrivals += 1;
        if sequence >= self.next {
            if sequence > self.next {
                self.skip(sequence);
            }
            self.next = sequence + 1;
            // A number that no sender can reach must not overflow.
            if sequence >= self.base.saturating_add(SPAN) {
                self.decide((sequence - SPAN + BITS) / BITS * BITS);
            }
            self.set(sequence);
            self.received += 1;
        } else if sequence < self.base {
            self.late += 1;
        } else if self.is_set(sequence) {
            self.duplicates += 1;
        } else {
            self.set(sequence);
            self.received += 1;
            self.reordered += 1;
            self.extent = self.extent.max(self.extent_of(sequence));
        }
    }

    /// Decides all open numbers when `sent` were sent, and returns the number of lost ones.
    pub fn finish(&mut self, sent: u64) -> u64 {
        if sent > self.base {
            self.decide_to(sent);
        }
        self.bursts.end();
        sent.saturating_sub(self.received)
    }

    fn skip(&mut self, sequence: u64) {
        if self.gaps.len() == GAPS {
            self.gaps.pop_front();
        }
        self.gaps.push_back(Gap { from: self.next, to: sequence, arrival: self.arrivals });
    }

    /// The first arrival with a later number is the one that skipped this number: all before it had lower ones.
    fn extent_of(&self, sequence: u64) -> u64 {
        let after = self.gaps.partition_point(|gap| gap.from <= sequence);
        let gap = after.checked_sub(1).and_then(|at| self.gaps.get(at));
        gap.filter(|gap| sequence < gap.to).map_or(0, |gap| self.arrivals - gap.arrival)
    }

    /// Decides the numbers below `base`, a multiple of 64, and makes it the new base.
    fn decide(&mut self, base: u64) {
        let last = base.min(self.base.saturating_add(SPAN));
        while self.base < last {
            let word = &mut self.bits[(self.base % SPAN / BITS) as usize];
            self.bursts.word(std::mem::take(word), BITS);
            self.base += BITS;
        }
        // A jump beyond the window: none of these arrived.
        if base > self.base {
            self.bursts.missing(base - self.base);
            self.base = base;
        }
    }

    fn decide_to(&mut self, sent: u64) {
        self.decide(sent / BITS * BITS);
        let rest = sent - self.base;
        if rest > 0 {
            let word = self.bits[(self.base % SPAN / BITS) as usize];
            self.bursts.word(word, rest);
        }
    }

    fn set(&mut self, sequence: u64) {
        self.bits[(sequence % SPAN / BITS) as usize] |= 1 << (sequence % BITS);
    }

    fn is_set(&self, sequence: u64) -> bool {
        self.bits[(sequence % SPAN / BITS) as usize] >> (sequence % BITS) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn seen(order: &[u64], sent: u64) -> (Window, u64) {
        let mut window = Window::default();
        order.iter().for_each(|sequence| window.note(*sequence));
        let lost = window.finish(sent);
        (window, lost)
    }

    #[test]
    fn lost_ones_are_counted_at_the_head_in_the_middle_and_at_the_tail() {
        let order: Vec<u64> = (3..200).filter(|number| !(50..=52).contains(number)).collect();
        let (window, lost) = seen(&order, 210);
        assert_eq!((window.received, lost), (194, 16));
        assert_eq!(window.bursts.lengths(), [(3, 3, 2), (10, 10, 1)]);
    }

    #[test]
    fn a_copy_is_no_arrival_of_its_own_and_hides_no_loss() {
        let (window, lost) = seen(&[0, 1, 1, 3, 3, 3], 4);
        assert_eq!((window.received, window.duplicates, window.reordered, lost), (3, 3, 0, 1));
    }

    #[test]
    fn the_extent_is_how_far_a_datagram_was_overtaken() {
        // 6 is the tenth arrival, and 7, the first that overtook it, was the fourth.
        let (window, _) = seen(&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11], 12);
        assert_eq!((window.reordered, window.extent), (3, 6));
        let (window, _) = seen(&[0, 2, 1, 3], 4);
        assert_eq!((window.reordered, window.extent), (1, 1));
    }

    #[test]
    fn what_comes_behind_the_window_is_late_and_stays_lost() {
        let mut order = vec![1, SPAN + 63];
        order.extend([0, 64]);
        let (window, lost) = seen(&order, SPAN + 64);
        assert_eq!((window.late, window.reordered, window.received), (1, 1, 3));
        assert_eq!(lost, SPAN + 64 - 3);
    }

    #[test]
    fn a_jump_over_more_than_the_window_is_one_burst() {
        let (window, lost) = seen(&[0, 10 * SPAN], 10 * SPAN + 1);
        assert_eq!((window.received, lost), (2, 10 * SPAN - 1));
        assert_eq!((window.bursts.count(), window.bursts.longest()), (1, 10 * SPAN - 1));
        // A number that nobody sent does no harm either.
        assert_eq!(seen(&[u64::MAX - 1], 5).0.received, 1);
    }

    #[test]
    fn a_window_that_was_cleared_is_as_new() {
        let mut window = Window::default();
        (0..3 * SPAN).step_by(3).for_each(|sequence| window.note(sequence));
        window.clear();
        (0..100).for_each(|sequence| window.note(sequence));
        assert_eq!((window.finish(100), window.duplicates, window.late), (0, 0, 0));
        assert_eq!(window.bursts.count(), 0);
    }

    proptest! {
        /// Compares with sets that hold everything.
        #[test]
        fn counts_are_those_of_a_full_account(
            numbers in prop::collection::vec(0_u64..700, 0..900), more in 0_u64..100
        ) {
            let sent = numbers.iter().max().map_or(0, |most| most + 1) + more;
            let (window, lost) = seen(&numbers, sent);
            let distinct: HashSet<u64> = numbers.iter().copied().collect();
            let (mut reordered, mut extent, mut first) = (0, 0, HashSet::new());
            for (at, number) in numbers.iter().enumerate() {
                let overtaken = numbers[..at].iter().position(|other| other > number);
                if first.insert(*number) && let Some(earliest) = overtaken {
                    reordered += 1;
                    extent = extent.max((at - earliest) as u64);
                }
            }
            prop_assert_eq!(window.received, distinct.len() as u64);
            prop_assert_eq!(window.duplicates, (numbers.len() - distinct.len()) as u64);
            prop_assert_eq!((window.reordered, window.extent), (reordered, extent));
            prop_assert_eq!(lost, sent - distinct.len() as u64);
            let mut runs = Bursts::default();
            (0..sent).for_each(|number| if distinct.contains(&number) { runs.end() } else { runs.missing(1) });
            runs.end();
            prop_assert_eq!(window.bursts.lengths(), runs.lengths());
        }
    }
}
