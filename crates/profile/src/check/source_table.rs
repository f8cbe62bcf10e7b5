//! Checks tables of the source document: every cell names a result that the profile measures, in a unit of its kind.

use seatrial_model::profile::{
    SourceCell, SourceResult, SourceRow, SourceSelection, SourceTable, SourceValue, Statistic,
};
use seatrial_model::{Better, Quantity, QuantityError, Unit, Value};

use super::Names;
use super::bar::absolute;
use super::criterion::{Tests, cases, find, places};
use super::judged::{Judged, judged};
use crate::Diagnostics;
use crate::catalog::Known;
use crate::diagnostic::At;
use crate::layer::{AxisEntry, CellEntry, Pairs, SourceTableEntry, plain};

pub(super) fn source_table(
    entry: &SourceTableEntry,
    tests: &Tests<'_, '_>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> SourceTable {
    let rows = Line::of(&entry.rows);
    let columns = entry.columns.as_ref().map_or_else(|| vec![Line::default()], Line::of);
    let is_matrix = entry.columns.is_some() || matches!(entry.rows, AxisEntry::Values { .. });
    let is_whole = !is_matrix || has_shape(entry, rows.len(), columns.len(), found);
    let row = |(at, row): (usize, &Line<'_>)| SourceRow {
        name: row.name.clone(),
        cells: columns
            .iter()
            .enumerate()
            .map(|(column, across)| {
                let printed = if is_matrix {
                    entry.values.get(at)?.get(column)
                } else {
                    let value = row.cell.and_then(|cell| cell.value.as_ref());
                    if value.is_none() {
                        let title = format!("row '{}' needs 'value', what the document prints", row.name);
                        found.error(row.cell.map_or(entry.id.at, |cell| cell.at), title);
                    }
                    value
                };
                cell(&Entry::new(&entry.shared, [row, across]), printed?, tests, names, found)
            })
            .collect(),
    };
    // Without its values, a matrix of any size is a few bytes of text.
    let rows = rows.iter().enumerate().filter(|_| is_whole).map(row).collect();
    let names_of = |axis: Option<&AxisEntry>| match axis {
        Some(AxisEntry::Values { name, .. }) => name.value.clone(),
        _ => String::new(),
    };
    SourceTable {
        id: entry.id.value.clone(),
        title: entry.title.clone(),
        source: entry.source.clone(),
        corner: match (names_of(Some(&entry.rows)), names_of(entry.columns.as_ref())) {
            (down, across) if across.is_empty() => down,
            (down, across) => format!("{down} ↓  {across} →").trim_start().to_owned(),
        },
        columns: columns.into_iter().map(|column| column.name).collect(),
        rows,
    }
}

/// Whether the matrix of values has the size of the table; reports one that has not.
fn has_shape(entry: &SourceTableEntry, rows: usize, columns: usize, found: &mut Diagnostics) -> bool {
    let (at, title) = if entry.values.is_empty() {
        (entry.values_at, "a table with columns needs 'values', one list per row".to_owned())
    } else if entry.values.len() != rows {
        (entry.values_at, format!("rows of the table: {rows}; of 'values': {}", entry.values.len()))
    } else if let Some((at, row)) = entry.values.iter().enumerate().find(|(_, row)| row.len() != columns) {
        let place = row.first().map_or(entry.values_at, |value| value.at);
        (place, format!("columns of the table: {columns}; values in row {}: {}", at + 1, row.len()))
    } else {
        return true;
    };
    found.error(at, title);
    false
}

/// A row or a column.
#[derive(Default)]
struct Line<'a> {
    name: String,
    cell: Option<&'a CellEntry>,
    place: Option<(&'a At<String>, &'a At<Value>)>,
}

impl<'a> Line<'a> {
    fn of(axis: &'a AxisEntry) -> Vec<Self> {
        match axis {
            AxisEntry::Values { name, values } => {
                let line = |value: &'a At<Value>| Line {
                    name: value.value.to_string(),
                    cell: None,
                    place: Some((name, value)),
                };
                values.iter().map(line).collect()
            }
            AxisEntry::Cells(cells) => {
                let name = |cell: &CellEntry| cell.name.as_ref().map(|name| name.value.clone());
                let line =
                    |cell| Line { name: name(cell).unwrap_or_default(), cell: Some(cell), place: None };
                cells.iter().map(line).collect()
            }
        }
    }
}

/// The keys of one cell, and where it stands on the axes.
struct Entry<'a> {
    cell: CellEntry,
    places: Vec<(&'a At<String>, &'a At<Value>)>,
}

impl<'a> Entry<'a> {
    fn new(shared: &CellEntry, lines: [&Line<'a>; 2]) -> Self {
        let cells = lines.iter().filter_map(|line| line.cell);
        Self {
            cell: cells.fold(shared.clone(), over),
            places: lines.iter().filter_map(|line| line.place).collect(),
        }
    }
}

/// The keys of `base`, replaced by those that `more` has.
fn over(base: CellEntry, more: &CellEntry) -> CellEntry {
    let pairs = |base: Pairs<At<Value>>, more: &Pairs<At<Value>>| {
        let is_replaced = |name: &At<String>| more.iter().any(|(other, _)| other.value == name.value);
        base.into_iter().filter(|(name, _)| !is_replaced(name)).chain(more.iter().cloned()).collect()
    };
    let more = more.clone();
    CellEntry {
        at: more.at,
        name: more.name,
        value: more.value,
        test: more.test.or(base.test),
        metric: more.metric.or(base.metric),
        cases: pairs(base.cases, &more.cases),
        axes: pairs(base.axes, &more.axes),
        on: pairs(base.on, &more.on),
        roles: if more.roles.is_empty() { base.roles } else { more.roles },
        step: more.step.or(base.step),
        class: more.class.or(base.class),
        of: more.of.or(base.of),
        unit: more.unit.or(base.unit),
        factor: more.factor.or(base.factor),
        not_measured: more.not_measured.or(base.not_measured),
    }
}

/// The cell that prints `printed`; `None` for a blank.
fn cell(
    entry: &Entry<'_>,
    printed: &At<Value>,
    tests: &Tests<'_, '_>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Option<SourceCell> {
    let value = value(printed, entry.cell.unit, found)?;
    let factor = entry.cell.factor.unwrap_or(1.0);
    if let Some(why) = &entry.cell.not_measured {
        return Some(SourceCell { value, factor, result: SourceResult::NotMeasured(why.clone()) });
    }
    let (selection, judged) = selection(entry, tests, names, found)?;
    if let SourceValue::Quantity(quantity) = value {
        absolute(quantity, printed.at, judged, found);
    }
    Some(SourceCell { value, factor, result: SourceResult::Selection(selection) })
}

/// What the document prints: a number, or a word in its place. `None` for a blank, and for a number that cannot be read.
fn value(printed: &At<Value>, unit: Option<Unit>, found: &mut Diagnostics) -> Option<SourceValue> {
    let text = printed.value.to_string();
    if text.trim().is_empty() {
        return None;
    }
    let quantity = text.parse::<Quantity>().and_then(|quantity| match unit {
        Some(unit) if quantity.unit() == Unit::Count => Quantity::new(quantity.value(), unit),
        _ => Ok(quantity),
    });
    match quantity {
        Ok(quantity) => Some(SourceValue::Quantity(quantity)),
        Err(QuantityError::NotANumber { .. }) => Some(SourceValue::Word(text)),
        Err(error) => {
            found.error(printed.at, error.to_string());
            None
        }
    }
}

fn selection(
    entry: &Entry<'_>,
    tests: &Tests<'_, '_>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Option<(SourceSelection, Judged)> {
    let Entry { cell, places: on_axes } = entry;
    let (Some(test), Some(metric)) = (&cell.test, &cell.metric) else {
        let missing = if cell.test.is_none() { "test" } else { "metric" };
        let advice = "the table, the row or the column names it; what nothing measures has \
                      `not_measured = \"the reason\"`";
        found.error(cell.at, format!("the cell names no {missing}")).help(advice);
        return None;
    };
    let checked = find(test, tests, names, found)?;
    let known = checked.known?;
    let mut judged = judged(metric, known, found)?;
    let mut cell = cell.clone();
    for (name, value) in on_axes {
        place(&mut cell, name, value, known, judged, found);
    }
    let step = cell.step.as_ref();
    if let Some(step) = step.filter(|_| checked.test.pattern.is_none()) {
        found.error(step.at, format!("test '{}' has no pattern, so that it has no steps", test.value));
    }
    if let Some(class) = &cell.class {
        if step.is_none() {
            found.error(class.at, "'class' counts the flows of a step, and needs 'step'");
        }
        judged = Judged { unit: Unit::Count, better: Better::None, axes: None };
    }
    let of = cell.of.as_ref().map(|of| of.value).unwrap_or_default();
    if let Some(of) = cell.of.as_ref().filter(|of| step.is_some() && !is_of_step(of.value)) {
        found.error(of.at, "a step has a median and a max over its repeats");
    }
    let selection = SourceSelection {
        test: test.value.clone(),
        metric: metric.value.clone(),
        cases: cases(&cell.cases, checked, found),
        at: places(&cell.axes, metric, judged, found),
        on: plain(&cell.on),
        roles: names.roles(&cell.roles, found),
        step: cell.step.map(|step| step.value),
        class: cell.class.map(|class| class.value),
        of,
    };
    Some((selection, judged))
}

fn is_of_step(of: Statistic) -> bool {
    matches!(of, Statistic::Median | Statistic::Max)
}

/// Puts the value of an axis to the parameters, to the coordinates of the series, or to the step.
fn place(
    cell: &mut CellEntry,
    name: &At<String>,
    value: &At<Value>,
    known: Known<'_>,
    judged: Judged,
    found: &mut Diagnostics,
) {
    let axes = judged.axes.unwrap_or_default().iter().map(|axis| axis.name);
    let params = match known {
        Known::Here(about) => about.params,
        // The parameters of a planned benchmark are unknown.
        Known::Planned(_) => return cell.cases.push((name.clone(), value.clone())),
    };
    let names: Vec<&str> = params.iter().map(|spec| spec.name).chain(axes.clone()).chain(["step"]).collect();
    match (name.value.as_str(), &value.value) {
        (param, _) if params.iter().any(|spec| spec.name == param) => {
            cell.cases.push((name.clone(), value.clone()));
        }
        (axis, _) if axes.clone().any(|known| known == axis) => cell.axes.push((name.clone(), value.clone())),
        ("step", Value::Count(step)) => cell.step = Some(At { value: *step, at: value.at }),
        ("step", _) => drop(found.error(value.at, "a step is a whole number")),
        (other, _) => {
            let title = format!("the test has no parameter, coordinate or step '{other}'");
            found.error(name.at, title).suggest(other, names);
        }
    }
}
