//! The record as CSV in long form: one row per metric or row of a series, for spreadsheets and data frames.
//!
//! A case without numbers has one row with its outcome. New columns are only ever added at the end. A field without a
//! value is empty. Fields are quoted as in RFC 4180.
//!
//! `kind` is `metric`, `series` or empty; `at` is the row of a series, as `size=64 KiB,step=2`; all numbers of a row
//! are in `unit`; `lo` and `hi` are the ends of the 95 % interval of the median; `percent_of_limit` is the median in
//! percent of `limit`, `percent_of_nominal` that of `nominal`, the rate of a network port before headers; `verdict` is the heaviest verdict on the case.

use std::borrow::Cow;
use std::io::{self, Write};

use seatrial_model::record::Document;

use crate::export::columns::{COLUMNS, ExportRow, Source, rows};

pub fn header() -> Vec<&'static str> {
    COLUMNS.map(|(name, _)| name).to_vec()
}

/// Writes the rows of `document` to `out`, after the header.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    // Through memory: an error of the CSV writer hides the error of the system, such as a closed pipe.
    out.write_all(&text(document)?)
}

fn text(document: &Document) -> csv::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header())?;
    for row in rows(document) {
        let fields = COLUMNS.map(|(_, source)| field(source, &row).unwrap_or_default());
        writer.write_record(fields.iter().map(|field| guarded(field).into_owned()))?;
    }
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

fn field(source: Source, row: &ExportRow<'_>) -> Option<String> {
    match source {
        Source::Text(of) => of(row),
        Source::Time(of) => Some(of(row).to_string()),
        Source::Int(of) | Source::Long(of) => Some(of(row)?.to_string()),
        Source::Double(of) => Some(of(row)?.to_string()),
        Source::Flag(of) => Some(of(row)?.to_string()),
    }
}

/// Prefixes a text that a spreadsheet would take for a formula with a quote. Names are untrusted.
pub(crate) fn guarded(field: &str) -> Cow<'_, str> {
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']) && field.parse::<f64>().is_err();
    if is_formula { format!("'{field}").into() } else { field.into() }
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn texts_from_outside_are_no_formulas_and_numbers_stay_numbers() {
        for (field, written) in
            [("=cmd()", "'=cmd()"), ("@a", "'@a"), ("\t=a", "'\t=a"), ("-1.5", "-1.5"), ("a", "a")]
        {
            assert_eq!(guarded(field), written);
        }
    }
}
