//! The numbers of a case that tables of parts and maps show: its headline, and what criteria are about.

use std::cmp::Reverse;
use std::collections::HashMap;

use seatrial_model::record::{CaseRecord, Document, MetricRecord};
use seatrial_model::{Better, Outcome, Verdict, VerdictRecord};

use super::values::is_about;
use crate::words::tone;

/// Names of metrics that say no more than the benchmark does.
const GENERAL: [&str; 4] = ["bandwidth", "latency", "throughput", "round_trip"];

/// A metric of a case with the heaviest verdict on it; without numbers, the case alone.
#[derive(Clone, Copy)]
pub struct JudgedNumber<'a> {
    pub case: &'a CaseRecord,
    name: Option<&'a str>,
    pub verdict: Option<Verdict>,
    /// The smallest distance from a bound on its share of a limit, in percent.
    pub margin: Option<f64>,
}

/// The verdicts on each case.
pub struct Judged<'a>(HashMap<&'a str, Vec<&'a VerdictRecord>>);

impl<'a> Judged<'a> {
    pub fn new(document: &'a Document) -> Self {
        let mut judged: HashMap<&str, Vec<&VerdictRecord>> = HashMap::new();
        for record in &document.verdicts {
            if let Some(case) = record.case.as_deref() {
                judged.entry(case).or_default().push(record);
            }
        }
        Self(judged)
    }

    /// The verdicts on `case`.
    pub fn of(&self, case: &CaseRecord) -> &[&'a VerdictRecord] {
        self.0.get(case.case.as_str()).map_or(&[], Vec::as_slice)
    }

    /// The numbers of `case`, the headline first. A verdict about no metric, such as one about a series, counts for the
    /// headline.
    pub fn numbers(&self, case: &'a CaseRecord) -> Vec<JudgedNumber<'a>> {
        let headline = case.headline().map(|(name, _)| name);
        let mut numbers = vec![JudgedNumber { case, name: headline, verdict: None, margin: None }];
        for record in self.of(case) {
            let found = case.metrics.iter().find(|(_, metric)| is_about(record, metric));
            let name = found.map(|(name, _)| name.as_str()).or(headline);
            let at = numbers.iter().position(|number| number.name == name).unwrap_or_else(|| {
                numbers.push(JudgedNumber { case, name, verdict: None, margin: None });
                numbers.len() - 1
            });
            let number = &mut numbers[at];
            number.verdict = number.verdict.max(Some(record.verdict));
            // A share of the limit is not shown beside other bounds.
            let margin = record.margin_percent.filter(|_| record.bound.contains('%'));
            number.margin = [number.margin, margin]
                .into_iter()
                .flatten()
                .min_by(|one, other| one.abs().total_cmp(&other.abs()));
        }
        numbers
    }

    /// The number of `case` with the heaviest verdict.
    pub fn worst(&self, case: &'a CaseRecord) -> JudgedNumber<'a> {
        let numbers = self.numbers(case);
        numbers.iter().copied().min_by_key(JudgedNumber::weight).unwrap_or(numbers[0])
    }
}

impl<'a> JudgedNumber<'a> {
    pub fn metric(&self) -> Option<&'a MetricRecord> {
        self.of(self.case)
    }

    /// The same metric of another case.
    pub fn of<'c>(&self, case: &'c CaseRecord) -> Option<&'c MetricRecord> {
        case.metrics.get(self.name?)
    }

    /// The name of the metric, unless the benchmark says as much.
    pub fn name(&self) -> &'a str {
        let name = self.name.unwrap_or_default();
        if GENERAL.contains(&name) || self.case.bench.ends_with(name) { "" } else { name }
    }

    /// The verdict, else what the end of the case says: nothing if it has numbers.
    pub fn tone(&self) -> Option<Verdict> {
        let ended = (self.case.outcome != Outcome::Measured).then(|| tone(self.case.outcome));
        self.verdict.or(ended)
    }

    /// How much of its limit the number reaches, in percent; of a time, the limit as a share of the time.
    pub fn share(&self) -> Option<f64> {
        let metric = self.metric()?;
        let percent = metric.percent_of_limit().filter(|percent| *percent > 0.0)?;
        Some(if metric.better == Better::Lower { 1e4 / percent } else { percent })
    }

    /// Whether the same metric of `other` is better, where verdicts and limits tell no difference.
    pub fn is_behind(&self, other: &Self) -> bool {
        self.name == other.name && self.weight() == other.weight() && self.rank() < other.rank()
    }

    /// The worst value first, as an integer: those of numbers that are not negative order as their bits.
    pub fn rank(&self) -> i64 {
        let Some(metric) = self.metric() else { return i64::MIN };
        let bits = metric.median.max(0.0).to_bits() as i64;
        if metric.better == Better::Lower { -bits } else { bits }
    }

    /// The heaviest verdict first, then the smallest share of the limit; unknown shares come last.
    pub fn weight(&self) -> (Reverse<Option<Verdict>>, i64) {
        // In thousandths of a percent: integers order totally.
        (Reverse(self.tone()), self.share().map_or(i64::MAX, |percent| (percent * 1e3) as i64))
    }
}
