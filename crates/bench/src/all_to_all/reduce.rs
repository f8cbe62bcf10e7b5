//! Rates of the whole exchange, of each node and of each flow.

use std::collections::BTreeMap;

use seatrial_model::{Case, Cause, Measures, Nanos, Params, PartRecord, Reason, Row, Unit, Values};
use seatrial_stats::median;
use serde::Deserialize;

use super::slow_node::{ByNode, Way, slow_node};
use super::{BY_FLOW, BY_NODE, CountedAt, Exchange, FAIRNESS, FlowBytes};
use super::{SLOWEST_EXCHANGE, SLOWEST_FLOW, SLOWEST_NODE, THROUGHPUT};
use crate::{BY_TIME, Curve, agreed_starts, by_time, common_window, fairness, tell_spread};

/// Least time of a throughput sample, in nanoseconds.
const INTERVAL_NS: u64 = 100_000_000;

/// Most intervals of a trial; limits the work on evidence with wrong times.
const MOST: u64 = 1 << 20;

const GBIT: f64 = 8e-9;

/// Nodes of which the record has every flow. Beyond, `by_node` and the samples have to do.
const MOST_IN_MATRIX: usize = 64;

/// Nodes by their positions in the case, which is their order in the record.
type Flow = (usize, usize);

#[derive(Default)]
struct Trial<'a> {
    parts: Vec<&'a PartRecord>,
    /// Of each thread of all parts, in the time that all nodes share.
    curves: Vec<Curve>,
    /// Gbit/s of every flow from part to part, by the nodes of both.
    flows: Vec<(Flow, f64)>,
}

#[derive(Default)]
struct Collected {
    metrics: BTreeMap<&'static str, Vec<Vec<f64>>>,
    by_node: ByNode,
    by_flow: BTreeMap<Flow, Vec<Vec<f64>>>,
}

/// Each trial gives the throughput of its intervals, and one value of each other metric.
///
/// # Errors
/// When the flows of no trial moved data at the same time.
pub fn reduce(counted: CountedAt, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let trials = trials(counted, case, parts);
    let mut found = Collected::default();
    let mut counts = Vec::new();
    for trial in &trials {
        if let Some(throughput) = throughput(trial) {
            found.trial(case, trial, throughput);
            counts.push(trial.parts.as_slice());
        }
    }
    let throughput = found.metrics.get(THROUGHPUT.name).cloned().unwrap_or_default();
    if throughput.is_empty() {
        let text = "the nodes did not exchange data at the same time; raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    tell_spread(counts, &mut measures.evidence);
    let by_time = by_time(&throughput, case.budget.measure);
    if !by_time.is_empty() {
        measures.series.insert(BY_TIME.name.to_owned(), by_time);
    }
    let slow = slow_node(case, &found.by_node);
    for (name, trials) in found.metrics {
        let unit = if name == FAIRNESS.name { Unit::Ratio } else { Unit::GigabitsPerSecond };
        measures.metric_of_all(name, unit, trials);
    }
    let name = |node: usize| case.nodes[node].as_str();
    let by_node = found.by_node.into_iter();
    let by_node =
        by_node.map(|((node, way), trials)| row([("node", name(node)), ("direction", way.word())], trials));
    measures.series.insert(BY_NODE.name.to_owned(), by_node.collect());
    if case.nodes.len() <= MOST_IN_MATRIX {
        let by_flow = found.by_flow.into_iter();
        let by_flow =
            by_flow.map(|((from, to), trials)| row([("from", name(from)), ("to", name(to))], trials));
        measures.series.insert(BY_FLOW.name.to_owned(), by_flow.collect());
    }
    measures.findings.extend(slow);
    Ok(measures)
}

fn row(at: [(&str, &str); 2], trials: Vec<Vec<f64>>) -> Row {
    let at: Params = at.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    Row { at, values: Values { unit: Unit::GigabitsPerSecond, trials } }
}

/// The trials of which the records of all parts are there.
fn trials<'a>(counted: CountedAt, case: &Case, parts: &'a [PartRecord]) -> Vec<Trial<'a>> {
    let mut trials: BTreeMap<u32, Trial<'a>> = BTreeMap::new();
    for part in parts {
        let trial = trials.entry(part.trial).or_default();
        trial.parts.push(part);
        trial.flows.extend(flows(counted, case, part));
    }
    trials.retain(|_, trial| trial.parts.len() == case.places.len());
    for trial in trials.values_mut() {
        let zeros = agreed_starts(&trial.parts).unwrap_or_else(|| own_starts(case, &trial.parts));
        for (part, zero) in trial.parts.iter().zip(zeros) {
            let mut threads: BTreeMap<u64, Curve> = BTreeMap::new();
            for sample in part.samples.iter().filter(|sample| sample.channel == counted.channel()) {
                threads.entry(sample.at.count("thread").unwrap_or(0)).or_default().push(sample);
            }
            trial.curves.extend(threads.into_values().map(|curve| curve.since(zero)));
        }
    }
    trials.into_values().collect()
}

/// Of each part, the first sample of its node: the zero where the clock of a node was not known.
fn own_starts(case: &Case, parts: &[&PartRecord]) -> Vec<u64> {
    let node = |part: &PartRecord| part.index as usize / per_node(case);
    let mut starts: BTreeMap<usize, u64> = BTreeMap::new();
    for part in parts {
        let start = part.samples.iter().map(|sample| sample.start.get()).min().unwrap_or(u64::MAX);
        let first = starts.entry(node(part)).or_insert(start);
        *first = start.min(*first);
    }
    parts.iter().map(|part| starts[&node(part)]).collect()
}

/// The rate of each flow that a part counted.
fn flows(counted: CountedAt, case: &Case, part: &PartRecord) -> Vec<(Flow, f64)> {
    let node = |part: u32| part as usize / per_node(case);
    let parts = u32::try_from(case.places.len()).unwrap_or(u32::MAX);
    let others = Exchange::of(&case.params, parts).map(|exchange| match counted {
        CountedAt::Sender => exchange.targets(part.index),
        CountedAt::Receiver => exchange.sources(part.index),
    });
    let others = others.unwrap_or_default();
    let threads = part.evidence.get(counted.channel()).map(Vec::<FlowBytes>::deserialize);
    let threads = threads.and_then(Result::ok).unwrap_or_default();
    let mut flows = Vec::with_capacity(others.len());
    for (thread, FlowBytes { window_ns, bytes }) in threads.iter().enumerate() {
        let others = others.iter().skip(thread).step_by(threads.len());
        for (other, bytes) in others.zip(bytes) {
            let rate = *bytes as f64 / Nanos((*window_ns).max(1)).as_secs() * GBIT;
            let (own, other) = (node(part.index), node(*other));
            flows.push((if counted == CountedAt::Sender { (own, other) } else { (other, own) }, rate));
        }
    }
    flows
}

/// Sum of all nodes in equal intervals of the time in which all flows ran.
fn throughput(trial: &Trial<'_>) -> Option<Vec<f64>> {
    let (start, end) = common_window(&trial.curves.iter().collect::<Vec<_>>())?;
    let intervals = ((end - start) / INTERVAL_NS).clamp(1, MOST);
    // 128 bits: the nanoseconds of an hour times the number of intervals overflow 64.
    let edge = |at: u64| start + (u128::from(end - start) * u128::from(at) / u128::from(intervals)) as u64;
    let sum = |at: u64| trial.curves.iter().map(|curve| curve.rate(edge(at), edge(at + 1)) * GBIT).sum();
    Some((0..intervals).map(sum).collect())
}

impl Collected {
    fn trial(&mut self, case: &Case, trial: &Trial<'_>, throughput: Vec<f64>) {
        let mut add =
            |name: &'static str, values: Vec<f64>| self.metrics.entry(name).or_default().push(values);
        add(THROUGHPUT.name, throughput);
        let rates: Vec<f64> = trial.flows.iter().map(|(_, rate)| *rate).collect();
        add(SLOWEST_FLOW.name, least(rates.iter().copied()));
        add(FAIRNESS.name, fairness(&rates).into_iter().collect());
        let mut nodes: BTreeMap<(usize, Way), Vec<f64>> = BTreeMap::new();
        let mut flows: BTreeMap<Flow, f64> = BTreeMap::new();
        for ((from, to), rate) in &trial.flows {
            nodes.entry((*from, Way::Send)).or_default().push(*rate);
            nodes.entry((*to, Way::Receive)).or_default().push(*rate);
            *flows.entry((*from, *to)).or_default() += rate;
        }
        let sum = |rates: &Vec<f64>| rates.iter().sum::<f64>();
        add(SLOWEST_NODE.name, least(nodes.values().map(sum)));
        add(SLOWEST_EXCHANGE.name, least(nodes.values().filter_map(|rates| exchange(rates))));
        for (place, rates) in &nodes {
            self.by_node.entry(*place).or_default().push(vec![sum(rates)]);
        }
        if case.nodes.len() <= MOST_IN_MATRIX {
            flows.into_iter().for_each(|(flow, rate)| self.by_flow.entry(flow).or_default().push(vec![rate]));
        }
    }
}

/// The median of flows times their number; of a skewed distribution not more than their sum.
fn exchange(rates: &[f64]) -> Option<f64> {
    let even = median(rates)? * rates.len() as f64;
    Some(even.min(rates.iter().sum()))
}

fn per_node(case: &Case) -> usize {
    (case.places.len() / case.nodes.len().max(1)).max(1)
}

fn least(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values.reduce(f64::min).into_iter().collect()
}
