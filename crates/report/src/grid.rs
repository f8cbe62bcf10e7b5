//! Text tables: a thin line under the head, two blanks between columns.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};

use crate::ink::{Ink, is_mark};

/// Blanks before a cell's text. The second blank between columns replaces the vertical line of other tables.
const PADDING: u16 = 1;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    #[default]
    Left,
    Right,
}

#[derive(Clone, Debug)]
pub struct GridColumn {
    head: String,
    side: Side,
    cells: Vec<String>,
    is_unbroken: bool,
}

impl GridColumn {
    pub fn words(head: impl Into<String>, cells: Vec<String>) -> Self {
        Self::new(head, Side::Left, cells)
    }

    pub fn numbers(head: impl Into<String>, cells: Vec<String>) -> Self {
        Self::new(head, Side::Right, cells)
    }

    pub fn new(head: impl Into<String>, side: Side, cells: Vec<String>) -> Self {
        Self { head: head.into(), side, cells, is_unbroken: side == Side::Right }
    }

    /// The same with cells that are never wrapped: names for copying. Numbers never are.
    #[must_use]
    pub fn unbroken(self) -> Self {
        Self { is_unbroken: true, ..self }
    }

    /// The same with words of `most` columns, as far as they can be broken.
    fn with_words(&self, most: u16) -> Self {
        let words =
            |text: &String| text.split(' ').map(|word| broken(word, most)).collect::<Vec<_>>().join(" ");
        let cells =
            if self.is_unbroken { self.cells.clone() } else { self.cells.iter().map(words).collect() };
        Self { cells, ..self.clone() }
    }

    pub fn head(&self) -> &str {
        &self.head
    }

    pub fn side(&self) -> Side {
        self.side
    }

    pub fn cells(&self) -> &[String] {
        &self.cells
    }

    pub fn is_empty(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }
}

/// The table of `columns`: one line per row, unless `width` demands wrapped words.
pub fn fitted(columns: &[GridColumn], width: u16) -> String {
    if columns.is_empty() {
        return String::new();
    }
    if self::width(columns) <= width { lines(&lay_out(columns)) } else { wrap_words(columns, width) }
}

fn wrap_words(columns: &[GridColumn], width: u16) -> String {
    let most = if least(columns, u16::MAX) <= width { u16::MAX } else { LONGEST_WORD };
    let columns: Vec<GridColumn> = columns.iter().map(|column| column.with_words(most)).collect();
    let mut table = lay_out(&columns);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    for (position, column) in columns.iter().enumerate() {
        if let Some(laid) = table.column_mut(position) {
            laid.set_constraint(match column.is_unbroken {
                true => ColumnConstraint::ContentWidth,
                false => ColumnConstraint::LowerBoundary(Width::Fixed(longest_word(column, most) + PADDING)),
            });
        }
    }
    lines(&table)
}

/// Longer words, such as paths, are broken where a table is too wide.
const LONGEST_WORD: u16 = 20;

/// Width of the longest word of a column, `most` at most.
fn longest_word(column: &GridColumn, most: u16) -> u16 {
    let words = column.cells.iter().chain([&column.head]).flat_map(|text| text.split_whitespace());
    let longest = words.map(|word| word.chars().filter(|sign| !is_mark(*sign)).count()).max();
    longest.and_then(|longest| u16::try_from(longest).ok()).map_or(0, |longest| longest.min(most))
}

/// `word` in pieces of `most` columns, which end with a sign between the parts of a name or path, as far as it has any.
fn broken(word: &str, most: u16) -> String {
    let length = |text: &str| text.chars().count();
    if length(word) <= usize::from(most) || word.contains(is_mark) {
        return word.to_owned();
    }
    let mut lines = vec![String::new()];
    for piece in word.split_inclusive(['=', ',', '.', '_', '/', '-', ':', '@']) {
        match lines.last_mut() {
            Some(line) if line.is_empty() || length(line) + length(piece) <= usize::from(most) => {
                *line += piece;
            }
            _ => lines.push(piece.to_owned()),
        }
    }
    lines.join("\n")
}

/// The width of the table in terminal columns.
pub fn width(columns: &[GridColumn]) -> u16 {
    let between = u16::try_from(columns.len().saturating_sub(1)).unwrap_or(u16::MAX);
    let cells = lay_out(columns).column_max_content_widths();
    cells.iter().map(|width| width + PADDING).sum::<u16>().saturating_add(between)
}

/// The width of the table where its words are wrapped as far as may be.
pub fn least_width(columns: &[GridColumn]) -> u16 {
    least(columns, LONGEST_WORD)
}

fn least(columns: &[GridColumn], most: u16) -> u16 {
    let between = u16::try_from(columns.len().saturating_sub(1)).unwrap_or(u16::MAX);
    let widths = lay_out(columns).column_max_content_widths();
    let least = columns.iter().zip(widths).map(|(column, whole)| {
        let words = if column.is_unbroken { whole } else { longest_word(column, most) + PADDING };
        words + PADDING
    });
    least.sum::<u16>().saturating_add(between)
}

fn lay_out(columns: &[GridColumn]) -> Table {
    let line = LineStyle::none().fill('─').junction('─');
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(line))
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|column| heading(&column.head)).collect::<Vec<_>>());
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        table.add_row(
            columns.iter().map(|column| column.cells.get(row).map_or("", String::as_str)).collect::<Vec<_>>(),
        );
    }
    for (position, column) in columns.iter().enumerate() {
        if let Some(laid) = table.column_mut(position) {
            laid.set_padding((PADDING, 0));
            laid.set_cell_alignment(match column.side {
                Side::Left => CellAlignment::Left,
                Side::Right => CellAlignment::Right,
            });
        }
    }
    table
}

/// Every line of a heading is marked separately, since a mark ends with its line.
fn heading(text: &str) -> String {
    text.split('\n').map(|line| Ink::Faint.on(line)).collect::<Vec<_>>().join("\n")
}

/// Label and text, the text wrapped to `width` after its label.
pub fn paragraphs(rows: &[(String, String)], width: u16) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    for (label, text) in rows {
        table.add_row([label.as_str(), text.as_str()]);
    }
    let widest = table.column_max_content_widths().first().copied().unwrap_or(0) + 2;
    if let Some(labels) = table.column_mut(0) {
        labels.set_constraint(ColumnConstraint::Absolute(Width::Fixed(widest)));
    }
    lines(&table)
}

pub fn wrapped(text: &str, width: u16) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.add_row([text]);
    lines(&table)
}

fn lines(table: &Table) -> String {
    table.lines().fold(String::new(), |text, line| text + &line + "\n")
}
