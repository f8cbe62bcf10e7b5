//! Bounds of criteria, and requirements on facts and settings.

use seatrial_model::profile::{Bar, Bounds, Requirement};

use crate::Diagnostics;
use crate::diagnostic::Position;
use crate::table::{Cell, Table};

pub(super) fn bounds(table: &mut Table<'_>, found: &mut Diagnostics) -> Option<(Bounds, Vec<Position>)> {
    let given: Vec<Cell<'_>> =
        ["at_least", "at_most", "equals", "within"].into_iter().filter_map(|key| table.take(key)).collect();
    let cell = match given.as_slice() {
        [] => {
            let advice = "write one of at_least, at_most, equals or within";
            found.error(table.at, "a criterion without a bound judges nothing").help(advice);
            return None;
        }
        [only] => only,
        [first, second, ..] => {
            let advice = "write two criteria, or `within = [low, high]`";
            found
                .error(second.key_at, "a criterion has one bound")
                .also(first.key_at, "the first one")
                .help(advice);
            return None;
        }
    };
    if cell.key == "within" {
        return within(cell, found);
    }
    let bar = bar(cell, found)?;
    let bounds = match cell.key {
        "at_least" => Bounds::AtLeast(bar),
        "at_most" => Bounds::AtMost(bar),
        _ => Bounds::Equals(bar),
    };
    Some((bounds, vec![cell.at]))
}

fn within(cell: &Cell<'_>, found: &mut Diagnostics) -> Option<(Bounds, Vec<Position>)> {
    let items = cell.array(found)?;
    let [low, high] = items.as_slice() else {
        found.error(
            cell.at,
            format!("'within' needs two values, the lower and the upper bound; {} given", items.len()),
        );
        return None;
    };
    let (low_bar, high_bar) = (bar(low, found), bar(high, found));
    Some((Bounds::Within(low_bar?, high_bar?), vec![low.at, high.at]))
}

/// `"9 Gbit/s"`, a plain count, or `{ percent_of = "limit", value = 90 }`.
fn bar(cell: &Cell<'_>, found: &mut Diagnostics) -> Option<Bar> {
    if !cell.is_table() {
        return cell.quantity(found).map(|quantity| Bar::Absolute(quantity.value));
    }
    let mut table = cell.table(found)?;
    let of = table.required_text("percent_of", found);
    let value = table.take("value");
    if value.is_none() {
        found.error(cell.at, "percent_of needs 'value', the percentage");
    }
    let value = value.and_then(|value| value.quantity(found));
    table.finish(found);
    let (of, value) = (of?, value?);
    // `90` and `"90 %"` are the same; any other unit is an error.
    let percent = value.value;
    if percent.unit() != seatrial_model::Unit::Count && percent.unit() != seatrial_model::Unit::Percent {
        found.error(value.at, format!("a percentage is a plain number, not one in {}", percent.unit()));
        return None;
    }
    let words = ["limit", "nominal", "fleet_median", "reference"];
    match of.value.as_str() {
        "limit" => Some(Bar::PercentOfLimit(percent.value())),
        "nominal" => Some(Bar::PercentOfNominal(percent.value())),
        "fleet_median" => Some(Bar::PercentOfFleetMedian(percent.value())),
        "reference" => Some(Bar::PercentOfReference(percent.value())),
        other => {
            let title = format!("percent_of is one of {}, not '{other}'", words.join(", "));
            found.error(of.at, title).suggest(other, words);
            None
        }
    }
}

pub(super) fn requirement(table: &mut Table<'_>, found: &mut Diagnostics) -> Requirement {
    let mut quantity = |key| Some(table.take(key)?.quantity(found)?.value);
    let (at_least, at_most) = (quantity("at_least"), quantity("at_most"));
    let equals = table.take("equals").and_then(|cell| cell.scalar(found)).map(|scalar| scalar.value);
    Requirement { at_least, at_most, equals, ..Requirement::default() }
}
