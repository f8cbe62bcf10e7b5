//! `congestion-impact`: how much worse a test is beside a load than alone, as in GPCNet: the ratio of the means and of the
//! 99th percentiles.

use std::collections::BTreeMap;

use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Finding, Outcome, Quantity, Severity, Subject, Unit};

use super::Rule;
use crate::number::{in_unit, significant};

pub(super) const RULE: Rule = Rule {
    kind: "congestion-impact",
    doc: "A test with `beside` was measured alone and under a load: the slowdown of its mean and of its 99th percentile.",
    find: |records| impacts(records).iter().filter_map(finding).collect(),
};

/// One question under the same load.
#[derive(Clone, Debug, PartialEq)]
pub struct Impact {
    pub test: String,
    pub load: String,
    pub bench: String,
    pub params: String,
    pub rows: Vec<ImpactRow>,
}

/// A number beside a part of the load, over all subjects that were measured alone and beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpactRow {
    /// `mean of round_trip`, `p99`.
    pub what: String,
    pub unit: Unit,
    /// Cases of the load that ran, in percent of all.
    pub percent: u32,
    /// Medians over the subjects.
    pub alone: f64,
    pub beside: f64,
    /// Above 1 it is worse beside the load, of a time or of a rate.
    pub slowdown: f64,
    /// The subject that suffers most, and its ratio.
    pub worst: (String, f64),
}

/// A number of a case: what it is, its unit, which direction is better.
type Figure = (String, Unit, Better, f64);

/// The questions among `records` that were measured beside a load.
pub fn impacts(records: &[CaseRecord]) -> Vec<Impact> {
    let mut questions: BTreeMap<(&str, &str, String), Vec<&CaseRecord>> = BTreeMap::new();
    for case in records.iter().filter(|case| case.outcome == Outcome::Measured && !case.origin.is_load()) {
        if let Some(beside) = &case.origin.beside {
            questions.entry((&beside.test, &beside.load, case.params.to_string())).or_default().push(case);
        }
    }
    let impact = |((test, load, params), cases): ((&str, &str, String), Vec<&CaseRecord>)| Impact {
        test: test.to_owned(),
        load: load.to_owned(),
        bench: cases[0].bench.clone(),
        params,
        rows: rows(&cases),
    };
    questions.into_iter().map(impact).filter(|impact| !impact.rows.is_empty()).collect()
}

fn percent(case: &CaseRecord) -> u32 {
    case.origin.beside.as_ref().map_or(0, |beside| beside.percent)
}

/// A number of a subject beside the load, and alone.
struct Pair {
    beside: Figure,
    alone: f64,
    subject: String,
}

impl Pair {
    fn slowdown(&self) -> f64 {
        let (_, _, better, beside) = &self.beside;
        match better {
            Better::Lower => beside / self.alone,
            Better::Higher | Better::None => self.alone / beside,
        }
    }
}

fn rows(cases: &[&CaseRecord]) -> Vec<ImpactRow> {
    // By number and part of the load.
    let mut found: BTreeMap<(String, u32), Vec<Pair>> = BTreeMap::new();
    for case in cases.iter().filter(|case| percent(case) > 0) {
        let is_same = |other: &&&CaseRecord| {
            percent(other) == 0 && other.nodes == case.nodes && other.subject == case.subject
        };
        let Some(alone) = cases.iter().find(is_same) else { continue };
        for beside in figures(case) {
            let before = figures(alone).into_iter().find(|(what, ..)| *what == beside.0);
            if let Some((.., alone)) = before.filter(|(.., alone)| *alone > 0.0 && beside.3 > 0.0) {
                let key = (beside.0.clone(), percent(case));
                found.entry(key).or_default().push(Pair { beside, alone, subject: case.subject.to_string() });
            }
        }
    }
    found.into_iter().filter_map(|((what, percent), pairs)| row(what, percent, &pairs)).collect()
}

fn row(what: String, percent: u32, pairs: &[Pair]) -> Option<ImpactRow> {
    let median = |of: fn(&Pair) -> f64| {
        let values: Vec<f64> = pairs.iter().map(of).collect();
        seatrial_stats::median(&values)
    };
    let worst = pairs.iter().max_by(|one, other| one.slowdown().total_cmp(&other.slowdown()))?;
    Some(ImpactRow {
        what,
        unit: worst.beside.1,
        percent,
        alone: median(|pair| pair.alone)?,
        beside: median(|pair| pair.beside.3)?,
        slowdown: median(Pair::slowdown)?,
        worst: (worst.subject.clone(), worst.slowdown()),
    })
}

/// The mean of the headline, and the 99th percentile: a metric of that name, or that of the headline's samples.
fn figures(case: &CaseRecord) -> Vec<Figure> {
    let Some((name, headline)) = case.headline() else { return Vec::new() };
    let mean = (format!("mean of {name}"), headline.unit, headline.better, headline.mean);
    let p99 = match case.metrics.get("p99") {
        Some(metric) => Some(("p99".to_owned(), metric.unit, metric.better, metric.median)),
        // The slow end of a rate is at its other end.
        None if headline.better == Better::Lower => {
            headline.p99.map(|p99| (format!("p99 of {name}"), headline.unit, headline.better, p99))
        }
        None => None,
    };
    [Some(mean), p99].into_iter().flatten().collect()
}

/// What the whole load does.
fn finding(impact: &Impact) -> Option<Finding> {
    let most = impact.rows.iter().map(|row| row.percent).max()?;
    let whole: Vec<&ImpactRow> = impact.rows.iter().filter(|row| row.percent == most).collect();
    let told = whole.iter().map(|row| {
        let (alone, beside) = (in_unit(row.alone, row.unit), in_unit(row.beside, row.unit));
        format!(
            "{} {alone} alone and {beside} beside it, a slowdown of {}",
            row.what,
            significant(row.slowdown)
        )
    });
    let worst = whole.iter().max_by(|one, other| one.worst.1.total_cmp(&other.worst.1))?;
    let Impact { test, load, .. } = impact;
    let text = format!(
        "{test} beside {load}: {}; most of all {}: {}, {}",
        told.collect::<Vec<_>>().join("; "),
        worst.worst.0,
        worst.what,
        significant(worst.worst.1)
    );
    let mut finding = Finding::new(RULE.kind, Severity::Info, Subject::node(), text);
    finding.value = Quantity::new(worst.slowdown, Unit::Ratio).ok();
    finding.evidence = vec![test.clone(), load.clone()];
    Some(finding)
}

#[cfg(test)]
mod tests {
    use seatrial_model::Beside;

    use super::*;
    use crate::judge::fixture::{measured, metric, no_limit};

    fn case(subject: &str, percent: u32, mean: f64, p99: f64) -> CaseRecord {
        let mut case = measured("n1");
        case.subject = subject.parse().expect("a subject");
        case.origin.beside = Some(Beside {
            test: "ping".to_owned(),
            load: "bulk".to_owned(),
            percent,
            number: 1 + percent,
            is_load: false,
        });
        let of = |value: f64| {
            let mut of = metric(value, (value, value), no_limit());
            (of.unit, of.better, of.mean) = (Unit::Microsecond, Better::Lower, value);
            of
        };
        case.metrics.insert("round_trip".to_owned(), of(mean));
        case.metrics.insert("p99".to_owned(), of(p99));
        case
    }

    #[test]
    fn what_a_load_does_is_told_by_mean_and_tail_over_all_subjects() {
        let mut cases = vec![case("a", 0, 10.0, 20.0), case("b", 0, 12.0, 20.0), case("c", 0, 10.0, 20.0)];
        cases.extend([case("a", 100, 20.0, 80.0), case("b", 100, 24.0, 60.0), case("c", 100, 50.0, 400.0)]);
        // Measured under the load only.
        cases.push(case("d", 100, 1.0, 1.0));
        let mut load = case("a", 100, 900.0, 900.0);
        load.origin.beside.as_mut().expect("a load").is_load = true;
        cases.push(load);
        let all = impacts(&cases);
        let [Impact { rows, .. }] = all.as_slice() else { panic!("{all:?}") };
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.what.as_str(), row.alone, row.beside, row.slowdown, row.worst.clone()))
            .collect();
        let mean = ("mean of round_trip", 10.0, 24.0, 2.0, ("c".to_owned(), 5.0));
        assert_eq!(told, [mean, ("p99", 20.0, 80.0, 4.0, ("c".to_owned(), 20.0))]);
        let found = (RULE.find)(&cases);
        let text = "ping beside bulk: mean of round_trip 10 us alone and 24 us beside it, a slowdown of 2; p99 20 us alone \
                    and 80 us beside it, a slowdown of 4; most of all c: p99, 20";
        assert_eq!(found.iter().map(|finding| finding.text.as_str()).collect::<Vec<_>>(), [text]);
    }

    #[test]
    fn a_rate_that_falls_is_worse_and_one_alone_says_nothing() {
        let rate = |percent, value: f64| {
            let mut case = case("a", percent, 1.0, 1.0);
            case.metrics.clear();
            case.metrics.insert("throughput".to_owned(), metric(value, (value, value), no_limit()));
            case.metrics.values_mut().for_each(|metric| metric.mean = value);
            case
        };
        let found = impacts(&[rate(0, 8.0), rate(50, 4.0), rate(100, 2.0)]);
        let times: Vec<_> = found[0].rows.iter().map(|row| (row.percent, row.slowdown)).collect();
        assert_eq!(times, [(50, 2.0), (100, 4.0)]);
        assert_eq!(impacts(&[rate(0, 8.0)]), []);
    }
}
