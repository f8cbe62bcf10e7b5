//! Simulated fleets with known faults.

use std::collections::BTreeSet;

use seatrial_analysis::bisect::{Group, GroupResult, Isolation, Next, Place, Search};
use seatrial_stats::Random;

#[derive(Clone, Debug)]
pub enum Truth {
    Sound,
    /// These nodes are slower by these shares; a group is as fast as its slowest node.
    Nodes(Vec<(usize, f64)>),
    /// Groups of the first nodes, this many, and others are slower by this share.
    Uplink(usize, f64),
    /// The first nodes, this many, share links to the others, which carry this share of the traffic of the whole.
    SharedUplink(usize, f64),
    /// Groups that hold both nodes are slower by this share.
    Pair(usize, usize, f64),
}

#[derive(Clone, Debug)]
pub struct Fleet {
    pub nodes: usize,
    pub truth: Truth,
    /// Standard deviation of a case's value from case to case, of which the trials show `shown` as variance.
    pub noise: f64,
    pub shown: f64,
    /// Share of the cases that other load slows down, by up to [`DISTURBANCE`].
    pub disturbed: f64,
    pub random: Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every fault, and nothing else.
    Right,
    /// Not every fault, and nothing else.
    Missed,
    /// A sound node or boundary.
    Wrong,
}

const TRIALS: usize = 3;

/// As a difference of logarithms.
const DISTURBANCE: f64 = 0.2;

impl Fleet {
    /// Searches, and returns what was found with the number of cases.
    pub fn search(&mut self, suspects: &[usize]) -> (Isolation, usize) {
        let mut results = Vec::new();
        loop {
            let search = Search { nodes: self.nodes, suspects, results: &results, without_value: &[] };
            match search.next() {
                Next::Done(found) => return (found, results.len()),
                Next::Measure(steps) => {
                    for step in steps {
                        let measured: Vec<GroupResult> =
                            step.iter().map(|group| self.measure(group, &step)).collect();
                        results.extend(measured);
                    }
                }
            }
        }
    }

    fn measure(&mut self, group: &Group, beside: &[Group]) -> GroupResult {
        let between = self.noise * (1.0 - self.shown).sqrt();
        let within = self.noise * (self.shown * TRIALS as f64).sqrt();
        let is_disturbed = self.random.uniform() < self.disturbed;
        let lost = if is_disturbed { DISTURBANCE * self.random.uniform() } else { 0.0 };
        let offset = self.rate(group, beside).ln() - lost + between * self.normal();
        let trials: Vec<f64> = (0..TRIALS).map(|_| within * self.normal()).collect();
        let mean = trials.iter().sum::<f64>() / TRIALS as f64;
        let squares: f64 = trials.iter().map(|trial| (trial - mean).powi(2)).sum();
        let error = (squares / (TRIALS * (TRIALS - 1)) as f64).sqrt();
        GroupResult { nodes: group.clone(), log_rate: offset + mean, error }
    }

    fn rate(&self, group: &Group, beside: &[Group]) -> f64 {
        let inside = |group: &Group, count: usize| group.iter().filter(|node| **node < count).count();
        match &self.truth {
            Truth::Sound => 1.0,
            Truth::Nodes(slow) => {
                let own = slow.iter().filter(|(node, _)| group.contains(node));
                own.map(|(_, by)| 1.0 - by).fold(1.0, f64::min)
            }
            Truth::Uplink(count, by) => {
                let own = inside(group, *count);
                if own == 0 || own == group.len() { 1.0 } else { 1.0 - by }
            }
            Truth::SharedUplink(count, share) => {
                // All-to-all: of what a node sends, as much crosses as there are nodes on the other side.
                let load = |group: &Group| {
                    let own = inside(group, *count) as f64;
                    own * (group.len() as f64 - own) / (group.len() as f64 - 1.0)
                };
                let all: Group = (0..self.nodes).collect();
                let now: f64 = beside.iter().map(load).sum();
                if load(group) == 0.0 { 1.0 } else { f64::min(1.0, share * load(&all) / now) }
            }
            Truth::Pair(one, other, by) => {
                if group.contains(one) && group.contains(other) {
                    1.0 - by
                } else {
                    1.0
                }
            }
        }
    }

    /// Normal deviate of mean 0 and deviation 1 (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.random.uniform().max(1e-300), self.random.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    pub fn outcome(&self, found: &Isolation) -> Outcome {
        let first = |count: usize| (0..count).collect::<Group>();
        let is_true = |place: &Place| match (&self.truth, place) {
            (Truth::Nodes(slow), Place::Node(node)) => slow.iter().any(|(slow, _)| slow == node),
            (Truth::Uplink(count, _) | Truth::SharedUplink(count, _), Place::Around(nodes)) => {
                *nodes == first(*count) || *nodes == (*count..self.nodes).collect::<Group>()
            }
            (Truth::Uplink(count, _) | Truth::SharedUplink(count, _), Place::Between(one, other)) => {
                *one == first(*count) && one.len() + other.len() == self.nodes
            }
            (Truth::Pair(one, other, _), Place::Between(a, b)) => (a, b) == (&vec![*one], &vec![*other]),
            _ => false,
        };
        let faults = match &self.truth {
            Truth::Sound => 0,
            Truth::Nodes(slow) => slow.len(),
            _ => 1,
        };
        let named: BTreeSet<String> = found.faults.iter().map(|fault| format!("{:?}", fault.place)).collect();
        match found.faults.iter().all(|fault| is_true(&fault.place)) {
            false => Outcome::Wrong,
            true if named.len() == faults => Outcome::Right,
            true => Outcome::Missed,
        }
    }
}
