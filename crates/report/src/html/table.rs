//! A table as the page shows it: a caption, heads with their scope, a row head, and what rows can be filtered by.

use askama::Template;

use super::words::{Badge, text, unmarked};
use crate::grid::{Column, Side};

#[derive(Clone, Debug, Default, Template)]
#[template(path = "table.html")]
pub struct Table {
    /// What it is about; screen readers say it first.
    pub caption: String,
    pub heads: Vec<Head>,
    /// Its rows; the first cell of each is its head.
    pub rows: Vec<Row>,
    /// Footnotes: reference and text.
    pub notes: Vec<(String, String)>,
    /// On a narrow screen each row is a block with its picture as wide as the screen, instead of a part of a table that
    /// is reached by scrolling.
    pub is_stacked: bool,
}

/// The head of a column.
#[derive(Clone, Debug, Default)]
pub struct Head {
    pub text: String,
    /// What its numbers are in.
    pub unit: String,
    /// Numbers stand on the right.
    pub is_number: bool,
    /// A picture under it, made by us: the axis of the pictures in its cells.
    pub picture: String,
}

#[derive(Clone, Debug, Default)]
pub struct Row {
    /// What links lead here by; empty for none.
    pub id: String,
    /// What it can be filtered by.
    pub filter: Filter,
    pub cells: Vec<Cell>,
}

/// What something on the page can be filtered by, as attributes of its element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Template)]
#[template(path = "filter.html")]
pub struct Filter {
    /// Nodes it is about, one a line; nothing is about all of them.
    pub nodes: String,
    /// Their roles, one a line.
    pub roles: String,
    /// The class of the verdict; nothing where nothing was judged.
    pub verdict: &'static str,
}

impl Filter {
    /// The class of what stays whatever verdicts are chosen.
    pub const ANY: &'static str = "any";

    /// What something about `nodes` can be filtered by.
    pub fn of_nodes<'n>(nodes: impl IntoIterator<Item = &'n str>, verdict: &'static str) -> Self {
        let nodes: Vec<String> = nodes.into_iter().map(text).collect();
        Self { nodes: nodes.join("\n"), roles: String::new(), verdict }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub text: String,
    /// A remark behind it.
    pub faint: String,
    /// A verdict or an outcome before it.
    pub badge: Option<Badge>,
    /// Where it leads: the id of something on the page.
    pub to: String,
    /// A small picture of it, made by us.
    pub picture: String,
}

impl Head {
    /// A column of words.
    pub fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A column of numbers.
    pub fn numbers(text: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { text: text.into(), unit: unit.into(), is_number: true, ..Self::default() }
    }
}

impl Cell {
    /// A cell that says `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A verdict or an outcome.
    pub fn badge(badge: Option<Badge>) -> Self {
        Self { badge, ..Self::default() }
    }

    /// The same with a remark behind it.
    #[must_use]
    pub fn with(self, faint: impl Into<String>) -> Self {
        Self { faint: faint.into(), ..self }
    }

    /// A small picture, made by us.
    pub fn picture(picture: String) -> Self {
        Self { picture, ..Self::default() }
    }

    /// The same, leading to something on the page.
    #[must_use]
    pub fn to(self, id: impl Into<String>) -> Self {
        Self { to: id.into(), ..self }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.faint.is_empty() && self.badge.is_none() && self.picture.is_empty()
    }
}

impl Table {
    /// A table that was made for the terminal.
    pub fn of_columns(caption: &str, columns: &[Column]) -> Self {
        let head = |column: &Column| Head {
            text: text(&unmarked(column.head())).replace('\n', " "),
            is_number: column.side() == Side::Right,
            ..Head::default()
        };
        let rows = columns.iter().map(|column| column.cells().len()).max().unwrap_or(0);
        let cell = |row: usize, column: &Column| {
            Cell::new(column.cells().get(row).map(|cell| text(&unmarked(cell))).unwrap_or_default())
        };
        let row =
            |row| Row { cells: columns.iter().map(|column| cell(row, column)).collect(), ..Row::default() };
        Self {
            caption: text(caption),
            heads: columns.iter().map(head).collect(),
            rows: (0..rows).map(row).collect(),
            ..Self::default()
        }
    }

    /// The same without columns in which nothing stands.
    #[must_use]
    pub fn tidy(mut self) -> Self {
        for at in (0..self.heads.len()).rev() {
            let is_empty = |row: &Row| row.cells.get(at).is_none_or(Cell::is_empty);
            if at > 0 && self.rows.iter().all(is_empty) {
                self.heads.remove(at);
                for row in self.rows.iter_mut().filter(|row| row.cells.len() > at) {
                    row.cells.remove(at);
                }
            }
        }
        self
    }

    fn is_number(&self, column: &usize) -> bool {
        self.heads.get(*column).is_some_and(|head| head.is_number)
    }

    /// What a cell says of its column where that has no head: what stands in it alone does not tell.
    fn label(&self, column: &usize, cell: &Cell) -> Option<&str> {
        let is_plain = cell.picture.is_empty() && cell.badge.is_none() && !cell.is_empty();
        let head = self.heads.get(*column).filter(|_| self.is_stacked && is_plain && *column > 0)?;
        Some(head.text.as_str())
    }

    /// Whether nothing stands in it.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
