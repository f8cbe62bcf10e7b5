//! Offsets of each node's clocks from the controller's: of the monotonic clock, and of the time of day.
//!
//! The round with the shortest round trip has the smallest error, at most half of that round trip, also on asymmetric
//! paths (minimum filter of Cristian, "Probabilistic clock synchronization", 1989, as in NTP).

use std::time::Duration;

use seatrial_model::Nanos;
use seatrial_sys::clock;

/// What the clocks of a machine show at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockReadings {
    pub(crate) clock: Nanos,
    pub(crate) time_of_day: Nanos,
}

impl ClockReadings {
    pub(crate) fn now() -> Self {
        Self { clock: Nanos(clock::now_ns()), time_of_day: Nanos(clock::time_of_day_ns()) }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// The node's clock minus the controller's, in nanoseconds.
    pub nanos: i64,
    /// How wrong it may be when it is measured.
    pub error: Nanos,
    /// When it was measured, by the controller's clock.
    pub at: Nanos,
}

/// Two clocks part by so many nanoseconds in a second: quartz is made to 50 ppm.
const APART: f64 = 100_000.0;

impl Offset {
    /// How wrong it may be at `moment` of the controller's clock.
    pub fn error_at(self, moment: Nanos) -> Nanos {
        let seconds = moment.get().abs_diff(self.at.get()) as f64 / 1e9;
        self.error.plus(Nanos((seconds * APART) as u64))
    }

    pub fn on_node(self, at: Nanos) -> Nanos {
        Nanos(at.get().saturating_add_signed(self.nanos))
    }

    pub fn on_controller(self, at: Nanos) -> Nanos {
        Nanos(at.get().saturating_add_signed(self.nanos.saturating_neg()))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Offsets {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    asked: Option<(u32, u64)>,
    best: Option<OffsetPair>,
    is_gone: bool,
}

/// Of one round.
#[derive(Clone, Copy, Debug)]
struct OffsetPair {
    clock: Offset,
    time_of_day: Offset,
}

impl Offsets {
    pub(crate) const ROUNDS: u32 = 16;

    /// Time limit of all rounds. Parts on nodes that answer later start with the skew of the answers.
    pub(crate) const WITHIN: Duration = Duration::from_secs(3);

    pub(crate) fn new(count: usize) -> Self {
        Self { nodes: vec![Node::default(); count] }
    }

    pub(crate) fn asked(&mut self, node: usize, round: u32, now: u64) {
        self.nodes[node].asked = Some((round, now));
    }

    /// Records an answer; a late answer of another round is ignored.
    pub(crate) fn answered(&mut self, node: usize, round: u32, there: ClockReadings, here: ClockReadings) {
        let Some(node) = self.nodes.get_mut(node) else { return };
        let Some((_, sent)) = node.asked.take_if(|(asked, _)| *asked == round) else { return };
        let half = here.clock.get().saturating_sub(sent).div_ceil(2);
        let at = here.clock;
        let offset = |there: Nanos, here: Nanos| {
            let middle = i128::from(here.get()) - i128::from(half);
            let nanos = i64::try_from(i128::from(there.get()) - middle).unwrap_or(0);
            Offset { nanos, error: Nanos(half), at }
        };
        if node.best.is_none_or(|best| half < best.clock.error.get()) {
            node.best = Some(OffsetPair {
                clock: offset(there.clock, here.clock),
                time_of_day: offset(there.time_of_day, here.time_of_day),
            });
        }
    }

    pub(crate) fn gone(&mut self, node: usize) {
        self.nodes[node].is_gone = true;
    }

    pub(crate) fn is_waiting(&self, round: u32) -> bool {
        self.nodes.iter().any(|node| !node.is_gone && node.asked.is_some_and(|(asked, _)| asked == round))
    }

    pub(crate) fn of(&self, node: usize) -> Option<Offset> {
        Some(self.nodes.get(node)?.best?.clock)
    }

    pub(crate) fn of_time_of_day(&self, node: usize) -> Option<Offset> {
        Some(self.nodes.get(node)?.best?.time_of_day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AHEAD: u64 = 7_000;

    /// A node whose time of day is [`AHEAD`] of its monotonic clock, and a controller whose two clocks are one.
    fn answer(offsets: &mut Offsets, round: u32, there: u64, here: u64) {
        let there = ClockReadings { clock: Nanos(there), time_of_day: Nanos(there + AHEAD) };
        let here = ClockReadings { clock: Nanos(here), time_of_day: Nanos(here) };
        offsets.answered(0, round, there, here);
    }

    #[test]
    fn the_round_with_the_shortest_way_counts_and_bounds_the_error() {
        let mut offsets = Offsets::new(1);
        // The node's clock is 5,000 ahead. 10 there, 90 back: an error of 40, at worst 50.
        offsets.asked(0, 0, 1_000);
        answer(&mut offsets, 0, 6_010, 1_100);
        let first = offsets.of(0).expect("answered");
        assert_eq!((first.nanos, first.error), (4_960, Nanos(50)));
        offsets.asked(0, 1, 2_000);
        answer(&mut offsets, 1, 7_005, 2_010);
        let best = offsets.of(0).expect("answered");
        assert_eq!((best.nanos, best.error), (5_000, Nanos(5)));
        let day = offsets.of_time_of_day(0).expect("answered");
        assert_eq!((day.nanos, day.error), (5_000 + AHEAD as i64, Nanos(5)));
        offsets.asked(0, 2, 3_000);
        answer(&mut offsets, 2, 8_100, 3_900);
        assert_eq!(offsets.of(0), Some(best), "a slow round changes nothing");
    }

    #[test]
    fn the_true_offset_is_never_farther_than_the_error() {
        for (there, back) in [(1, 1), (0, 200), (200, 0), (7, 13)] {
            let mut offsets = Offsets::new(1);
            offsets.asked(0, 0, 10_000);
            answer(&mut offsets, 0, 10_000 + there - 3_000, 10_000 + there + back);
            let found = offsets.of(0).expect("answered");
            assert!((found.nanos + 3_000).unsigned_abs() <= found.error.get(), "{there} {back}: {found:?}");
        }
    }

    #[test]
    fn late_answers_and_lost_nodes_are_not_waited_for() {
        let mut offsets = Offsets::new(2);
        offsets.asked(0, 0, 1);
        offsets.asked(1, 0, 1);
        answer(&mut offsets, 0, 5, 9);
        assert!(offsets.is_waiting(0));
        offsets.gone(1);
        assert!(!offsets.is_waiting(0));
        offsets.asked(0, 1, 100);
        answer(&mut offsets, 0, 5, 101);
        assert!(offsets.is_waiting(1), "an answer to an older question is none");
        assert_eq!(offsets.of(1), None);
    }

    #[test]
    fn moments_go_there_and_back() {
        let offset = Offset { nanos: -300, error: Nanos(1), at: Nanos(0) };
        assert_eq!(offset.on_node(Nanos(1_000)), Nanos(700));
        assert_eq!(offset.on_controller(Nanos(700)), Nanos(1_000));
    }
}
