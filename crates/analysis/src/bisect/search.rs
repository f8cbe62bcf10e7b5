//! Which groups to measure next, and which nodes or boundaries are slow, from the groups measured so far.
//!
//! The search is written as if every group had been measured already, and starts from the beginning each time. Where it
//! needs a group without a value, it ends, and the group is the next to measure. So the search holds no state between
//! two rounds: equal results give equal groups, and a later value may change what an earlier one meant.

use std::collections::{BTreeMap, HashMap};

use super::fault::{Fault, Group, Place};
use super::scale::{FLOOR, Level, MARGIN, MOST_REPEATS, OPEN, SEPARATION, Scale, Values};

/// One measurement of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupResult {
    pub nodes: Group,
    /// Natural logarithm of the rate; of a time, of its inverse. More is better.
    pub log_rate: f64,
    /// Standard error of `log_rate`, as the interval of the case states it; 0 if there is no interval.
    pub error: f64,
}

/// What the search starts from.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// Number of nodes of the whole.
    pub nodes: usize,
    /// Nodes that other measurements name as slow, a few at most.
    pub suspects: &'a [usize],
    pub results: &'a [GroupResult],
    /// Groups without a value that are not to be measured again.
    pub without_value: &'a [Group],
}

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Measure these groups: those of a step at the same time, the steps in turn.
    Measure(Vec<Vec<Group>>),
    Done(Isolation),
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Isolation {
    pub faults: Vec<Fault>,
    /// By how much all nodes together are slower than half of them, as a difference of logarithms; `None` if noise
    /// explains it.
    pub whole_deficit: Option<f64>,
    /// Smallest deficit of a group, as a difference of logarithms, that noise does not explain.
    pub least: f64,
    /// The group that ended the search early, without faults: it has no value, or too many were measured.
    pub stopped_at: Option<Group>,
}

/// Fewest nodes that can be searched: two groups of two.
pub const FEWEST_NODES: usize = 4;

/// Rounds in which a suspect is measured with different proven nodes at most.
const MOST_CONFIRMATIONS: usize = 6;

/// Measurements of groups across a boundary at most.
const MOST_CROSSINGS: usize = 3;

/// Groups that end the search, for each halving of the nodes: more than three slow nodes need.
const MOST_GROUPS_A_HALVING: usize = 16;

impl Search<'_> {
    pub fn next(&self) -> Next {
        let mut walk = Walk::new(self);
        let wanted = if self.nodes < FEWEST_NODES { Ok(()) } else { walk.run() };
        let noise = walk.scale(walk.size).map_or(0.0, |scale| scale.noise);
        let least = FLOOR.max(SEPARATION * noise);
        let mut found = Isolation { whole_deficit: walk.whole_deficit, least, ..Isolation::default() };
        match wanted {
            Ok(()) => Next::Done(Isolation { faults: walk.faults, ..found }),
            Err(Wanted(groups)) => {
                let most = MOST_GROUPS_A_HALVING * (1 + self.nodes.ilog2() as usize);
                let is_last =
                    |group: &&Group| self.without_value.contains(group) || self.results.len() >= most;
                found.stopped_at = groups.iter().find(is_last).cloned();
                if found.stopped_at.is_some() { Next::Done(found) } else { Next::Measure(steps(groups)) }
            }
        }
    }
}

/// Groups without a value that the search needs.
struct Wanted(Vec<Group>);

type Answer<T> = Result<T, Wanted>;

/// One pass from the beginning.
pub(super) struct Walk<'a> {
    search: &'a Search<'a>,
    values: HashMap<&'a [usize], Values>,
    by_size: BTreeMap<usize, Vec<&'a [usize]>>,
    /// The number of nodes of every group that is compared.
    size: usize,
    /// Nodes of sound groups, in the order in which they were proven.
    proven: Vec<usize>,
    faults: Vec<Fault>,
    whole_deficit: Option<f64>,
}

impl<'a> Walk<'a> {
    fn new(search: &'a Search<'a>) -> Self {
        let mut values: HashMap<&[usize], Values> = HashMap::new();
        let mut by_size: BTreeMap<usize, Vec<&[usize]>> = BTreeMap::new();
        for result in search.results {
            let group = result.nodes.as_slice();
            let of = values.entry(group).or_insert_with(|| {
                by_size.entry(group.len()).or_default().push(group);
                Values::default()
            });
            of.logs.push(result.log_rate);
            of.variances.push(result.error.powi(2));
        }
        Self {
            search,
            values,
            by_size,
            size: search.nodes,
            proven: Vec::new(),
            faults: Vec::new(),
            whole_deficit: None,
        }
    }

    fn run(&mut self) -> Answer<()> {
        let mut order = self.search.suspects.to_vec();
        order.extend(without(&(0..self.search.nodes).collect::<Vec<_>>(), self.search.suspects));
        self.ask(&[sorted(&order)])?;
        for count in [2, 4] {
            self.size = self.search.nodes / count;
            if self.size < 2 {
                break;
            }
            let (grouped, rest) = order.split_at(count * self.size);
            let parts: Vec<Group> = grouped.chunks(self.size).map(sorted).collect();
            let is_slow = self.slow(&parts)?;
            let of = |wanted: bool| parts.iter().zip(&is_slow).filter(move |(_, slow)| **slow == wanted);
            self.proven = of(false).flat_map(|(part, _)| part.clone()).collect();
            let slow: Vec<&Group> = of(true).map(|(part, _)| part).collect();
            if slow.is_empty() && count == 2 {
                self.rest(rest)?;
                self.whole_deficit = self.whole_deficit()?;
                if self.faults.is_empty() && self.whole_deficit.is_some() {
                    self.between(&parts[0], &parts[1])?;
                }
            }
            // The groups that are faster than all parts hold nodes of each.
            let slow = if self.proven.is_empty() { Vec::new() } else { slow };
            for (number, part) in slow.iter().enumerate() {
                let with_rest = [part.as_slice(), if number == 0 { rest } else { &[] }].concat();
                self.isolate(&sorted(&with_rest), Some(part))?;
            }
            if !self.faults.is_empty() || !slow.is_empty() {
                break;
            }
        }
        self.merge()
    }

    /// Several faults are one boundary if their nodes together are sound without others: the boundary lies where no
    /// halving cuts.
    fn merge(&mut self) -> Answer<()> {
        let is_between = |fault: &Fault| matches!(fault.place, Place::Between(..));
        if self.faults.len() < 2 || self.faults.iter().any(is_between) {
            return Ok(());
        }
        let nodes = sorted(&self.faults.iter().flat_map(|fault| fault.place.nodes()).collect::<Vec<_>>());
        if self.is_sound_alone(&nodes)? {
            let slow: Vec<Group> = self.faults.iter().flat_map(|fault| fault.slow.clone()).collect();
            self.faults = self.fault(&Place::Around(nodes), &slow).into_iter().collect();
        }
        Ok(())
    }

    /// The nodes that are left when all are divided into groups of one size.
    fn rest(&mut self, rest: &[usize]) -> Answer<()> {
        if rest.is_empty() {
            return Ok(());
        }
        let Some(group) = self.filled(&[rest]).pop() else { return Ok(()) };
        if self.slow(std::slice::from_ref(&group))?[0] { self.isolate(rest, Some(&group)) } else { Ok(()) }
    }

    /// By how much all nodes together are slower than the groups, if noise does not explain it.
    fn whole_deficit(&self) -> Answer<Option<f64>> {
        let whole: Group = (0..self.search.nodes).collect();
        let (Some(values), Some(scale)) = (self.values.get(whole.as_slice()), self.scale(self.size)) else {
            return Ok(None);
        };
        let deficit = scale.sound - values.median();
        let deviation = scale.noise / (values.logs.len() as f64).sqrt();
        if deficit >= FLOOR.max(OPEN * deviation) && deficit < SEPARATION * deviation {
            self.ask_times(&[whole], MOST_REPEATS.min(values.logs.len() + 1))?;
        }
        Ok((deficit >= FLOOR.max(SEPARATION * deviation)).then_some(deficit))
    }

    /// Finds the slow nodes or the boundary in `suspects`. The group `shown`, in which all or most of them are, was slow;
    /// nodes outside `suspects` are proven or are searched by themselves.
    fn isolate(&mut self, suspects: &[usize], shown: Option<&Group>) -> Answer<()> {
        let [only] = suspects else { return self.isolate_several(suspects, shown) };
        self.confirm(Place::Node(*only), suspects, shown)
    }

    fn isolate_several(&mut self, suspects: &[usize], shown: Option<&Group>) -> Answer<()> {
        let (one, other) = self.halves(suspects);
        let groups = self.filled(&[&one, &other]);
        let [with_one, with_other] = groups.as_slice() else { return Ok(()) };
        let is_slow = self.slow_twice(&groups, |slow| slow.len() == 2)?;
        match (is_slow[0], is_slow[1]) {
            (true, false) => {
                self.proven.extend(other);
                self.isolate(&one, Some(with_one))
            }
            (false, true) => {
                self.proven.extend(one);
                self.isolate(&other, Some(with_other))
            }
            (true, true) if self.is_sound_alone(suspects)? => {
                self.confirm(Place::Around(suspects.to_vec()), suspects, shown)
            }
            (true, true) => {
                self.isolate(&one, Some(with_one))?;
                self.isolate(&other, Some(with_other))
            }
            (false, false) => {
                let Some(shown) = shown else { return Ok(()) };
                self.ask_times(std::slice::from_ref(shown), 2)?;
                if !self.slow(std::slice::from_ref(shown))?[0] {
                    self.proven.extend(suspects);
                    return Ok(());
                }
                if self.is_sound_alone(suspects)? {
                    return self.confirm(Place::Around(suspects.to_vec()), suspects, Some(shown));
                }
                self.proven.extend(suspects);
                self.between(&one, &other)
            }
        }
    }

    /// Whether `suspects` without others are as fast as the same number of proven nodes, not slower by as much as with
    /// others.
    fn is_sound_alone(&self, suspects: &[usize]) -> Answer<bool> {
        let others = without(&self.proven, suspects);
        let (Some(Scale { sound, below: Some(below), noise, .. }), true) =
            (self.scale(self.size), suspects.len() < self.size && others.len() >= suspects.len())
        else {
            return Ok(false);
        };
        let groups = [sorted(suspects), sorted(&others[..suspects.len()])];
        let mut times = 2;
        loop {
            self.ask_times(&groups, times)?;
            let [alone, reference] = groups.each_ref().map(|group| &self.values[group.as_slice()]);
            // Other load only slows down: a disturbed reference would clear the suspects.
            let above = alone.median() - reference.undisturbed() + (sound - below) / 2.0;
            times = alone.logs.len().min(reference.logs.len());
            if times >= MOST_REPEATS || above.abs() >= MARGIN * noise * (2.0 / times as f64).sqrt() {
                return Ok(above > 0.0);
            }
            times += 1;
        }
    }

    /// Finds what is slow between nodes of `one` and nodes of `other`, where each are sound by themselves.
    fn between(&mut self, one: &[usize], other: &[usize]) -> Answer<()> {
        if let ([a], [b]) = (one, other) {
            return self.confirm(Place::Between(vec![*a], vec![*b]), &sorted(&[*a, *b]), None);
        }
        let pieces = |side: &[usize]| if side.len() == 1 { vec![side.to_vec()] } else { self.halved(side) };
        let (rows, columns) = (pieces(one), pieces(other));
        // Blocks without a common node stand beside each other, so that they are measured at the same time.
        let mut blocks: Vec<(usize, usize)> =
            (0..rows.len()).flat_map(|row| (0..columns.len()).map(move |column| (row, column))).collect();
        blocks.sort_by_key(|(row, column)| (row + column) % 2);
        let used = [one, other].concat();
        let groups: Vec<Group> =
            blocks.iter().map(|(row, column)| self.block(&rows[*row], &columns[*column], &used)).collect();
        let is_slow = self.slow_twice(&groups, |slow| slow.len() > 1 && slow.len() < blocks.len())?;
        let slow: Vec<(usize, usize)> =
            blocks.iter().zip(&is_slow).filter(|(_, slow)| **slow).map(|(block, _)| *block).collect();
        let is_all = slow.len() == blocks.len() || slow.len() == 3;
        if is_all {
            let crossing: Vec<Group> = groups
                .iter()
                .zip(&is_slow)
                .filter(|(_, slow)| **slow)
                .map(|(group, _)| group.clone())
                .collect();
            return self.confirm_boundary(one, other, &crossing);
        }
        match slow.as_slice() {
            [] => Ok(()),
            [(row, column)] => self.between(&rows[*row], &columns[*column]),
            [(row, column), (second_row, second_column)] if row == second_row => {
                let columns = [columns[*column].as_slice(), &columns[*second_column]].concat();
                self.between(&rows[*row], &sorted(&columns))
            }
            [(row, column), (second_row, second_column)] if column == second_column => {
                let rows = [rows[*row].as_slice(), &rows[*second_row]].concat();
                self.between(&sorted(&rows), &columns[*column])
            }
            several => {
                let several = several.to_vec();
                several.iter().try_for_each(|(row, column)| self.between(&rows[*row], &columns[*column]))
            }
        }
    }

    /// A group of nodes of both sides, filled up with proven nodes.
    fn block(&self, row: &[usize], column: &[usize], used: &[usize]) -> Group {
        let row = &row[..row.len().min(self.size / 2)];
        let column = &column[..column.len().min(self.size - row.len())];
        let own = [row, column].concat();
        let fill = without(&self.proven, used);
        let fill = fill.into_iter().chain(without(used, &own));
        sorted(&own.iter().copied().chain(fill).take(self.size).collect::<Vec<_>>())
    }

    /// Measures `suspects` with two different sets of proven nodes, and more where the noise asks for it.
    fn confirm(&mut self, place: Place, suspects: &[usize], shown: Option<&Group>) -> Answer<()> {
        let is_isolating = |group: &&Group| {
            let others = without(group, suspects);
            others.len() + suspects.len() == group.len() && without(&others, &self.proven).is_empty()
        };
        let mut groups: Vec<Group> = shown.filter(is_isolating).cloned().into_iter().collect();
        let shown = groups.concat();
        let fresh = without(&self.proven, &[suspects, shown.as_slice()].concat());
        let mut others = [fresh.as_slice(), &without(&without(&self.proven, suspects), &fresh)].concat();
        let needed = self.size - suspects.len();
        if others.len() < needed || needed == 0 {
            return Ok(());
        }
        for round in 0..MOST_CONFIRMATIONS {
            let (fill, control) = others.split_at(needed);
            let group = sorted(&[suspects, fill].concat());
            let mut asked = vec![group.clone()];
            asked.extend(control.get(..self.size).map(sorted));
            // Few nodes make few different groups.
            let is_known = groups.contains(&group);
            self.ask_times(&asked, if is_known { 2 } else { 1 })?;
            if !is_known {
                groups.push(group);
            }
            let shift = (needed + round) % others.len();
            others.rotate_left(shift);
            match self.fault(&place, &groups) {
                Some(fault) if fault.is_certain() => {
                    self.faults.push(fault);
                    break;
                }
                Some(fault) if fault.is_possible() => {}
                _ => break,
            }
        }
        Ok(())
    }

    fn confirm_boundary(&mut self, one: &[usize], other: &[usize], crossing: &[Group]) -> Answer<()> {
        // A boundary makes all four blocks of its sides slow; fewer may be slow by noise.
        for times in if crossing.len() == 4 { 1 } else { 2 }..=MOST_CROSSINGS {
            self.ask_times(crossing, times)?;
            let Some(fault) = self.fault(&Place::Between(one.to_vec(), other.to_vec()), crossing) else {
                break;
            };
            if fault.is_certain() {
                self.faults.push(fault);
                break;
            }
        }
        Ok(())
    }

    /// `place` as the fault of the groups `slow`, against all sound groups of the same size.
    fn fault(&self, place: &Place, slow: &[Group]) -> Option<Fault> {
        let scale = self.scale(self.size)?;
        let (mut sound, mut holding) = (Vec::new(), 0);
        for (group, values) in self.groups(self.size) {
            match scale.level(values) {
                _ if slow.iter().any(|slow| slow == group) => holding += values.logs.len(),
                Level::Sound => sound.push(values),
                Level::Slow if without(&place.nodes(), group).is_empty() => holding += values.logs.len(),
                Level::Slow | Level::Open => {}
            }
        }
        let values: Vec<&Values> =
            slow.iter().filter_map(|group| self.values.get(group.as_slice())).collect();
        Fault::of(place.clone(), slow, &values, &sound, holding)
    }

    /// Each of `parts` filled up with proven nodes: different nodes as far as there are enough. Empty when there are too
    /// few.
    fn filled(&self, parts: &[&[usize]]) -> Vec<Group> {
        let others = without(&self.proven, &parts.concat());
        let mut at = 0;
        let mut filled = Vec::new();
        for part in parts {
            let Some(needed) = self.size.checked_sub(part.len()).filter(|needed| *needed <= others.len())
            else {
                return Vec::new();
            };
            let fill = others.iter().cycle().skip(at).take(needed);
            filled.push(sorted(&part.iter().chain(fill).copied().collect::<Vec<_>>()));
            at = (at + needed) % others.len().max(1);
        }
        filled
    }

    /// The suspects of other measurements apart from the rest; else two halves.
    fn halves(&self, nodes: &[usize]) -> (Group, Group) {
        let is_suspect = |node: &&usize| self.search.suspects.contains(node);
        let (named, rest): (Vec<_>, Vec<_>) = nodes.iter().partition(is_suspect);
        if named.is_empty() || rest.is_empty() {
            let (one, other) = nodes.split_at(nodes.len().div_ceil(2));
            return (one.to_vec(), other.to_vec());
        }
        (named, rest)
    }

    fn halved(&self, nodes: &[usize]) -> Vec<Group> {
        let (one, other) = self.halves(nodes);
        vec![one, other]
    }

    fn ask(&self, groups: &[Group]) -> Answer<()> {
        self.ask_times(groups, 1)
    }

    fn ask_times(&self, groups: &[Group], times: usize) -> Answer<()> {
        let count = |group: &Group| self.values.get(group.as_slice()).map_or(0, |values| values.logs.len());
        let missing: Vec<Group> = groups.iter().filter(|group| count(group) < times).cloned().collect();
        if missing.is_empty() { Ok(()) } else { Err(Wanted(missing)) }
    }

    /// Which of `groups`, all of one size, are slow.
    fn slow(&self, groups: &[Group]) -> Answer<Vec<bool>> {
        self.ask(groups)?;
        let Some(scale) = groups.first().and_then(|group| self.scale(group.len())) else {
            return Ok(Vec::new());
        };
        let levels: Vec<Level> =
            groups.iter().map(|group| scale.level(&self.values[group.as_slice()])).collect();
        if levels.contains(&Level::Open) {
            return Err(Wanted(groups.to_vec()));
        }
        Ok(levels.into_iter().map(|level| level == Level::Slow).collect())
    }

    /// The same, measured twice where the slow groups are of a kind that noise often makes.
    fn slow_twice(&self, groups: &[Group], is_doubtful: impl Fn(&[&Group]) -> bool) -> Answer<Vec<bool>> {
        let is_slow = self.slow(groups)?;
        let slow: Vec<&Group> =
            groups.iter().zip(&is_slow).filter(|(_, slow)| **slow).map(|it| it.0).collect();
        if is_doubtful(&slow) {
            self.ask_times(groups, 2)?;
        }
        Ok(is_slow)
    }

    fn groups(&self, size: usize) -> Vec<(&[usize], &Values)> {
        let groups = self.by_size.get(&size).map_or(&[][..], Vec::as_slice);
        groups.iter().map(|group| (*group, &self.values[group])).collect()
    }

    /// `None` without a group of that size.
    fn scale(&self, size: usize) -> Option<Scale> {
        let known = if size == self.size { 0.0 } else { self.scale(self.size)?.noise };
        let groups: Vec<&Values> = self.groups(size).into_iter().map(|(_, values)| values).collect();
        (!groups.is_empty()).then(|| Scale::of(&groups, known))
    }
}

/// `groups` in steps in which no node is in two groups.
fn steps(groups: Vec<Group>) -> Vec<Vec<Group>> {
    let mut steps: Vec<(Vec<usize>, Vec<Group>)> = Vec::new();
    for group in groups {
        match steps.iter_mut().find(|(taken, _)| without(&group, taken).len() == group.len()) {
            Some((taken, step)) => {
                taken.extend(&group);
                step.push(group);
            }
            None => steps.push((group.clone(), vec![group])),
        }
    }
    steps.into_iter().map(|(_, step)| step).collect()
}

fn sorted(nodes: &[usize]) -> Group {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes
}

/// `nodes` that are not among `others`, in their order.
fn without(nodes: &[usize], others: &[usize]) -> Vec<usize> {
    let others = sorted(others);
    nodes.iter().copied().filter(|node| others.binary_search(node).is_err()).collect()
}
