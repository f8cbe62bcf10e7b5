//! What rounds amount to: the paired ratio with its interval, beside the peer against itself.

use std::fmt;

use anyhow::{Result, ensure};
use seatrial_stats::{Better, FEWEST_VALUES, Interval, Summary, median_interval, student_quantile};
use serde::{Deserialize, Serialize};

use super::Rounds;

/// The advantage of one side over the other, paired by round; above 1 is better, whatever the direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// Median over the rounds of the ratio within a round.
    pub ratio: f64,
    /// Interval of the ratio, from Student's t on the logarithms of the rounds' ratios: that of 95 %, or of one look of several
    /// ([`Paired::of`]). None of fewer than six rounds.
    pub interval: Option<Interval>,
    /// Rounds of which the interval is.
    pub rounds: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Our median, in the row's unit.
    pub ours: f64,
    /// The peer's median, in the row's unit; both of its turns.
    pub peer: f64,
    /// We against both turns of the peer, with the interval that decides.
    pub against: Side,
    /// The peer against itself, with the interval of 95 %: what no difference looks like here.
    pub itself: Side,
    /// How often the rounds are looked at, at most.
    pub looks: usize,
    /// How the goal stands, where there is one.
    pub standing: Option<Standing>,
    /// Who is ahead, whatever the goal is.
    pub lead: Lead,
}

/// Ratios that differ from 1 by this share at most, 1 %, are level.
const LEVEL: f64 = 0.01;

/// A goal of 1 is not met where our interval goes lower than this, however far apart the peer's own turns are.
const LOWEST: f64 = 0.95;

/// Who is ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lead {
    /// The whole interval is above 1.
    Ahead,
    /// The whole interval is within 1 % of 1.
    Level,
    /// The whole interval is below 1.
    Behind,
    /// Neither; about so many rounds would decide it, if they are as those were.
    Open(usize),
}

impl fmt::Display for Lead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lead::Ahead => f.pad("ahead"),
            Lead::Level => f.pad("level"),
            Lead::Behind => f.pad("behind"),
            Lead::Open(rounds) => f.pad(&format!("open: about {rounds} rounds would decide")),
        }
    }
}

/// How a goal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The median reaches the goal, and the interval goes no lower than the peer's own does, and 5 % below the goal at most.
    Met,
    /// The whole interval lies below the goal.
    Missed,
    /// The rounds do not decide it.
    NotResolved,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Standing::Met => "met",
            Standing::Missed => "missed",
            Standing::NotResolved => "not resolved here",
        })
    }
}

impl Paired {
    /// Compares `rounds` with `goal`: ours of each round with the geometric mean of the peer's two. Where one looks several times
    /// and stops when it is decided, each of the `looks` has to be surer: the intervals that decide are those of 1 - 0.05 /
    /// `looks` (Bonferroni), so that all looks together go wrong in 5 of 100 rows at most.
    ///
    /// # Errors
    /// Without any round.
    pub fn of(rounds: &Rounds, better: Better, goal: Option<f64>, looks: usize) -> Result<Self> {
        ensure!(!rounds.ours.is_empty(), "no round counts");
        let turns = rounds.peer.iter().zip(&rounds.again);
        let peer: Vec<f64> = turns.map(|(one, other)| (one * other).sqrt()).collect();
        let against = Side::of(&rounds.ours, &peer, better)?.surer(looks);
        let itself = Side::of(&rounds.again, &rounds.peer, better)?;
        Ok(Self {
            ours: median(&rounds.ours)?,
            peer: median(&[rounds.peer.as_slice(), &rounds.again].concat())?,
            against,
            itself,
            looks,
            standing: goal.map(|goal| standing(&against, &itself, goal)),
            lead: against.lead(),
        })
    }

    /// Whether more rounds would tell nothing new. What is level may lie so close to its goal that no number of rounds tells on
    /// which side.
    pub fn is_decided(&self) -> bool {
        match self.lead {
            Lead::Level => true,
            Lead::Open(_) => false,
            Lead::Ahead | Lead::Behind => self.standing != Some(Standing::NotResolved),
        }
    }
}

impl Side {
    fn of(side: &[f64], peer: &[f64], better: Better) -> Result<Self> {
        let sign = if better == Better::Higher { 1.0 } else { -1.0 };
        // Logarithms, so that twice as fast and half as fast are equally far from the same.
        let logs: Vec<f64> = side.iter().zip(peer).map(|(side, peer)| sign * (side / peer).ln()).collect();
        // Each round ran fresh processes and so is a trial of one value.
        let trials: Vec<Vec<f64>> = logs.iter().map(|log| vec![*log]).collect();
        let interval = median_interval(&trials)?;
        let interval = interval.map(|logs| Interval { low: logs.low.exp(), high: logs.high.exp() });
        Ok(Self { ratio: median(&logs)?.exp(), interval, rounds: logs.len() })
    }

    /// The same with the interval that one of so many looks decides by.
    fn surer(self, looks: usize) -> Self {
        let freedom = self.rounds.max(2) as f64 - 1.0;
        let wider =
            student_quantile(1.0 - 0.025 / looks.max(1) as f64, freedom) / student_quantile(0.975, freedom);
        let interval = self.interval.map(|interval| {
            let (middle, half) = middle(interval);
            Interval { low: (middle - wider * half).exp(), high: (middle + wider * half).exp() }
        });
        Self { interval, ..self }
    }

    fn lead(&self) -> Lead {
        let Some(interval) = self.interval else { return Lead::Open(FEWEST_VALUES) };
        let (middle, half) = middle(interval);
        let level = LEVEL.ln_1p();
        if middle.abs() + half <= level {
            Lead::Level
        } else if middle - half > 0.0 {
            Lead::Ahead
        } else if middle + half < 0.0 {
            Lead::Behind
        } else {
            // The width falls with the root of the rounds; either bound decides.
            let wanted = middle.abs().max(level - middle.abs());
            Lead::Open(((self.rounds as f64) * (half / wanted).powi(2)).ceil() as usize)
        }
    }
}

/// Middle and half of the width, of the logarithms.
fn middle(interval: Interval) -> (f64, f64) {
    let (low, high) = (interval.low.ln(), interval.high.ln());
    (f64::midpoint(low, high), (high - low) / 2.0)
}

/// A goal of 1 allows the interval to go as low as noise alone makes it go, within bounds; other goals scale that. Without
/// intervals nothing is decided.
fn standing(against: &Side, itself: &Side, goal: f64) -> Standing {
    let Some((ours, noise)) = against.interval.zip(itself.interval) else { return Standing::NotResolved };
    if ours.high < goal {
        Standing::Missed
    } else if against.ratio >= goal && ours.low >= goal * noise.low.max(LOWEST) {
        Standing::Met
    } else {
        Standing::NotResolved
    }
}

fn median(values: &[f64]) -> Result<f64> {
    Ok(Summary::of(&[values.to_vec()])?.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten rounds: a machine that slows down by 3 % a round, `gain` of ours, and 0.2 % of noise by a fixed pattern.
    fn rounds(gain: f64) -> Rounds {
        let noise = [0.3, -0.1, -0.2, 0.2, 0.0, -0.3, 0.1, 0.2, -0.2, 0.1];
        let mut rounds = Rounds::default();
        for (round, noise) in noise.iter().enumerate() {
            let speed = 100.0 * 0.97f64.powf(round as f64);
            rounds.ours.push(speed * gain * (1.0 + noise / 100.0));
            rounds.peer.push(speed);
            rounds.again.push(speed * (1.0 - noise / 100.0));
        }
        rounds
    }

    fn standing_of(rounds: &Rounds, goal: f64) -> Standing {
        Paired::of(rounds, Better::Higher, Some(goal), 1).unwrap().standing.unwrap()
    }

    #[test]
    fn pairing_sees_two_percent_through_a_drift_of_thirty() {
        let paired = Paired::of(&rounds(1.02), Better::Higher, Some(1.0), 1).unwrap();
        assert!((paired.against.ratio - 1.02).abs() < 0.002, "{paired:?}");
        assert!(paired.against.interval.unwrap().low > 1.015, "{paired:?}");
        assert!(paired.itself.interval.unwrap().contains(1.0), "{paired:?}");
        assert_eq!(paired.standing, Some(Standing::Met));
    }

    #[test]
    fn the_other_side_is_the_geometric_mean_of_both_turns_of_the_peer() {
        // Its second turn in our place: half of the way from the first.
        let same = Rounds { ours: rounds(1.0).again, ..rounds(1.0) };
        let paired = Paired::of(&same, Better::Higher, Some(1.0), 1).unwrap();
        assert!((paired.against.ratio.powi(2) - paired.itself.ratio).abs() < 1e-9, "{paired:?}");
        assert_ne!(paired.standing, Some(Standing::Missed));
    }

    #[test]
    fn a_clear_loss_is_missed_and_a_loss_inside_the_noise_is_not_resolved() {
        assert_eq!(standing_of(&rounds(0.98), 1.0), Standing::Missed);
        assert_eq!(standing_of(&rounds(0.9995), 1.0), Standing::NotResolved);
    }

    #[test]
    fn a_wide_interval_does_not_meet_the_goal_though_its_median_does() {
        let mut wide = rounds(1.001);
        wide.ours[0] *= 0.8;
        let paired = Paired::of(&wide, Better::Higher, Some(1.0), 1).unwrap();
        assert!(paired.against.ratio >= 1.0, "{paired:?}");
        assert_eq!(paired.standing, Some(Standing::NotResolved));
    }

    #[test]
    fn a_peer_that_differs_from_itself_excuses_only_so_much() {
        let side = |low, high| Side { ratio: 1.0, interval: Some(Interval { low, high }), rounds: 12 };
        let noisy = side(0.8, 1.25);
        assert_eq!(standing(&side(0.94, 1.1), &noisy, 1.0), Standing::NotResolved);
        assert_eq!(standing(&side(0.96, 1.1), &noisy, 1.0), Standing::Met);
    }

    #[test]
    fn a_goal_below_one_leaves_room_for_a_known_cost() {
        assert_eq!(standing_of(&rounds(0.995), 0.99), Standing::Met);
        assert_eq!(standing_of(&rounds(0.985), 0.99), Standing::Missed);
    }

    #[test]
    fn for_times_the_smaller_one_wins_and_without_a_goal_nothing_stands() {
        let paired = Paired::of(&rounds(0.5), Better::Lower, None, 1).unwrap();
        assert!((paired.against.ratio - 2.0).abs() < 0.01, "{paired:?}");
        assert_eq!(paired.standing, None);
    }

    #[test]
    fn who_is_ahead_is_told_by_the_interval_and_what_is_open_by_the_rounds_that_it_takes() {
        let lead = |gain: f64| Paired::of(&rounds(gain), Better::Higher, None, 1).unwrap().lead;
        assert_eq!([1.2, 1.0, 0.995, 0.8].map(lead), [Lead::Ahead, Lead::Level, Lead::Level, Lead::Behind]);
        // Noise of 10 % around the same: 1 % is seen when the interval is twenty times as narrow.
        let mut wide = rounds(1.0);
        wide.ours
            .iter_mut()
            .enumerate()
            .for_each(|(round, rate)| *rate *= if round % 2 == 0 { 1.1 } else { 0.9 });
        let Lead::Open(needed) = Paired::of(&wide, Better::Higher, None, 1).unwrap().lead else {
            panic!("{wide:?}")
        };
        let level = Side::of(&wide.ours, &wide.peer, Better::Higher).unwrap();
        let half = middle(level.interval.unwrap()).1;
        assert!(needed > 100 && (needed as f64) < 10.0 * (half / 0.004).powi(2), "{needed}");
    }

    #[test]
    fn the_more_often_one_looks_the_surer_a_look_has_to_be() {
        let rounds = rounds(1.0012);
        let at = |looks| Paired::of(&rounds, Better::Higher, Some(1.0), looks).unwrap().standing.unwrap();
        assert_eq!((at(1), at(200)), (Standing::Met, Standing::NotResolved));
        let side = Side::of(&rounds.ours, &rounds.peer, Better::Higher).unwrap();
        let [one, six] = [1, 6].map(|looks| middle(side.surer(looks).interval.unwrap()).1);
        // Student's t of 9 degrees of freedom: 2.262 at 97.5 %, 3.364 at 99.583 %.
        assert!((six / one - 3.364 / 2.262).abs() < 0.01, "{six} {one}");
        // It is the one that is shown; the peer's own stays as it is.
        let shown = [1, 6].map(|looks| Paired::of(&rounds, Better::Higher, None, looks).unwrap());
        let [one, six] = shown.map(|paired| middle(paired.against.interval.unwrap()).1);
        assert!((six / one - 3.364 / 2.262).abs() < 0.01, "{six} {one}");
        assert_eq!((shown[1].looks, shown[1].itself), (6, shown[0].itself));
    }

    #[test]
    fn what_is_level_is_decided_though_its_goal_is_not() {
        let paired = |rounds: &Rounds| Paired::of(rounds, Better::Higher, Some(1.0), 1).unwrap();
        let level = paired(&rounds(0.9995));
        assert_eq!((level.lead, level.standing), (Lead::Level, Some(Standing::NotResolved)));
        assert!(level.is_decided() && paired(&rounds(0.8)).is_decided());
        let mut wide = rounds(1.001);
        wide.ours[0] *= 0.8;
        assert!(!paired(&wide).is_decided());
    }

    #[test]
    fn five_rounds_have_a_ratio_and_decide_nothing() {
        let mut few = rounds(0.5);
        for values in [&mut few.ours, &mut few.peer, &mut few.again] {
            values.truncate(5);
        }
        let paired = Paired::of(&few, Better::Higher, Some(1.0), 1).unwrap();
        assert!((paired.against.ratio - 0.5).abs() < 0.01, "{paired:?}");
        assert_eq!((paired.against.interval, paired.itself.interval), (None, None));
        assert_eq!(paired.standing, Some(Standing::NotResolved));
        assert!(Paired::of(&Rounds::default(), Better::Higher, None, 1).is_err());
    }
}
