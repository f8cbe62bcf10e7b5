//! Tables of the document that a profile was made from, beside the results of a run.

use seatrial_analysis::{Basis, ComparedCell, ComparedTable, Counterpart, cause_word, source_tables};
use seatrial_model::Unit;
use seatrial_model::profile::{Profile, SourceValue};
use seatrial_model::record::Document;

use super::table::{Builder, Cell, Column, Table};
use crate::number::{decimals, plain, plus_minus};
use crate::words::{count, in_unit, unit};

/// Every table of the document of `profile`.
pub fn tables(document: &Document, profile: &Profile) -> Vec<Table> {
    source_tables(profile, &document.run.nodes, &document.results).iter().map(table).collect()
}

/// The rows and columns of the document; each column as measured, as printed, and the ratio of the two.
fn table(compared: &ComparedTable<'_>) -> Table {
    let of = compared.table;
    let layout = Layout::of(compared);
    let rows: Vec<usize> = (0..of.rows.len()).collect();
    let corner = if of.corner.is_empty() { "item" } else { &of.corner };
    let title = format!("{}{} · {}", of.title, layout.unit.map(in_unit).unwrap_or_default(), of.source);
    let mut table =
        Builder::new(title, &rows).column(Column::words(corner).label(), |row| of.rows[*row].name.as_str());
    for (at, name) in of.columns.iter().enumerate() {
        let cell = |row: &usize| compared.rows[*row].get(at).and_then(Option::as_ref);
        let head = if layout.is_list { "measured" } else { name };
        table = table
            .column(Column::numbers(head), |row| {
                cell(row).map_or_else(Cell::default, |cell| layout.measured(cell))
            })
            .column(Column::numbers("document").joined(), |row| {
                cell(row).map_or_else(Cell::default, |cell| layout.printed(cell))
            })
            .column(Column::numbers("ratio").joined(), |row| {
                cell(row).and_then(|cell| cell.ratio).map(plain)
            });
    }
    Table { remarks: layout.remarks(compared), pieces: usize::MAX, ..table.whole() }
}

fn cells<'a, 'b>(compared: &'b ComparedTable<'a>) -> impl Iterator<Item = &'b ComparedCell<'a>> {
    compared.rows.iter().flatten().flatten()
}

/// What the cells of a table share.
struct Layout {
    /// The unit of all numbers of the document.
    unit: Option<Unit>,
    factor: Option<f64>,
    /// One column of results, with room for words.
    is_list: bool,
}

impl Layout {
    fn of(compared: &ComparedTable<'_>) -> Self {
        let units = cells(compared).filter_map(|cell| match cell.printed.value {
            SourceValue::Quantity(quantity) => Some(quantity.unit()),
            SourceValue::Word(_) => None,
        });
        Self {
            unit: shared(units),
            factor: shared(cells(compared).map(|cell| cell.printed.factor)),
            is_list: compared.table.columns.iter().all(String::is_empty),
        }
    }

    fn unit(&self, of: Unit) -> String {
        if self.unit == Some(of) { String::new() } else { unit(of) }
    }

    fn printed(&self, cell: &ComparedCell<'_>) -> Cell {
        let printed = match &cell.printed.value {
            SourceValue::Word(word) => return word.as_str().into(),
            SourceValue::Quantity(printed) => printed,
        };
        let said = Cell::from(format!("{}{}", printed.value(), self.unit(printed.unit())));
        let is_said_below = self.factor.is_some() && self.unit.is_some();
        said.notes(unit_words(cell.printed.factor, printed.unit()).filter(|_| !is_said_below))
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
        let decimals = decimals([value]).max(decimals_printed(cell));
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

    fn remarks(&self, compared: &ComparedTable<'_>) -> Vec<String> {
        let has = |is: fn(&Basis) -> bool| {
            cells(compared)
                .any(|cell| matches!(&cell.counterpart, Counterpart::Number { basis, .. } if is(basis)))
        };
        let of_matrix = "each column: measured, document, ratio; – is not measured";
        let of_cases = "several cases: the median of their numbers";
        let of_steps = "flows at the same time: the repeat with the median total";
        let said = [
            (!self.is_list).then(|| of_matrix.to_owned()),
            has(|basis| matches!(basis, Basis::Cases(..))).then(|| of_cases.to_owned()),
            has(|basis| matches!(basis, Basis::Repeats(..))).then(|| of_steps.to_owned()),
            self.factor.zip(self.unit).and_then(|(factor, unit)| unit_words(factor, unit)),
        ];
        said.into_iter().flatten().collect()
    }
}

fn shared<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// What one unit of the document is; nothing for a unit that is what its name says.
fn unit_words(factor: f64, unit: Unit) -> Option<String> {
    (factor != 1.0).then(|| format!("1 {unit} of the document is {factor} {unit}"))
}

/// Decimals of the document's number.
fn decimals_printed(cell: &ComparedCell<'_>) -> usize {
    let SourceValue::Quantity(printed) = cell.printed.value else { return 0 };
    printed.value().to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}
