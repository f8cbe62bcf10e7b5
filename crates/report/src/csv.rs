//! The record as CSV in long form: one row a metric or a place of a series, ready for a spreadsheet or a data frame.
//!
//! A case without numbers has one row with its outcome. The columns and their order are [`HEADER`]; new ones are only
//! ever added at the end. A field without a value is empty. Fields are quoted as RFC 4180 says.

use std::borrow::Cow;
use std::io::{self, Write};

use seatrial_model::record::{CaseRecord, Document, Summary};

use crate::view::cases::verdicts;

/// The columns.
///
/// `kind` is `metric`, `series` or empty; `at` is the place on a series, as `size=64 KiB,step=2`; all numbers of a row
/// are in `unit`; `lo` and `hi` are the ends of the 95 % interval of the median; `percent_of_limit` is the median in
/// percent of `limit`; `verdict` is the heaviest judgement of the case.
pub const HEADER: [&str; 35] = [
    "run",
    "started",
    "profile",
    "group",
    "case",
    "bench",
    "version",
    "subject",
    "key",
    "nodes",
    "params",
    "outcome",
    "cause",
    "reason",
    "kind",
    "name",
    "at",
    "unit",
    "better",
    "n",
    "trials",
    "median",
    "lo",
    "hi",
    "mad",
    "min",
    "max",
    "mean",
    "p99",
    "limit",
    "limit_formula",
    "limit_provenance",
    "percent_of_limit",
    "converged",
    "verdict",
];

/// Columns that describe the case; the same in all of its rows.
const CASE_COLUMNS: usize = 14;

/// Writes the rows of `document` to `out`, the header first.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    // By way of memory: an error of the CSV writer hides what the system answered, such as a closed pipe.
    out.write_all(&text(document)?)
}

fn text(document: &Document) -> csv::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER)?;
    let verdicts = verdicts(document);
    for record in &document.results {
        let about = about_case(document, record);
        let verdict = verdicts.get(record.case.as_str()).map(|it| it.word()).unwrap_or_default().to_owned();
        for numbers in numbers(record) {
            let row = about.iter().chain(&numbers).chain([&verdict]);
            writer.write_record(row.map(|field| guarded(field).into_owned()))?;
        }
    }
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

/// A field that no spreadsheet takes for a formula: a text that it would gets a quote before it. Names may be those of
/// strangers.
pub(crate) fn guarded(field: &str) -> Cow<'_, str> {
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']) && field.parse::<f64>().is_err();
    if is_formula { format!("'{field}").into() } else { field.into() }
}

fn about_case(document: &Document, record: &CaseRecord) -> [String; CASE_COLUMNS] {
    let run = &document.run;
    let [outcome, cause] = outcome_words(record);
    [
        run.id.clone(),
        run.started.to_string(),
        run.profile.as_ref().map(|profile| profile.id.clone()).unwrap_or_default(),
        record.group.clone(),
        record.case.to_string(),
        record.bench.clone(),
        record.version.to_string(),
        record.subject.to_string(),
        record.key.clone().unwrap_or_default(),
        record.nodes.join("+"),
        record.params.to_string(),
        outcome,
        cause,
        record.reason.clone().unwrap_or_default(),
    ]
}

/// How a case ended and why, in the words of the record; no cause is an empty word.
pub(crate) fn outcome_words(record: &CaseRecord) -> [String; 2] {
    [serde_json::to_value(record.outcome), serde_json::to_value(record.cause)].map(|value| match value {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    })
}

/// The columns between those of the case and the verdict, one list a row.
fn numbers(record: &CaseRecord) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (name, metric) in &record.metrics {
        let mut row = vec!["metric".to_owned(), name.clone(), String::new(), metric.unit.to_string()];
        row.push(better(metric.better));
        row.extend(summary(&metric.summary()));
        let limit = &metric.limit;
        row.push(optional(limit.value));
        row.push(limit.formula.clone().unwrap_or_default());
        row.push(limit.provenance.clone().unwrap_or_default());
        row.push(optional(metric.percent_of_limit()));
        row.push(metric.converged.to_string());
        rows.push(row);
    }
    for (name, series) in &record.series {
        for place in &series.rows {
            let mut row =
                vec!["series".to_owned(), name.clone(), place.at.to_string(), series.unit.to_string()];
            row.push(better(series.better));
            row.extend(summary(&place.summary));
            row.resize(HEADER.len() - CASE_COLUMNS - 1, String::new());
            rows.push(row);
        }
    }
    if rows.is_empty() {
        rows.push(vec![String::new(); HEADER.len() - CASE_COLUMNS - 1]);
    }
    rows
}

pub(crate) fn better(better: seatrial_model::Better) -> String {
    match better {
        seatrial_model::Better::Higher => "higher",
        seatrial_model::Better::Lower => "lower",
        seatrial_model::Better::None => "none",
    }
    .to_owned()
}

fn summary(summary: &Summary) -> [String; 10] {
    let Summary { n, trials, median, mad, min, max, mean, p99, ci95 } = *summary;
    [
        n.to_string(),
        trials.to_string(),
        median.to_string(),
        optional(ci95.map(|(lo, _)| lo)),
        optional(ci95.map(|(_, hi)| hi)),
        mad.to_string(),
        min.to_string(),
        max.to_string(),
        mean.to_string(),
        optional(p99),
    ]
}

fn optional(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn texts_of_strangers_are_no_formulas_and_numbers_stay_numbers() {
        for (field, written) in
            [("=cmd()", "'=cmd()"), ("@a", "'@a"), ("\t=a", "'\t=a"), ("-1.5", "-1.5"), ("a", "a")]
        {
            assert_eq!(guarded(field), written);
        }
    }
}
