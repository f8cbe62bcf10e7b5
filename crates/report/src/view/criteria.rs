//! The verdicts: a row per verdict, or a row per criterion with its worst place.

use std::collections::{BTreeMap, HashMap};

use seatrial_model::record::{CaseRecord, Document, MetricRecord};
use seatrial_model::{Better, Quantity, Verdict, VerdictRecord, node_names};

use super::cases::by_id;
use super::nodes::{MARGIN, shortfall};
use super::parts::is_absent;
use super::table::{Builder, Cell, Column, Table};
use crate::labels::named;
use crate::number::{half_width, signed_percent, whole_percent};
use crate::words::{Badge, rounded};

/// The verdicts on a criterion with one bound.
pub struct Criterion<'a> {
    pub worst: &'a VerdictRecord,
    /// Places in which it is met, including warnings, of all in which it applies.
    pub met: usize,
    pub all: usize,
    /// The kind of the places: nodes, pairs, or others.
    noun: &'static str,
    /// Whether all places that meet it have the same number as the worst.
    is_same: bool,
}

/// The cases of a document by name, to locate verdicts.
pub struct Places<'a>(HashMap<&'a str, &'a CaseRecord>);

impl<'a> Places<'a> {
    pub fn of(document: &'a Document) -> Self {
        Self(by_id(document))
    }

    /// The node, with its judged part: `n1`, `n1 eth0`, `n1->n2`.
    pub fn place(&self, record: &VerdictRecord) -> String {
        let subject = record.subject.as_str();
        let part = named(subject, "");
        match (&record.node, subject) {
            (Some(node), "node") => node.clone(),
            (Some(node), _) => format!("{node} {part}"),
            (None, _) => match self.nodes(record) {
                [] => part,
                nodes @ [_, _, _, ..] => node_names(nodes),
                nodes if subject == "node" || subject.contains("->") => nodes.join("->"),
                nodes => format!("{} {part}", nodes.join("->")),
            },
        }
    }

    pub fn case(&self, id: &str) -> Option<&'a CaseRecord> {
        self.0.get(id).copied()
    }

    /// Whether the judged part exists on its node.
    pub fn is_here(&self, record: &VerdictRecord) -> bool {
        let case = record.case.as_deref().and_then(|case| self.case(case));
        record.verdict != Verdict::Skip || !case.is_some_and(is_absent)
    }

    fn nodes(&self, record: &VerdictRecord) -> &[String] {
        let case = record.case.as_deref().and_then(|case| self.0.get(case));
        case.map_or(&[], |case| &case.nodes)
    }
}

/// Every criterion of `document` that `is_of` accepts, in the order of its first verdict; different bounds make
/// different criteria.
pub fn criteria<'a>(
    document: &'a Document,
    places: &Places<'_>,
    is_of: impl Fn(&VerdictRecord) -> bool,
) -> Vec<Criterion<'a>> {
    let mut order: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&VerdictRecord>> = Vec::new();
    for record in &document.verdicts {
        let at = *order.entry((&record.criterion, &record.bound)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(record);
    }
    groups.iter().filter_map(|group| of_group(group, places, &is_of)).collect()
}

fn of_group<'a>(
    group: &[&'a VerdictRecord],
    places: &Places<'_>,
    is_of: impl Fn(&VerdictRecord) -> bool,
) -> Option<Criterion<'a>> {
    let own = || group.iter().copied().filter(|record| is_of(record));
    let worst = own().min_by_key(|record| (std::cmp::Reverse(record.verdict), shortfall(record)))?;
    let applies = || group.iter().filter(|record| record.verdict != Verdict::Skip);
    let is_met = |record: &&&VerdictRecord| matches!(record.verdict, Verdict::Pass | Verdict::Warn);
    let has_pairs = group.iter().all(|record| places.nodes(record).len() == 2);
    let has_nodes = group.iter().all(|record| record.node.is_some() && record.subject.as_str() == "node");
    Some(Criterion {
        worst,
        met: applies().filter(is_met).count(),
        all: applies().count(),
        noun: match (has_nodes, has_pairs) {
            (true, _) => "node",
            (_, true) => "pair",
            _ => "place",
        },
        is_same: own().all(|record| record.measured == worst.measured),
    })
}

impl<'a> Criterion<'a> {
    /// Its row: the worst verdict, and its place; `all` if all places are equal.
    pub fn row(&self, places: &Places<'_>) -> Judgement<'a> {
        let is_all = self.is_same && self.all > 1 && self.met == self.all;
        let noun = if self.all == 1 { self.noun.to_owned() } else { format!("{}s", self.noun) };
        Judgement {
            record: self.worst,
            place: if is_all { "all".to_owned() } else { places.place(self.worst) },
            met: Cell::from(format!("{} of {}", self.met, self.all)).detail(noun),
        }
    }
}

/// The column of what was measured.
pub const MEASURED: &str = "measured";

/// The column of the bounds.
pub const WANTED: &str = "wanted";

#[derive(Clone, Debug)]
pub struct Judgement<'a> {
    pub record: &'a VerdictRecord,
    pub place: String,
    pub met: Cell,
}

pub fn table(title: &str, rows: &[Judgement<'_>], has_places: bool, is_fleet: bool) -> Table {
    let differ = rows.iter().any(|row| row.place != rows[0].place);
    let on = if is_fleet { "on" } else { "subject" };
    let place = |row: &Judgement<'_>| {
        let place = if has_places || differ { row.place.as_str() } else { "" };
        Cell::from(place).case(row.record.case.as_deref())
    };
    Builder::new(title, rows)
        .column(Column::words("verdict").unbroken(), |row| Badge::from(row.record.verdict))
        .column(Column::words("criterion").unbroken(), |row| row.record.criterion.as_str())
        .numbers("met", |row| row.met.clone())
        .column(Column::words(on).unbroken(), place)
        .numbers(MEASURED, |row| measured(row.record))
        .words(WANTED, |row| short(&row.record.bound))
        .numbers(MARGIN, |row| row.record.margin_percent.map(signed_percent))
        .words("why", |row| {
            Cell::default().notes([&row.record.reason, &row.record.waiver].into_iter().flatten())
        })
        .about(|row, about| about.tone = Some(row.record.verdict))
        .finish()
}

pub fn measured(record: &VerdictRecord) -> Option<String> {
    let value = record.measured?;
    let spread = record.interval.map(|(low, high)| half_width(value.value(), (low.value(), high.value())));
    Some(rounded(value) + &spread.map(|spread| format!(" {spread}")).unwrap_or_default())
}

/// The bound that `metric` was held against, in its unit; `None` if the verdict is about another number.
pub fn bar(record: &VerdictRecord, metric: &MetricRecord) -> Option<f64> {
    let measured = record.measured?.to(metric.unit).ok()?.value();
    let is_it = is_same(measured, metric.median);
    let margin = record.margin_percent? / 100.0;
    let share = match metric.better {
        Better::Higher => 1.0 + margin,
        Better::Lower => 1.0 - margin,
        Better::None => return None,
    };
    (is_it && share > 0.0).then(|| measured / share)
}

/// `the bound is missed by 22 %`.
pub fn against_bound(percent: f64) -> String {
    match percent < 0.0 {
        true => format!("the bound is missed by {}", spaced(-percent)),
        false => format!("the bound is met with {} to spare", spaced(percent)),
    }
}

/// `22 %`.
pub fn spaced(percent: f64) -> String {
    whole_percent(percent).replace('%', " %")
}

/// The share of the limit that the judged number reaches, in percent.
pub fn share_of_limit(record: &VerdictRecord, case: Option<&CaseRecord>) -> Option<f64> {
    let value = record.measured?;
    let is_it = |metric: &&MetricRecord| {
        let measured = value.to(metric.unit).map(Quantity::value);
        measured.is_ok_and(|measured| is_same(measured, metric.median))
    };
    case?.metrics.values().find(is_it)?.percent_of_limit()
}

fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs()
}

/// The bound in signs.
pub fn short(bound: &str) -> String {
    let mut text = bound.to_owned();
    for (words, sign) in
        [("at least ", "≥ "), ("at most ", "≤ "), ("exactly ", "= "), (" % of the ", "% of ")]
    {
        text = text.replace(words, sign);
    }
    text
}

#[cfg(test)]
mod tests {
    use seatrial_model::record::Summary;
    use seatrial_model::{LimitRecord, Subject, Unit};

    use super::*;

    fn metric(better: Better, median: f64) -> MetricRecord {
        let summary = Summary {
            n: 3,
            trials: 3,
            median,
            mad: 0.0,
            min: median,
            max: median,
            mean: median,
            p99: None,
            ci95: None,
        };
        MetricRecord::new(Unit::Microsecond, better, &summary, LimitRecord::unknown("nothing states it"))
    }

    fn record(measured: &str, margin_percent: f64) -> VerdictRecord {
        VerdictRecord {
            criterion: "c".to_owned(),
            test: "t".to_owned(),
            case: None,
            node: None,
            subject: Subject::node(),
            verdict: Verdict::Pass,
            measured: Some(measured.parse::<Quantity>().unwrap()),
            interval: None,
            bound: String::new(),
            margin_percent: Some(margin_percent),
            reason: None,
            remedy: None,
            waiver: None,
        }
    }

    #[test]
    fn a_bound_follows_from_the_measured_value_and_its_margin() {
        // At least 8, at most 16, in the unit of the metric.
        assert_eq!(bar(&record("12 us", 50.0), &metric(Better::Higher, 12.0)), Some(8.0));
        assert_eq!(bar(&record("0.012 ms", 25.0), &metric(Better::Lower, 12.0)), Some(16.0));
        assert_eq!(bar(&record("12 us", -50.0), &metric(Better::Higher, 12.0)), Some(24.0));
        // About another number, such as a percentile.
        assert_eq!(bar(&record("12 us", 50.0), &metric(Better::Higher, 11.0)), None);
        assert_eq!(bar(&record("12 us", 50.0), &metric(Better::None, 12.0)), None);
    }
}
