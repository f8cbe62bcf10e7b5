//! The same question over many runs.

use std::collections::HashMap;

use jiff::Timestamp;
use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Params, Subject, Unit, node_names};

use super::TrendStep;
use super::step::steps;
use crate::same::{asked_text, is_same_question, is_same_thing};

#[derive(Clone, Copy, Debug)]
pub struct TrendRun<'a> {
    pub id: &'a str,
    pub started: Timestamp,
    /// Its cases; cases of other benchmarks may be left out.
    pub results: &'a [CaseRecord],
}

/// One metric of one subject with one set of parameters, over the runs that measured it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    pub bench: String,
    /// The version of the benchmark; numbers of different versions are not comparable and make separate trends.
    pub version: u32,
    /// The subject, as the last run names it.
    pub subject: Subject,
    pub key: Option<String>,
    pub nodes: Vec<String>,
    pub params: Params,
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    pub points: Vec<Point>,
    /// Changes of level, oldest first.
    pub steps: Vec<TrendStep>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub run: String,
    pub started: Timestamp,
    pub median: f64,
    /// The 95 % interval of the median.
    pub interval: Option<(f64, f64)>,
}

/// Key of the hash map; the rest of a question is compared.
type Bucket = (String, u32, String, String);

struct Asked<'a> {
    last: &'a CaseRecord,
    points: Vec<(TrendRun<'a>, &'a CaseRecord)>,
}

/// The trends of every metric in `runs`, which are in the order of time. Cases of a search for the highest load or of
/// a study of factors are no repeats of each other and left out.
pub fn trends(runs: &[TrendRun<'_>]) -> Vec<Trend> {
    let mut asked: Vec<Asked<'_>> = Vec::new();
    let mut buckets: HashMap<Bucket, Vec<usize>> = HashMap::new();
    for run in runs {
        let is_regular = |case: &&CaseRecord| !case.origin.is_added();
        for case in run.results.iter().filter(is_regular).filter(|case| !case.metrics.is_empty()) {
            let bucket = (case.bench.clone(), case.version, asked_text(case), node_names(&case.nodes));
            let known = buckets.entry(bucket).or_default();
            let same = |at: &&usize| {
                let last = asked[**at].last;
                is_same_question(last, case) && is_same_thing(last, case)
            };
            match known.iter().find(same).copied() {
                // Two tests of one profile may measure the same: a run is one point.
                Some(at) if asked[at].points.last().is_some_and(|(last, _)| last.id == run.id) => {}
                Some(at) => {
                    asked[at].last = case;
                    asked[at].points.push((*run, case));
                }
                None => {
                    known.push(asked.len());
                    asked.push(Asked { last: case, points: vec![(*run, case)] });
                }
            }
        }
    }
    asked.iter().flat_map(of_question).collect()
}

fn of_question(asked: &Asked<'_>) -> Vec<Trend> {
    let last = asked.last;
    last.metrics.iter().map(|(name, metric)| of_metric(asked, name, metric)).collect()
}

fn of_metric(asked: &Asked<'_>, name: &str, metric: &MetricRecord) -> Trend {
    let in_unit = |case: &CaseRecord| case.metrics.get(name).filter(|it| it.unit == metric.unit).cloned();
    let points: Vec<Point> = asked
        .points
        .iter()
        .filter_map(|(run, case)| {
            let metric = in_unit(case)?;
            Some(Point {
                run: run.id.to_owned(),
                started: run.started,
                median: metric.median,
                interval: metric.ci95,
            })
        })
        .collect();
    let runs: Vec<&str> = points.iter().map(|point| point.run.as_str()).collect();
    let values: Vec<f64> = points.iter().map(|point| point.median).collect();
    let last = asked.last;
    Trend {
        bench: last.bench.clone(),
        version: last.version,
        subject: last.subject.clone(),
        key: last.key.clone(),
        nodes: last.nodes.clone(),
        params: last.params.clone(),
        metric: name.to_owned(),
        unit: metric.unit,
        better: metric.better,
        steps: steps(&runs, &values, metric.better),
        points,
    }
}
