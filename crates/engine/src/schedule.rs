//! Which case may start now: cases that share a node never overlap, the others run side by side.

use std::collections::{HashMap, VecDeque};

use seatrial_cluster::NodeIndex;
use seatrial_model::Case;

/// Cases that wait for their nodes.
#[derive(Debug, Default)]
pub struct Schedule {
    waiting: Vec<Option<Waiting>>,
    by_node: HashMap<NodeIndex, VecDeque<usize>>,
    busy: HashMap<NodeIndex, bool>,
    left: usize,
}

/// A case and the nodes of its places.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The case.
    pub case: Case,
    /// The node of each place.
    pub nodes: Vec<NodeIndex>,
}

impl Schedule {
    /// A schedule of `cases`; on each node they start in this order.
    pub fn new(cases: impl IntoIterator<Item = Waiting>) -> Self {
        let mut schedule = Self::default();
        for waiting in cases {
            let position = schedule.waiting.len();
            for node in distinct(&waiting.nodes) {
                schedule.by_node.entry(node).or_default().push_back(position);
                schedule.busy.insert(node, false);
            }
            schedule.waiting.push(Some(waiting));
            schedule.left += 1;
        }
        schedule
    }

    /// Whether nothing waits any more.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The nodes that cases wait for or run on.
    pub fn nodes(&self) -> Vec<NodeIndex> {
        let mut nodes: Vec<_> = self.by_node.keys().copied().collect();
        nodes.sort_unstable();
        nodes
    }

    /// The first case on `node` whose nodes are all free; they are taken until [`Self::release`].
    ///
    /// Only the front of each node's line may start, so that a case of many nodes is not overtaken for ever by cases
    /// of one.
    pub fn take(&mut self, node: NodeIndex) -> Option<Waiting> {
        let position = self.front(node)?;
        let nodes = distinct(&self.waiting[position].as_ref()?.nodes);
        for other in &nodes {
            if self.busy[other] || self.front(*other) != Some(position) {
                return None;
            }
        }
        for other in nodes {
            self.busy.insert(other, true);
        }
        self.left -= 1;
        self.waiting[position].take()
    }

    /// Frees the nodes of a case that ended.
    pub fn release(&mut self, nodes: &[NodeIndex]) {
        for node in distinct(nodes) {
            self.busy.insert(node, false);
        }
    }

    /// Takes out all cases that need `node`, which is lost.
    pub fn give_up(&mut self, node: NodeIndex) -> Vec<Waiting> {
        let positions = self.by_node.remove(&node).unwrap_or_default();
        let given_up: Vec<_> =
            positions.into_iter().filter_map(|position| self.waiting[position].take()).collect();
        self.left -= given_up.len();
        given_up
    }

    /// Takes out everything that still waits.
    pub fn drain(&mut self) -> Vec<Waiting> {
        self.left = 0;
        self.waiting.iter_mut().filter_map(Option::take).collect()
    }

    /// The first case in `node`'s line that still waits.
    fn front(&mut self, node: NodeIndex) -> Option<usize> {
        let line = self.by_node.get_mut(&node)?;
        while let Some(position) = line.front() {
            if self.waiting[*position].is_some() {
                return Some(*position);
            }
            line.pop_front();
        }
        None
    }
}

fn distinct(nodes: &[NodeIndex]) -> Vec<NodeIndex> {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seatrial_model::{Budget, Nanos, Params, Subject};

    fn waiting(name: usize, nodes: &[usize]) -> Waiting {
        let case = Case {
            id: format!("case{name}").parse().unwrap(),
            bench: String::new(),
            version: 1,
            subject: Subject::node(),
            key: None,
            nodes: Vec::new(),
            group: String::new(),
            params: Params::default(),
            chosen: Params::default(),
            facts: Params::default(),
            places: Vec::new(),
            budget: Budget {
                trials: 1,
                max_trials: 1,
                warm_up: Nanos(0),
                measure: Nanos(0),
                prepare: Nanos(0),
                overhead: Nanos(0),
                precision_percent: 1.0,
            },
            findings: Vec::new(),
        };
        Waiting { case, nodes: nodes.iter().copied().map(NodeIndex).collect() }
    }

    #[test]
    fn a_case_of_two_nodes_waits_for_both_and_is_not_overtaken() {
        let mut schedule = Schedule::new([waiting(0, &[0]), waiting(1, &[0, 1]), waiting(2, &[1])]);
        let first = schedule.take(NodeIndex(0)).unwrap();
        assert_eq!(schedule.take(NodeIndex(1)), None, "case 1 stands before case 2 on node 1");
        schedule.release(&first.nodes);
        assert_eq!(schedule.take(NodeIndex(1)).unwrap().case.id.as_str(), "case1");
    }

    #[test]
    fn a_lost_node_takes_its_cases_along() {
        let mut schedule = Schedule::new([waiting(0, &[0]), waiting(1, &[0, 1]), waiting(2, &[1])]);
        assert_eq!(schedule.give_up(NodeIndex(0)).len(), 2);
        assert_eq!(schedule.take(NodeIndex(1)).unwrap().case.id.as_str(), "case2");
        assert!(schedule.is_empty());
    }

    proptest! {
        #[test]
        fn every_case_runs_once_and_no_two_share_a_node(
            cases in prop::collection::vec(prop::collection::vec(0usize..6, 1..4), 0..40),
            picks in prop::collection::vec(0usize..1000, 400),
        ) {
            let mut schedule = Schedule::new(cases.iter().enumerate().map(|(name, nodes)| waiting(name, nodes)));
            let mut running: Vec<Waiting> = Vec::new();
            let mut done = 0;
            for pick in picks {
                for node in schedule.nodes() {
                    if let Some(started) = schedule.take(node) {
                        for other in &running {
                            prop_assert!(started.nodes.iter().all(|node| !other.nodes.contains(node)));
                        }
                        running.push(started);
                    }
                }
                if !running.is_empty() {
                    let ended = running.swap_remove(pick % running.len());
                    schedule.release(&ended.nodes);
                    done += 1;
                }
            }
            prop_assert_eq!(done, cases.len());
            prop_assert!(schedule.is_empty());
        }
    }
}
