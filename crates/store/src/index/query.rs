//! Questions to the index: which runs there are, and what they measured.

use rusqlite::{Connection, Row, params};

use super::cache::{Cache, Unusable};
use super::row::{MetricRow, MetricValue, RunRow, RunSummary, from_word};
use super::sync::sync;
use crate::folder::Files;
use crate::{Home, State, StoreError};

/// Where an answer comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The index, just brought up to date; also when there was no run to look up.
    Index,
    /// Every folder was read, since the index could not be used.
    Folders {
        /// Why not, as a fragment.
        why: String,
    },
}

/// All runs of a home.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Oldest first.
    pub runs: Vec<RunRow>,
    /// Where they were read.
    pub source: Source,
}

/// Which metrics are asked for; a field that is none takes all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetricFilter {
    /// Of this run.
    pub run: Option<String>,
    /// Of this benchmark.
    pub bench: Option<String>,
    /// Of this name.
    pub metric: Option<String>,
    /// Of this subject.
    pub subject: Option<String>,
}

/// Metrics of the runs of a home.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// Oldest run first, then by case and metric.
    pub rows: Vec<MetricRow>,
    /// Where they were read.
    pub source: Source,
}

impl Home {
    /// The runs of this home, oldest first.
    ///
    /// # Errors
    /// When the folder of the runs cannot be read. An index that cannot be used is no error; see [`Source`].
    pub fn history(&self) -> Result<History, StoreError> {
        let (runs, source) = self.ask(summaries)?;
        let row = |(id, summary): (String, RunSummary)| {
            let state = State::of(&Files::of(self.runs().join(&id)), summary.ended.is_some());
            RunRow { id, state, summary }
        };
        Ok(History { runs: runs.into_iter().map(row).collect(), source })
    }

    /// What the runs of this home measured.
    ///
    /// # Errors
    /// As [`Home::history`].
    pub fn metrics(&self, filter: &MetricFilter) -> Result<Metrics, StoreError> {
        let (rows, source) = self.ask(|connection| metrics(connection, filter))?;
        Ok(Metrics { rows, source })
    }

    /// Asks the index; if it is wrong, asks it again after building it anew; if it cannot be used, asks the folders.
    fn ask<T>(
        &self,
        question: impl Fn(&Connection) -> Result<T, Unusable>,
    ) -> Result<(T, Source), StoreError> {
        let ids = self.ids()?;
        let is_empty = ids.is_empty();
        let answer = |cache: &mut Cache| {
            sync(&mut cache.connection, &self.runs(), &ids)?;
            question(&cache.connection)
        };
        let indexed = || {
            // Looking must not make a home where there is none.
            let mut cache = if is_empty { Cache::in_memory()? } else { Cache::open(self)? };
            match answer(&mut cache) {
                Err(Unusable::Wrong(_)) => answer(&mut cache.rebuilt(self)?),
                other => other,
            }
        };
        let why = match indexed() {
            Ok(answer) => return Ok((answer, Source::Index)),
            Err(unusable) => unusable.into_text(),
        };
        let in_memory = || answer(&mut Cache::in_memory()?);
        let answer = in_memory().map_err(|unusable| {
            StoreError::io("listing", &self.runs(), std::io::Error::other(unusable.into_text()))
        })?;
        Ok((answer, Source::Folders { why }))
    }
}

fn summaries(connection: &Connection) -> Result<Vec<(String, RunSummary)>, Unusable> {
    let mut statement = connection.prepare("SELECT run, summary FROM runs ORDER BY run")?;
    let mut rows = statement.query(())?;
    let mut summaries = Vec::new();
    while let Some(row) = rows.next()? {
        let summary: String = row.get("summary")?;
        let summary = serde_json::from_str(&summary).map_err(|error| Unusable::Wrong(error.to_string()))?;
        summaries.push((row.get("run")?, summary));
    }
    Ok(summaries)
}

fn metrics(connection: &Connection, filter: &MetricFilter) -> Result<Vec<MetricRow>, Unusable> {
    let mut statement = connection.prepare(
        "SELECT * FROM metrics
         WHERE (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR bench = ?2)
           AND (?3 IS NULL OR metric = ?3) AND (?4 IS NULL OR subject = ?4)
         ORDER BY run, \"case\", metric",
    )?;
    let mut rows = statement.query(params![filter.run, filter.bench, filter.metric, filter.subject])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(metric_row(row)?);
    }
    Ok(found)
}

fn metric_row(row: &Row<'_>) -> Result<MetricRow, Unusable> {
    let verdict: Option<String> = row.get("verdict")?;
    let value = match (row.get::<_, Option<String>>("metric")?, row.get::<_, Option<String>>("unit")?) {
        (Some(metric), Some(unit)) => Some(MetricValue {
            metric,
            unit: unit.parse().map_err(|_| Unusable::Wrong(format!("'{unit}' is no unit")))?,
            median: row.get("median")?,
            interval: row.get::<_, Option<f64>>("lo")?.zip(row.get("hi")?),
        }),
        _ => None,
    };
    Ok(MetricRow {
        run: row.get("run")?,
        case: row.get("case")?,
        bench: row.get("bench")?,
        subject: row.get("subject")?,
        node: row.get("node")?,
        outcome: from_word(&row.get::<_, String>("outcome")?)?,
        verdict: verdict.as_deref().map(from_word).transpose()?,
        value,
    })
}
