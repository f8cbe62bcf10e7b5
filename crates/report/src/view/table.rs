//! Tables as data, rendered by the terminal and the page.
//!
//! Text is as in the record: characters that a terminal or a page must not show are removed when the table is
//! rendered.

use seatrial_model::{Unit, Verdict};

use crate::grid::Side;
use crate::labels::{self, Label};
use crate::words::Badge;

/// A table. The first cell of a row names the row, unless it is a verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub title: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    pub remarks: Vec<String>,
    /// The forms that have all of its rows.
    pub forms: &'static str,
    /// The largest number of pieces of a table that is too wide: further columns are placed below, with the same
    /// labels.
    pub pieces: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    pub title: String,
    /// The unit of its quantities; `None` for other cells.
    pub unit: Option<Unit>,
    /// Numbers are aligned right.
    pub side: Side,
    /// Its cells are never wrapped: names for copying, and numbers.
    pub is_unbroken: bool,
    /// Left out where space is short.
    pub is_detail: bool,
    /// Moves into the title where all rows have the same cell and space is short.
    pub is_of_title: bool,
    pub is_label: bool,
    pub is_joined: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub cells: Vec<Cell>,
    /// Its nodes; empty for all nodes.
    pub nodes: Vec<String>,
    /// Its verdict; `None` for rows without one.
    pub tone: Option<Verdict>,
    /// Left out where space is short.
    pub is_detail: bool,
}

/// A cell; every part may be absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// A verdict, an outcome or a severity before the text.
    pub badge: Option<Badge>,
    pub text: String,
    /// Text after the number: half the width of an interval, for example.
    pub remark: String,
    /// A remark that is left out where space is short.
    pub detail: String,
    /// Reasons, printed below the table.
    pub notes: Vec<String>,
    pub case: Option<String>,
    /// The picture, for output that can draw.
    pub plot: Option<CellPlot>,
    pub is_best: bool,
}

/// A small picture as numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum CellPlot {
    /// One tick per value, one of them marked.
    Values { values: Vec<f64>, marked: Option<f64>, label: String },
    /// A share of the limit, at most 100 %, in the colour of a verdict.
    Share { percent: f64, tone: Option<Verdict> },
    /// A difference, on the scale of its column.
    Gain { gain: Gain, tone: Verdict, label: String },
}

/// A difference in percent, above zero for better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    pub percent: f64,
    pub ci95: Option<(f64, f64)>,
    /// The smallest difference that would have shown.
    pub smallest: Option<f64>,
}

impl Column {
    pub fn words(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    pub fn numbers(title: impl Into<String>) -> Self {
        Self { side: Side::Right, is_unbroken: true, ..Self::words(title) }
    }

    pub fn quantities(title: impl Into<String>, unit: Option<Unit>) -> Self {
        Self { unit, ..Self::numbers(title) }
    }

    pub fn unbroken(self) -> Self {
        Self { is_unbroken: true, ..self }
    }

    pub fn detail(self) -> Self {
        Self { is_detail: true, ..self }
    }

    pub fn of_title(self) -> Self {
        Self { is_of_title: true, ..self }
    }

    pub fn label(self) -> Self {
        Self { is_label: true, ..self }
    }

    pub fn joined(self) -> Self {
        Self { is_joined: true, ..self }
    }
}

impl Cell {
    /// A number with `decimals` decimals.
    pub fn number(value: Option<f64>, decimals: usize) -> Self {
        value.map(|value| format!("{value:.decimals$}")).into()
    }

    pub fn remark(self, remark: impl Into<String>) -> Self {
        Self { remark: remark.into(), ..self }
    }

    pub fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    pub fn notes<T: Into<String>>(self, notes: impl IntoIterator<Item = T>) -> Self {
        Self { notes: notes.into_iter().map(Into::into).collect(), ..self }
    }

    pub fn case<'c>(self, case: impl Into<Option<&'c str>>) -> Self {
        Self { case: case.into().map(str::to_owned), ..self }
    }

    fn is_empty(&self) -> bool {
        Self { case: None, ..self.clone() } == Self::default()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Badge> for Cell {
    fn from(badge: Badge) -> Self {
        Self { badge: Some(badge), ..Self::default() }
    }
}

impl From<Option<Badge>> for Cell {
    fn from(badge: Option<Badge>) -> Self {
        Self { badge, ..Self::default() }
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        text.unwrap_or_default().into()
    }
}

impl From<CellPlot> for Cell {
    fn from(plot: CellPlot) -> Self {
        Self { plot: Some(plot), ..Self::default() }
    }
}

/// A table that gets its columns one by one, with a row per item.
pub struct Builder<'a, T> {
    items: &'a [T],
    table: Table,
}

impl<'a, T> Builder<'a, T> {
    pub fn new(title: impl Into<String>, items: &'a [T]) -> Self {
        let rows = vec![Row::default(); items.len()];
        Self { items, table: Table { title: title.into(), rows, forms: "JSON form", ..Table::default() } }
    }

    pub fn column<C: Into<Cell>>(mut self, column: Column, mut cell: impl FnMut(&'a T) -> C) -> Self {
        for (row, item) in self.table.rows.iter_mut().zip(self.items) {
            row.cells.push(cell(item).into());
        }
        self.table.columns.push(column);
        self
    }

    pub fn words<C: Into<Cell>>(self, title: &str, cell: impl FnMut(&'a T) -> C) -> Self {
        self.column(Column::words(title), cell)
    }

    pub fn numbers<C: Into<Cell>>(self, title: &str, cell: impl FnMut(&'a T) -> C) -> Self {
        self.column(Column::numbers(title), cell)
    }

    /// Adds the columns that tell the items apart, from `labels`.
    pub fn labels(mut self, labels: &[Label]) -> Self {
        for column in labels::columns(labels) {
            for (row, cell) in self.table.rows.iter_mut().zip(column.cells()) {
                row.cells.push(cell.as_str().into());
            }
            let laid = match column.side() {
                Side::Left => Column::words(column.head()),
                Side::Right => Column::numbers(column.head()),
            };
            self.table.columns.push(laid.label());
        }
        self
    }

    /// Sets properties of each row.
    pub fn about(mut self, mut of: impl FnMut(&'a T, &mut Row)) -> Self {
        self.table.rows.iter_mut().zip(self.items).for_each(|(row, item)| of(item, row));
        self
    }

    pub fn whole(self) -> Table {
        self.table
    }

    /// The table, without empty columns.
    pub fn finish(self) -> Table {
        let mut table = self.table;
        table.retain(|_, cells| !cells.iter().all(|cell| cell.is_empty()));
        table
    }
}

impl Table {
    pub fn cells(&self, column: usize) -> impl Iterator<Item = &Cell> {
        self.rows.iter().filter_map(move |row| row.cells.get(column))
    }

    /// Adds a last row with the number of further rows of this verdict; no row for zero.
    pub fn push_hidden(&mut self, verdict: Verdict, number: usize) {
        if number == 0 {
            return;
        }
        if self.rows.is_empty() {
            // A single row has no columns to tell apart.
            self.columns.truncate(2);
        }
        let mut cells = vec![Cell::default(); self.columns.len()];
        let said = [Badge::from(verdict).into(), format!("{number} more").into()];
        cells.iter_mut().zip(said).for_each(|(cell, said)| *cell = said);
        self.rows.push(Row { cells, ..Row::default() });
    }

    /// Removes the columns that `is_kept` rejects; a table without rows keeps all.
    pub fn retain(&mut self, is_kept: impl Fn(&Column, &[&Cell]) -> bool) {
        if self.rows.is_empty() {
            return;
        }
        let columns = self.columns.iter().enumerate();
        let kept: Vec<bool> =
            columns.map(|(at, column)| is_kept(column, &self.cells(at).collect::<Vec<_>>())).collect();
        let mut keep = kept.iter();
        self.columns.retain(|_| keep.next() == Some(&true));
        for row in &mut self.rows {
            let mut keep = kept.iter();
            row.cells.retain(|_| keep.next() == Some(&true));
        }
    }

    /// The same without details.
    pub fn without_details(mut self) -> Self {
        self.rows.retain(|row| !row.is_detail);
        let is_drawn = |cell: &&Cell| Cell { plot: None, ..(*cell).clone() }.is_empty();
        self.retain(|column, cells| !column.is_detail && !cells.iter().all(is_drawn));
        for cell in self.rows.iter_mut().flat_map(|row| &mut row.cells) {
            cell.detail.clear();
        }
        self
    }
}
