//! Keys that take one of a few words.

use seatrial_model::profile::{Absence, Missed};

use crate::Diagnostics;
use crate::diagnostic::At;
use crate::table::Table;

pub(super) fn absence(
    table: &mut Table<'_>,
    key: &'static str,
    found: &mut Diagnostics,
) -> Option<At<Absence>> {
    word(table, key, &[("skip", Absence::Skip), ("unknown", Absence::Unknown)], found)
}

pub(super) fn missed(table: &mut Table<'_>, found: &mut Diagnostics) -> Missed {
    let known = [("fail", Missed::Fail), ("warn", Missed::Warn)];
    word(table, "missed", &known, found).map(|missed| missed.value).unwrap_or_default()
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
