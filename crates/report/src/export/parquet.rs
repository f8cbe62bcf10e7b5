//! Parquet in long form: one row a sample, for fleets over months in DuckDB, pandas and their like.
//!
//! `kind` says what a row is. `sample` is one observation: `value` is it, `trial` and `sample` number it from 0. `median`
//! stands for a metric whose samples are not at hand, and for every place of a series, of which the record keeps
//! summaries only; `n` says of how many samples. A case without numbers has one row in which `kind` is null, with its
//! outcome and the reason, so that nobody counts only those that went well. New columns are only ever added at the end.
//!
//! The low-level writer of the crate `parquet` is enough for a flat table, and spares all of Arrow.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use seatrial_model::Verdict;
use seatrial_model::record::{CaseRecord, Document};

use super::{About, Export, Material};
use crate::csv::{better, outcome_words};
use crate::view::cases::verdicts;

/// One row a sample.
pub struct Parquet;

/// The columns; all may be null where they do not apply.
const SCHEMA: &str = "
message seatrial {
    optional binary run (STRING);
    optional int64 started (TIMESTAMP(MICROS, true));
    optional binary seatrial (STRING);
    optional binary profile (STRING);
    optional binary test (STRING);
    optional binary case (STRING);
    optional binary bench (STRING);
    optional int32 version;
    optional binary subject (STRING);
    optional binary key (STRING);
    optional binary nodes (STRING);
    optional binary params (STRING);
    optional binary outcome (STRING);
    optional binary cause (STRING);
    optional binary reason (STRING);
    optional binary verdict (STRING);
    optional binary kind (STRING);
    optional binary name (STRING);
    optional binary at (STRING);
    optional binary unit (STRING);
    optional binary better (STRING);
    optional double limit;
    optional int64 n;
    optional int32 trial;
    optional int32 sample;
    optional double value;
}";

/// Rows that are held in memory and written as one group. DuckDB reads groups in parallel and wants them of 100,000 rows
/// or more.
const ROWS_A_GROUP: usize = 122_880;

impl Export for Parquet {
    fn about(&self) -> &'static About {
        &About {
            flag: "parquet",
            value: "FILE",
            help: "Parquet, one row a sample, for DuckDB, pandas and the like",
            bare: false,
        }
    }

    fn write(&self, run: &Material<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
        table(run.document, out).map_err(io::Error::other)
    }
}

fn table(document: &Document, out: &mut (dyn Write + Send)) -> Result<(), ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut rows = Rows::default();
    let verdicts = verdicts(document);
    for record in &document.results {
        let case = of_case(document, record, verdicts.get(record.case.as_str()).copied());
        for row in numbers(record) {
            rows.push(&case, &row);
            if rows.count >= ROWS_A_GROUP {
                rows.flush(&mut writer)?;
            }
        }
    }
    // An empty table has no group, and is a table all the same.
    if rows.count > 0 {
        rows.flush(&mut writer)?;
    }
    writer.close()?;
    Ok(())
}

/// A field of a row.
#[derive(Clone)]
enum Cell {
    Text(Option<ByteArray>),
    Double(Option<f64>),
    Int(Option<i32>),
    Long(Option<i64>),
}

fn text(text: impl AsRef<str>) -> Cell {
    Cell::Text(Some(ByteArray::from(text.as_ref())))
}

fn some_text<T: AsRef<str>>(text: Option<T>) -> Cell {
    // An empty word says no more than none.
    Cell::Text(text.filter(|text| !text.as_ref().is_empty()).map(|text| ByteArray::from(text.as_ref())))
}

/// The fields that all rows of a case share.
fn of_case(document: &Document, record: &CaseRecord, verdict: Option<Verdict>) -> Vec<Cell> {
    let run = &document.run;
    let [outcome, cause] = outcome_words(record);
    vec![
        text(&run.id),
        Cell::Long(Some(run.started.as_microsecond())),
        text(&run.seatrial),
        some_text(run.profile.as_ref().map(|profile| &profile.id)),
        text(&record.group),
        text(record.case.as_str()),
        text(&record.bench),
        Cell::Int(i32::try_from(record.version).ok()),
        text(record.subject.as_str()),
        some_text(record.key.as_ref()),
        text(record.nodes.join("+")),
        some_text(Some(record.params.to_string())),
        text(outcome),
        some_text(Some(cause)),
        some_text(record.reason.as_ref()),
        some_text(verdict.map(Verdict::word)),
    ]
}

/// The other fields, row by row.
fn numbers(record: &CaseRecord) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (name, metric) in &record.metrics {
        let head = |kind: &str, n: u64| {
            vec![
                text(kind),
                text(name),
                Cell::Text(None),
                text(metric.unit.symbol()),
                text(better(metric.better)),
                Cell::Double(metric.limit.value),
                Cell::Long(i64::try_from(n).ok()),
            ]
        };
        let Some(trials) = &metric.samples else {
            rows.push(chain(
                &head("median", metric.n),
                [Cell::Int(None), Cell::Int(None), Cell::Double(Some(metric.median))],
            ));
            continue;
        };
        let head = head("sample", 1);
        for (trial, samples) in trials.iter().enumerate() {
            for (sample, value) in samples.iter().enumerate() {
                let number = |at: usize| Cell::Int(i32::try_from(at).ok());
                rows.push(chain(&head, [number(trial), number(sample), Cell::Double(Some(*value))]));
            }
        }
    }
    for (name, series) in &record.series {
        for place in &series.rows {
            let head = [
                text("median"),
                text(name),
                text(place.at.to_string()),
                text(series.unit.symbol()),
                text(better(series.better)),
                Cell::Double(None),
                Cell::Long(i64::try_from(place.summary.n).ok()),
            ];
            rows.push(chain(
                &head,
                [Cell::Int(None), Cell::Int(None), Cell::Double(Some(place.summary.median))],
            ));
        }
    }
    if rows.is_empty() {
        let mut none = vec![Cell::Text(None); 5];
        none.extend([
            Cell::Double(None),
            Cell::Long(None),
            Cell::Int(None),
            Cell::Int(None),
            Cell::Double(None),
        ]);
        rows.push(none);
    }
    rows
}

fn chain(head: &[Cell], tail: [Cell; 3]) -> Vec<Cell> {
    head.iter().cloned().chain(tail).collect()
}

/// Rows by column, as the format wants them: values, and for each row whether it has one.
#[derive(Default)]
struct Rows {
    count: usize,
    columns: Vec<Column>,
}

enum Column {
    Text(Vec<ByteArray>, Vec<i16>),
    Double(Vec<f64>, Vec<i16>),
    Int(Vec<i32>, Vec<i16>),
    Long(Vec<i64>, Vec<i16>),
}

impl Rows {
    fn push(&mut self, case: &[Cell], numbers: &[Cell]) {
        if self.columns.is_empty() {
            self.columns = case.iter().chain(numbers).map(Column::like).collect();
        }
        for (column, cell) in self.columns.iter_mut().zip(case.iter().chain(numbers)) {
            column.push(cell);
        }
        self.count += 1;
    }

    /// Writes all rows as one group, and forgets them.
    fn flush<W: Write + Send>(&mut self, writer: &mut SerializedFileWriter<W>) -> Result<(), ParquetError> {
        let mut group = writer.next_row_group()?;
        let mut columns = self.columns.iter();
        while let (Some(mut column), Some(rows)) = (group.next_column()?, columns.next()) {
            match rows {
                Column::Text(values, levels) => {
                    column.typed::<ByteArrayType>().write_batch(values, Some(levels), None)?
                }
                Column::Double(values, levels) => {
                    column.typed::<DoubleType>().write_batch(values, Some(levels), None)?
                }
                Column::Int(values, levels) => {
                    column.typed::<Int32Type>().write_batch(values, Some(levels), None)?
                }
                Column::Long(values, levels) => {
                    column.typed::<Int64Type>().write_batch(values, Some(levels), None)?
                }
            };
            column.close()?;
        }
        group.close()?;
        *self = Self::default();
        Ok(())
    }
}

impl Column {
    /// An empty column of the type of `cell`.
    fn like(cell: &Cell) -> Self {
        match cell {
            Cell::Text(_) => Column::Text(Vec::new(), Vec::new()),
            Cell::Double(_) => Column::Double(Vec::new(), Vec::new()),
            Cell::Int(_) => Column::Int(Vec::new(), Vec::new()),
            Cell::Long(_) => Column::Long(Vec::new(), Vec::new()),
        }
    }

    /// Adds `cell`, which is of the type of the column: every row is made by the same two functions.
    fn push(&mut self, cell: &Cell) {
        match (self, cell) {
            (Column::Text(values, levels), Cell::Text(cell)) => put(values, levels, cell.clone()),
            (Column::Double(values, levels), Cell::Double(cell)) => put(values, levels, *cell),
            (Column::Int(values, levels), Cell::Int(cell)) => put(values, levels, *cell),
            (Column::Long(values, levels), Cell::Long(cell)) => put(values, levels, *cell),
            (
                Column::Text(_, levels)
                | Column::Double(_, levels)
                | Column::Int(_, levels)
                | Column::Long(_, levels),
                _,
            ) => {
                debug_assert!(false, "a field of another type than its column");
                levels.push(0);
            }
        }
    }
}

fn put<T>(values: &mut Vec<T>, levels: &mut Vec<i16>, value: Option<T>) {
    levels.push(i16::from(value.is_some()));
    values.extend(value);
}
