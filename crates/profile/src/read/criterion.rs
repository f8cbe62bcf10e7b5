//! `[[criterion]]`: demands on the results of a test.

use seatrial_model::Value;
use seatrial_model::profile::{Criterion, Missed, Statistic, WithoutLimit};

use crate::Diagnostics;
use crate::diagnostic::At;
use crate::layer::{CriterionEntry, Pairs, plain};
use crate::read::bounds::bounds;
use crate::read::test::name;
use crate::table::Table;

pub(super) fn criterion(mut table: Table<'_>, found: &mut Diagnostics) -> Option<CriterionEntry> {
    let id = table.text("id", found);
    let test = table.required_text("test", found);
    let metric = table.required_text("metric", found);
    let cases = pairs(&mut table, "where", found);
    let axes = pairs(&mut table, "at", found);
    let of = statistic(&mut table, found);
    let of = of.unwrap_or(At { value: Statistic::default(), at: table.at });
    let bounds = bounds(&mut table, found);
    let without_limit = without_limit(&mut table, found);
    let missed = missed(&mut table, found);
    let at = table.at;
    table.finish(found);

    let (test, metric, (bounds, bars)) = (test?, metric?, bounds?);
    let id = id.unwrap_or_else(|| At {
        value: Criterion::derived_id(&test.value, &metric.value, of.value, &plain(&cases), &plain(&axes)),
        at,
    });
    Some(CriterionEntry { id, test, metric, cases, axes, of, bounds, bars, without_limit, missed })
}

/// A table with free names, one value each.
pub(super) fn pairs(table: &mut Table<'_>, key: &'static str, found: &mut Diagnostics) -> Pairs<At<Value>> {
    let table = table.table(key, found);
    let cells = table.iter().flat_map(Table::entries);
    cells.filter_map(|cell| Some((name(&cell), cell.scalar(found)?))).collect()
}

pub(super) fn statistic(table: &mut Table<'_>, found: &mut Diagnostics) -> Option<At<Statistic>> {
    named(table, "of", &Statistic::ALL, found)
}

/// The one of `all` whose name is the text of `key`.
pub(super) fn named<T: Copy + std::fmt::Display>(
    table: &mut Table<'_>,
    key: &'static str,
    all: &[T],
    found: &mut Diagnostics,
) -> Option<At<T>> {
    let names: Vec<String> = all.iter().map(T::to_string).collect();
    let known: Vec<(&str, T)> = names.iter().map(String::as_str).zip(all.iter().copied()).collect();
    word(table, key, &known, found)
}

fn without_limit(table: &mut Table<'_>, found: &mut Diagnostics) -> Option<At<WithoutLimit>> {
    let known = [("skip", WithoutLimit::Skip), ("unknown", WithoutLimit::Unknown)];
    word(table, "without_limit", &known, found)
}

pub(super) fn missed(table: &mut Table<'_>, found: &mut Diagnostics) -> Missed {
    let known = [("fail", Missed::Fail), ("warn", Missed::Warn)];
    word(table, "missed", &known, found).map(|missed| missed.value).unwrap_or_default()
}

/// One of the `known` words under `key`.
pub(super) fn word<T: Copy>(
    table: &mut Table<'_>,
    key: &'static str,
    known: &[(&str, T)],
    found: &mut Diagnostics,
) -> Option<At<T>> {
    let word = table.text(key, found)?;
    let value = known.iter().find(|(name, _)| *name == word.value).map(|(_, value)| *value);
    if value.is_none() {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let title = format!("'{}' is not one of {}", word.value, names.join(", "));
        found.error(word.at, title).suggest(&word.value, names);
    }
    Some(At { value: value?, at: word.at })
}
