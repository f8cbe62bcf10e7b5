//! Which part sends to which: every node to every other, or a permutation.
//!
//! The flows of a part are ordered by rounds. In a round every part sends to one part and receives from one, so that
//! parts that end their flows round by round never wait for each other in a circle.

use seatrial_model::{Cause, Params, Reason};

use super::SHIFT;
use crate::group::PER_NODE;

/// Flows between `nodes` nodes with `per_node` parts on each, in the order of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    nodes: u32,
    per_node: u32,
    /// The distance of a permutation; none for every node to every other.
    shift: Option<u32>,
}

impl Exchange {
    /// # Errors
    /// When the permutation would have nodes send to themselves.
    pub fn of(params: &Params, parts: u32) -> Result<Self, Reason> {
        let per_node = params.count(PER_NODE.name)? as u32;
        let nodes = parts / per_node;
        let shift = params.count(SHIFT.name).ok().map(|shift| shift as u32);
        if let Some(shift) = shift.filter(|shift| shift % nodes == 0) {
            let text = format!("shift={shift} of {nodes} nodes is every node to itself");
            return Err(Reason::new(Cause::Contradiction, text));
        }
        Ok(Self { nodes, per_node, shift })
    }

    /// The distances in nodes and parts of each round.
    fn rounds(self) -> impl Iterator<Item = (u32, u32)> {
        let (distances, lanes) = match self.shift {
            Some(shift) => (shift % self.nodes..shift % self.nodes + 1, 1),
            None => (1..self.nodes, self.per_node),
        };
        distances.flat_map(move |distance| (0..lanes).map(move |lane| (distance, lane)))
    }

    /// The part that `part` sends to in each round.
    pub fn targets(self, part: u32) -> Vec<u32> {
        self.rounds().map(|(distance, lane)| self.at(part, distance, lane)).collect()
    }

    /// The part that `part` receives from in each round.
    pub fn sources(self, part: u32) -> Vec<u32> {
        let back = |(distance, lane)| self.at(part, self.nodes - distance, self.per_node - lane);
        self.rounds().map(back).collect()
    }

    /// The parts that `part` exchanges data with: those that it sends to, in the order of the rounds, then those that it only
    /// receives from.
    pub fn peers(self, part: u32) -> Vec<u32> {
        let mut peers = self.targets(part);
        let sources = self.sources(part);
        // In an exchange of all with all the two are the same parts.
        if self.shift.is_some() {
            peers.extend(sources.into_iter().filter(|source| !self.targets(part).contains(source)));
        }
        peers
    }

    /// The number of flows that each part sends, and receives.
    pub fn flows(self) -> usize {
        self.rounds().count()
    }

    fn at(self, part: u32, distance: u32, lane: u32) -> u32 {
        let (node, own) = (part / self.per_node, part % self.per_node);
        (node + distance) % self.nodes * self.per_node + (own + lane) % self.per_node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(nodes: u32, per_node: u32, shift: Option<u32>) -> Exchange {
        Exchange { nodes, per_node, shift }
    }

    #[test]
    fn what_a_part_sends_in_a_round_its_target_receives_in_that_round() {
        for (nodes, per_node, shift) in
            [(2, 1, None), (5, 1, None), (4, 3, None), (6, 2, Some(4)), (7, 1, Some(9))]
        {
            let exchange = exchange(nodes, per_node, shift);
            for part in 0..nodes * per_node {
                for (round, target) in exchange.targets(part).into_iter().enumerate() {
                    assert_eq!(exchange.sources(target)[round], part, "{exchange:?} round {round}");
                    assert_ne!(target / per_node, part / per_node, "no node sends to itself");
                }
            }
        }
    }

    #[test]
    fn peers_are_all_that_a_part_sends_to_or_receives_from_each_once_and_targets_first() {
        assert_eq!(exchange(4, 1, None).peers(1), [2, 3, 0]);
        assert_eq!(exchange(5, 1, Some(2)).peers(1), [3, 4]);
        assert_eq!(exchange(4, 2, Some(2)).peers(1), [5], "both ways between the same two parts");
    }

    #[test]
    fn every_part_sends_to_every_part_of_other_nodes_once() {
        let exchange = exchange(4, 2, None);
        let mut targets = exchange.targets(3);
        targets.sort_unstable();
        assert_eq!(targets, [0, 1, 4, 5, 6, 7]);
        assert_eq!(exchange.flows(), 6);
    }

    #[test]
    fn a_permutation_has_one_flow_a_part_and_none_to_itself() {
        assert_eq!(exchange(4, 1, Some(1)).targets(3), [0]);
        let mut params = Params::default();
        params.set("per_node", 1_u64);
        params.set("shift", 8_u64);
        let refused = Exchange::of(&params, 4).expect_err("every node to itself");
        assert_eq!(refused.text, "shift=8 of 4 nodes is every node to itself");
    }
}
