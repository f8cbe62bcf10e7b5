//! Rows of the index, made of a run folder.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use seatrial_model::record::{CaseRecord, RunEnd, RunInfo};
use seatrial_model::{Outcome, Severity, Unit, Verdict};
use serde::{Deserialize, Serialize};

use super::cache::Unusable;
use crate::{State, StoredRun};

/// One run, as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The name of the folder.
    pub id: String,
    /// What it is doing now.
    pub state: State,
    /// The rest.
    pub summary: RunSummary,
}

/// What a list says of a run besides its name and state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The command as typed; none when `run.json` is not to be read.
    pub command: Option<Vec<String>>,
    /// Name of the profile, if any.
    pub profile: Option<String>,
    /// The nodes.
    pub nodes: Vec<String>,
    /// When it started, by the clock of then.
    pub started: Option<Timestamp>,
    /// When and how it ended.
    pub ended: Option<RunEnd>,
    /// The roll-up of its judgement.
    pub verdict: Option<Verdict>,
    /// Cases planned, as far as the run came.
    pub planned: u64,
    /// Cases measured.
    pub measured: u64,
    /// Cases in which the system under test did not deliver.
    pub failed: u64,
    /// Cases we could not look at.
    pub unmeasured: u64,
    /// Cases that do not apply.
    pub skipped: u64,
    /// Findings that say that something is wrong.
    #[serde(default)]
    pub problems: u64,
    /// Why it cannot be read, when a newer version wrote it.
    pub unreadable: Option<String>,
}

/// One metric of one case of one run. A case without numbers has one row without a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricRow {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// The benchmark.
    pub bench: String,
    /// The thing measured.
    pub subject: String,
    /// The nodes, joined by `+`.
    pub node: String,
    /// How the case ended.
    pub outcome: Outcome,
    /// The heaviest judgement of the case, if it was judged.
    pub verdict: Option<Verdict>,
    /// The number, if there is one.
    pub value: Option<MetricValue>,
}

/// The number of a [`MetricRow`].
#[derive(Clone, Debug, PartialEq)]
pub struct MetricValue {
    /// Name of the metric.
    pub metric: String,
    /// Unit of the numbers.
    pub unit: Unit,
    /// The median.
    pub median: f64,
    /// The ends of its 95 % interval.
    pub interval: Option<(f64, f64)>,
}

impl RunSummary {
    /// What `run` holds.
    pub fn of(run: &StoredRun) -> Self {
        let info: Option<&RunInfo> = run.info.present();
        let count = |outcome| run.results.iter().filter(|record| record.outcome == outcome).count() as u64;
        Self {
            command: info.map(|info| info.command.clone()),
            profile: info.and_then(|info| info.profile.as_ref()).map(|profile| profile.id.clone()),
            nodes: info.map(|info| info.nodes.clone()).unwrap_or_default(),
            started: info.map(|info| info.started),
            ended: info.and_then(|info| info.ended.clone()),
            verdict: run.verdict,
            planned: run.plan.present().map_or(0, |plan| plan.cases().count() as u64),
            measured: count(Outcome::Measured),
            failed: count(Outcome::Failed),
            unmeasured: count(Outcome::Unmeasured),
            skipped: count(Outcome::Skipped),
            problems: problems(run),
            unreadable: None,
        }
    }
}

/// What is said to be wrong, once for all cases that it was found in.
fn problems(run: &StoredRun) -> u64 {
    let all = run.results.iter().flat_map(|record| &record.findings).chain(&run.findings);
    let told: BTreeSet<(&str, &str)> = all
        .filter(|finding| finding.severity == Severity::Problem)
        .map(|finding| (finding.kind.as_str(), finding.text.as_str()))
        .collect();
    told.len() as u64
}

/// The enumerations go into the index as the words of the JSON record.
pub fn to_word<T: Serialize>(value: T) -> Result<String, Unusable> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        other => Err(Unusable::Closed(format!("no word for the index: {other:?}"))),
    }
}

/// Reads a word of the index back.
pub fn from_word<T: serde::de::DeserializeOwned>(word: &str) -> Result<T, Unusable> {
    serde_json::from_value(word.into()).map_err(|error| Unusable::Wrong(error.to_string()))
}

impl MetricRow {
    /// The rows of `run`.
    pub fn of(run: &StoredRun) -> Vec<Self> {
        let mut verdicts: BTreeMap<&str, Verdict> = BTreeMap::new();
        for record in &run.verdicts {
            let Some(case) = record.case.as_deref() else { continue };
            let heaviest = verdicts.entry(case).or_insert(record.verdict);
            *heaviest = record.verdict.max(*heaviest);
        }
        let name = run.name();
        run.results.iter().flat_map(|record| Self::of_case(&name, record, &verdicts)).collect()
    }

    fn of_case(run: &str, record: &CaseRecord, verdicts: &BTreeMap<&str, Verdict>) -> Vec<Self> {
        let row = Self {
            run: run.to_owned(),
            case: record.case.to_string(),
            bench: record.bench.clone(),
            subject: record.subject.to_string(),
            node: record.nodes.join("+"),
            outcome: record.outcome,
            verdict: verdicts.get(record.case.as_str()).copied(),
            value: None,
        };
        if record.metrics.is_empty() {
            return vec![row];
        }
        let value = |(name, metric): (&String, &seatrial_model::record::MetricRecord)| MetricValue {
            metric: name.clone(),
            unit: metric.unit,
            median: metric.median,
            interval: metric.ci95,
        };
        record.metrics.iter().map(|metric| Self { value: Some(value(metric)), ..row.clone() }).collect()
    }
}
