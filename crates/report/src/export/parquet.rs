//! Parquet in long form: one row per sample, for fleets over months in DuckDB, pandas and similar tools.
//!
//! `kind` is the kind of a row. `sample` is one observation: `value` is its value, `trial` and `sample` are indices
//! from 0. `median` is used for a metric whose samples are not available, and for every row of a series, of which the
//! record keeps summaries only; `n` is the number of samples. A case without numbers has one row in which `kind` is
//! null, with its outcome and the reason, so that statistics include failed cases. New columns are only ever added at
//! the end.
//!
//! The low-level writer of the crate `parquet` is enough for a flat table, and avoids the dependency on Arrow.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use seatrial_model::record::Document;

use super::columns::{ExportColumn, ExportRow, Source, called, rows};
use super::{About, Export, Material};

pub struct Parquet;

/// Rows that are buffered and written as one row group. DuckDB reads groups in parallel and recommends 100,000 rows
/// or more.
const ROWS_A_GROUP: usize = 122_880;

impl Export for Parquet {
    fn about(&self) -> &'static About {
        &About {
            flag: "parquet",
            value: "FILE",
            help: "Parquet, one row per sample, for DuckDB, pandas and similar tools",
            bare: false,
        }
    }

    fn write(&self, run: &Material<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
        table(run.document, out).map_err(io::Error::other)
    }
}

/// All columns are nullable.
fn columns() -> Vec<ExportColumn> {
    let kind = |row: &ExportRow<'_>| {
        row.number.map(|_| if row.sample.is_some() { "sample" } else { "median" }.to_owned())
    };
    let case = ["case", "bench", "version", "subject", "key", "nodes", "params", "outcome", "cause", "reason"];
    [
        called(&["run", "started"]),
        vec![("seatrial", Source::Text(|row| Some(row.run.seatrial.clone())))],
        called(&["profile"]),
        vec![("test", Source::Text(|row| Some(row.case.group.clone())))],
        called(&case),
        called(&["verdict"]),
        vec![("kind", Source::Text(kind))],
        called(&["name", "at", "unit", "better", "limit", "n"]),
        vec![
            ("trial", Source::Int(|row| i64::try_from(row.sample?.0).ok())),
            ("sample", Source::Int(|row| i64::try_from(row.sample?.1).ok())),
            ("value", Source::Double(|row| row.sample.map(|(.., value)| value).or_else(|| Some(row.summary()?.median)))),
        ],
    ]
    .concat()
}

fn schema(columns: &[ExportColumn]) -> String {
    let line = |(name, source): &ExportColumn| match source {
        Source::Text(_) => format!("optional binary {name} (STRING);\n"),
        Source::Time(_) => format!("optional int64 {name} (TIMESTAMP(MICROS, true));\n"),
        Source::Int(_) => format!("optional int32 {name};\n"),
        Source::Long(_) => format!("optional int64 {name};\n"),
        Source::Double(_) => format!("optional double {name};\n"),
        Source::Flag(_) => format!("optional boolean {name};\n"),
    };
    format!("message seatrial {{\n{}}}", columns.iter().map(line).collect::<String>())
}

/// `row` as one row per sample of its metric, where samples are available.
fn observed(row: ExportRow<'_>) -> Vec<ExportRow<'_>> {
    let Some(trials) = row.metric().and_then(|metric| metric.samples.as_ref()) else { return vec![row] };
    let values = trials.iter().enumerate().flat_map(|(trial, samples)| {
        samples.iter().enumerate().map(move |(sample, value)| (trial, sample, *value))
    });
    values.map(|sample| ExportRow { sample: Some(sample), ..row }).collect()
}

fn table(document: &Document, out: &mut (dyn Write + Send)) -> Result<(), ParquetError> {
    let columns = columns();
    let schema = Arc::new(parse_message_type(&schema(&columns))?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut rows = rows(document).into_iter().flat_map(observed).peekable();
    // An empty table has no group, and is a valid table.
    while rows.peek().is_some() {
        let held: Vec<ExportRow<'_>> = rows.by_ref().take(ROWS_A_GROUP).collect();
        let mut group = writer.next_row_group()?;
        for (_, source) in &columns {
            let Some(mut column) = group.next_column()? else { break };
            write(&mut column, *source, &held)?;
            column.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn write(
    column: &mut SerializedColumnWriter<'_>,
    source: Source,
    rows: &[ExportRow<'_>],
) -> Result<(), ParquetError> {
    let rows = rows.iter();
    match source {
        Source::Text(of) => {
            let text = |text: String| (!text.is_empty()).then(|| ByteArray::from(text.into_bytes()));
            put::<ByteArrayType>(column, rows.map(|row| of(row).and_then(text)))
        }
        Source::Time(of) => put::<Int64Type>(column, rows.map(|row| Some(of(row).as_microsecond()))),
        Source::Int(of) => put::<Int32Type>(column, rows.map(|row| i32::try_from(of(row)?).ok())),
        Source::Long(of) => put::<Int64Type>(column, rows.map(of)),
        Source::Double(of) => put::<DoubleType>(column, rows.map(of)),
        Source::Flag(of) => put::<BoolType>(column, rows.map(of)),
    }
}

/// Writes values, and the definition level of each row.
fn put<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    fields: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut levels = Vec::new();
    let values: Vec<T::T> = fields.inspect(|field| levels.push(i16::from(field.is_some()))).flatten().collect();
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_column_is_lost_and_new_ones_stand_at_the_end() {
        let names: Vec<&str> = columns().into_iter().map(|(name, _)| name).collect();
        let expected = "run started seatrial profile test case bench version subject key nodes params outcome cause \
                        reason verdict kind name at unit better limit n trial sample value";
        assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
    }
}
