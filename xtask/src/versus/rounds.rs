//! Takes turns, so that a drift of the machine hits both sides alike, and takes a round again in which a turn failed.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use anyhow::{Result, ensure};

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Ours,
    Peer,
    Again,
}

use Turn::{Again, Ours, Peer};

/// The orders of the turns of a round, one after the other and then from the start. A turn finds what the one before it has
/// left: warm caches, connections that wait to close, pages to be given back. Over six rounds each of the three stands at
/// each place twice and follows each other one equally often, so that a place is nobody's advantage; and each order is
/// followed by its reverse, in which a steady drift has the opposite effect.
pub(super) const ORDERS: [[Turn; 3]; 6] = [
    [Ours, Peer, Again],
    [Again, Peer, Ours],
    [Peer, Ours, Again],
    [Again, Ours, Peer],
    [Ours, Again, Peer],
    [Peer, Again, Ours],
];

/// Rounds that are taken again are at most one for so many that were asked for: enough for a program that now and then tells
/// nothing, and few enough that a row takes no longer than a third more than it was given.
const ASKED_A_RETAKE: usize = 3;

/// And this many at least: with six rounds a single accident of each side is no reason to go without an interval.
const RETAKES_AT_LEAST: usize = 2;

/// A side that failed so often and never did anything else is not asked again: what is wrong with it is not chance, and a turn
/// that fails by running into its time limit takes a minute.
const TRIES_OF_A_SIDE: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    Ours,
    Peer,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Who::Ours => "ours",
            Who::Peer => "the peer",
        })
    }
}

/// What each round gave of one figure: ours, the peer, and the peer once more.
///
/// The peer comes twice in a round, so that the comparison can be held against one that has no difference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rounds {
    pub ours: Vec<f64>,
    pub peer: Vec<f64>,
    /// The peer against itself.
    pub again: Vec<f64>,
}

/// A round that does not count, because a turn of it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its number among all that were taken, from 1.
    pub number: usize,
    /// Whose turn it was.
    pub who: Who,
    pub why: String,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "round {}: {}: {}", self.number, self.who, self.why)
    }
}

/// All rounds of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taken {
    /// How many were asked for, or sufficed.
    pub asked: usize,
    /// What the turns of those gave that count, in the order of [`Turn`], each with a value a figure.
    complete: Vec<[Vec<f64>; 3]>,
    /// Those that do not count.
    pub dropped: Vec<Dropped>,
    /// The side that never did anything but fail.
    always: Option<Who>,
}

/// What accompanies the rounds of a row.
pub trait Companion {
    /// Before a round begins.
    fn before(&mut self) {}

    /// A round does not count.
    fn dropped(&mut self, _: &Dropped) {}

    /// Whether the rounds so far decide all that is asked; asked when each side has had each place equally often.
    fn is_decided(&mut self, _: &Taken) -> bool {
        false
    }
}

impl Taken {
    /// Takes `asked` rounds at most. One in which a turn fails, or returns what is no positive number (no ratio could be made of
    /// it), is told to the companion, does not count with any of its turns, and is taken again at once in the same order of
    /// sides, as long as there are rounds to spare: so places are even whenever somebody looks. It ends early where the companion
    /// calls it decided, where a side fails always, and where fewer than half of what was asked for can still come together.
    pub fn measure(
        asked: usize,
        ours: &mut dyn FnMut() -> Result<Vec<f64>>,
        peer: &mut dyn FnMut() -> Result<Vec<f64>>,
        companion: &mut dyn Companion,
    ) -> Self {
        let mut taken = Self { asked, ..Self::default() };
        let mut spare = asked.div_ceil(ASKED_A_RETAKE).max(RETAKES_AT_LEAST);
        let mut left: VecDeque<usize> = (0..asked).collect();
        // How often each side delivered, and how often it failed.
        let mut record: BTreeMap<Who, [usize; 2]> = BTreeMap::new();
        let mut number = 0;
        while let Some(round) = left.pop_front() {
            number += 1;
            companion.before();
            let mut turns = [Vec::new(), Vec::new(), Vec::new()];
            let mut failed = None;
            for turn in ORDERS[round % ORDERS.len()] {
                let (who, done) = match turn {
                    Ours => (Who::Ours, usable(ours)),
                    Peer | Again => (Who::Peer, usable(peer)),
                };
                let [delivered, failures] = record.entry(who).or_default();
                match done {
                    Ok(values) => {
                        *delivered += 1;
                        turns[turn as usize] = values;
                    }
                    Err(error) => {
                        *failures += 1;
                        failed = Some(Dropped { number, who, why: format!("{error:#}") });
                        break;
                    }
                }
            }
            let Some(failed) = failed else {
                taken.complete.push(turns);
                if taken.count().is_multiple_of(ORDERS.len()) && companion.is_decided(&taken) {
                    taken.asked = taken.count();
                    break;
                }
                continue;
            };
            companion.dropped(&failed);
            let [delivered, failures] = record[&failed.who];
            if delivered == 0 && failures >= TRIES_OF_A_SIDE {
                taken.always = Some(failed.who);
            }
            taken.dropped.push(failed);
            if spare > 0 {
                spare -= 1;
                left.push_front(round);
            }
            if taken.always.is_some() || 2 * (taken.complete.len() + left.len()) < asked {
                break;
            }
        }
        taken
    }

    pub fn count(&self) -> usize {
        self.complete.len()
    }

    /// Those that count, of the figure of this number.
    pub fn of(&self, figure: usize) -> Rounds {
        let side = |turn: Turn| self.complete.iter().map(|turns| turns[turn as usize][figure]).collect();
        Rounds { ours: side(Ours), peer: side(Peer), again: side(Again) }
    }

    /// Why these rounds say nothing, where fewer than half of what was asked for count.
    pub fn not_taken(&self) -> Option<String> {
        if 2 * self.count() >= self.asked {
            return None;
        }
        let (who, why) = self.dropped.last().map(|last| (last.who, last.why.as_str()))?;
        let times = self.dropped.iter().filter(|dropped| dropped.who == who).count();
        Some(match self.always {
            Some(_) => format!("{who} failed each of {times} times: {why}"),
            None => format!("{} of {} rounds count; at last {who}: {why}", self.count(), self.asked),
        })
    }
}

/// A turn whose every value a ratio can be made of.
fn usable(work: &mut dyn FnMut() -> Result<Vec<f64>>) -> Result<Vec<f64>> {
    let values = work()?;
    for value in &values {
        ensure!(value.is_finite() && *value > 0.0, "it returned {value}");
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use anyhow::bail;

    use super::*;

    #[test]
    fn over_six_rounds_nobody_has_a_place_for_himself_and_drift_cancels() {
        let count = |wanted: &dyn Fn(&[Turn; 3]) -> bool| ORDERS.iter().filter(|order| wanted(order)).count();
        for one in [Ours, Peer, Again] {
            for place in 0..3 {
                assert_eq!(count(&|order| order[place] == one), 2, "{one:?} at {place}");
            }
            for other in [Ours, Peer, Again].into_iter().filter(|other| *other != one) {
                assert_eq!(count(&|order| order.windows(2).any(|pair| pair == [one, other])), 2);
            }
        }
        for pair in ORDERS.chunks(2) {
            assert!(pair[0].iter().eq(pair[1].iter().rev()), "{pair:?}");
        }
    }

    /// Notes what it is told, and calls it decided when so many rounds count.
    #[derive(Default)]
    struct Told {
        begun: usize,
        dropped: Vec<Dropped>,
        enough: usize,
    }

    impl Companion for Told {
        fn before(&mut self) {
            self.begun += 1;
        }

        fn dropped(&mut self, dropped: &Dropped) {
            self.dropped.push(dropped.clone());
        }

        fn is_decided(&mut self, taken: &Taken) -> bool {
            taken.count() >= self.enough
        }
    }

    #[test]
    fn rounds_that_decide_are_the_last_and_are_asked_only_when_places_are_even() {
        let mut one = || Ok(vec![1.0]);
        let mut other = one;
        for (enough, wanted) in [(1, 6), (6, 6), (7, 12), (13, 13)] {
            let mut told = Told { enough, ..Told::default() };
            let taken = Taken::measure(13, &mut one, &mut other, &mut told);
            assert_eq!((taken.count(), taken.asked, told.begun), (wanted, wanted, wanted), "{enough}");
        }
    }

    /// Takes `asked` rounds with turns that return how manieth turn of all they are, but for those of `fails`, which say what
    /// stands there. Returned with the sides in the order in which they had their turns.
    fn scripted(asked: usize, fails: &[(usize, &str)]) -> (Taken, String) {
        let log = RefCell::new(String::new());
        let turn = |who: char| {
            log.borrow_mut().push(who);
            let now = log.borrow().len();
            match fails.iter().find(|(at, _)| *at == now) {
                Some((_, "0")) => Ok(vec![1.0, 0.0]),
                Some((_, why)) => bail!("{why}"),
                None => Ok(vec![now as f64, 1.0 / now as f64]),
            }
        };
        let mut told = Told { enough: usize::MAX, ..Told::default() };
        let taken = Taken::measure(asked, &mut || turn('o'), &mut || turn('p'), &mut told);
        assert_eq!(told.dropped, taken.dropped);
        assert_eq!(told.begun, taken.count() + taken.dropped.len());
        (taken, log.into_inner())
    }

    #[test]
    fn turns_are_taken_in_the_orders_and_noted_where_they_belong() {
        let (taken, log) = scripted(7, &[]);
        assert_eq!(log, "oppppopoppopoppppoopp");
        let rounds = taken.of(0);
        assert_eq!(rounds.ours, [1.0, 6.0, 8.0, 11.0, 13.0, 18.0, 19.0]);
        assert_eq!(rounds.peer, [2.0, 5.0, 7.0, 12.0, 15.0, 16.0, 20.0]);
        assert_eq!(rounds.again, [3.0, 4.0, 9.0, 10.0, 14.0, 17.0, 21.0]);
        assert_eq!(taken.of(1).ours[1], 1.0 / 6.0);
        assert_eq!((taken.count(), taken.dropped.len(), taken.not_taken()), (7, 0, None));
    }

    #[test]
    fn a_round_with_a_turn_that_failed_does_not_count_and_is_taken_again_at_once_in_its_order() {
        // The second round is again, peer, ours: its second turn fails, its third is not taken.
        let (taken, log) = scripted(6, &[(5, "0")]);
        assert_eq!(log, ["opp", "pp", "ppo", "pop", "pop", "opp", "ppo"].concat());
        assert_eq!(taken.dropped, [Dropped { number: 2, who: Who::Peer, why: "it returned 0".to_owned() }]);
        assert_eq!(taken.dropped[0].to_string(), "round 2: the peer: it returned 0");
        assert_eq!((taken.count(), taken.not_taken()), (6, None));
        let rounds = taken.of(0);
        assert_eq!(rounds.ours, [1.0, 8.0, 10.0, 13.0, 15.0, 20.0]);
        assert_eq!(rounds.again, [3.0, 6.0, 11.0, 12.0, 16.0, 19.0]);
    }

    #[test]
    fn of_twelve_rounds_four_are_taken_again_and_of_three_two() {
        for (asked, spare) in [(3, 2), (6, 2), (12, 4), (13, 5)] {
            // The second round fails in its first turn as often as it may be taken again, and once more; the first one
            // delivers, so that no side fails always.
            let fails: Vec<(usize, &str)> = (0..=spare).map(|drop| (4 + drop, "crashed")).collect();
            let (taken, _) = scripted(asked, &fails);
            let numbers: Vec<usize> = taken.dropped.iter().map(|dropped| dropped.number).collect();
            assert_eq!(numbers, (2..spare + 3).collect::<Vec<usize>>(), "{asked}");
            assert_eq!(taken.count(), asked - 1, "{asked}");
            assert_eq!(taken.not_taken(), None, "{asked}");
        }
    }

    #[test]
    fn a_side_that_only_fails_is_asked_three_times() {
        let mut calls = 0;
        let mut ours = || {
            calls += 1;
            Ok(vec![1.0])
        };
        let mut peer = || -> Result<Vec<f64>> { bail!("no connection") };
        let taken =
            Taken::measure(12, &mut ours, &mut peer, &mut Told { enough: usize::MAX, ..Told::default() });
        assert_eq!(taken.count(), 0);
        assert_eq!(taken.not_taken().unwrap(), "the peer failed each of 3 times: no connection");
        // The first round, which begins with ours, is taken three times.
        assert_eq!(calls, 3);
    }

    #[test]
    fn what_cannot_come_to_half_of_what_was_asked_for_is_given_up() {
        // The first round counts. Behind it every turn fails, by either side.
        let fails: Vec<(usize, &str)> = (4..100).map(|at| (at, "crashed")).collect();
        let (taken, log) = scripted(12, &fails);
        // 15 are left, 4 of them to take again: when the eleventh of them failed, 4 are left, and one counted.
        assert_eq!((taken.count(), taken.dropped.len()), (1, 11));
        assert_eq!(log.len(), 3 + 11);
        let why = taken.not_taken().unwrap();
        assert!(why.starts_with("1 of 12 rounds count; at last ") && why.ends_with(": crashed"), "{why}");
    }

    #[test]
    fn half_of_the_rounds_are_enough_to_be_shown() {
        // Twelve rounds and four that are taken again, of which ten fail in their first turn: the six that are left count.
        let fails: Vec<(usize, &str)> = (4..14).map(|at| (at, "crashed")).collect();
        let (taken, _) = scripted(12, &fails);
        assert_eq!((taken.count(), taken.dropped.len()), (6, 10));
        assert_eq!(taken.not_taken(), None);
    }

    #[test]
    fn a_value_that_no_ratio_can_be_made_of_fails_the_turn() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(usable(&mut || Ok(vec![1.0, value])).is_err(), "{value}");
        }
        assert_eq!(usable(&mut || Ok(vec![1.0, 2.0])).unwrap(), [1.0, 2.0]);
    }
}
