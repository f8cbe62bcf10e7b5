//! Rates of concurrent flows: one row per step of a pattern that shares links on purpose.
//!
//! Every trial of a step is a repeat: its connections are new and have new source ports, so ECMP or LAG hashes them
//! anew.

use std::collections::BTreeMap;

use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Better, Outcome, Params, Subject, Unit};
use seatrial_stats::median;

use super::hashing;

/// Its rate is that of a copy from beginning to end: a copy that is done leaves the link to the others, so that the sum of the
/// rates is more than ever went over the link.
const COPIES: &str = "transfer.move";

#[derive(Clone, Debug, PartialEq)]
pub struct AtOnce {
    pub group: String,
    pub bench: String,
    pub params: Params,
    /// `trunk`, `bisection`, `incast`, `one-to-many`.
    pub pattern: String,
    pub metric: String,
    pub unit: Unit,
    pub line: Option<Line>,
    /// The stated number of links between the two groups.
    pub links: Option<u32>,
    /// The number of links that makes the totals most likely, if the totals allow an estimate.
    pub fitted: Option<u32>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub rate: f64,
    /// True: the derived limit. False: the fastest flow that ran alone.
    pub is_limit: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The number of the step; for `trunk` the planned number of flows.
    pub number: u64,
    pub planned: usize,
    pub case: String,
    /// Flows that were measured concurrently in every repeat; `None` when one was missing in a repeat.
    pub flows: Option<u32>,
    /// In the order of the trials; empty when the flows did not run concurrently.
    pub repeats: Vec<Repeat>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    /// The sum of all flows; of copies of equal sets all bytes over the time until the last copy is done.
    pub total: f64,
    pub slowest: Flow,
    pub fastest: Flow,
    /// Shares of the line, if the line is known.
    pub classes: Option<Classes>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    pub rate: f64,
    /// `n1->n2`.
    pub subject: Subject,
}

/// Number of flows by their share of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// At least 0.9.
    pub full: u32,
    /// 0.4 to 0.6: two flows on one link.
    pub half: u32,
    /// 0.28 to 0.38: three flows on one link.
    pub third: u32,
    /// Below 0.1.
    pub starved: u32,
    pub other: u32,
}

impl Classes {
    pub fn of(shares: impl IntoIterator<Item = f64>) -> Self {
        let mut classes = Self::default();
        for share in shares {
            *match share {
                full if full >= 0.9 => &mut classes.full,
                half if (0.4..=0.6).contains(&half) => &mut classes.half,
                third if (0.28..=0.38).contains(&third) => &mut classes.third,
                starved if starved < 0.1 => &mut classes.starved,
                _ => &mut classes.other,
            } += 1;
        }
        classes
    }
}

impl Step {
    pub fn median(&self) -> Option<f64> {
        let totals: Vec<f64> = self.repeats.iter().map(|repeat| repeat.total).collect();
        median(&totals)
    }

    /// The repeat with the median total; of an even number the lower one.
    pub fn middle(&self) -> Option<&Repeat> {
        let mut repeats: Vec<&Repeat> = self.repeats.iter().collect();
        repeats.sort_by(|one, other| one.total.total_cmp(&other.total));
        repeats.get(repeats.len().checked_sub(1)? / 2).copied()
    }

    pub fn least(&self) -> Option<&Repeat> {
        self.repeats.iter().min_by(|one, other| one.total.total_cmp(&other.total))
    }

    pub fn best(&self) -> Option<&Repeat> {
        self.repeats.iter().max_by(|one, other| one.total.total_cmp(&other.total))
    }
}

impl AtOnce {
    /// The average total of `flows` hashed on the links, each link as fast as one flow: by the stated number of
    /// links, else by the fitted number.
    pub fn expected(&self, flows: u32) -> Option<f64> {
        let links = self.links.or(self.fitted)?;
        Some(self.line.as_ref()?.rate * hashing::expected(flows, links))
    }

    /// Per repeat with all flows: the number of flows, and the total in units of one link.
    pub(super) fn seen(&self) -> Vec<(u32, u32)> {
        let Some(line) = self.line.as_ref().filter(|line| line.rate > 0.0) else { return Vec::new() };
        let of = |step: &Step| {
            let flows = step.flows.unwrap_or(0);
            // The total is a little below the line rate, so it is rounded to whole links.
            let links = |repeat: &Repeat| ((repeat.total / line.rate).round() as u32).min(flows);
            step.repeats.iter().map(|repeat| (flows, links(repeat))).collect::<Vec<_>>()
        };
        self.steps.iter().flat_map(of).collect()
    }
}

/// The concurrent cases of `records`, one entry per question. The groups of a bisection have findings of their own.
pub fn at_once(records: &[CaseRecord]) -> Vec<AtOnce> {
    let mut questions: Vec<Vec<&CaseRecord>> = Vec::new();
    for case in records.iter().filter(|case| case.origin.step.is_some() && !case.origin.is_group()) {
        let same = |cases: &&mut Vec<&CaseRecord>| {
            cases[0].bench == case.bench
                && cases[0].params == case.params
                && cases[0].group == case.group
                && cases[0].origin.pattern == case.origin.pattern
        };
        match questions.iter_mut().find(same) {
            Some(cases) => cases.push(case),
            None => questions.push(vec![case]),
        }
    }
    questions.iter().filter_map(|cases| of_question(cases)).collect()
}

fn of_question(cases: &[&CaseRecord]) -> Option<AtOnce> {
    let (name, metric) = cases.iter().find_map(|case| case.headline())?;
    if metric.better != Better::Higher {
        return None;
    }
    let mut steps: BTreeMap<u64, Vec<&CaseRecord>> = BTreeMap::new();
    for case in cases {
        steps.entry(case.origin.step?).or_default().push(case);
    }
    let line = line(cases, &steps, name);
    let steps = steps.into_iter().map(|(number, cases)| step(number, &cases, name, line.as_ref()));
    let first = cases[0];
    let mut found = AtOnce {
        group: first.group.clone(),
        bench: first.bench.clone(),
        params: first.params.clone(),
        pattern: first.origin.pattern.clone().unwrap_or_default(),
        metric: name.to_owned(),
        unit: metric.unit,
        links: first.origin.links,
        fitted: None,
        steps: steps.collect(),
        line,
    };
    if found.pattern == "trunk" {
        found.fitted = hashing::fit(&found.seen());
    }
    Some(found)
}

/// The lowest derived limit of a flow; else the fastest flow that ran alone.
fn line(cases: &[&CaseRecord], steps: &BTreeMap<u64, Vec<&CaseRecord>>, name: &str) -> Option<Line> {
    let metrics = cases.iter().filter_map(|case| case.metrics.get(name));
    let limits: Option<Vec<f64>> = metrics.map(|metric| metric.limit.value).collect();
    let lowest = limits.and_then(|limits| limits.into_iter().reduce(f64::min));
    if let Some(rate) = lowest {
        return Some(Line { rate, is_limit: true });
    }
    let alone = steps.values().filter(|cases| cases.len() == 1).flatten();
    let best = alone.filter_map(|case| rates(case.metrics.get(name)?).into_iter().reduce(f64::max));
    best.reduce(f64::max).map(|rate| Line { rate, is_limit: false })
}

fn step(number: u64, cases: &[&CaseRecord], name: &str, line: Option<&Line>) -> Step {
    let measured: Vec<&&CaseRecord> = cases.iter().filter(|case| case.outcome == Outcome::Measured).collect();
    let count = measured.len() as u64;
    let ran_with_all = |case: &&&CaseRecord| {
        let company = case.evidence.get("together").and_then(|together| together.get("cases")?.as_array());
        company.is_some_and(|company| company.iter().all(|with| with.as_u64() == Some(count)))
    };
    let (subjects, rates): (Vec<&Subject>, Vec<Vec<f64>>) =
        measured.iter().filter_map(|case| Some((&case.subject, rates(case.metrics.get(name)?)))).unzip();
    let is_whole = count > 0 && measured.iter().all(ran_with_all) && rates.len() == measured.len();
    let trials = rates.first().map_or(0, Vec::len);
    let is_even = rates.iter().all(|rates| rates.len() == trials);
    let repeat = |trial: usize| {
        let flows: Vec<f64> = rates.iter().map(|rates| rates[trial]).collect();
        let classes = line.filter(|line| line.rate > 0.0);
        let by_rate = |one: &usize, other: &usize| flows[*one].total_cmp(&flows[*other]);
        let flow = |at: usize| Flow { rate: flows[at], subject: subjects[at].clone() };
        let slowest = flow((0..flows.len()).min_by(by_rate)?);
        let is_of_copies = cases[0].bench == COPIES;
        Some(Repeat {
            total: if is_of_copies { slowest.rate * flows.len() as f64 } else { flows.iter().sum() },
            slowest,
            fastest: flow((0..flows.len()).max_by(by_rate)?),
            classes: classes.map(|line| Classes::of(flows.iter().map(|rate| rate / line.rate))),
        })
    };
    Step {
        number,
        planned: cases.len(),
        case: cases[0].case.to_string(),
        flows: is_whole.then(|| u32::try_from(count).unwrap_or(u32::MAX)),
        repeats: if is_whole && is_even { (0..trials).filter_map(repeat).collect() } else { Vec::new() },
    }
}

/// The rate of each trial; the median of all trials when the samples are stored in a file.
fn rates(metric: &MetricRecord) -> Vec<f64> {
    match &metric.samples {
        Some(trials) => trials.iter().filter_map(|trial| median(trial)).collect(),
        None => vec![metric.median],
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::judge::fixture::{case, metric, no_limit};
    use serde_json::json;

    /// Flow `at` of step `flows`, with its rate in every trial.
    pub(in super::super) fn flow(flows: u64, at: usize, rates: &[f64]) -> CaseRecord {
        let mut case = case(&format!("a{at}"), &format!("a{at}->b{at}"));
        case.nodes.push(format!("b{at}"));
        let Ok(id) = format!("net.tcp_stream@a{at}+b{at}#trunk.{flows}").parse();
        case.case = id;
        case.origin.pattern = Some("trunk".to_owned());
        case.origin.step = Some(flows);
        let median = median(rates).expect("rates");
        let mut metric = metric(median, (median, median), no_limit());
        metric.samples = Some(rates.iter().map(|rate| vec![*rate; 3]).collect());
        case.metrics.insert("throughput".to_owned(), metric);
        case.evidence.insert("together".to_owned(), json!({ "cases": vec![flows; rates.len()] }));
        case
    }

    /// A trunk of links of 10: in every trial each flow is on one link and gets a fair share.
    pub(in super::super) fn trunk(hashed: &[&[&[usize]]]) -> Vec<CaseRecord> {
        let mut records = Vec::new();
        for (step, trials) in hashed.iter().enumerate() {
            for at in 0..=step {
                let rate =
                    |links: &&[usize]| 10.0 / links.iter().filter(|link| **link == links[at]).count() as f64;
                let rates: Vec<f64> = trials.iter().map(rate).collect();
                records.push(flow(step as u64 + 1, at, &rates));
            }
        }
        records
    }

    #[test]
    fn flows_are_classed_by_their_share_of_the_line() {
        let shares = [1.0, 0.9, 0.899, 0.6, 0.5, 0.4, 0.39, 0.38, 0.28, 0.27, 0.1, 0.099, 0.0];
        let classes = Classes { full: 2, half: 3, third: 2, starved: 2, other: 4 };
        assert_eq!(Classes::of(shares), classes);
    }

    #[test]
    fn a_trunk_has_a_row_for_every_number_of_flows() {
        let records = trunk(&[&[&[0], &[1]], &[&[0, 1], &[0, 0]], &[&[0, 0, 0], &[0, 0, 1]]]);
        let found = at_once(&records);
        let [trunk] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(trunk.line, Some(Line { rate: 10.0, is_limit: false }));
        let totals: Vec<Vec<f64>> =
            trunk.steps.iter().map(|step| step.repeats.iter().map(|repeat| repeat.total).collect()).collect();
        assert_eq!(totals[..2], [vec![10.0, 10.0], vec![20.0, 10.0]]);
        assert!((totals[2][0] - 10.0).abs() < 1e-9 && (totals[2][1] - 20.0).abs() < 1e-9);
        let classes = |step: usize, trial: usize| trunk.steps[step].repeats[trial].classes.expect("a line");
        assert_eq!(classes(2, 0), Classes { third: 3, ..Classes::default() });
        assert_eq!(classes(2, 1), Classes { full: 1, half: 2, ..Classes::default() });
        assert_eq!((trunk.steps[1].median(), trunk.steps[1].middle().unwrap().total), (Some(15.0), 10.0));
        assert_eq!(trunk.steps[1].best().unwrap().total, 20.0);
        assert_eq!(trunk.seen(), [(1, 1), (1, 1), (2, 2), (2, 1), (3, 1), (3, 2)]);
    }

    #[test]
    fn copies_are_done_when_the_last_is() {
        let mut records = trunk(&[&[&[0]], &[&[0, 1]], &[&[0, 0, 1]]]);
        records.iter_mut().for_each(|record| record.bench = COPIES.to_owned());
        let totals: Vec<f64> = at_once(&records)[0].steps.iter().map(|step| step.repeats[0].total).collect();
        // Of three the two that share a link have a rate of 5.
        assert_eq!(totals, [10.0, 20.0, 15.0]);
    }

    #[test]
    fn the_limit_is_the_line_where_every_flow_has_one() {
        let mut records = trunk(&[&[&[0]], &[&[0, 0]]]);
        for record in &mut records {
            record.metrics.get_mut("throughput").unwrap().limit.value = Some(12.5);
        }
        let found = at_once(&records);
        assert_eq!(found[0].line, Some(Line { rate: 12.5, is_limit: true }));
        assert_eq!(found[0].steps[1].repeats[0].classes, Some(Classes { half: 2, ..Classes::default() }));
    }

    #[test]
    fn a_step_that_did_not_run_whole_has_no_total() {
        let mut records = trunk(&[&[&[0]], &[&[0, 1]], &[&[0, 1, 2]]]);
        records[5].outcome = Outcome::Failed;
        records[5].metrics.clear();
        let found = at_once(&records);
        let step = &found[0].steps[2];
        assert_eq!((step.planned, step.flows, step.repeats.len()), (3, None, 0), "they began as three");
        // The third flow was gone before the step began: two ran concurrently.
        for record in &mut records[3..5] {
            record.evidence.insert("together".to_owned(), json!({ "cases": [2] }));
        }
        let step = &at_once(&records)[0].steps[2];
        assert_eq!((step.planned, step.flows, step.repeats[0].total), (3, Some(2), 20.0));
    }

    #[test]
    fn the_links_are_those_stated_or_those_that_fit() {
        let mut records = trunk(&[&[&[0]], &[&[0, 1]], &[&[0, 1, 0]], &[&[0, 1, 0, 1]]]);
        let found = &at_once(&records)[0];
        assert_eq!((found.links, found.fitted), (None, Some(2)));
        assert_eq!(found.expected(3), Some(17.5));
        records.iter_mut().for_each(|record| record.origin.links = Some(1));
        let found = &at_once(&records)[0];
        assert_eq!((found.links, found.expected(3)), (Some(1), Some(10.0)));
    }

    #[test]
    fn latencies_have_no_table() {
        let mut records = trunk(&[&[&[0]]]);
        records[0].metrics.get_mut("throughput").unwrap().better = Better::Lower;
        assert!(at_once(&records).is_empty());
    }
}
