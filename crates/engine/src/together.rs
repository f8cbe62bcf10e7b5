//! Simultaneous start of parts on several nodes, and its skew.

use std::collections::BTreeMap;

use seatrial_cluster::{NodeIndex, Offset};
use seatrial_model::{Nanos, PartRecord};
use serde_json::{Value, json};

/// Time for the order to reach all parts, beside the round-trip times.
const LEAD: Nanos = Nanos::millis(20);

/// The same for each further part: the controller writes one order after the other.
const LEAD_PART: Nanos = Nanos(20_000);

/// The clocks of nodes whose parts begin at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    clocks: Vec<Offset>,
}

impl Together {
    /// The clocks of the places of a case; `None` when the places are on one node, or when a clock is unknown: then
    /// each part begins on receipt of the order.
    pub fn new(nodes: &[NodeIndex], clocks: &[Option<Offset>]) -> Option<Self> {
        let is_spread = nodes.iter().any(|node| Some(node) != nodes.first());
        let clocks: Option<Vec<Offset>> = clocks.iter().copied().collect();
        clocks.filter(|clocks| is_spread && clocks.len() == nodes.len()).map(|clocks| Self { clocks })
    }

    /// Time from the order to the start, for the slowest path; the error of a clock is half a round trip.
    pub fn lead(&self) -> Nanos {
        let slowest = self.clocks.iter().map(|clock| clock.error).max().unwrap_or_default();
        let further = LEAD_PART.get().saturating_mul(self.clocks.len().saturating_sub(2) as u64);
        LEAD.plus(Nanos(further)).plus(Nanos(slowest.get().saturating_mul(8)))
    }

    /// The moment `at` for each place, on the clock of its node.
    pub fn moments(&self, at: Nanos) -> impl Iterator<Item = Nanos> {
        self.clocks.iter().map(move |clock| clock.on_node(at))
    }
}

/// When parts began to measure, by trial, on the controller's clock.
#[derive(Clone, Debug, Default)]
pub struct Began {
    moments: BTreeMap<u32, Vec<u64>>,
    error: Nanos,
}

impl Began {
    pub fn of(parts: &[PartRecord], clocks: &[Option<Offset>]) -> Self {
        let mut began = Self::default();
        for part in parts {
            let clock =
                usize::try_from(part.index).ok().and_then(|index| clocks.get(index).copied().flatten());
            let at = part.evidence.get("began_ns").and_then(Value::as_u64);
            if let (Some(clock), Some(at)) = (clock, at) {
                let moment = clock.on_controller(Nanos(at)).get();
                began.moments.entry(part.trial).or_default().push(moment);
                began.error = began.error.max(clock.error_at(Nanos(moment)));
            }
        }
        began
    }

    pub fn join(&mut self, other: Self) {
        for (trial, moments) in other.moments {
            self.moments.entry(trial).or_default().extend(moments);
        }
        self.error = self.error.max(other.error);
    }

    /// For the record: the skew of the worst trial, and its uncertainty.
    pub fn skew(&self) -> Option<Value> {
        let spread = |moments: &Vec<u64>| Some(moments.iter().max()? - moments.iter().min()?);
        let worst = self.moments.values().filter(|moments| moments.len() > 1).filter_map(spread).max()?;
        // Two clocks may be wrong in opposite directions.
        Some(json!({ "skew_ns": worst, "known_within_ns": 2 * self.error.get() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::Evidence;

    fn clock(nanos: i64, error: u64) -> Option<Offset> {
        Some(Offset { nanos, error: Nanos(error), at: Nanos(0) })
    }

    #[test]
    fn the_moment_is_one_and_each_clock_has_its_own_words_for_it() {
        let nodes = [NodeIndex(0), NodeIndex(1)];
        let together = Together::new(&nodes, &[clock(500, 10), clock(-2_000, 1_000)]).expect("two nodes");
        assert_eq!(together.lead(), Nanos(20_008_000));
        let moments: Vec<_> = together.moments(Nanos(1_000_000).plus(together.lead())).collect();
        assert_eq!(moments, [Nanos(21_008_500), Nanos(21_006_000)]);
    }

    #[test]
    fn one_node_or_an_unknown_clock_needs_no_moment() {
        let (one, two) = ([NodeIndex(3); 2], [NodeIndex(0), NodeIndex(1)]);
        assert_eq!(Together::new(&one, &[clock(1, 1), clock(1, 1)]), None);
        assert_eq!(Together::new(&two, &[clock(1, 1), None]), None);
    }

    #[test]
    fn the_worst_trial_s_skew_is_kept_with_how_well_it_is_known() {
        let part = |index: u32, trial: u32, began: Option<u64>| PartRecord {
            part: "end".to_owned(),
            index,
            node: "n".to_owned(),
            trial,
            evidence: began
                .map(|at| Evidence::from([("began_ns".to_owned(), at.into())]))
                .unwrap_or_default(),
            ..seatrial_testkit::part(Vec::new())
        };
        let clocks = [clock(0, 5), clock(1_000, 20)];
        let parts =
            [part(0, 0, Some(100)), part(1, 0, Some(1_107)), part(0, 1, Some(400)), part(1, 1, Some(1_390))];
        let mut began = Began::of(&parts, &clocks);
        assert_eq!(began.skew(), Some(json!({ "skew_ns": 10, "known_within_ns": 40 })));
        assert_eq!(Began::of(&[part(0, 0, None), part(1, 0, None)], &clocks).skew(), None);
        // A concurrent case began 3 ns before the first and 1 ns after the last.
        began.join(Began::of(&[part(0, 0, Some(97)), part(1, 1, Some(1_401))], &clocks));
        assert_eq!(began.skew(), Some(json!({ "skew_ns": 11, "known_within_ns": 40 })));
        // An hour after the clocks were compared.
        let late = 3_600_000_000_000;
        let began = Began::of(&[part(0, 0, Some(late)), part(1, 0, Some(late + 1_000))], &clocks);
        assert_eq!(began.skew().unwrap()["known_within_ns"], 2 * 360_000_020);
    }
}
