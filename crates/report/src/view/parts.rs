//! The parts of the machines: a row per part and test, with its headline, its limit and its verdict.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use seatrial_model::record::{CaseRecord, Document, MetricRecord};
use seatrial_model::{Better, Outcome, Verdict, node_names};
use seatrial_stats::Sorted;

use super::cases::{Verdicts, verdicts};
use super::nodes::{is_fleet, spoken_of};
use super::table::{Builder, Cell, CellPlot, Column, Table};
use crate::labels::{Label, named};
use crate::number::{half_width, whole_percent};
use crate::words::{Badge, count, quantity, tone};

/// Characters of a full bar.
const BAR: usize = 10;

/// One test of one part, over all nodes.
pub struct Part<'a> {
    pub name: String,
    pub test: String,
    /// The case with the heaviest verdict; of these the one farthest from its limit.
    pub worst: &'a CaseRecord,
    verdict: Option<Verdict>,
    cases: Vec<&'a CaseRecord>,
}

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
    let judged = verdicts(document);
    let there: Vec<&CaseRecord> = document.results.iter().filter(|case| !is_absent(case)).collect();
    let values = differing(&there);
    let of_test = |case: &CaseRecord| joined(&case.bench, &values_of(case, &values));
    let of_bench = |case: &CaseRecord| case.bench.clone();
    let mut parts = group(&there, &judged, of_test);
    if parts.len() > most {
        parts = group(&there, &judged, of_bench);
    }
    let hidden = if extent == Extent::Page { 0 } else { parts.len().saturating_sub(most) };
    if hidden > 0 {
        // The worst stay, in the order of the run.
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|at| Reverse(parts[*at].tone()));
        let kept: BTreeSet<usize> = order.into_iter().take(most).collect();
        let mut at = 0..;
        parts.retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
    }
    let mut table = lay_out(&parts, is_fleet(document), !judged.is_empty(), extent);
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
fn differing<'a>(cases: &[&'a CaseRecord]) -> HashMap<&'a str, BTreeSet<&'a str>> {
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

fn values_of(case: &CaseRecord, differing: &HashMap<&str, BTreeSet<&str>>) -> String {
    let names = differing.get(case.bench.as_str());
    let own = case.params.iter().filter(|(name, _)| names.is_some_and(|names| names.contains(name)));
    let told = own.map(|(_, value)| value.to_string()).filter(|value| value != "auto");
    told.collect::<Vec<_>>().join(" ")
}

fn joined(one: &str, other: &str) -> String {
    [one, other].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A row per part and benchmark of the cases that measured something of `nodes`.
pub fn of_nodes<'a>(document: &'a Document, judged: &Verdicts<'_>, nodes: &BTreeSet<&str>) -> Vec<Part<'a>> {
    let is_of = |case: &&CaseRecord| case.nodes.iter().any(|node| nodes.contains(node.as_str()));
    let there = document.results.iter().filter(|case| !is_absent(case)).filter(is_of);
    group(&there.collect::<Vec<_>>(), judged, |case| case.bench.clone())
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
pub fn of_each_node<'a>(document: &'a Document, judged: &Verdicts<'_>) -> Vec<Part<'a>> {
    let there = document.results.iter().filter(|case| !is_absent(case));
    let of_case = |case: &'a CaseRecord| {
        spoken_of(case).flat_map(move |node| {
            let own = ends(case, &BTreeSet::from([node.as_str()]));
            own.into_iter().map(move |name| (name, node.clone(), case))
        })
    };
    grouped(there.flat_map(of_case), judged)
}

fn group<'a>(
    cases: &[&'a CaseRecord],
    judged: &Verdicts<'_>,
    test: impl Fn(&CaseRecord) -> String,
) -> Vec<Part<'a>> {
    grouped(cases.iter().map(|case| (name(case), test(case), *case)), judged)
}

/// The cases by name of the part and by test.
fn grouped<'a>(
    cases: impl Iterator<Item = (String, String, &'a CaseRecord)>,
    judged: &Verdicts<'_>,
) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    for (name, test, case) in cases {
        let at = *places.entry((name.clone(), test.clone())).or_insert_with(|| {
            parts.push(Part { name, test, worst: case, verdict: None, cases: Vec::new() });
            parts.len() - 1
        });
        parts[at].cases.push(case);
    }
    for part in &mut parts {
        let verdict = |case: &CaseRecord| judged.get(case.case.as_str()).copied();
        let weight = |case: &&CaseRecord| {
            // In thousandths of a percent: integers order totally. Unknown shares come last.
            let share = share(case).map_or(i64::MAX, |percent| (percent * 1e3) as i64);
            (Reverse(verdict(case).or_else(|| ended(case))), share)
        };
        part.worst = part.cases.iter().copied().min_by_key(weight).unwrap_or(part.worst);
        part.verdict = verdict(part.worst);
    }
    parts
}

/// What the case's end says where nothing judges it: nothing if it has numbers.
fn ended(case: &CaseRecord) -> Option<Verdict> {
    (case.outcome != Outcome::Measured).then(|| tone(case.outcome))
}

/// How much of its limit the headline reaches, in percent; of a time, the limit as a share of the time.
fn share(case: &CaseRecord) -> Option<f64> {
    let (_, metric) = case.headline()?;
    let percent = metric.percent_of_limit().filter(|percent| *percent > 0.0)?;
    Some(if metric.better == Better::Lower { 1e4 / percent } else { percent })
}

/// The name of the part that a case measures, without nodes: `memory`, `GPU 0`, `eth0`, `/scratch`.
fn name(case: &CaseRecord) -> String {
    named(Label::of_case(case).without_nodes(&case.nodes).subject(), &case.bench)
}

impl Part<'_> {
    pub fn tone(&self) -> Option<Verdict> {
        self.verdict.or_else(|| ended(self.worst))
    }

    pub fn badge(&self) -> Badge {
        match self.verdict {
            Some(verdict) if self.worst.outcome == Outcome::Measured => verdict.into(),
            _ => self.worst.outcome.into(),
        }
    }

    /// The headline of the worst case.
    fn metric(&self) -> Option<&MetricRecord> {
        self.worst.headline().map(|(_, metric)| metric)
    }

    /// The headline of the worst case, as text.
    pub fn value(&self) -> Option<String> {
        let metric = self.metric()?;
        Some(quantity(metric.median, metric.unit))
    }

    pub fn limit(&self) -> Option<String> {
        let metric = self.metric()?;
        Some(quantity(metric.limit.value?, metric.unit))
    }

    /// Of a time, the time in percent of its limit: more than 100.
    pub fn percent(&self) -> Option<String> {
        self.metric()?.percent_of_limit().map(whole_percent)
    }

    /// How much of its limit the headline reaches, in percent.
    pub fn share_of_limit(&self) -> Option<f64> {
        share(self.worst)
    }

    /// The headline's median over the nodes.
    fn median(&self) -> Option<String> {
        let own = self.cases.iter().filter_map(|case| Some(case.headline()?.1.median));
        let median = Sorted::new(&own.collect::<Vec<_>>()).ok()?.quantile(0.5).ok()?;
        Some(quantity(median, self.metric()?.unit))
    }

    fn measured(&self) -> Cell {
        let Some(metric) = self.metric() else { return Cell::default() };
        let width = metric.ci95.map(|interval| half_width(metric.median, interval));
        Cell::from(quantity(metric.median, metric.unit)).remark(width.unwrap_or_default())
    }

    /// `███████░░░   71%`, or the number alone.
    fn share(&self, extent: Extent) -> Option<Cell> {
        let share = share(self.worst)?;
        let percent = whole_percent(self.metric()?.percent_of_limit()?);
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
    let badge = |part: &Part<'_>| if has_ends { Cell::from(part.badge()) } else { Cell::default() };
    let mut table = Builder::new("", parts)
        .column(Column::words(if is_judged { "verdict" } else { "outcome" }).unbroken(), badge)
        .column(Column::words("part").unbroken(), |part| {
            Cell::from(part.name.as_str()).case(part.worst.case.as_str())
        })
        .column(Column::words("test").unbroken(), |part| part.test.as_str());
    if is_fleet {
        let has_numbers = differ(|part| part.cases.len().to_string());
        table = table
            .numbers("measured", |part| has_numbers.then(|| part.cases.len().to_string()))
            .numbers("median", Part::median)
            .numbers("worst", Part::measured)
            .column(Column::words("on").unbroken(), |part| node_names(&part.worst.nodes));
    } else {
        table = table.numbers("measured", Part::measured);
    }
    // A terminal has no room for the limit of a fleet: the bar has its share.
    let has_limit = extent == Extent::Page || (!is_fleet && extent >= Extent::Limit);
    let table = if has_limit { table.numbers("limit", Part::limit) } else { table };
    table
        .column(Column::words("of limit").unbroken(), |part| part.share(extent).unwrap_or_default())
        .about(|part, row| row.tone = part.tone())
        .finish()
}
