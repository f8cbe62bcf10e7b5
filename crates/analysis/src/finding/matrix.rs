//! Pairs of nodes as a matrix, and the slow nodes and links in it.
//!
//! The speed of a node is the median of its row and its column: of all its pairs. Where pairs were measured in both
//! directions, a node has a speed of sending, of its row, and one of receiving, of its column. The node is slow if its
//! speed is worse than the median of all nodes by more than [`most_deviations`] and [`FLOOR_PERCENT`], and by more than
//! the intervals of its pairs explain ([`APART`]). The slowest node is named first and its pairs are left out for the next search, so that the partners of a slow node do not look slow
//! themselves.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Outcome, Params, Unit};
use seatrial_stats::median;

use crate::judge::disturbed::disturbed_by;
use crate::same::is_same_question;

/// Median absolute deviations that a sound node or pair stays within, among so many: with many, one is far off by chance;
/// of few, the deviation itself is uncertain. The square root is a bound of the normal distribution's quantile, and
/// [`FALSE_NAMES`] the share of sound groups in which something is named.
fn most_deviations(values: usize) -> f64 {
    let number = values.max(1) as f64;
    1.4826 * (2.0 * (number / (2.5 * FALSE_NAMES)).ln()).sqrt() * (1.0 + FEW / number)
}

/// Median absolute deviations from which a node is measured again: that costs two cases, and clears a sound one.
const SUSPECT: f64 = 6.0;

/// See [`most_deviations`].
const FALSE_NAMES: f64 = 1e-3;

/// So many values have a deviation that counts twice; half as many, three times.
const FEW: f64 = 12.0;

/// Smallest distance from the median of a slow node or pair, in percent of the median.
const FLOOR_PERCENT: f64 = 3.0;

/// Half widths of its 95 % interval that a slow node or pair is from the median of all at least: 3.9 standard deviations.
pub const APART: f64 = 2.0;

/// So many times the distance that chance explains are needed of a node or pair whose CPU time others took meanwhile.
const DISTURBED: f64 = 2.0;

/// Share of its pairs with which a slow node is worse than the median of all: a pair that is not speaks for the others' partners.
const MOST_PAIRS: f64 = 0.8;

/// Largest distance from their median of pairs that agree, as the logarithm of a ratio.
const AGREE: f64 = 0.02;

/// Distance from pairs that agree that all other pairs keep at least: the others have one and a half times the rate.
const GAP: f64 = 0.405;

/// The distance, five times the rate, from which intervals do not count: those of three scattered trials reach below 0.
const WIDE_GAP: f64 = 1.609;

/// Smallest number of partners with which a node agrees: two low pairs of twelve are close by chance.
const FEWEST_AGREEING: usize = 3;

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
    /// The better end of the 95 % interval of each cell that has one.
    pub better_ends: BTreeMap<(usize, usize), f64>,
    /// The worse end.
    pub worse_ends: BTreeMap<(usize, usize), f64>,
    /// Pairs during which others took CPU time of a node.
    pub disturbed: BTreeSet<(usize, usize)>,
}

/// The cells that a number of a node is the median of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SlowSide {
    /// Its row and its column.
    Both,
    /// Its row: what it sends.
    Sends,
    /// Its column: what it receives.
    Receives,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Slow {
    /// The position of the node, or of both nodes of a pair.
    pub nodes: Vec<usize>,
    /// Where the node is slow; a side of its own only where pairs were measured in both directions.
    pub side: SlowSide,
    pub value: f64,
    pub median: f64,
    pub partners: usize,
    /// How many times the distance from the median that chance and the intervals explain the node or pair is away: 1 at least.
    pub margin: f64,
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
    let of_pairs = |number: &dyn Fn(&MetricRecord) -> Option<f64>| -> BTreeMap<(usize, usize), f64> {
        let mut values: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        for case in cases {
            if let ([one, other], Some(metric)) = (case.nodes.as_slice(), case.metrics.get(name)) {
                let at = (place[one.as_str()], place[other.as_str()]);
                values.entry(at).or_default().extend(number(metric));
            }
        }
        values.into_iter().filter_map(|(at, values)| Some((at, median(&values)?))).collect()
    };
    let end = |metric: &MetricRecord, is_low: bool| {
        let (low, high) = metric.ci95?;
        Some(if is_low { low } else { high })
    };
    let better_ends = of_pairs(&|metric| end(metric, metric.better == Better::Lower));
    let worse_ends = of_pairs(&|metric| end(metric, metric.better != Better::Lower));
    let cells = of_pairs(&|metric| Some(metric.median));
    let disturbed = cases.iter().filter(|case| disturbed_by(case).is_some()).filter_map(|case| {
        let [one, other] = case.nodes.as_slice() else { return None };
        Some((place[one.as_str()], place[other.as_str()]))
    });
    let disturbed = disturbed.collect();
    Some(Matrix {
        group: cases[0].group.clone(),
        bench: cases[0].bench.clone(),
        params: cases[0].params.clone(),
        metric: name.to_owned(),
        unit: metric.unit,
        better: metric.better,
        cells,
        better_ends,
        worse_ends,
        disturbed,
        nodes,
    })
}

impl Matrix {
    pub fn of_node(&self, node: usize) -> Option<(f64, usize)> {
        self.without(&[]).of(node, SlowSide::Both)
    }

    /// The slow nodes with at least `partners` partners, the slowest first. A node whose two sides are slow is so as a
    /// whole. Where the scatter explains every distance, the node whose pairs agree nevertheless.
    pub fn slow_nodes(&self, partners: usize) -> Vec<Slow> {
        let found = self.beyond(partners, most_deviations, Self::apart);
        if found.is_empty() { self.agreeing().into_iter().collect() } else { found }
    }

    /// How many times the distance that the intervals of its pairs explain a slow node is away; `None` where they explain it,
    /// or fewer than [`MOST_PAIRS`] of its pairs are on the bad side. The deviation of a median of n values is sqrt(pi / 2n)
    /// times theirs.
    fn apart(&self, slow: &Slow) -> Option<f64> {
        let own = || self.cells.iter().filter(|(at, _)| slow.side.has(slow.nodes[0], **at));
        let bad = own().filter(|(_, value)| self.behind(**value, slow.median) > 0.0).count();
        if (bad as f64) < MOST_PAIRS * own().count() as f64 {
            return None;
        }
        let halves: Vec<f64> = own().map(|(at, value)| self.half_width(*at, *value)).collect();
        let share = (std::f64::consts::FRAC_PI_2 / halves.len().max(1) as f64).sqrt().min(1.0);
        let explained = APART * share * median(&halves)?;
        let behind = self.behind(slow.value, slow.median);
        let margin = slow.margin.min(behind / explained.max(f64::MIN_POSITIVE));
        let disturbed = own().filter(|(at, _)| self.disturbed.contains(at)).count();
        (margin > if 2 * disturbed > own().count() { DISTURBED } else { 1.0 }).then_some(margin)
    }

    /// The one side of a node whose pairs have the same bad number, while all other pairs are better even at their worst:
    /// something of that node bounds them, however the others scatter.
    fn agreeing(&self) -> Option<Slow> {
        let nodes = (0..self.nodes.len()).filter(|_| self.nodes.len() >= FEWEST_NODES);
        let mut found =
            nodes.flat_map(|node| self.own_sides().iter().filter_map(move |side| self.agrees(node, *side)));
        found.next().filter(|_| found.next().is_none())
    }

    fn agrees(&self, node: usize, side: SlowSide) -> Option<Slow> {
        let whole = self.without(&[]);
        let (value, partners) = whole.of(node, side)?;
        let (own, others): (Vec<_>, Vec<_>) =
            whole.cells.into_iter().partition(|(at, _)| side.has(node, *at));
        let spread = own.iter().map(|(_, one)| self.behind(*one, value).abs()).reduce(f64::max)?;
        let behind = |(at, median): &((usize, usize), f64), ends: Option<&BTreeMap<(usize, usize), f64>>| {
            self.behind(ends.and_then(|ends| ends.get(at)).copied().unwrap_or(*median), value)
        };
        // How much worse than the worst of the others the best of its pairs is.
        let gap = |own_ends, other_ends| {
            let best = own.iter().map(|cell| behind(cell, own_ends)).reduce(f64::min)?;
            let worst = others.iter().map(|cell| behind(cell, other_ends)).reduce(f64::max)?;
            Some(best - worst)
        };
        let by_medians = gap(None, None)?;
        let at_worst = || gap(Some(&self.better_ends), Some(&self.worse_ends));
        let is_alone = by_medians > GAP && (by_medians > WIDE_GAP || at_worst().is_some_and(|gap| gap > 0.0));
        let median = median(&others.iter().map(|(_, value)| *value).collect::<Vec<_>>())?;
        // The worst of the others is as far from their median as chance brings a pair.
        let scatter = others.iter().map(|(_, other)| self.behind(*other, median)).fold(GAP, f64::max);
        (partners >= FEWEST_AGREEING && spread <= AGREE && is_alone).then(|| Slow {
            nodes: vec![node],
            side,
            value,
            median,
            partners,
            margin: self.behind(value, median) / scatter,
        })
    }

    /// What taking the cause of `slow` away would bring the node to: the median of the pairs without slow nodes.
    pub fn sound(&self, slow: &[Slow]) -> Option<f64> {
        let named: Vec<(usize, SlowSide)> = slow.iter().map(|slow| (slow.nodes[0], slow.side)).collect();
        median(&self.without(&named).cells.iter().map(|(_, value)| *value).collect::<Vec<_>>())
    }

    /// The better half of the interval of a pair, as a [`distance`].
    fn half_width(&self, pair: (usize, usize), value: f64) -> f64 {
        self.better_ends.get(&pair).map_or(0.0, |end| distance(*end, value).abs())
    }

    fn beyond(
        &self,
        partners: usize,
        most: impl Fn(usize) -> f64,
        apart: impl Fn(&Self, &Slow) -> Option<f64>,
    ) -> Vec<Slow> {
        let mut named: Vec<(usize, SlowSide)> = Vec::new();
        let mut found: Vec<Slow> = Vec::new();
        while let Some(slow) = self
            .without(&named)
            .behind(&most)
            .into_iter()
            .filter(|slow| slow.partners >= partners)
            .find_map(|slow| Some(Slow { margin: apart(self, &slow)?, ..slow }))
        {
            named.push((slow.nodes[0], slow.side));
            match found.iter_mut().find(|known| known.nodes == slow.nodes) {
                Some(other) => {
                    *other = Slow {
                        side: SlowSide::Both,
                        value: f64::midpoint(other.value, slow.value),
                        margin: other.margin.min(slow.margin),
                        ..other.clone()
                    };
                }
                None => found.push(slow),
            }
        }
        found
    }

    /// Every node that looks slow at first or after the slowest are named, with the side, in the order of the nodes.
    pub fn suspects(&self) -> Vec<(usize, SlowSide)> {
        let all = self.without(&[]).behind(|_| SUSPECT).into_iter().chain(self.beyond(
            1,
            |_| SUSPECT,
            |_, _| Some(f64::INFINITY),
        ));
        let mut sides: BTreeMap<usize, SlowSide> = BTreeMap::new();
        for slow in all {
            let side = sides.entry(slow.nodes[0]).or_insert(slow.side);
            if *side != slow.side {
                *side = SlowSide::Both;
            }
        }
        sides.into_iter().collect()
    }

    /// Slow pairs whose nodes are both sound with the rest of their partners, two or more each. Of pairs in both
    /// directions the first node is sound where it sends, the second where it receives.
    pub fn slow_links(&self) -> Vec<Slow> {
        let whole = self.slow_nodes(2).into_iter().flat_map(|slow| match slow.side {
            SlowSide::Both if self.has_both_ways() => {
                vec![(slow.nodes[0], SlowSide::Sends), (slow.nodes[0], SlowSide::Receives)]
            }
            side => vec![(slow.nodes[0], side)],
        });
        let left = self.without(&whole.collect::<Vec<_>>());
        let values: Vec<f64> = left.cells.iter().map(|(_, value)| *value).collect();
        let Some((centre, allowed)) = allowed(&values).filter(|_| self.nodes.len() >= FEWEST_NODES) else {
            return Vec::new();
        };
        let is_slow = |value: f64| self.behind(value, centre) > allowed;
        let least = |pair: &(usize, usize)| if self.disturbed.contains(pair) { DISTURBED } else { 1.0 };
        let sides =
            if self.has_both_ways() { [SlowSide::Sends, SlowSide::Receives] } else { [SlowSide::Both; 2] };
        let is_good_elsewhere = |node: usize, side: SlowSide, pair: (usize, usize)| {
            let others = left
                .cells
                .iter()
                .filter(|(at, _)| side.has(node, *at) && (at.0, at.1) != pair && (at.1, at.0) != pair);
            let others: Vec<f64> = others.map(|(_, value)| *value).collect();
            others.len() >= 2 && median(&others).is_some_and(|median| !is_slow(median))
        };
        let pairs = left.cells.iter().filter(|(pair, value)| {
            self.behind(*value, centre) > least(pair) * allowed
                && self.behind(*value, centre) > APART * self.half_width(*pair, *value)
                && is_good_elsewhere(pair.0, sides[0], *pair)
                && is_good_elsewhere(pair.1, sides[1], *pair)
        });
        pairs
            .map(|(pair, value)| Slow {
                nodes: vec![pair.0, pair.1],
                side: SlowSide::Both,
                value: *value,
                median: centre,
                partners: 1,
                margin: self.behind(*value, centre) / allowed,
            })
            .collect()
    }

    /// Whether most pairs were measured in both directions.
    pub fn has_both_ways(&self) -> bool {
        let turned =
            self.cells.keys().filter(|(one, other)| self.cells.contains_key(&(*other, *one))).count();
        2 * turned > self.cells.len()
    }

    /// The sides that a node has numbers of.
    fn own_sides(&self) -> &'static [SlowSide] {
        if self.has_both_ways() { &[SlowSide::Sends, SlowSide::Receives] } else { &[SlowSide::Both] }
    }

    /// How much worse than `median` the `value` is.
    fn behind(&self, value: f64, median: f64) -> f64 {
        shortfall(self.better, value, median)
    }

    fn without(&self, named: &[(usize, SlowSide)]) -> Left<'_> {
        let is_left = |at: &(usize, usize)| !named.iter().any(|(node, side)| side.has(*node, *at));
        let cells =
            self.cells.iter().filter(|(at, _)| is_left(at)).map(|(at, value)| (*at, *value)).collect();
        Left { matrix: self, cells }
    }
}

/// The sides of a node that `cases`, each of two nodes, tell apart: only where most pairs were measured in both directions.
pub(super) fn sides(cases: &[&CaseRecord]) -> &'static [SlowSide] {
    let is_turned = |case: &&&CaseRecord| {
        cases
            .iter()
            .any(|other| other.nodes.first() == case.nodes.last() && other.nodes.last() == case.nodes.first())
    };
    match 2 * cases.iter().filter(is_turned).count() > cases.len() {
        true => &[SlowSide::Both, SlowSide::Sends, SlowSide::Receives],
        false => &[SlowSide::Both],
    }
}

impl SlowSide {
    /// Whether a case of `nodes`, the first of which sends, is of this side of `node`.
    pub fn has_node(self, node: &str, nodes: &[String]) -> bool {
        let is_it = |one: Option<&String>| one.is_some_and(|one| one == node);
        match self {
            Self::Both => nodes.iter().any(|one| one == node),
            Self::Sends => is_it(nodes.first()),
            Self::Receives => is_it(nodes.last()),
        }
    }

    /// The side that the partners have in its cases.
    pub const fn opposite(self) -> Self {
        match self {
            Self::Both => Self::Both,
            Self::Sends => Self::Receives,
            Self::Receives => Self::Sends,
        }
    }

    /// Whether the two have cases in common.
    pub fn overlaps(self, other: Self) -> bool {
        self == Self::Both || other == Self::Both || self == other
    }

    /// Whether a cell is of this side of `node`.
    const fn has(self, node: usize, (row, column): (usize, usize)) -> bool {
        match self {
            Self::Both => row == node || column == node,
            Self::Sends => row == node,
            Self::Receives => column == node,
        }
    }
}

struct Left<'a> {
    matrix: &'a Matrix,
    cells: Vec<((usize, usize), f64)>,
}

impl Left<'_> {
    fn of(&self, node: usize, side: SlowSide) -> Option<(f64, usize)> {
        let own = self.cells.iter().filter(|(at, _)| side.has(node, *at));
        let (mut values, mut partners) = (Vec::new(), Vec::new());
        for (at, value) in own {
            values.push(*value);
            partners.push(if at.0 == node { at.1 } else { at.0 });
        }
        partners.sort_unstable();
        partners.dedup();
        Some((median(&values)?, partners.len()))
    }

    fn behind(&self, most: impl Fn(usize) -> f64) -> Vec<Slow> {
        let sides = self.matrix.own_sides();
        let places =
            (0..self.matrix.nodes.len()).flat_map(|node| sides.iter().map(move |side| (node, *side)));
        let scores: Vec<(usize, SlowSide, f64, usize)> = places
            .filter_map(|(node, side)| {
                self.of(node, side).map(|(score, partners)| (node, side, score, partners))
            })
            .collect();
        let values: Vec<f64> = scores.iter().map(|(_, _, score, _)| *score).collect();
        let enough = FEWEST_NODES * sides.len() - (sides.len() - 1);
        let Some((median, allowed)) = allowed_by(&values, most).filter(|_| values.len() >= enough) else {
            return Vec::new();
        };
        let mut found: Vec<Slow> = scores
            .into_iter()
            .filter_map(|(node, side, value, partners)| {
                let margin = self.matrix.behind(value, median) / allowed;
                (margin > 1.0).then(|| Slow { nodes: vec![node], side, value, median, partners, margin })
            })
            .collect();
        let by = |slow: &Slow| self.matrix.behind(slow.value, median);
        found.sort_by(|one, other| by(other).total_cmp(&by(one)));
        found
    }
}

/// How much worse than `centre` the `value` is, as a [`distance`].
pub fn shortfall(better: Better, value: f64, centre: f64) -> f64 {
    match better {
        Better::Lower => distance(value, centre),
        Better::Higher | Better::None => -distance(value, centre),
    }
}

/// How far `value` is from `centre`, as a share of it. Rates and times scatter in proportion, so the logarithm of their
/// ratio is taken: a hundredth is farther from the centre than half of it.
pub fn distance(value: f64, centre: f64) -> f64 {
    if value > 0.0 && centre > 0.0 {
        (value / centre).ln()
    } else {
        (value - centre) / centre.abs().max(f64::MIN_POSITIVE)
    }
}

/// The median of `values`, and the [`distance`] from it that is still sound.
pub(super) fn allowed(values: &[f64]) -> Option<(f64, f64)> {
    allowed_by(values, most_deviations)
}

/// The same of values with intervals, whose `half_widths` are distances: few values may be near each other by chance, nearer
/// than half the half width of an interval of few trials, which is a median absolute deviation of normal noise.
pub fn allowed_of_few(values: &[f64], half_widths: &[f64]) -> Option<(f64, f64)> {
    let (centre, allowed) = allowed(values)?;
    let least = median(half_widths).map_or(0.0, |half| most_deviations(values.len()) * half / 2.0);
    Some((centre, allowed.max(least)))
}

/// The same with as many median absolute deviations as `most` says of the number of values.
fn allowed_by(values: &[f64], most: impl Fn(usize) -> f64) -> Option<(f64, f64)> {
    let centre = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| distance(*value, centre).abs()).collect();
    Some((centre, (most(values.len()) * median(&distances)?).max(FLOOR_PERCENT / 100.0)))
}

/// `n2` before `n10`.
fn natural(name: &str) -> (&str, u64, &str) {
    let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    (&name[..digits], name[digits..].parse().unwrap_or(0), name)
}

#[cfg(test)]
mod tests;
