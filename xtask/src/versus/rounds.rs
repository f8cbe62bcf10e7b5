//! Takes turns, so that a drift of the machine hits both sides alike.

use anyhow::{Context, Result, ensure};

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Ours,
    Peer,
    Again,
}

use Turn::{Again, Ours, Peer};

/// The orders of the turns of a round, one after the other and then from the start. A turn finds what the one before it has
/// left: warm caches, connections that wait to close, pages to be given back. Over six rounds each of the three stands at
/// each place twice and follows each other one equally often, so that a place is nobody's advantage; and each order is
/// followed by its reverse, in which a steady drift has the opposite effect.
const ORDERS: [[Turn; 3]; 6] = [
    [Ours, Peer, Again],
    [Again, Peer, Ours],
    [Peer, Ours, Again],
    [Again, Ours, Peer],
    [Ours, Again, Peer],
    [Peer, Again, Ours],
];

/// What each round gave: ours, the peer, and the peer once more.
///
/// The peer comes twice in a round, so that the comparison can be held against one that has no difference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rounds {
    /// Seatrial.
    pub ours: Vec<f64>,
    /// The peer.
    pub peer: Vec<f64>,
    /// The peer against itself.
    pub again: Vec<f64>,
}

impl Rounds {
    /// Measures `count` rounds.
    ///
    /// # Errors
    /// When a side fails, or returns what is no positive number: a ratio could not be made of it.
    pub fn measure(
        count: usize,
        ours: &mut dyn FnMut() -> Result<f64>,
        peer: &mut dyn FnMut() -> Result<f64>,
    ) -> Result<Self> {
        let mut rounds = Self::default();
        for round in 0..count {
            let turn = |work: &mut dyn FnMut() -> Result<f64>, side: &str| {
                let value = work().with_context(|| format!("round {}: {side}", round + 1))?;
                ensure!(value.is_finite() && value > 0.0, "round {}: {side} returned {value}", round + 1);
                anyhow::Ok(value)
            };
            for whose in ORDERS[round % ORDERS.len()] {
                match whose {
                    Ours => rounds.ours.push(turn(ours, "ours")?),
                    Peer => rounds.peer.push(turn(peer, "the peer")?),
                    Again => rounds.again.push(turn(peer, "the peer")?),
                }
            }
        }
        Ok(rounds)
    }
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

    #[test]
    fn turns_are_taken_in_the_orders_and_noted_where_they_belong() {
        let log = RefCell::new(String::new());
        let clock = || {
            let now = log.borrow().len();
            1.0 + f64::from(u32::try_from(now).unwrap())
        };
        let mut ours = || {
            log.borrow_mut().push('o');
            Ok(clock())
        };
        let mut peer = || {
            log.borrow_mut().push('p');
            Ok(clock())
        };
        let rounds = Rounds::measure(7, &mut ours, &mut peer).unwrap();
        assert_eq!(*log.borrow(), "oppppopoppopoppppoopp");
        assert_eq!(rounds.ours, [2.0, 7.0, 9.0, 12.0, 14.0, 19.0, 20.0]);
        assert_eq!(rounds.peer, [3.0, 6.0, 8.0, 13.0, 16.0, 17.0, 21.0]);
        assert_eq!(rounds.again, [4.0, 5.0, 10.0, 11.0, 15.0, 18.0, 22.0]);
    }

    #[test]
    fn a_side_that_fails_or_returns_nothing_is_named_with_its_round() {
        let mut calls = 0;
        let mut ours = || {
            calls += 1;
            if calls == 2 { bail!("crashed") } else { Ok(1.0) }
        };
        let error = Rounds::measure(3, &mut ours, &mut || Ok(1.0)).unwrap_err();
        assert_eq!(format!("{error:#}"), "round 2: ours: crashed");
        let error = Rounds::measure(1, &mut || Ok(1.0), &mut || Ok(0.0)).unwrap_err();
        assert_eq!(error.to_string(), "round 1: the peer returned 0");
    }
}
