//! Chooses the next rate of a search and judges the steps: pure decisions, after RFC 2544, section 26.1.
//!
//! The first step floods, and the search begins at the highest rate that the sender can hand over. A step is
//! loss-free if no datagram was lost and the requested load was really offered. The search halves the gap between the
//! fastest loss-free step and the slowest lossy one.

use serde::{Deserialize, Serialize};

use seatrial_bench::search::Search;

/// Most steps of a search. With a bad first guess a search takes 13 steps after the flood; the rest is for repeated
/// steps after a late sender.
pub const MOST_STEPS: u32 = 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    Free,
    Lost,
    /// A queue of the sender refused datagrams that came faster than the link.
    Refused,
    /// The sender did not offer the rate: other programs use its CPU, or it is too slow.
    Late,
}

/// A step: amounts of all flows together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Requested payload in bytes per second; `None` floods.
    pub asked: Option<f64>,
    /// Payload handed to the kernel, in bytes per second.
    pub offered: f64,
    /// Datagrams handed to the kernel, different ones that arrived, and lost ones.
    pub sent: u64,
    pub received: u64,
    pub lost: u64,
    /// From the first to the last reading of the schedule.
    pub span_ns: u64,
    pub came: Came,
}

/// Why no faster rate is known to be loss-free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Border {
    Lost,
    Refused,
    /// The sender offers no more: the rate at which loss begins was not reached.
    NotReached,
    /// The time of the trial ended before the search.
    Unfinished,
}

#[derive(Clone, Debug)]
pub struct RateSearch {
    flows: f64,
    flood: Option<f64>,
    /// What arrived of the flood: the paces of the search are multiples of it, however little the path lets through.
    arrived: f64,
    search: Option<Search>,
    /// Whether the next pace is a repetition after a late sender.
    again: bool,
    pub steps: Vec<Step>,
}

impl RateSearch {
    pub fn new(flows: usize) -> Self {
        Self {
            flows: flows.max(1) as f64,
            flood: None,
            arrived: 0.0,
            search: None,
            again: false,
            steps: Vec::new(),
        }
    }

    /// The next rate of each flow in bytes per second, `Some(None)` for a flood; `None` when the search is over.
    pub fn next(&mut self) -> Option<Option<f64>> {
        if self.steps.len() >= MOST_STEPS as usize {
            return None;
        }
        let Some(flood) = self.flood else { return self.steps.is_empty().then_some(None) };
        let search = self.search.as_mut()?;
        // Rates above the flood, which lost, or above what the sender can offer need no try.
        while search.next()? * self.arrived >= flood {
            search.tell(false);
        }
        Some(Some(search.next()? * self.arrived / self.flows))
    }

    pub fn note(&mut self, step: Step) {
        self.steps.push(step);
        let Some(search) = &mut self.search else {
            self.flood = Some(step.offered);
            // A flood without loss ends the search. After a lossy flood, the received rate is the best guess.
            let share = step.received.max(1) as f64 / step.sent.max(1) as f64;
            self.arrived = step.offered * share.min(0.99);
            self.search = (step.came != Came::Free && step.offered > 0.0).then(|| Search::from(1.0));
            return;
        };
        // Another program may have taken the sender's CPU, which says nothing about the path: one repetition.
        if step.came == Came::Late && !std::mem::replace(&mut self.again, true) {
            return;
        }
        self.again = false;
        search.tell(step.came == Came::Free);
    }
}

fn load(step: &Step) -> f64 {
    step.asked.unwrap_or(step.offered)
}

/// The fastest loss-free step of a search, and what bounds it.
pub fn found(steps: &[Step]) -> (Option<&Step>, Border) {
    let free = steps.iter().filter(|step| step.came == Came::Free);
    let best = free.max_by(|one, other| one.offered.total_cmp(&other.offered));
    let above = |step: &&Step| best.is_none_or(|best| step.offered > best.offered || step.came == Came::Lost);
    let slowest = |came: Came| {
        let those = steps.iter().filter(move |step| step.came == came);
        those.filter(above).map(load).reduce(f64::min)
    };
    let asked = best.map(load);
    let (lost, refused, late) = (slowest(Came::Lost), slowest(Came::Refused), slowest(Came::Late));
    let nearest = [lost, refused, late].into_iter().flatten().reduce(f64::min);
    let border = match nearest {
        None => Border::NotReached,
        // Steps of the search are 1.1 % apart: a wider gap was still to be halved.
        Some(nearest) if asked.is_none_or(|asked| nearest > asked * 1.02) => Border::Unfinished,
        nearest if nearest == lost => Border::Lost,
        nearest if nearest == refused => Border::Refused,
        _ => Border::NotReached,
    };
    (best, border)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOD: f64 = 1e9;

    /// A path of `capacity` bytes per second, from a sender that offers up to `most` and floods with [`FLOOD`].
    fn answer(asked: Option<f64>, flows: f64, capacity: f64, most: f64) -> Step {
        let asked = asked.map(|rate| rate * flows);
        let wanted = asked.unwrap_or(FLOOD.min(most));
        let offered = wanted.min(most);
        let received = offered.min(capacity);
        let came = match () {
            () if received < offered => Came::Lost,
            () if offered < wanted => Came::Late,
            () => Came::Free,
        };
        let (sent, received) = (offered.round() as u64, received.round() as u64);
        Step { asked, offered, sent, received, lost: sent - received, span_ns: 1_000_000_000, came }
    }

    fn searched(flows: usize, answer: impl Fn(Option<f64>) -> Step) -> RateSearch {
        let mut search = RateSearch::new(flows);
        while let Some(asked) = search.next() {
            search.note(answer(asked));
            assert!(search.steps.len() <= MOST_STEPS as usize);
        }
        search
    }

    #[test]
    fn the_border_is_found_to_a_percent_wherever_it_is() {
        for capacity in [0.002e9, 0.03e9, 0.1e9, 0.333e9, 0.5e9, 0.9e9, 0.98e9] {
            for flows in [1, 12] {
                let search = searched(flows, |asked| answer(asked, flows as f64, capacity, f64::MAX));
                let (best, border) = found(&search.steps);
                let best = best.expect("a loss-free step").offered;
                assert!(best <= capacity && best > capacity / 1.0115, "{capacity}: {best}");
                assert_eq!(border, Border::Lost, "{capacity}: {:?}", search.steps);
            }
        }
    }

    #[test]
    fn a_way_that_takes_the_flood_is_not_searched_any_further() {
        let search = searched(2, |asked| answer(asked, 2.0, 2.0 * FLOOD, f64::MAX));
        let (best, border) = found(&search.steps);
        assert_eq!(
            (search.steps.len(), best.map(|best| best.offered), border),
            (1, Some(FLOOD), Border::NotReached)
        );
    }

    #[test]
    fn a_receiver_that_breaks_down_under_the_flood_is_found_above_what_it_took_then() {
        // A fifth of the flood arrives, although twice as much would arrive at a lower offered rate.
        let search = searched(1, |asked| match asked {
            None => Step { received: 200_000_000, ..answer(None, 1.0, 0.2e9, f64::MAX) },
            asked => answer(asked, 1.0, 0.4e9, f64::MAX),
        });
        let best = found(&search.steps).0.expect("one").offered;
        assert!(best <= 0.4e9 && best > 0.395e9, "{best}");
    }

    #[test]
    fn a_sender_that_was_late_once_tries_again_and_one_that_always_is_does_not_reach_the_border() {
        let late = std::cell::Cell::new(false);
        let search = searched(1, |asked| {
            let step = answer(asked, 1.0, 0.5e9, f64::MAX);
            if late.replace(true) || asked.is_none() { step } else { Step { came: Came::Late, ..step } }
        });
        assert_eq!(found(&search.steps).1, Border::Lost);
        // The flood is lossy; at an even rate all arrives, and above 300 MB/s the sender is late.
        let search = searched(1, |asked| match asked {
            None => answer(asked, 1.0, 0.2e9, f64::MAX),
            _ => answer(asked, 1.0, f64::MAX, 0.3e9),
        });
        let (best, border) = found(&search.steps);
        assert!(best.is_some_and(|best| best.offered <= 0.3e9 && best.offered > 0.29e9), "{best:?}");
        assert_eq!(border, Border::NotReached);
    }

    #[test]
    fn the_senders_own_link_is_told_from_loss() {
        let search = searched(1, |asked| {
            let step = answer(asked, 1.0, f64::MAX, 0.25e9);
            let came = if step.came == Came::Late || asked.is_none() { Came::Refused } else { step.came };
            Step { came, ..step }
        });
        let (best, border) = found(&search.steps);
        assert_eq!(border, Border::Refused);
        assert!(best.is_some_and(|best| best.offered > 0.245e9), "{best:?}");
    }

    #[test]
    fn a_way_that_loses_at_any_rate_has_no_loss_free_one() {
        let search = searched(1, |asked| {
            let step = answer(asked, 1.0, f64::MAX, f64::MAX);
            Step { lost: 1, received: step.sent - 1, came: Came::Lost, ..step }
        });
        let (best, border) = found(&search.steps);
        assert_eq!((best, border), (None, Border::Unfinished));
        assert!(search.steps.last().is_some_and(|step| step.offered < FLOOD / 60.0), "{:?}", search.steps);
    }

    #[test]
    fn a_search_that_ran_out_of_time_says_so() {
        let steps =
            [(None, Came::Lost), (Some(1e8), Came::Free), (Some(2e8), Came::Lost)].map(|(asked, came)| {
                Step {
                    asked,
                    offered: asked.unwrap_or(FLOOD),
                    sent: 1,
                    received: 1,
                    lost: 0,
                    span_ns: 1,
                    came,
                }
            });
        assert_eq!(found(&steps).1, Border::Unfinished);
    }
}
