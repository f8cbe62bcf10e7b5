//! Takes turns, so that a drift of the machine hits both sides alike.

use anyhow::{Context, Result, ensure};

/// What each round gave: ours, the peer, and the peer once more.
///
/// The peer comes twice in a round, so that the comparison can be held against one that has no difference. It
/// always stands between the other two, and the order turns round every time (`ours peer again`, `again peer
/// ours`, ...): both comparisons have the same distance in time, and a steady drift cancels in each.
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
            if round % 2 == 0 {
                rounds.ours.push(turn(ours, "ours")?);
                rounds.peer.push(turn(peer, "the peer")?);
                rounds.again.push(turn(peer, "the peer")?);
            } else {
                rounds.again.push(turn(peer, "the peer")?);
                rounds.peer.push(turn(peer, "the peer")?);
                rounds.ours.push(turn(ours, "ours")?);
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
    fn the_peer_stands_in_the_middle_and_the_order_turns() {
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
        let rounds = Rounds::measure(3, &mut ours, &mut peer).unwrap();
        assert_eq!(*log.borrow(), "oppppoopp");
        assert_eq!(rounds.ours, [2.0, 7.0, 8.0]);
        assert_eq!(rounds.peer, [3.0, 6.0, 9.0]);
        assert_eq!(rounds.again, [4.0, 5.0, 10.0]);
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
