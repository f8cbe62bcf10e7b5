//! Settings, roles, waivers and limits.

use seatrial_model::Value;
use seatrial_model::profile::{NodeSet, PriceShare};

use crate::Diagnostics;
use crate::diagnostic::At;
use crate::layer::{LimitEntry, PriceEntry, RoleEntry, SettingBound, SettingEntry, WaiverEntry};
use crate::read::choice::{absence, missed};
use crate::read::pairs::{name, pairs};
use crate::read::test::expected_number;
use crate::table::{Cell, Table};

pub(super) fn setting(mut table: Table<'_>, found: &mut Diagnostics) -> Option<SettingEntry> {
    let id = table.required_text("id", found);
    let bounds: Vec<SettingBound> = ["equals", "none_of", "at_least", "at_most"]
        .into_iter()
        .filter_map(|key| bound(&mut table, key, found))
        .collect();
    let on = pairs(&mut table, "on", found);
    let roles = table.texts("roles", found);
    let why = table.text("why", found).map(|why| why.value);
    let missed = missed(&mut table, found);
    let without_value = absence(&mut table, "without_value", found);
    let without_value = without_value.map(|without| without.value).unwrap_or_default();
    if bounds.is_empty() {
        found.error(table.at, "a [[setting]] needs equals, none_of, at_least or at_most");
    }
    table.finish(found);
    Some(SettingEntry { id: id?, bounds, on, roles, why, missed, without_value })
}

/// One value, or an array for a setting with several values.
fn bound(table: &mut Table<'_>, key: &'static str, found: &mut Diagnostics) -> Option<SettingBound> {
    let cell = table.take(key)?;
    let values = cell.one_or_more().iter().filter_map(|cell| cell.scalar(found)).collect();
    Some(SettingBound { key, at: cell.at, values })
}

/// `[roles.head]` and its siblings; clears `is_whole` when one of them could not be read.
pub(super) fn roles(profile: &mut Table<'_>, is_whole: &mut bool, found: &mut Diagnostics) -> Vec<RoleEntry> {
    let Some(cell) = profile.take("roles") else { return Vec::new() };
    if !cell.is_table() {
        let advice = "write [roles.NAME] for each role, and roles = [\"NAME\"] in the tests for it";
        found.error(cell.at, "'roles' of a profile is a table of roles").help(advice);
        *is_whole = false;
        return Vec::new();
    }
    let roles = cell.table(found);
    let roles: Vec<Cell<'_>> = roles.iter().flat_map(Table::entries).collect();
    let role = |cell: Cell<'_>| {
        let mut table = cell.table(found)?.called(format!("[roles.{}]", cell.key));
        let nodes = nodes(&mut table, found);
        let expect = table.take("expect").and_then(|cell| expected_number(&cell, found));
        table.finish(found);
        Some(RoleEntry { id: name(&cell), nodes, expect })
    };
    let entries: Vec<RoleEntry> = roles.iter().copied().filter_map(role).collect();
    *is_whole &= entries.len() == roles.len();
    entries
}

pub(super) fn waiver(mut table: Table<'_>, found: &mut Diagnostics) -> Option<WaiverEntry> {
    let criterion = table.required_text("criterion", found);
    let nodes = nodes(&mut table, found);
    let owner = table.required_text("owner", found);
    let reason = table.required_text("reason", found);
    let until = table.take("until");
    if until.is_none() {
        found.error(table.at, "[[waiver]] needs 'until', the last day it holds");
    }
    let until = until.and_then(|cell| cell.date(found)).and_then(|date| day(&date, found));
    table.finish(found);
    Some(WaiverEntry {
        criterion: criterion?,
        nodes,
        owner: owner?.value,
        reason: reason?.value,
        until: until?,
    })
}

pub(super) fn limit(mut table: Table<'_>, found: &mut Diagnostics) -> Option<LimitEntry> {
    let test = table.required_text("test", found);
    let metric = table.required_text("metric", found);
    let cases = pairs(&mut table, "where", found);
    let value = table.take("value");
    if value.is_none() {
        found.error(table.at, "[[limit]] needs 'value', such as \"204.8 GB/s\"");
    }
    let value = value.and_then(|cell| cell.quantity(found));
    let source = table.required_text("source", found);
    table.finish(found);
    Some(LimitEntry { test: test?, metric: metric?, cases, value: value?, source: source?.value })
}

pub(super) fn price(mut table: Table<'_>, found: &mut Diagnostics) -> Option<PriceEntry> {
    let at = table.at;
    let on = pairs(&mut table, "on", found);
    if !on.iter().any(|(name, _)| name.value == "kind") {
        found.error(at, "[[price]] needs 'on', such as { kind = \"nic\" }");
    }
    let amount = table.take("amount");
    if amount.is_none() {
        found.error(at, "[[price]] needs 'amount', the price per device");
    }
    let amount = amount.and_then(|cell| {
        let number = match cell.scalar(found)?.value {
            Value::Count(count) => count as f64,
            Value::Number(number) => number,
            _ => 0.0,
        };
        if number <= 0.0 {
            found.error(cell.at, "'amount' must be a number above 0, without a currency");
        }
        Some(number)
    });
    let share = table.table("share", found).map(|table| share(table, found));
    let currency = table.required_text("currency", found);
    let source = table.text("source", found).map(|source| source.value);
    table.finish(found);
    let share = match share {
        Some(share) => Some(share?),
        None => None,
    };
    Some(PriceEntry { at, on, amount: amount?, share, currency: currency?.value, source })
}

fn share(mut table: Table<'_>, found: &mut Diagnostics) -> Option<PriceShare> {
    let of = table.required_text("of", found);
    let ports = table.take("ports");
    if ports.is_none() {
        found.error(table.at, "'share' needs 'ports', how many devices share it");
    }
    let ports = ports.and_then(|cell| {
        let count = cell.count(found)?;
        if count == 0 {
            found.error(cell.at, "'ports' is 1 or more");
        }
        Some(count.max(1))
    });
    table.finish(found);
    Some(PriceShare { of: of?.value, ports: ports? })
}

fn nodes(table: &mut Table<'_>, found: &mut Diagnostics) -> NodeSet {
    let Some(text) = table.text("nodes", found) else { return NodeSet::default() };
    text.value.parse().unwrap_or_else(|error| {
        found
            .error(text.at, format!("not a node list: {error}"))
            .help("a node list is written 'n[01-16],head'");
        NodeSet::default()
    })
}

fn day(text: &At<String>, found: &mut Diagnostics) -> Option<At<jiff::civil::Date>> {
    // A date with a time parses as a date too, but says more than a day.
    let is_short = text.value.trim().len() == "2026-12-31".len();
    match text.value.trim().parse::<jiff::civil::Date>() {
        Ok(value) if is_short => Some(At { value, at: text.at }),
        _ => {
            let title = format!("'{}' is not a date", text.value);
            found.error(text.at, title).help("a date is written 2026-12-31");
            None
        }
    }
}
