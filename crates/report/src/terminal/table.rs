//! A table as text: colours are marks, reasons are references to notes, details are left out if they do not fit.

use crate::grid::{self, GridColumn};
use crate::ink::Ink;
use crate::notes::Notes;
use crate::view::table::{Cell, Table};
use crate::words::{Badge, clean, count, cut_middle, in_unit, unit};

/// `table` with its title, `most` of its rows, its remarks and the notes that it refers to; empty without rows.
pub fn block(table: Table, most: usize, notes: &mut Notes, width: u16) -> String {
    let text = text(table, most, notes, width);
    text + &notes.flush(width)
}

/// As [`block`], without printing the notes.
pub fn text(table: Table, most: usize, notes: &mut Notes, width: u16) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let mut table = table.without_details();
    let left_out = table.rows.len().saturating_sub(most);
    table.rows.truncate(most);
    let title = clean(&title(&mut table));
    let mut text: String = broken(&title, width).iter().map(|line| Ink::Strong.on(line) + "\n").collect();
    let pieces = pieces(&table, &columns(&table, notes), width);
    let shown = pieces.len().min(table.pieces.max(1));
    text.extend(pieces[..shown].iter().map(|piece| grid::fitted(piece, width)));
    if shown < pieces.len() {
        text += &format!(" more metrics in a wider terminal, and in the {}\n", table.forms);
    }
    if left_out > 0 {
        text += &format!(" {} in the {}\n", count(left_out, "more row"), table.forms);
    }
    if table.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.is_best) {
        table.remarks.insert(0, "* the best".to_owned());
    }
    if !table.remarks.is_empty() {
        text += &grid::wrapped(&Ink::Faint.on(&clean(&table.remarks.join("; "))), width);
    }
    text
}

/// Whether the rows of `table` are whole in `width` columns.
pub fn fits(table: &Table, width: u16) -> bool {
    let table = table.clone().without_details();
    grid::width(&columns(&table, &mut Notes::default())) <= width
}

/// Whether `width` columns hold `table`, if its words are wrapped.
pub fn can_fit(table: &Table, width: u16) -> bool {
    let table = table.clone().without_details();
    grid::least_width(&columns(&table, &mut Notes::default())) <= width
}

/// A title in lines of `width` columns, broken between its parts. A part that is wider, such as parameters with the path of a
/// library, is broken between its words, and its longest words are cut.
fn broken(title: &str, width: u16) -> Vec<String> {
    const BETWEEN: &str = " · ";
    let width = usize::from(width);
    let room = width.saturating_sub(BETWEEN.len());
    let mut lines: Vec<String> = Vec::new();
    for part in title.split(BETWEEN).filter(|part| !part.is_empty()) {
        let is_wide = part.chars().count() > room;
        let words = if is_wide { part.split(' ').collect() } else { vec![part] };
        for (at, word) in words.into_iter().enumerate() {
            let (between, begin) = if at == 0 { (BETWEEN, BETWEEN) } else { (" ", "   ") };
            let word = cut_middle(word, room);
            match lines.last_mut() {
                Some(line) if line.chars().count() + between.len() + word.chars().count() <= width => {
                    *line = [line.as_str(), &word].join(between);
                }
                Some(_) => lines.push(format!("{begin}{word}")),
                None => lines.push(word),
            }
        }
    }
    lines
}

/// The title, extended by the unit of all quantities and by columns whose cells are all the same; removes these
/// columns.
fn title(table: &mut Table) -> String {
    let mut title = table.title.clone();
    // The common text of all cells that have one.
    let shared = |cells: &[&Cell]| {
        let mut texts = cells.iter().map(|cell| cell.text.clone()).filter(|text| !text.is_empty());
        let first = texts.next().unwrap_or_default();
        texts.all(|text| text == first).then_some(first)
    };
    for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| column.is_of_title) {
        let of = if column.title == "in" { " in " } else { " · " };
        title.extend(shared(&table.cells(at).collect::<Vec<_>>()).map(|first| format!("{of}{first}")));
    }
    table.retain(|column, cells| !column.is_of_title || shared(cells).is_none());
    let mut units = table.columns.iter().filter_map(|column| column.unit);
    let first = units.next();
    if let Some(shared) = first.filter(|first| units.all(|unit| unit == *first)) {
        table.columns.iter_mut().for_each(|column| column.unit = None);
        title += &in_unit(shared).replacen(' ', " · ", 1);
    }
    title
}

pub fn columns(table: &Table, notes: &mut Notes) -> Vec<GridColumn> {
    let column = |(at, column): (usize, &crate::view::table::Column)| {
        let remarks = table.cells(at).map(|cell| cell.remark.chars().count());
        // Numbers are aligned right, and so are the remarks after them.
        let longest = if column.is_unbroken { remarks.max().unwrap_or(0) } else { 0 };
        let cells = table.cells(at).map(|cell| cell_text(cell, longest, notes)).collect();
        let unit = column.unit.map(unit).unwrap_or_default();
        let head = [clean(&column.title), unit.trim().to_owned()].join("\n");
        let laid = GridColumn::new(head.trim_end(), column.side, cells);
        if column.is_unbroken { laid.unbroken() } else { laid }
    };
    table.columns.iter().enumerate().map(column).collect()
}

fn cell_text(cell: &Cell, longest: usize, notes: &mut Notes) -> String {
    let said = clean(&cell.text);
    let said = if cell.is_best { Ink::Strong.on(&format!("*{said}")) } else { said };
    let remark = if said.is_empty() { String::new() } else { format!("{:>longest$}", clean(&cell.remark)) };
    let badge = cell.badge.map(Badge::marked).unwrap_or_default();
    let notes: Vec<String> = cell.notes.iter().map(|note| notes.refer(note)).collect();
    let parts = [badge, said, remark, notes.join(" ")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The table in one piece; if it is too wide and may be split, further columns are in further pieces, whose rows have
/// the same labels.
fn pieces(table: &Table, columns: &[GridColumn], width: u16) -> Vec<Vec<GridColumn>> {
    if table.pieces == 0 || grid::width(columns) <= width {
        return vec![columns.to_vec()];
    }
    let labels = table.columns.iter().take_while(|column| column.is_label).count();
    let mut pieces = vec![columns[..labels].to_vec()];
    let mut at = labels;
    while at < columns.len() {
        let joined = table.columns[at + 1..].iter().take_while(|column| column.is_joined).count();
        let group = &columns[at..=at + joined];
        let is_begun = pieces.last().is_some_and(|piece| piece.len() > labels);
        let with: Vec<GridColumn> = pieces.last().into_iter().flatten().chain(group).cloned().collect();
        if grid::width(&with) > width && is_begun {
            pieces.push(columns[..labels].iter().chain(group).cloned().collect());
        } else {
            pieces.pop();
            pieces.push(with);
        }
        at += joined + 1;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_with_the_path_of_a_library_has_no_line_wider_than_the_terminal() {
        let path = format!("/opt/{}/lib/libmpi.so.40", "a-long-folder/".repeat(8));
        let title = format!("mpi.point_to_point · n1->n2 · library={path} size=8 window=64 · in us");
        let lines = broken(&title, 60);
        assert_eq!(lines[0], "mpi.point_to_point · n1->n2");
        assert!(
            lines[1].starts_with(" · library=/opt/a-long") && lines[1].ends_with("/libmpi.so.40"),
            "{lines:?}"
        );
        assert!(lines[1].contains('…'), "{lines:?}");
        assert_eq!(lines[2..], ["   size=8 window=64 · in us"]);
        assert!(lines.iter().all(|line| line.chars().count() <= 60), "{lines:?}");
        assert_eq!(broken("net.rr · n1->n2 · time=1s", 60), ["net.rr · n1->n2 · time=1s"]);
    }
}
