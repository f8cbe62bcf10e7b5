//! Tables of the document that a profile was made from, beside the results of a run.

use seatrial_analysis::{Basis, ComparedCell, ComparedTable, Counterpart, cause_word, source_tables};
use seatrial_model::Unit;
use seatrial_model::profile::{Profile, SourceValue};
use seatrial_model::record::Document;

use super::table::{Builder, Cell, Column, Table};
use crate::number::{decimals, plain, plus_minus};
use crate::words::{count, unit};

/// Every table of the document of `profile`.
pub fn tables(document: &Document, profile: &Profile) -> Vec<Table> {
    source_tables(profile, &document.run.nodes, &document.results).iter().map(table).collect()
}

/// The rows and columns of the document; each column as measured, as printed, and the ratio of the two.
fn table(compared: &ComparedTable<'_>) -> Table {
    let of = compared.table;
    let is_list = of.columns.iter().all(String::is_empty);
    let rows: Vec<usize> = (0..of.rows.len()).collect();
    let corner = if of.corner.is_empty() { "item" } else { &of.corner };
    let mut table = Builder::new(of.title.clone(), &rows)
        .column(Column::words(corner).label(), |row| of.rows[*row].name.as_str());
    for (at, name) in of.columns.iter().enumerate() {
        let cell = |row: &usize| compared.rows[*row].get(at).and_then(Option::as_ref);
        let column = SharedColumn::of(rows.iter().filter_map(cell), is_list);
        let head = if is_list { "measured" } else { name };
        table = table
            .column(Column::quantities(head, column.unit), |row| {
                cell(row).map_or_else(Cell::default, |cell| column.measured(cell))
            })
            .column(Column::quantities("document", column.unit).joined(), |row| {
                cell(row).map_or_else(Cell::default, |cell| column.printed(cell))
            })
            .column(Column::numbers("ratio").joined(), |row| {
                cell(row).and_then(|cell| cell.ratio).map(ratio)
            });
    }
    Table { remarks: remarks(compared, is_list), pieces: usize::MAX, ..table.whole() }
}

/// What the cells of a column share.
struct SharedColumn {
    /// The unit of all its numbers.
    unit: Option<Unit>,
    /// The only column of results, with room for words.
    is_list: bool,
}

impl SharedColumn {
    fn of<'a>(cells: impl Iterator<Item = &'a ComparedCell<'a>>, is_list: bool) -> Self {
        let mut units = cells.filter_map(|cell| match cell.printed.value {
            SourceValue::Quantity(quantity) => Some(quantity.unit()),
            SourceValue::Word(_) => None,
        });
        let first = units.next();
        Self { unit: first.filter(|first| units.all(|unit| unit == *first)), is_list }
    }

    fn unit(&self, of: Unit) -> String {
        if self.unit == Some(of) { String::new() } else { unit(of) }
    }

    fn printed(&self, cell: &ComparedCell<'_>) -> Cell {
        match &cell.printed.value {
            SourceValue::Word(word) => word.as_str().into(),
            SourceValue::Quantity(printed) => {
                format!("{}{}", printed.value(), self.unit(printed.unit())).into()
            }
        }
    }

    fn measured(&self, cell: &ComparedCell<'_>) -> Cell {
        let (value, of, basis, case) = match &cell.counterpart {
            Counterpart::NotMeasured(why) => {
                return Cell::from(if self.is_list { "not measured" } else { "–" }).notes([why.as_str()]);
            }
            Counterpart::Failed { cause, why, case } => {
                let cause = cause.map(cause_word).unwrap_or_default();
                return Cell::from("FAIL").detail(cause).notes([why.as_str()]).case(case.as_deref());
            }
            Counterpart::Number { value, unit, basis, case } => (*value, *unit, basis, case),
        };
        let is_count = of == Unit::Count && value.fract() == 0.0;
        let decimals = if is_count { 0 } else { decimals([value]).max(decimals_printed(cell)) };
        let range = |(low, high): (f64, f64)| format!("{low:.decimals$} to {high:.decimals$}");
        let said = Cell::from(format!("{value:.decimals$}{}", self.unit(of))).case(case.as_deref());
        let (remark, detail) = match basis {
            Basis::Case(ci95) => (plus_minus(value, *ci95), String::new()),
            Basis::Cases(number, ends) => (count(*number, "case"), range(*ends)),
            Basis::Repeats(number, ends) => {
                (String::new(), format!("{}, {}", count(*number, "repeat"), range(*ends)))
            }
        };
        if self.is_list {
            return said.remark(remark).detail(detail);
        }
        let details: Vec<String> = [remark, detail].into_iter().filter(|text| !text.is_empty()).collect();
        said.detail(details.join(", "))
    }
}

/// The place of the table in the document, and how it is to be read.
fn remarks(compared: &ComparedTable<'_>, is_list: bool) -> Vec<String> {
    let cells = || compared.rows.iter().flatten().flatten();
    let has = |is: fn(&Basis) -> bool| {
        cells().any(|cell| matches!(&cell.counterpart, Counterpart::Number { basis, .. } if is(basis)))
    };
    let of_matrix = "each column: measured, document, ratio; – is not measured";
    let of_cases = "several cases: the median of their numbers";
    let of_steps = "flows at the same time: the repeat with the median total";
    let mut units: Vec<String> =
        cells().filter_map(|cell| unit_words(&cell.printed.value, cell.printed.factor)).collect();
    units.sort();
    units.dedup();
    let said = [
        (!is_list).then(|| of_matrix.to_owned()),
        has(|basis| matches!(basis, Basis::Cases(..))).then(|| of_cases.to_owned()),
        has(|basis| matches!(basis, Basis::Repeats(..))).then(|| of_steps.to_owned()),
    ];
    [compared.table.source.clone()].into_iter().chain(said.into_iter().flatten()).chain(units).collect()
}

/// What one unit of the document is; nothing for a unit that is what its name says.
fn unit_words(printed: &SourceValue, factor: f64) -> Option<String> {
    match printed {
        SourceValue::Quantity(printed) if factor != 1.0 => {
            let unit = printed.unit();
            Some(format!(
                "1 {unit} of the document is {factor} {unit} of the benchmark, and both columns are in the document's"
            ))
        }
        _ => None,
    }
}

fn ratio(ratio: f64) -> String {
    if ratio < 0.1 { plain(ratio) } else { format!("{ratio:.2}") }
}

/// Decimals of the document's number.
fn decimals_printed(cell: &ComparedCell<'_>) -> usize {
    let SourceValue::Quantity(printed) = cell.printed.value else { return 0 };
    printed.value().to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}
