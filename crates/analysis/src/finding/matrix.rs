//! Pairs of nodes as a matrix, and the slow nodes and links in it.
//!
//! The speed of a node is the median of its row and its column: of all its pairs. The node is slow if its speed is
//! worse than the median of all nodes by more than [`K`] median absolute deviations and [`FLOOR_PERCENT`], as in
//! `outlier`. The slowest node is named first and its pairs are left out for the next search, so that the partners of
//! a slow node do not look slow themselves.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Outcome, Params, Unit};
use seatrial_stats::Sorted;

use crate::same::is_same_question;

/// Median absolute deviations that a sound node or pair stays within.
const K: f64 = 6.0;

/// Smallest distance from the median of a slow node or pair, in percent of the median.
const FLOOR_PERCENT: f64 = 3.0;

/// Smallest number of nodes in a matrix: of three nodes each is in two of the three pairs.
const FEWEST_NODES: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub group: String,
    pub bench: String,
    pub params: Params,
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    /// The nodes, in natural order of their names.
    pub nodes: Vec<String>,
    /// Medians by the positions of the first node (row) and the second (column).
    pub cells: BTreeMap<(usize, usize), f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Slow {
    /// The position of the node, or of both nodes of a pair.
    pub nodes: Vec<usize>,
    pub value: f64,
    pub median: f64,
    pub partners: usize,
}

/// The matrices of `records`: one per question over pairs of different nodes. Concurrent cases are left out.
pub fn matrices(records: &[CaseRecord]) -> Vec<Matrix> {
    let is_pair = |case: &&CaseRecord| {
        matches!(case.nodes.as_slice(), [one, other] if one != other)
            && case.outcome == Outcome::Measured
            && !case.origin.is_concurrent()
    };
    let mut questions: Vec<Vec<&CaseRecord>> = Vec::new();
    for case in records.iter().filter(is_pair) {
        let same =
            |cases: &&mut Vec<&CaseRecord>| is_same_question(cases[0], case) && cases[0].group == case.group;
        match questions.iter_mut().find(same) {
            Some(cases) => cases.push(case),
            None => questions.push(vec![case]),
        }
    }
    questions.iter().filter_map(|cases| matrix(cases)).collect()
}

fn matrix(cases: &[&CaseRecord]) -> Option<Matrix> {
    let (name, metric) = cases[0].headline()?;
    let mut nodes: Vec<String> = cases.iter().flat_map(|case| case.nodes.iter().cloned()).collect();
    nodes.sort_by(|one, other| natural(one).cmp(&natural(other)));
    nodes.dedup();
    let place: BTreeMap<&str, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.as_str(), at)).collect();
    // Several ports of one pair: their median.
    let mut values: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    for case in cases {
        if let ([one, other], Some(metric)) = (case.nodes.as_slice(), case.metrics.get(name)) {
            values.entry((place[one.as_str()], place[other.as_str()])).or_default().push(metric.median);
        }
    }
    let cells = values.into_iter().filter_map(|(at, values)| Some((at, median(&values)?))).collect();
    Some(Matrix {
        group: cases[0].group.clone(),
        bench: cases[0].bench.clone(),
        params: cases[0].params.clone(),
        metric: name.to_owned(),
        unit: metric.unit,
        better: metric.better,
        cells,
        nodes,
    })
}

impl Matrix {
    pub fn of_node(&self, node: usize) -> Option<(f64, usize)> {
        self.without(&[]).of(node)
    }

    /// The slow nodes with at least `partners` partners, the slowest first.
    pub fn slow_nodes(&self, partners: usize) -> Vec<Slow> {
        let mut named: Vec<usize> = Vec::new();
        let mut found = Vec::new();
        while let Some(slow) =
            self.without(&named).behind().into_iter().find(|slow| slow.partners >= partners)
        {
            named.extend(&slow.nodes);
            found.push(slow);
        }
        found
    }

    /// Every node that looks slow at first or after the slowest are named, in the order of the nodes.
    pub fn suspects(&self) -> Vec<usize> {
        let mut found: Vec<usize> = self
            .without(&[])
            .behind()
            .into_iter()
            .chain(self.slow_nodes(1))
            .flat_map(|slow| slow.nodes)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Slow pairs whose nodes are both sound with the rest of their partners, two or more each.
    pub fn slow_links(&self) -> Vec<Slow> {
        let named: Vec<usize> = self.slow_nodes(2).into_iter().flat_map(|slow| slow.nodes).collect();
        let left = self.without(&named);
        let values: Vec<f64> = left.cells.iter().map(|(_, value)| *value).collect();
        let Some((centre, allowed)) = allowed(&values).filter(|_| self.nodes.len() >= FEWEST_NODES) else {
            return Vec::new();
        };
        let is_slow = |value: f64| self.behind(value, centre) > allowed;
        let is_good_elsewhere = |node: usize, pair: (usize, usize)| {
            let others = left.cells.iter().filter(|(at, _)| {
                (at.0 == node || at.1 == node) && (at.0, at.1) != pair && (at.1, at.0) != pair
            });
            let others: Vec<f64> = others.map(|(_, value)| *value).collect();
            others.len() >= 2 && median(&others).is_some_and(|median| !is_slow(median))
        };
        let pairs = left.cells.iter().filter(|(pair, value)| {
            is_slow(*value) && is_good_elsewhere(pair.0, *pair) && is_good_elsewhere(pair.1, *pair)
        });
        pairs
            .map(|(pair, value)| Slow {
                nodes: vec![pair.0, pair.1],
                value: *value,
                median: centre,
                partners: 1,
            })
            .collect()
    }

    /// How much worse than `median` the `value` is.
    fn behind(&self, value: f64, median: f64) -> f64 {
        match self.better {
            Better::Lower => value - median,
            Better::Higher | Better::None => median - value,
        }
    }

    fn without(&self, named: &[usize]) -> Left<'_> {
        let is_left = |at: &(usize, usize)| !named.contains(&at.0) && !named.contains(&at.1);
        let cells =
            self.cells.iter().filter(|(at, _)| is_left(at)).map(|(at, value)| (*at, *value)).collect();
        Left { matrix: self, cells }
    }
}

struct Left<'a> {
    matrix: &'a Matrix,
    cells: Vec<((usize, usize), f64)>,
}

impl Left<'_> {
    fn of(&self, node: usize) -> Option<(f64, usize)> {
        let own = self.cells.iter().filter(|(at, _)| at.0 == node || at.1 == node);
        let (mut values, mut partners) = (Vec::new(), Vec::new());
        for (at, value) in own {
            values.push(*value);
            partners.push(if at.0 == node { at.1 } else { at.0 });
        }
        partners.sort_unstable();
        partners.dedup();
        Some((median(&values)?, partners.len()))
    }

    fn behind(&self) -> Vec<Slow> {
        let scores: Vec<(usize, f64, usize)> = (0..self.matrix.nodes.len())
            .filter_map(|node| self.of(node).map(|(score, partners)| (node, score, partners)))
            .collect();
        let values: Vec<f64> = scores.iter().map(|(_, score, _)| *score).collect();
        let Some((median, allowed)) = allowed(&values).filter(|_| values.len() >= FEWEST_NODES) else {
            return Vec::new();
        };
        let mut found: Vec<Slow> = scores
            .into_iter()
            .filter(|(_, score, _)| self.matrix.behind(*score, median) > allowed)
            .map(|(node, value, partners)| Slow { nodes: vec![node], value, median, partners })
            .collect();
        let by = |slow: &Slow| self.matrix.behind(slow.value, median);
        found.sort_by(|one, other| by(other).total_cmp(&by(one)));
        found
    }
}

/// The median of `values`, and the distance from it that is still sound.
pub(super) fn allowed(values: &[f64]) -> Option<(f64, f64)> {
    let centre = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    Some((centre, (K * median(&distances)?).max(FLOOR_PERCENT / 100.0 * centre.abs())))
}

fn median(values: &[f64]) -> Option<f64> {
    Sorted::new(values).ok().map(|sorted| sorted.median())
}

/// `n2` before `n10`.
fn natural(name: &str) -> (&str, u64, &str) {
    let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    (&name[..digits], name[digits..].parse().unwrap_or(0), name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{case, metric, no_limit};
    use seatrial_stats::Random;

    fn pair(one: usize, other: usize, value: f64) -> CaseRecord {
        let mut case = case(&format!("n{one}"), &format!("n{one}->n{other}"));
        case.nodes.push(format!("n{other}"));
        case.metrics.insert("throughput".to_owned(), metric(value, (value, value), no_limit()));
        case
    }

    /// All pairs of `count` nodes at 100, 99.5 or 100.5, except where `slow` says otherwise.
    fn all_pairs(count: usize, slow: impl Fn(usize, usize) -> Option<f64>) -> Matrix {
        let mut records = Vec::new();
        for one in 1..=count {
            for other in one + 1..=count {
                let sound = 99.5 + 0.5 * ((one + other) % 3) as f64;
                records.push(pair(one, other, slow(one, other).unwrap_or(sound)));
            }
        }
        records.reverse();
        let mut found = matrices(&records);
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    fn names(matrix: &Matrix, slow: &[Slow]) -> Vec<String> {
        let name = |slow: &Slow| {
            slow.nodes.iter().map(|at| matrix.nodes[*at].clone()).collect::<Vec<_>>().join("->")
        };
        slow.iter().map(name).collect()
    }

    #[test]
    fn a_matrix_has_its_nodes_in_order_and_every_pair_where_it_was_measured() {
        let found = all_pairs(11, |_, _| None);
        assert_eq!((found.nodes[1].as_str(), found.nodes[10].as_str()), ("n2", "n11"));
        assert_eq!((found.cells.len(), found.cells[&(0, 1)]), (55, 99.5));
        assert_eq!(found.cells.get(&(1, 0)), None, "the other direction was not measured");
        assert_eq!((found.metric.as_str(), found.unit), ("throughput", Unit::GigabytesPerSecond));
        assert_eq!((found.slow_nodes(2), found.slow_links()), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_node_that_is_slow_with_everybody_is_named_and_its_partners_are_not() {
        let found = all_pairs(6, |one, other| (one == 4 || other == 4).then_some(80.0));
        let slow = found.slow_nodes(2);
        assert_eq!(names(&found, &slow), ["n4"]);
        assert_eq!((slow[0].value, slow[0].partners), (80.0, 5));
        assert!(found.slow_links().is_empty());
        assert_eq!(found.of_node(3), Some((80.0, 5)));
    }

    #[test]
    fn two_slow_nodes_of_five_are_both_named() {
        let found = all_pairs(5, |one, other| (one <= 2 || other <= 2).then_some(70.0 + one as f64));
        let mut slow = names(&found, &found.slow_nodes(2));
        slow.sort();
        assert_eq!(slow, ["n1", "n2"]);
    }

    #[test]
    fn a_slow_way_between_two_sound_nodes_is_the_way_s_fault() {
        let found = all_pairs(6, |one, other| ((one, other) == (2, 5)).then_some(50.0));
        assert!(found.slow_nodes(2).is_empty());
        let links = found.slow_links();
        assert_eq!(names(&found, &links), ["n2->n5"]);
        assert_eq!((links[0].value, links[0].median), (50.0, 100.0));
    }

    #[test]
    fn of_three_nodes_none_is_named_and_what_ran_beside_others_is_no_cell() {
        let found = all_pairs(3, |one, _| (one == 1).then_some(50.0));
        assert!(found.slow_nodes(1).is_empty());
        let mut beside = pair(1, 2, 100.0);
        beside.origin.step = Some(2);
        assert!(matrices(&[beside]).is_empty());
    }

    #[test]
    fn in_one_round_both_of_a_slow_pair_are_suspects_and_neither_is_named() {
        let records: Vec<CaseRecord> =
            (1..=6).map(|at| pair(2 * at - 1, 2 * at, if at == 3 { 60.0 } else { 100.0 })).collect();
        let matrix = &matrices(&records)[0];
        assert_eq!(matrix.suspects(), [4, 5]);
        assert!(matrix.slow_nodes(2).is_empty());
    }

    /// Normal deviate of mean 0 and deviation 1 (Box and Muller).
    fn normal(random: &mut Random) -> f64 {
        let (radius, angle) = (random.uniform().max(1e-300), random.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// In how many of 200 fleets of 64 nodes the first node is a suspect when it is slow by `slow`, and how many
    /// other suspects there are, when a pair's median scatters by `sigma`, in `rounds` rounds.
    fn found(rounds: usize, sigma: f64, slow: f64) -> (u32, usize) {
        const NODES: usize = 64;
        let mut random = Random::of(7);
        let (mut hits, mut others) = (0, 0);
        for _ in 0..200 {
            let mut cells = BTreeMap::new();
            while cells.len() < rounds * NODES / 2 {
                let mut nodes: Vec<usize> = (0..NODES).collect();
                for at in (1..NODES).rev() {
                    nodes.swap(at, (random.uniform() * (at + 1) as f64) as usize);
                }
                let pairs: Vec<_> =
                    nodes.chunks(2).map(|two| (two[0].min(two[1]), two[0].max(two[1]))).collect();
                if pairs.iter().any(|pair| cells.contains_key(pair)) {
                    continue;
                }
                for pair in pairs {
                    let rate = if pair.0 == 0 { 100.0 * (1.0 - slow) } else { 100.0 };
                    cells.insert(pair, rate * (1.0 + sigma * normal(&mut random)));
                }
            }
            let matrix = Matrix { cells, nodes: vec![String::new(); NODES], ..all_pairs(4, |_, _| None) };
            let suspects = matrix.suspects();
            hits += u32::from(suspects.contains(&0));
            others += suspects.iter().filter(|node| **node != 0).count();
        }
        (hits, others)
    }

    /// The table in docs/architecture.md. The last digit of logarithms may differ on other machines and change a
    /// fleet.
    #[test]
    fn a_slow_node_is_suspected_as_often_as_the_documentation_says() {
        for (rounds, sigma, slow, expected) in [
            (3, 0.005, 0.04, 200),
            (3, 0.01, 0.04, 182),
            (3, 0.01, 0.05, 200),
            (3, 0.02, 0.06, 140),
            (3, 0.02, 0.08, 186),
            (3, 0.03, 0.10, 164),
            (5, 0.02, 0.06, 168),
            (5, 0.03, 0.10, 188),
        ] {
            let (hits, others) = found(rounds, sigma, slow);
            assert!(hits.abs_diff(expected) <= 3, "{rounds} {sigma} {slow}: {hits} of 200");
            assert!(others <= 25, "{rounds} {sigma} {slow}: {others} of 12600 sound nodes");
        }
    }
}
