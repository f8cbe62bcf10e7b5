//! A table as data: a terminal and a page lay out the same one.
//!
//! Text is as the record has it: what a terminal or a page must not show is taken out when the table is rendered.

use seatrial_model::{Unit, Verdict};

use crate::grid::Side;
use crate::labels::{self, Label};
use crate::words::Badge;

/// A table. The first cell of a row names it, unless a verdict stands there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it is about.
    pub title: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// What is said below it.
    pub remarks: Vec<String>,
    /// The forms that have all of its rows.
    pub forms: &'static str,
    /// Where it is too wide, further columns stand below the others, behind the same labels, in so many pieces at most.
    pub pieces: usize,
}

/// What all cells of a column share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    pub title: String,
    /// The unit of its quantities; none of other cells.
    pub unit: Option<Unit>,
    /// Numbers stand on the right.
    pub side: Side,
    /// Its cells are never broken into lines: names that people copy, and numbers.
    pub is_unbroken: bool,
    /// Left out where there is little room.
    pub is_detail: bool,
    /// Belongs to the title where all rows say the same and there is little room.
    pub is_of_title: bool,
    /// Tells the rows apart.
    pub is_label: bool,
    /// Stays with the column before it.
    pub is_joined: bool,
}

/// A row, with what it is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub cells: Vec<Cell>,
    /// Its nodes; none of what is about all of them.
    pub nodes: Vec<String>,
    /// How it came out; none where that is not the question.
    pub tone: Option<Verdict>,
    /// Left out where there is little room.
    pub is_detail: bool,
}

/// A cell; all of it may be missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// A verdict, an outcome or a severity before the text.
    pub badge: Option<Badge>,
    pub text: String,
    /// Behind the text: half the width of an interval, for example.
    pub remark: String,
    /// A remark that is left out where there is little room.
    pub detail: String,
    /// Reasons, which are told below the table.
    pub notes: Vec<String>,
    /// The case that tells more of it.
    pub case: Option<String>,
    /// What stands there where pictures can be drawn.
    pub plot: Option<CellPlot>,
    /// Whether it is the best of its table.
    pub is_best: bool,
}

/// A small picture as numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum CellPlot {
    /// A tick a value, one of them marked.
    Values { values: Vec<f64>, marked: Option<f64>, label: String },
    /// A difference, on the scale of its column.
    Gain { gain: Gain, tone: Verdict, label: String },
}

/// A difference in percent, above zero for the better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    pub percent: f64,
    /// Its 95 % interval.
    pub ci95: Option<(f64, f64)>,
    /// The smallest difference that would have shown.
    pub smallest: Option<f64>,
}

impl Column {
    /// A column of words.
    pub fn words(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// A column of numbers.
    pub fn numbers(title: impl Into<String>) -> Self {
        Self { side: Side::Right, is_unbroken: true, ..Self::words(title) }
    }

    /// A column of quantities in `unit`.
    pub fn quantities(title: impl Into<String>, unit: Option<Unit>) -> Self {
        Self { unit, ..Self::numbers(title) }
    }

    /// The same, its cells never broken into lines.
    pub fn unbroken(self) -> Self {
        Self { is_unbroken: true, ..self }
    }

    /// The same, left out where there is little room.
    pub fn detail(self) -> Self {
        Self { is_detail: true, ..self }
    }

    /// The same, part of the title where all rows say the same and there is little room.
    pub fn of_title(self) -> Self {
        Self { is_of_title: true, ..self }
    }

    /// The same, which tells the rows apart.
    pub fn label(self) -> Self {
        Self { is_label: true, ..self }
    }

    /// The same, never parted from the column before it.
    pub fn joined(self) -> Self {
        Self { is_joined: true, ..self }
    }
}

impl Cell {
    /// A number with so many decimals.
    pub fn number(value: Option<f64>, decimals: usize) -> Self {
        value.map(|value| format!("{value:.decimals$}")).into()
    }

    /// The same with a remark behind it.
    pub fn remark(self, remark: impl Into<String>) -> Self {
        Self { remark: remark.into(), ..self }
    }

    /// The same with a remark for where there is room.
    pub fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    /// The same with reasons.
    pub fn notes<T: Into<String>>(self, notes: impl IntoIterator<Item = T>) -> Self {
        Self { notes: notes.into_iter().map(Into::into).collect(), ..self }
    }

    /// The same with the case that tells more.
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

/// A table that gets its columns one by one, a row an item.
pub struct Builder<'a, T> {
    items: &'a [T],
    table: Table,
}

impl<'a, T> Builder<'a, T> {
    /// A table with a row for each of `items` and no column yet.
    pub fn new(title: impl Into<String>, items: &'a [T]) -> Self {
        let rows = vec![Row::default(); items.len()];
        Self { items, table: Table { title: title.into(), rows, forms: "JSON form", ..Table::default() } }
    }

    /// Adds `column` with the cell of each item.
    pub fn column<C: Into<Cell>>(mut self, column: Column, mut cell: impl FnMut(&'a T) -> C) -> Self {
        for (row, item) in self.table.rows.iter_mut().zip(self.items) {
            row.cells.push(cell(item).into());
        }
        self.table.columns.push(column);
        self
    }

    /// Adds a column of words.
    pub fn words<C: Into<Cell>>(self, title: &str, cell: impl FnMut(&'a T) -> C) -> Self {
        self.column(Column::words(title), cell)
    }

    /// Adds a column of numbers.
    pub fn numbers<C: Into<Cell>>(self, title: &str, cell: impl FnMut(&'a T) -> C) -> Self {
        self.column(Column::numbers(title), cell)
    }

    /// Adds the columns that tell the items apart, whose labels are `labels`.
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

    /// Says of each row what it is about.
    pub fn about(mut self, mut of: impl FnMut(&'a T, &mut Row)) -> Self {
        self.table.rows.iter_mut().zip(self.items).for_each(|(row, item)| of(item, row));
        self
    }

    /// The table, with all columns.
    pub fn whole(self) -> Table {
        self.table
    }

    /// The table, without columns in which nothing stands.
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

    /// Adds a last row that says how many more came out as `verdict`; nothing for none.
    pub fn push_hidden(&mut self, verdict: Verdict, number: usize) {
        if number == 0 {
            return;
        }
        if self.rows.is_empty() {
            // There is no other row to tell columns apart.
            self.columns.truncate(2);
        }
        let mut cells = vec![Cell::default(); self.columns.len()];
        let said = [Badge::from(verdict).into(), format!("{number} more").into()];
        cells.iter_mut().zip(said).for_each(|(cell, said)| *cell = said);
        self.rows.push(Row { cells, ..Row::default() });
    }

    /// Takes the columns out that `is_kept` does not take; all of a table without rows are kept.
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

    /// The same without what is left out where there is little room.
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
