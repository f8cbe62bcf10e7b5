//! A TOML table that records which keys were read, and values with their positions.

use seatrial_model::{Quantity, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Diagnostics;
use crate::diagnostic::{At, Diagnostic, Position};

pub(crate) struct Table<'t> {
    /// Its name in messages: `[[test]]`.
    what: String,
    pub at: Position,
    cells: Vec<Cell<'t>>,
    asked: Vec<&'static str>,
}

#[derive(Clone, Copy)]
pub(crate) struct Cell<'t> {
    /// The key; empty for elements of arrays.
    pub key: &'t str,
    pub key_at: Position,
    pub at: Position,
    value: &'t DeValue<'t>,
}

impl<'t> Table<'t> {
    pub fn new(what: impl Into<String>, at: Position, table: &'t DeTable<'t>) -> Self {
        let position =
            |span: std::ops::Range<usize>| Position { file: at.file, start: span.start, end: span.end };
        let cells = table.iter().map(|(key, value)| Cell {
            key: key.get_ref().as_ref(),
            key_at: position(key.span()),
            at: position(value.span()),
            value: value.get_ref(),
        });
        Self { what: what.into(), at, cells: cells.collect(), asked: Vec::new() }
    }

    pub fn called(self, what: String) -> Self {
        Self { what, ..self }
    }

    /// The value of `key`; marks the key as known.
    pub fn take(&mut self, key: &'static str) -> Option<Cell<'t>> {
        self.asked.push(key);
        self.cells.iter().find(|cell| cell.key == key).copied()
    }

    pub fn text(&mut self, key: &'static str, found: &mut Diagnostics) -> Option<At<String>> {
        self.take(key)?.text(found)
    }

    pub fn required_text(&mut self, key: &'static str, found: &mut Diagnostics) -> Option<At<String>> {
        let Some(cell) = self.take(key) else {
            found.error(self.at, format!("{} needs '{key}'", self.what));
            return None;
        };
        let text = cell.text(found)?;
        if text.value.trim().is_empty() {
            found.error(text.at, format!("'{key}' is empty"));
            return None;
        }
        Some(text)
    }

    /// The texts of the array `key`; empty when absent.
    pub fn texts(&mut self, key: &'static str, found: &mut Diagnostics) -> Vec<At<String>> {
        let items = self.take(key).and_then(|cell| cell.array(found)).unwrap_or_default();
        items.into_iter().filter_map(|item| item.text(found)).collect()
    }

    pub fn table(&mut self, key: &'static str, found: &mut Diagnostics) -> Option<Table<'t>> {
        self.take(key)?.table(found)
    }

    pub fn tables(&mut self, key: &'static str, found: &mut Diagnostics) -> Vec<Table<'t>> {
        let what = format!("[[{key}]]");
        let Some(cell) = self.take(key) else { return Vec::new() };
        let DeValue::Array(items) = cell.value else {
            found.error(cell.key_at, format!("write one {what} table per entry"));
            return Vec::new();
        };
        let tables =
            items.iter().filter_map(|item| Some(cell.element(item).table(found)?.called(what.clone())));
        tables.collect()
    }

    /// All entries of a table with free key names.
    pub fn entries(&self) -> impl Iterator<Item = Cell<'t>> {
        self.cells.iter().copied()
    }

    /// Reports every key that was not read.
    pub fn finish(self, found: &mut Diagnostics) {
        for cell in self.cells.iter().filter(|cell| !self.asked.contains(&cell.key)) {
            let title = format!("unknown key '{}' in {}", cell.key, self.what);
            found.error(cell.key_at, title).suggest(cell.key, self.asked.iter().copied());
        }
    }
}

impl<'t> Cell<'t> {
    fn element(&self, item: &'t Spanned<DeValue<'t>>) -> Self {
        let span = item.span();
        let at = Position { file: self.at.file, start: span.start, end: span.end };
        Self { at, value: item.get_ref(), ..*self }
    }

    fn mismatch<'f>(&self, wanted: &str, found: &'f mut Diagnostics) -> &'f mut Diagnostic {
        let have = match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        found.error(self.at, format!("'{}' must be {wanted}, not {have}", self.key))
    }

    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    pub fn text(&self, found: &mut Diagnostics) -> Option<At<String>> {
        if let DeValue::String(text) = self.value {
            return Some(At { value: text.clone().into_owned(), at: self.at });
        }
        self.mismatch("a string", found);
        None
    }

    pub fn date(&self, found: &mut Diagnostics) -> Option<At<String>> {
        match self.value {
            DeValue::Datetime(date) => Some(At { value: date.to_string(), at: self.at }),
            DeValue::String(text) => Some(At { value: text.clone().into_owned(), at: self.at }),
            _ => {
                self.mismatch("a date such as 2026-12-31", found);
                None
            }
        }
    }

    pub fn table(&self, found: &mut Diagnostics) -> Option<Table<'t>> {
        if let DeValue::Table(table) = self.value {
            return Some(Table::new(format!("'{}'", self.key), self.at, table));
        }
        self.mismatch("a table", found);
        None
    }

    pub fn array(&self, found: &mut Diagnostics) -> Option<Vec<Cell<'t>>> {
        if let DeValue::Array(items) = self.value {
            return Some(items.iter().map(|item| self.element(item)).collect());
        }
        let mismatch = self.mismatch("an array", found);
        if let DeValue::String(text) = self.value {
            mismatch.help(format!("write {} = [\"{text}\"]", self.key));
        }
        None
    }

    /// The elements of an array, or a single value as the only element.
    pub fn one_or_more(&self) -> Vec<Cell<'t>> {
        match self.value {
            DeValue::Array(items) => items.iter().map(|item| self.element(item)).collect(),
            _ => vec![*self],
        }
    }

    pub fn scalar(&self, found: &mut Diagnostics) -> Option<At<Value>> {
        let value = match self.value {
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Integer(_) | DeValue::Float(_) => self.number(found)?,
            _ => {
                self.mismatch("a string, a number, true or false", found);
                return None;
            }
        };
        Some(At { value, at: self.at })
    }

    /// A number with its unit in a text, or a plain number.
    pub fn quantity(&self, found: &mut Diagnostics) -> Option<At<Quantity>> {
        let value = self.scalar(found)?.value;
        match value.to_string().parse::<Quantity>() {
            Ok(value) => Some(At { value, at: self.at }),
            Err(error) => {
                found.error(self.at, format!("'{}': {error}", self.key));
                None
            }
        }
    }

    pub fn count(&self, found: &mut Diagnostics) -> Option<u64> {
        match self.scalar(found)?.value {
            Value::Count(count) => Some(count),
            _ => {
                self.mismatch("a whole number, 0 or more", found);
                None
            }
        }
    }

    fn number(&self, found: &mut Diagnostics) -> Option<Value> {
        let number = match self.value {
            DeValue::Integer(integer) => {
                if let Ok(count) = u64::from_str_radix(integer.as_str(), integer.radix()) {
                    return Some(Value::Count(count));
                }
                i64::from_str_radix(integer.as_str(), integer.radix())
                    .map_or(f64::INFINITY, |number| number as f64)
            }
            DeValue::Float(float) => float.as_str().parse().unwrap_or(f64::NAN),
            _ => f64::NAN,
        };
        if !number.is_finite() {
            found.error(self.at, format!("'{}' must be a finite number", self.key));
            return None;
        }
        Some(Value::Number(number))
    }
}
