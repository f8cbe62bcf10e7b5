//! Every criterion in one line: what is wanted, in how many places it is met, and the place that is furthest off.

use std::collections::{BTreeMap, HashMap};

use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Verdict, VerdictRecord};

use crate::number::{half_width, plain};
use crate::terminal::shortfall;
use crate::words::{clean, count};

/// The judgements of a criterion by one bound.
pub(crate) struct Criterion<'a> {
    /// The judgement that is furthest off.
    pub worst: &'a VerdictRecord,
    /// Places in which it is met, those with a warning too, of all in which it applies.
    pub met: usize,
    pub all: usize,
    /// What the places are: nodes, pairs, or anything of these.
    noun: &'static str,
    /// Whether the places that are met have the number that the worst has.
    is_same: bool,
}

/// Where what is judged stands: the cases of a document by name.
pub(crate) struct Places<'a>(HashMap<&'a str, &'a CaseRecord>);

impl<'a> Places<'a> {
    pub fn of(document: &'a Document) -> Self {
        Self(document.results.iter().map(|case| (case.case.as_str(), case)).collect())
    }

    /// The node, with what of it was judged: `n1`, `n1 nic:eth0`, `n1->n2`.
    pub fn place(&self, record: &VerdictRecord) -> String {
        let subject = record.subject.as_str();
        match (&record.node, subject) {
            (Some(node), "node") => clean(node),
            (Some(node), _) => clean(&format!("{node} {subject}")),
            (None, _) => match self.nodes(record) {
                [] => clean(subject),
                nodes if subject == "node" || subject.contains("->") => clean(&nodes.join("->")),
                nodes => clean(&format!("{} {subject}", nodes.join("->"))),
            },
        }
    }

    fn nodes(&self, record: &VerdictRecord) -> &[String] {
        let case = record.case.as_deref().and_then(|case| self.0.get(case));
        case.map_or(&[], |case| &case.nodes)
    }
}

/// Every criterion of `document` that `is_of` takes, in the order of its first judgement; the bound is part of what it is.
pub(crate) fn criteria<'a>(
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

impl Criterion<'_> {
    /// `6 of 6 pairs`.
    pub fn where_met(&self) -> String {
        format!("{} of {}", self.met, count(self.all, self.noun))
    }

    /// The place that is furthest off; `all` where none is further off than another.
    pub fn worst_place(&self, places: &Places<'_>) -> String {
        if self.is_same && self.all > 1 && self.met == self.all {
            "all".to_owned()
        } else {
            places.place(self.worst)
        }
    }
}

/// What was measured, with its interval.
pub(crate) fn measured(record: &VerdictRecord) -> String {
    let Some(value) = record.measured else { return String::new() };
    let unit = match value.unit() {
        seatrial_model::Unit::Count => String::new(),
        unit => format!(" {unit}"),
    };
    let number =
        format!("{}{unit}", if unit.is_empty() { value.value().to_string() } else { plain(value.value()) });
    let spread = record.interval.map(|(low, high)| half_width(value.value(), (low.value(), high.value())));
    [Some(number), spread].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The bound in signs, which are read at a glance.
pub(crate) fn short(bound: &str) -> String {
    let mut text = bound.to_owned();
    for (words, sign) in
        [("at least ", "≥ "), ("at most ", "≤ "), ("exactly ", "= "), (" % of the ", "% of ")]
    {
        text = text.replace(words, sign);
    }
    text
}
