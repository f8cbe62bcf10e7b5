//! Reduces a case of many nodes: the sum of all threads of all nodes, in one time for each operation.

use std::collections::BTreeMap;

use seatrial_bench::{Curve, Latencies, fairness};
use seatrial_model::{Case, Cause, Integrity, Measures, Params, PartRecord, Reason, Row, Unit, Values};
use serde_json::{Value, json};

use super::part::{CHANNEL, START};
use super::reduce::{geometric_mean, latencies, slowest};
use super::work::FileOperation;
use crate::many;
use crate::metrics::MICRO;
use seatrial_bench::directory::leftovers;

/// Operations by number, in the order of a round.
const OPERATIONS: usize = FileOperation::ALL.len();

/// A node in a trial: the operations of each thread, by nanoseconds of its clock.
struct Client {
    /// When all nodes were to begin, by that clock; when this one began where the clocks are not known.
    zero: u64,
    threads: [BTreeMap<u64, Curve>; OPERATIONS],
}

/// A trial: rates by operation, each with those of the nodes.
struct Trial<'a> {
    parts: Vec<&'a PartRecord>,
    rates: [Vec<f64>; OPERATIONS],
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (mut trials, mut apart) = (Vec::new(), None);
    for parts in many::whole_trials(case, parts) {
        match Trial::of(parts) {
            Ok(trial) => trials.push(trial),
            Err(why) => apart = Some(why),
        }
    }
    let Some(last) = trials.last() else {
        let why = apart.unwrap_or_else(|| "no trial has all of its nodes".to_owned());
        return Err(Reason::new(Cause::TooShort, format!("{why}; raise -p time= or -p files=")));
    };
    let mut measures = Measures::default();
    let mut add = |name: &str, unit, of: &dyn Fn(&Trial<'_>) -> Option<f64>| {
        measures.metric_of_all(
            name,
            unit,
            trials.iter().map(|trial| of(trial).into_iter().collect()).collect(),
        );
    };
    add("operations", Unit::PerSecond, &|trial| {
        Some(geometric_mean(&trial.rates.each_ref().map(|all| all.iter().sum())))
    });
    add("slowest", Unit::Microsecond, &|trial| {
        trial.parts.iter().filter_map(|part| slowest(part)).reduce(f64::max)
    });
    add("fairness", Unit::Ratio, &|trial| fairness(&trial.by_node()));
    add("slowest_node", Unit::PerSecond, &|trial| trial.by_node().into_iter().reduce(f64::min));
    measures.series.insert("by_operation".to_owned(), by_operation(&trials));
    measures.series.insert("p99".to_owned(), p99(&trials));
    measures.series.insert("by_node".to_owned(), by_node(case, &trials));
    measures.keep_evidence(last.parts.iter().copied(), &["folder", "clean_up"]);
    seatrial_bench::tell_spread(trials.iter().map(|trial| trial.parts.as_slice()), &mut measures.evidence);
    let integrity = Integrity::of_all(last.parts.iter().map(|part| part.integrity.clone()));
    measures.evidence.insert("integrity".to_owned(), json!(integrity));
    measures.findings.extend(leftovers(parts));
    measures.findings.extend(many::own_file_systems(case, &last.parts));
    Ok(measures)
}

impl Client {
    fn of(part: &PartRecord, agreed: Option<u64>) -> Option<Self> {
        let zero = agreed.or_else(|| part.evidence.get(START).and_then(Value::as_u64))?;
        let mut threads: [BTreeMap<u64, Curve>; OPERATIONS] = Default::default();
        for sample in part.samples.iter().filter(|sample| sample.channel == CHANNEL) {
            let of = |operation: &FileOperation| sample.at.text("operation") == Ok(operation.word());
            let operation = FileOperation::ALL.iter().position(of)?;
            threads[operation].entry(sample.at.count("thread").ok()?).or_default().push(sample);
        }
        Some(Self { zero, threads })
    }

    /// From its zero: the first and the last beginning of a thread, and the first and the last end of one.
    fn times(&self, operation: usize) -> Option<[u64; 4]> {
        let curves = &self.threads[operation];
        let starts = || curves.values().filter_map(Curve::start);
        let ends = || curves.values().filter_map(Curve::end);
        let times = [starts().min()?, starts().max()?, ends().min()?, ends().max()?];
        Some(times.map(|time| time.saturating_sub(self.zero)))
    }
}

impl<'a> Trial<'a> {
    /// Fails with what is wrong when an operation was never done by all threads of all nodes at one time.
    fn of(parts: Vec<&'a PartRecord>) -> Result<Self, String> {
        let agreed = seatrial_bench::agreed_starts(&parts);
        let agreed = |at: usize| agreed.as_ref().map(|all| all[at]);
        let clients: Option<Vec<Client>> =
            parts.iter().enumerate().map(|(at, part)| Client::of(part, agreed(at))).collect();
        let clients = clients.ok_or("a node told no start, or samples of no thread")?;
        let mut rates: [Vec<f64>; OPERATIONS] = Default::default();
        for (number, rates) in rates.iter_mut().enumerate() {
            let (from, to) = window(&parts, &clients, number)?;
            let rate = |client: &Client| -> f64 {
                let (from, to) = (client.zero + from, client.zero + to);
                client.threads[number].values().map(|curve| curve.rate(from, to)).sum()
            };
            rates.extend(clients.iter().map(rate));
        }
        Ok(Self { parts, rates })
    }

    /// The geometric mean of the rates of each node.
    fn by_node(&self) -> Vec<f64> {
        let of = |node: usize| geometric_mean(&self.rates.each_ref().map(|rates| rates[node]));
        (0..self.parts.len()).map(of).collect()
    }
}

/// The time that counts, from the zero of each client. What is done on each file once ends with the files: from the first
/// thread to begin to the last to end, as mdtest counts. Anything else: when all threads of all clients did it. Fails with what is
/// wrong.
fn window(parts: &[&PartRecord], clients: &[Client], operation: usize) -> Result<(u64, u64), String> {
    let word = FileOperation::ALL[operation].word();
    let times = |(part, client): (&&PartRecord, &Client)| match client.times(operation) {
        Some(times) => Ok((part.node.clone(), times)),
        None => Err(format!("{} did no '{word}' in its share of the time", part.node)),
    };
    let all = parts.iter().zip(clients).map(times).collect::<Result<Vec<_>, String>>()?;
    if FileOperation::ALL[operation].is_once() {
        let from = all.iter().map(|(_, times)| times[0]).min().expect("a case has nodes");
        let to = all.iter().map(|(_, times)| times[3]).max().expect("a case has nodes");
        return Ok((from, to.max(from + 1)));
    }
    let last = all.iter().max_by_key(|(_, times)| times[1]).expect("a case has nodes");
    let first = all.iter().min_by_key(|(_, times)| times[2]).expect("a case has nodes");
    if last.1[1] < first.1[2] {
        return Ok((last.1[1], first.1[2]));
    }
    let ms = |ns: u64| ns as f64 / 1e6;
    Err(format!(
        "the nodes never did '{word}' at the same time: {} was done {:.1} ms after the start, {} began {:.1} ms after it",
        first.0,
        ms(first.1[2]),
        last.0,
        ms(last.1[1])
    ))
}

fn at(operation: FileOperation) -> Params {
    Params::from([("operation", operation.word().into())])
}

fn by_operation(trials: &[Trial<'_>]) -> Vec<Row> {
    let row = |(number, operation): (usize, FileOperation)| {
        let trials = trials.iter().map(|trial| vec![trial.rates[number].iter().sum()]).collect();
        Row { at: at(operation), values: Values { unit: Unit::PerSecond, trials } }
    };
    FileOperation::ALL.into_iter().enumerate().map(row).collect()
}

/// Of the operations that were done often enough in a trial.
fn p99(trials: &[Trial<'_>]) -> Vec<Row> {
    let of = |trial: &Trial<'_>, operation| {
        let mut all = Latencies::default();
        trial.parts.iter().filter_map(|part| latencies(part, operation)).for_each(|own| all.add(&own));
        Some(vec![all.quantile(0.99)?.get() as f64 / MICRO])
    };
    let row = |operation: FileOperation| {
        let trials: Vec<Vec<f64>> = trials.iter().filter_map(|trial| of(trial, operation)).collect();
        let values = Values { unit: Unit::Microsecond, trials };
        (!values.trials.is_empty()).then(|| Row { at: at(operation), values })
    };
    FileOperation::ALL.into_iter().filter_map(row).collect()
}

fn by_node(case: &Case, trials: &[Trial<'_>]) -> Vec<Row> {
    let rates: Vec<Vec<f64>> = trials.iter().map(Trial::by_node).collect();
    let row = |(node, place): (usize, &seatrial_model::PartPlacement)| {
        let trials = rates.iter().map(|trial| vec![trial[node]]).collect();
        let at = Params::from([("node", place.node.as_str().into())]);
        Row { at, values: Values { unit: Unit::PerSecond, trials } }
    };
    case.places.iter().enumerate().map(row).collect()
}
