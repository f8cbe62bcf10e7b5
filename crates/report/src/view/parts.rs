//! The parts of the machines: a row per part and test, with its headline, its limit and its verdict.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Outcome, Verdict};
use seatrial_stats::Sorted;

use super::nodes::{culprits, is_fleet, spoken_of};
use super::numbers::{Judged, JudgedNumber};
use super::table::{Builder, Cell, CellPlot, Column, Table};
use super::values::percent_beside_bound;
use crate::labels::{Label, ends_of, named};
use crate::number::half_width;
use crate::words::{Badge, count, counted, quantity};

/// Characters of a full bar.
const BAR: usize = 10;

/// One test of one part, over all nodes.
pub struct Part<'a> {
    pub name: String,
    pub test: String,
    /// The number with the heaviest verdict; of these the one farthest from its limit.
    pub worst: JudgedNumber<'a>,
    numbers: Vec<JudgedNumber<'a>>,
}

/// The names of parameters by benchmark.
type Differing<'a> = HashMap<&'a str, BTreeSet<&'a str>>;

/// How wide the table is.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub enum Extent {
    /// The share of the limit in percent.
    Share,
    /// The limit too.
    Limit,
    /// The share as a bar of characters too.
    Bar,
    /// The share as a picture.
    Page,
}

/// A row per part and test; of more than `most` the tests of a part are joined, and only a page shows all rows.
pub fn table(document: &Document, most: usize, extent: Extent) -> Table {
    let judged = Judged::new(document);
    let there: Vec<&CaseRecord> = document.results.iter().filter(|case| !is_absent(case)).collect();
    let values = differing(&there);
    let numbers: Vec<JudgedNumber<'_>> = there.iter().map(|case| judged.worst(case)).collect();
    let mut parts = group(&numbers, |number| test_of(number.case, &values));
    if parts.len() > most {
        parts = group(&numbers, |number| number.case.bench.clone());
    }
    if parts.len() > most && extent != Extent::Page {
        parts = of_kinds(&numbers);
    }
    parts.iter_mut().for_each(|part| part.test = named_test(&part.worst, &values));
    let hidden = if extent == Extent::Page { 0 } else { parts.len().saturating_sub(most) };
    if hidden > 0 {
        // The worst stay, then those with a limit, in the order of the run.
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|at| (Reverse(parts[*at].tone()), parts[*at].limit().is_none()));
        let kept: BTreeSet<usize> = order.into_iter().take(most).collect();
        let mut at = 0..;
        parts.retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
    }
    let mut table = lay_out(&parts, is_fleet(document), document.verdict.is_some(), extent);
    if hidden > 0 {
        table.remarks.push(format!("{} with --details", count(hidden, "more row")));
    }
    if extent != Extent::Page {
        table.remarks.extend(not_here(document));
    }
    table
}

/// The benchmarks whose part no node has, in one line.
pub fn not_here(document: &Document) -> Option<String> {
    let absent = absent(document);
    (!absent.is_empty()).then(|| format!("not here: {}", absent.join(", ")))
}

/// Whether the part that the case measures does not exist on the node.
pub fn is_absent(case: &CaseRecord) -> bool {
    case.outcome == Outcome::Skipped
}

/// The benchmarks without a part on any node.
fn absent(document: &Document) -> Vec<&str> {
    let of = |is_kept: &dyn Fn(&CaseRecord) -> bool| {
        let kept = document.results.iter().filter(|case| is_kept(case));
        kept.map(|case| case.bench.as_str()).collect::<BTreeSet<_>>()
    };
    of(&|_| true).difference(&of(&|case| !is_absent(case))).copied().collect()
}

/// The parameters by benchmark that differ between its cases.
fn differing<'a>(cases: &[&'a CaseRecord]) -> Differing<'a> {
    let mut seen: HashMap<&str, BTreeMap<&str, BTreeSet<String>>> = HashMap::new();
    for case in cases {
        let of_bench = seen.entry(&case.bench).or_default();
        for (name, value) in case.params.iter() {
            of_bench.entry(name).or_default().insert(value.to_string());
        }
    }
    let differ = |values: BTreeMap<&'a str, BTreeSet<String>>| {
        values.into_iter().filter(|(_, values)| values.len() > 1).map(|(name, _)| name).collect()
    };
    seen.into_iter().map(|(bench, values)| (bench, differ(values))).collect()
}

/// The benchmark with the values that tell its case from the others.
fn test_of(case: &CaseRecord, differing: &Differing<'_>) -> String {
    let names = differing.get(case.bench.as_str());
    let own = case.params.iter().filter(|(name, _)| names.is_some_and(|names| names.contains(name)));
    let told = own.map(|(_, value)| value.to_string()).filter(|value| value != "auto");
    [case.bench.clone()].into_iter().chain(told).collect::<Vec<_>>().join(" ")
}

/// The same with the name of the metric.
fn named_test(number: &JudgedNumber<'_>, differing: &Differing<'_>) -> String {
    let texts = [test_of(number.case, differing), number.name().to_owned()];
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A row per part, test and judged metric of the cases that measured something of `nodes`; where a benchmark has more
/// than `most` of them on a part, one row with the worst.
pub fn of_nodes<'a>(document: &'a Document, nodes: &BTreeSet<&str>, most: usize) -> Vec<Part<'a>> {
    let is_of = |case: &&CaseRecord| case.nodes.iter().any(|node| nodes.contains(node.as_str()));
    let there: Vec<&CaseRecord> =
        document.results.iter().filter(|case| !is_absent(case)).filter(is_of).collect();
    let (judged, values) = (Judged::new(document), differing(&there));
    let numbers: Vec<JudgedNumber<'_>> = there.iter().flat_map(|case| judged.numbers(case)).collect();
    let by_test = group(&numbers, |number| named_test(number, &values));
    let mut rows: HashMap<(String, &str), usize> = HashMap::new();
    for part in &by_test {
        *rows.entry((part.name.clone(), &part.worst.case.bench)).or_default() += 1;
    }
    let mut parts =
        group(&numbers, |number| match rows.get(&(name(number.case), number.case.bench.as_str())) {
            Some(rows) if *rows > most => number.case.bench.clone(),
            _ => named_test(number, &values),
        });
    parts.iter_mut().for_each(|part| part.test = named_test(&part.worst, &values));
    parts
}

/// The names of the parts of `nodes` that a case measures: of a pair, the ends that are there.
pub fn ends(case: &CaseRecord, nodes: &BTreeSet<&str>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let subject = case.subject.as_str();
    let first = subject.split_once(':').map_or("", |(kind, _)| kind);
    for end in subject.split("->").flat_map(|end| end.split('+')) {
        let node = end.split('/').next().filter(|first| case.nodes.iter().any(|node| node == first));
        if node.is_some_and(|node| !nodes.contains(node)) {
            continue;
        }
        match node {
            Some(node) => names.insert(named(end[node.len()..].trim_start_matches('/'), &case.bench)),
            // `gpu:0->1`.
            None if !first.is_empty() && !end.contains(':') => {
                names.insert(named(&format!("{first}:{end}"), &case.bench))
            }
            None => names.insert(named(end, &case.bench)),
        };
    }
    names
}

/// A row per node and part that was measured there, all benchmarks of the part together; the name of the node stands in
/// place of the test.
pub fn of_each_node(document: &Document) -> Vec<Part<'_>> {
    let judged = Judged::new(document);
    let there = document.results.iter().filter(|case| !is_absent(case));
    let culprits = culprits(document);
    let of_case = |case| {
        let number = judged.worst(case);
        spoken_of(case, &culprits).flat_map(move |node| {
            let own = ends(case, &BTreeSet::from([node.as_str()]));
            own.into_iter().map(move |name| (name, node.clone(), number))
        })
    };
    grouped(there.flat_map(of_case))
}

fn group<'a>(numbers: &[JudgedNumber<'a>], test: impl Fn(&JudgedNumber<'a>) -> String) -> Vec<Part<'a>> {
    grouped(numbers.iter().map(|number| (name(number.case), test(number), *number)))
}

/// A row per kind of device and benchmark, named by the worst device.
fn of_kinds<'a>(numbers: &[JudgedNumber<'a>]) -> Vec<Part<'a>> {
    let kind = |number: &JudgedNumber<'a>| {
        let kind = number.case.subject.as_str().split_once(':').map_or("", |(kind, _)| kind);
        let kind = KINDS.iter().find(|(known, _)| *known == kind);
        kind.map_or_else(|| name(number.case), |(_, kinds)| (*kinds).to_owned())
    };
    let row = |number: &JudgedNumber<'a>| (kind(number), number.case.bench.clone(), *number);
    let mut parts = grouped(numbers.iter().map(row));
    for part in &mut parts {
        let own = name(part.worst.case);
        let is_one = part.numbers.iter().all(|number| name(number.case) == own);
        part.name = if is_one { own } else { format!("{}, worst {own}", part.name) };
    }
    parts
}

/// Several devices of a kind.
const KINDS: [(&str, &str); 5] =
    [("gpu", "GPUs"), ("nic", "interfaces"), ("hca", "HCAs"), ("disk", "disks"), ("fs", "file systems")];

/// The numbers by name of the part and by test.
fn grouped<'a>(numbers: impl Iterator<Item = (String, String, JudgedNumber<'a>)>) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    for (name, test, number) in numbers {
        let at = *places.entry((name.clone(), test.clone())).or_insert_with(|| {
            parts.push(Part { name, test, worst: number, numbers: Vec::new() });
            parts.len() - 1
        });
        let part = &mut parts[at];
        if number.weight() < part.worst.weight() || number.is_behind(&part.worst) {
            part.worst = number;
        }
        part.numbers.push(number);
    }
    parts
}

/// The name of the part that a case measures, without nodes: `memory`, `GPU 0`, `eth0`, `/scratch`.
fn name(case: &CaseRecord) -> String {
    named(Label::of_case(case).without_nodes(&case.nodes).subject(), &case.bench)
}

impl Part<'_> {
    pub fn tone(&self) -> Option<Verdict> {
        self.worst.tone()
    }

    pub fn badge(&self) -> Badge {
        let outcome = self.worst.case.outcome;
        match self.worst.verdict {
            Some(verdict) if outcome == Outcome::Measured => verdict.into(),
            None if outcome == Outcome::Measured => Badge::NOT_JUDGED,
            _ => outcome.into(),
        }
    }

    /// The worst number, as text.
    pub fn value(&self) -> Option<String> {
        let metric = self.worst.metric()?;
        Some(quantity(metric.median, metric.unit))
    }

    pub fn limit(&self) -> Option<String> {
        let metric = self.worst.metric()?;
        Some(quantity(metric.limit.value?, metric.unit))
    }

    /// Of a time, the time in percent of its limit: more than 100.
    pub fn percent(&self) -> Option<String> {
        let percent = self.worst.metric()?.percent_of_limit()?;
        Some(percent_beside_bound(percent, self.worst.margin))
    }

    /// The number in the middle, from the worst to the best.
    pub fn usual(&self) -> JudgedNumber<'_> {
        let mut sorted = self.numbers.clone();
        sorted.sort_by_key(|number| (number.weight(), number.rank()));
        sorted.get(sorted.len() / 2).copied().unwrap_or(self.worst)
    }

    /// `2 of 64 fail, 1 unknown`: the numbers that are worse than passed.
    pub fn bad(&self) -> Option<String> {
        let number = |verdict| self.numbers.iter().filter(|number| number.tone() == Some(verdict)).count();
        let words =
            [(Verdict::Fail, "fail"), (Verdict::Unknown, "unknown"), (Verdict::Warn, "with a warning")];
        let told = counted(self.numbers.len(), "", words.map(|(verdict, word)| (number(verdict), word)));
        (!told.is_empty()).then_some(told)
    }

    /// The median over the nodes of the metric of the worst number.
    pub fn median(&self) -> Option<String> {
        // The worst may have no number.
        let first =
            [&self.worst].into_iter().chain(&self.numbers).find(|number| number.metric().is_some())?;
        let own = self.numbers.iter().filter_map(|number| Some(first.of(number.case)?.median));
        let median = Sorted::new(&own.collect::<Vec<_>>()).ok()?.quantile(0.5).ok()?;
        Some(quantity(median, first.metric()?.unit))
    }

    /// `3`, `3 of 4`: the cases with a number, and of how many.
    fn with_number(&self) -> String {
        let (all, has) = (self.numbers.len(), |number: &&JudgedNumber<'_>| number.metric().is_some());
        match self.numbers.iter().filter(has).count() {
            number if number == all => number.to_string(),
            number => format!("{number} of {all}"),
        }
    }

    /// The worst number; of a case without one, how it ended.
    fn worst_or_end(&self) -> Cell {
        match self.worst.metric() {
            Some(_) => self.measured(),
            None => Badge::from(self.worst.case.outcome).word.into(),
        }
    }

    fn measured(&self) -> Cell {
        let Some(metric) = self.worst.metric() else { return Cell::default() };
        Cell::from(quantity(metric.median, metric.unit)).remark(self.width().unwrap_or_default())
    }

    /// `±94%`. No rate or time is below zero: an interval that would reach there says nothing.
    fn width(&self) -> Option<String> {
        let metric = self.worst.metric()?;
        let interval = metric.ci95.filter(|(low, high)| high - low < 2.0 * metric.median.abs())?;
        Some(half_width(metric.median, interval))
    }

    /// What a width that is more than was asked for says.
    fn width_in_words(&self) -> Option<String> {
        let trials = self.worst.metric().filter(|metric| !metric.converged)?.trials;
        let width = self.width().filter(|width| !width.is_empty())?;
        Some(format!(
            "{width} is half of the 95 % interval of {}, wider than asked for (did-not-converge): smaller differences say \
             nothing, more trials narrow it",
            count(usize::try_from(trials).unwrap_or(usize::MAX), "trial")
        ))
    }

    /// `███████░░░   71%`, or the number alone.
    fn share(&self, extent: Extent) -> Option<Cell> {
        let share = self.worst.share()?;
        let percent = self.percent()?;
        Some(match extent {
            Extent::Share | Extent::Limit => percent.into(),
            Extent::Bar => {
                let full = ((share / 100.0 * BAR as f64).round() as usize).min(BAR);
                format!("{}{} {percent:>5}", "█".repeat(full), "░".repeat(BAR - full)).into()
            }
            Extent::Page => {
                let plot = CellPlot::Share { percent: share.min(100.0), tone: self.tone() };
                Cell { plot: Some(plot), ..percent.into() }
            }
        })
    }
}

fn lay_out(parts: &[Part<'_>], is_fleet: bool, is_judged: bool, extent: Extent) -> Table {
    let differ = |text: fn(&Part<'_>) -> String| parts.iter().any(|part| text(part) != text(&parts[0]));
    let has_ends = is_judged || differ(|part| part.badge().word.to_owned());
    let badge = |part: &Part<'_>| match (has_ends, is_judged) {
        (false, _) => Cell::default(),
        (_, true) => part.badge().into(),
        (_, false) => Badge::from(part.worst.case.outcome).into(),
    };
    let mut table = Builder::new("", parts)
        .column(Column::words(if is_judged { "verdict" } else { "outcome" }).unbroken(), badge)
        .column(Column::words("part").unbroken(), |part| {
            Cell::from(part.name.as_str()).case(part.worst.case.case.as_str())
        })
        .column(Column::words("test").unbroken(), |part| part.test.as_str());
    if is_fleet {
        let has_numbers = parts
            .iter()
            .any(|part| part.with_number() != parts[0].with_number() || part.worst.metric().is_none());
        table = table
            .numbers("measured", |part| has_numbers.then(|| part.with_number()))
            .numbers("median", Part::median)
            .numbers("worst", Part::worst_or_end)
            .column(Column::words("on").unbroken(), |part| ends_of(part.worst.case));
    } else {
        table = table.numbers("measured", Part::measured);
    }
    // A terminal has no room for the limit of a fleet: the bar has its share.
    let has_limit = extent == Extent::Page || (!is_fleet && extent >= Extent::Limit);
    let table = if has_limit { table.numbers("limit", Part::limit) } else { table };
    let mut table = table
        .column(Column::words("of limit").unbroken(), |part| part.share(extent).unwrap_or_default())
        .about(|part, row| row.tone = part.tone())
        .finish();
    table.remarks.extend(parts.iter().find_map(Part::width_in_words).filter(|_| is_fleet));
    let limits: BTreeSet<Option<String>> = parts.iter().map(Part::limit).collect();
    if let (false, [Some(limit)]) = (has_limit, limits.iter().collect::<Vec<_>>().as_slice()) {
        let formulas: BTreeSet<Option<&str>> =
            parts.iter().map(|part| part.worst.metric()?.limit.formula.as_deref()).collect();
        let of = match formulas.iter().collect::<Vec<_>>().as_slice() {
            [Some(formula)] => format!(": {formula}"),
            _ => String::new(),
        };
        table.remarks.push(format!("each limit is {limit}{of}"));
    }
    table
}
