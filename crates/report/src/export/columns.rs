//! The columns of the record in long form, for CSV, Parquet and Prometheus.

use jiff::Timestamp;
use seatrial_model::record::{CaseRecord, Document, MetricRecord, RunInfo, SeriesRow, Summary};
use seatrial_model::{Better, Unit, Verdict, node_names};

use crate::view::cases::verdicts;

/// A case, and one of its numbers if it has any.
#[derive(Clone, Copy, Debug)]
pub struct ExportRow<'a> {
    pub run: &'a RunInfo,
    pub case: &'a CaseRecord,
    pub verdict: Option<Verdict>,
    pub number: Option<Number<'a>>,
    /// One observation of a metric: trial, index in the trial, value.
    pub sample: Option<(usize, usize, f64)>,
}

/// A metric or a row of a series.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a> {
    pub name: &'a str,
    pub unit: Unit,
    better: Better,
    source: NumberSource<'a>,
}

#[derive(Clone, Copy, Debug)]
enum NumberSource<'a> {
    Metric(&'a MetricRecord),
    Place(&'a SeriesRow),
}

impl<'a> ExportRow<'a> {
    pub fn metric(&self) -> Option<&'a MetricRecord> {
        match self.number?.source {
            NumberSource::Metric(metric) => Some(metric),
            NumberSource::Place(_) => None,
        }
    }

    fn place(&self) -> Option<&'a SeriesRow> {
        match self.number?.source {
            NumberSource::Metric(_) => None,
            NumberSource::Place(place) => Some(place),
        }
    }

    pub fn summary(&self) -> Option<Summary> {
        self.metric().map(MetricRecord::summary).or_else(|| Some(self.place()?.summary.clone()))
    }
}

/// The rows of `document`: per case one for each metric and each row of a series, or one without a number.
pub fn rows(document: &Document) -> Vec<ExportRow<'_>> {
    let verdicts = verdicts(document);
    let verdict = |case: &CaseRecord| verdicts.get(case.case.as_str()).copied();
    document.results.iter().flat_map(|case| rows_of(&document.run, case, verdict(case))).collect()
}

fn rows_of<'a>(run: &'a RunInfo, case: &'a CaseRecord, verdict: Option<Verdict>) -> Vec<ExportRow<'a>> {
    let metrics = case.metrics.iter().map(|(name, metric)| {
        let (unit, better) = (metric.unit, metric.better);
        Number { name, unit, better, source: NumberSource::Metric(metric) }
    });
    let places = case.series.iter().flat_map(|(name, series)| {
        let (unit, better) = (series.unit, series.better);
        series.rows.iter().map(move |place| Number { name, unit, better, source: NumberSource::Place(place) })
    });
    let row = |number| ExportRow { run, case, verdict, number, sample: None };
    let mut rows: Vec<ExportRow<'_>> = metrics.chain(places).map(|number| row(Some(number))).collect();
    if rows.is_empty() {
        rows.push(row(None));
    }
    rows
}

#[derive(Clone, Copy)]
pub enum Source {
    /// An empty text is the same as `None`.
    Text(fn(&ExportRow<'_>) -> Option<String>),
    Time(fn(&ExportRow<'_>) -> Timestamp),
    Int(fn(&ExportRow<'_>) -> Option<i64>),
    Long(fn(&ExportRow<'_>) -> Option<i64>),
    Double(fn(&ExportRow<'_>) -> Option<f64>),
    Flag(fn(&ExportRow<'_>) -> Option<bool>),
}

pub type ExportColumn = (&'static str, Source);

/// A word of the record, as in JSON.
fn word(value: impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// In the order of CSV.
pub const COLUMNS: [ExportColumn; 37] = [
    ("run", Source::Text(|row| Some(row.run.id.clone()))),
    ("started", Source::Time(|row| row.run.started)),
    ("profile", Source::Text(|row| Some(row.run.profile.as_ref()?.id.clone()))),
    ("group", Source::Text(|row| Some(row.case.group.clone()))),
    ("case", Source::Text(|row| Some(row.case.case.to_string()))),
    ("bench", Source::Text(|row| Some(row.case.bench.clone()))),
    ("version", Source::Int(|row| Some(row.case.version.into()))),
    ("subject", Source::Text(|row| Some(row.case.subject.to_string()))),
    ("key", Source::Text(|row| row.case.key.clone())),
    ("nodes", Source::Text(|row| Some(node_names(&row.case.nodes)))),
    ("params", Source::Text(|row| Some(row.case.params.to_string()))),
    ("outcome", Source::Text(|row| word(row.case.outcome))),
    ("cause", Source::Text(|row| word(row.case.cause))),
    ("reason", Source::Text(|row| row.case.reason.clone())),
    (
        "kind",
        Source::Text(|row| {
            row.number.map(|_| if row.metric().is_some() { "metric" } else { "series" }.to_owned())
        }),
    ),
    ("name", Source::Text(|row| Some(row.number?.name.to_owned()))),
    ("at", Source::Text(|row| Some(row.place()?.at.to_string()))),
    ("unit", Source::Text(|row| Some(row.number?.unit.to_string()))),
    ("better", Source::Text(|row| word(row.number?.better))),
    ("n", Source::Long(|row| i64::try_from(row.sample.map_or(row.summary()?.n, |_| 1)).ok())),
    ("trials", Source::Long(|row| i64::try_from(row.summary()?.trials).ok())),
    ("median", Source::Double(|row| Some(row.summary()?.median))),
    ("lo", Source::Double(|row| Some(row.summary()?.ci95?.0))),
    ("hi", Source::Double(|row| Some(row.summary()?.ci95?.1))),
    ("mad", Source::Double(|row| Some(row.summary()?.mad))),
    ("min", Source::Double(|row| Some(row.summary()?.min))),
    ("max", Source::Double(|row| Some(row.summary()?.max))),
    ("mean", Source::Double(|row| Some(row.summary()?.mean))),
    ("p99", Source::Double(|row| row.summary()?.p99)),
    ("limit", Source::Double(|row| row.metric()?.limit.value)),
    ("limit_formula", Source::Text(|row| row.metric()?.limit.formula.clone())),
    ("limit_provenance", Source::Text(|row| row.metric()?.limit.provenance.clone())),
    ("percent_of_limit", Source::Double(|row| row.metric()?.percent_of_limit())),
    ("converged", Source::Flag(|row| Some(row.metric()?.converged))),
    ("verdict", Source::Text(|row| Some(row.verdict?.word().to_owned()))),
    ("nominal", Source::Double(|row| row.metric()?.limit.nominal)),
    ("percent_of_nominal", Source::Double(|row| row.metric()?.percent_of_nominal())),
];

pub fn called(names: &[&str]) -> Vec<ExportColumn> {
    names.iter().filter_map(|name| COLUMNS.into_iter().find(|column| column.0 == *name)).collect()
}
