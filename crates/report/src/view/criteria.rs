//! The verdicts: a row per verdict, or a row per criterion with its worst place.

use std::collections::{BTreeMap, HashMap};

use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Verdict, VerdictRecord, node_names};

use super::cases::by_id;
use super::nodes::{MARGIN, shortfall};
use super::parts::is_absent;
use super::table::{Builder, Cell, Column, Table};
use super::values::measured;
use crate::labels::named;
use crate::number::signed_percent;
use crate::words::{Badge, cut};

/// Of a setting's value, what the column of measured numbers has room for.
const LONGEST_PRESENT: usize = 24;

/// The verdicts on a criterion with one bound.
pub struct Criterion<'a> {
    pub worst: &'a VerdictRecord,
    /// Places in which it is met, including warnings, of all in which it applies.
    pub met: usize,
    unknown: usize,
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
    // What a share of a limit amounts to differs by node, and is not known of each.
    let demand = |bound: &'a str| bound.split_once(" (").map_or(bound, |(demand, _)| demand);
    let mut order: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&VerdictRecord>> = Vec::new();
    for record in &document.verdicts {
        let at = *order.entry((&record.criterion, demand(&record.bound))).or_insert(groups.len());
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
        unknown: applies().filter(|record| record.verdict == Verdict::Unknown).count(),
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
            unknown: self.unknown,
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
    /// In how many places it could not be judged.
    pub unknown: usize,
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
        .numbers("unknown", |row| (row.unknown > 0).then(|| row.unknown.to_string()))
        .column(Column::words(on).unbroken(), place)
        .numbers(MEASURED, |row| measured(row.record).or_else(|| present(row.record)))
        .words(WANTED, |row| short(&row.record.bound))
        .numbers(MARGIN, |row| row.record.margin_percent.map(signed_percent))
        .words("why", |row| {
            Cell::default().notes([&row.record.reason, &row.record.waiver].into_iter().flatten())
        })
        .about(|row, about| about.tone = Some(row.record.verdict))
        .finish()
}

/// The value of a setting.
fn present(record: &VerdictRecord) -> Option<String> {
    record.present.as_ref().map(|present| cut(present, LONGEST_PRESENT))
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
