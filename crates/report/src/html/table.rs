//! A table of the page: caption, column heads with their scope, row heads, and filters of rows.

use askama::Template;
use seatrial_model::Verdict;

use super::filter::Filter;
use super::plot::{Gains, rug};
use super::shown::Shown;
use super::words::{arrows, grouped, text};
use crate::grid::Side;
use crate::notes::Notes;
use crate::view::table::{self as view, CellPlot};
use crate::words::{Badge, count, in_unit, unit};

#[derive(Clone, Debug, Default, Template)]
#[template(path = "table.html")]
pub struct PageTable {
    /// The caption; screen readers read it first.
    caption: String,
    heads: Vec<Head>,
    rows: Vec<Row>,
    /// The column that names the rows: the first that is more than a verdict.
    head: usize,
    /// Footnotes: reference and text.
    notes: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
struct Head {
    text: String,
    unit: String,
    /// Both, before a cell on a narrow screen.
    label: String,
    is_number: bool,
    /// The axis of the pictures in its cells.
    picture: String,
}

#[derive(Clone, Debug)]
struct Row {
    filter: Filter,
    cells: Vec<Cell>,
}

#[derive(Clone, Debug)]
struct Cell {
    text: String,
    faint: String,
    badge: Option<Badge>,
    to: String,
    picture: String,
}

impl Cell {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.faint.is_empty() && self.badge.is_none() && self.picture.is_empty()
    }
}

impl PageTable {
    /// `most` rows of `table` on a page of its own.
    pub fn new(table: &view::Table, most: usize) -> Self {
        let filter = |row: &view::Row| Filter::of_nodes(row.nodes.iter().map(String::as_str), class(row));
        Self::with(table, most, Notes::default(), &|_| String::new(), &filter)
    }

    /// `table` below text that referred to `notes`.
    pub fn behind(notes: Notes, table: &view::Table) -> Self {
        Self::with(table, usize::MAX, notes, &|_| String::new(), &|_| Filter::default())
    }

    /// `most` rows of `table` on the page of a run.
    pub fn of_run(table: &view::Table, most: usize, shown: &Shown<'_>) -> Self {
        let filter = |row: &view::Row| shown.filter_of(row.nodes.iter().map(String::as_str), class(row));
        Self::with(table, most, Notes::default(), &|case| shown.place(case), &filter)
    }

    fn with(
        table: &view::Table,
        most: usize,
        mut notes: Notes,
        place: &dyn Fn(&str) -> String,
        filter: &dyn Fn(&view::Row) -> Filter,
    ) -> Self {
        let rows = &table.rows[..table.rows.len().min(most)];
        let gain = |cell: &view::Cell| match &cell.plot {
            Some(CellPlot::Gain { gain, .. }) => Some(*gain),
            _ => None,
        };
        let gains: Vec<view::Gain> = rows.iter().flat_map(|row| &row.cells).filter_map(gain).collect();
        let scale = Gains::new(&gains);
        let head = |(at, column): (usize, &view::Column)| Head {
            text: text(&column.title),
            unit: column.unit.map(unit).unwrap_or_default().trim().to_owned(),
            label: text(&format!("{}{}", column.title, column.unit.map(in_unit).unwrap_or_default())),
            is_number: column.side == Side::Right,
            picture: if table.cells(at).any(|cell| gain(cell).is_some()) {
                scale.axis()
            } else {
                String::new()
            },
        };
        let mut cell = |(cell, column): (&view::Cell, &view::Column)| {
            let said = text(&cell.text);
            let said = if column.is_label { arrows(&said) } else { said };
            let marks: Vec<String> = cell.notes.iter().map(|note| notes.refer(&text(note))).collect();
            let best = if cell.is_best { "best" } else { "" };
            let faint = [&text(&cell.remark), &text(&cell.detail), best, &marks.join(" ")];
            let faint: Vec<&str> = faint.into_iter().filter(|part| !part.is_empty()).collect();
            Cell {
                text: if column.side == Side::Right { grouped(&said) } else { said },
                faint: faint.join(" "),
                badge: cell.badge,
                to: cell.case.as_deref().map(place).unwrap_or_default(),
                picture: match &cell.plot {
                    Some(CellPlot::Gain { gain, tone, label }) => scale.picture(gain, *tone, &text(label)),
                    Some(CellPlot::Share { percent, tone }) => bar(*percent, *tone),
                    Some(CellPlot::Values { values, marked, label }) => rug(values, *marked, &text(label)),
                    None => String::new(),
                },
            }
        };
        let mut row = |row: &view::Row| Row {
            filter: filter(row),
            cells: row.cells.iter().zip(&table.columns).map(&mut cell).collect(),
        };
        let rows: Vec<Row> = rows.iter().map(&mut row).collect();
        let mut notes = notes.take();
        notes.extend(table.remarks.iter().map(|remark| (String::new(), text(remark))));
        if table.rows.len() > most {
            let more = count(table.rows.len() - most, "more row");
            notes.push((String::new(), format!("{more} in the {}", table.forms)));
        }
        Self {
            caption: text(&table.title),
            heads: table.columns.iter().enumerate().map(head).collect(),
            head: (0..table.columns.len())
                .find(|at| table.cells(*at).any(|cell| !cell.text.is_empty()))
                .unwrap_or(0),
            rows,
            notes,
        }
    }

    fn is_head(&self, column: &usize) -> bool {
        *column == self.head
    }

    fn is_number(&self, column: &usize) -> bool {
        self.heads.get(*column).is_some_and(|head| head.is_number)
    }

    /// The column's name for a cell, where it is unclear without: on a narrow screen a row is a block without heads.
    fn label(&self, column: &usize, cell: &Cell) -> Option<&str> {
        let is_plain = cell.picture.is_empty() && cell.badge.is_none() && !cell.is_empty();
        let head = self.heads.get(*column).filter(|_| is_plain && !self.is_head(column))?;
        Some(head.label.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

fn bar(percent: f64, tone: Option<Verdict>) -> String {
    let class = tone.map_or("", Verdict::word);
    format!("<span class=\"bar {class}\" aria-hidden=\"true\"><i style=\"width:{percent:.1}%\"></i></span>")
}

fn class(row: &view::Row) -> &'static str {
    row.tone.map_or(Filter::ANY, |tone| tone.word())
}
