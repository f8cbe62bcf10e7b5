//! Rates of the whole exchange, of each node and of each flow.

use std::collections::BTreeMap;

use seatrial_bench::{BY_TIME, Curve, by_time, common_window};
use seatrial_model::{
    Case, Cause, Finding, Measures, Nanos, Params, PartRecord, Reason, Row, Severity, Subject, Unit, Values,
};
use seatrial_stats::Sorted;
use serde::Deserialize;
use serde_json::{Value, json};

use super::exchange::Exchange;
use super::part::{RECEIVED, ReceivedBytes};
use seatrial_bench::fairness;

/// Least time of a throughput sample, in nanoseconds.
const INTERVAL_NS: u64 = 100_000_000;

/// Most intervals of a trial; limits the work on evidence with wrong times.
const MOST: u64 = 1 << 20;

const GBIT: f64 = 8e-9;

/// Nodes of which the record has every flow. Beyond, `by_node` and the samples have to do.
const MOST_IN_MATRIX: usize = 64;

/// A node is slow below this share of the median of all.
const SLOW: f64 = 0.9;

/// Nodes by their positions in the case, which is their order in the record.
type Flow = (usize, usize);

#[derive(Default)]
struct Trial {
    /// By node, of each thread.
    curves: BTreeMap<usize, Vec<Curve>>,
    /// Gbit/s of every flow from part to part, by the nodes of both.
    flows: Vec<(Flow, f64)>,
}

#[derive(Default)]
struct Collected {
    metrics: BTreeMap<&'static str, Vec<Vec<f64>>>,
    by_node: BTreeMap<(usize, Way), Vec<Vec<f64>>>,
    by_flow: BTreeMap<Flow, Vec<Vec<f64>>>,
}

/// Each trial gives the throughput of its intervals, and one value of each other metric.
pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let trials = trials(case, parts);
    let mut found = Collected::default();
    for trial in &trials {
        if let Some(throughput) = throughput(trial) {
            found.trial(case, trial, throughput);
        }
    }
    let throughput = found.metrics.get("throughput").cloned().unwrap_or_default();
    if throughput.is_empty() {
        let text = "the nodes did not receive data at the same time; raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let by_time = by_time(&throughput, case.budget.measure);
    if !by_time.is_empty() {
        measures.series.insert(BY_TIME.name.to_owned(), by_time);
    }
    let slow = slow_node(case, &found.by_node);
    for (name, trials) in found.metrics {
        let unit = if name == "fairness" { Unit::Ratio } else { Unit::GigabitsPerSecond };
        measures.metric_of_all(name, unit, trials);
    }
    let name = |node: usize| case.nodes[node].as_str();
    let by_node = found.by_node.into_iter();
    let by_node =
        by_node.map(|((node, way), trials)| row([("node", name(node)), ("direction", way.word())], trials));
    measures.series.insert("by_node".to_owned(), by_node.collect());
    if case.nodes.len() <= MOST_IN_MATRIX {
        let by_flow = found.by_flow.into_iter();
        let by_flow =
            by_flow.map(|((from, to), trials)| row([("from", name(from)), ("to", name(to))], trials));
        measures.series.insert("by_flow".to_owned(), by_flow.collect());
    }
    let of = |name: &str| parts.iter().filter_map(|part| part.evidence.get(name)).collect::<Vec<_>>();
    let mut interfaces = of("interface");
    interfaces.dedup();
    measures.evidence.insert("interface".to_owned(), json!(interfaces));
    let foreign: u64 = of("foreign").into_iter().filter_map(Value::as_u64).sum();
    measures.evidence.insert("foreign".to_owned(), json!(foreign));
    measures.findings.extend(slow);
    Ok(measures)
}

fn row(at: [(&str, &str); 2], trials: Vec<Vec<f64>>) -> Row {
    let at: Params = at.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    Row { at, values: Values { unit: Unit::GigabitsPerSecond, trials } }
}

/// The trials of which the records of all parts are there.
fn trials(case: &Case, parts: &[PartRecord]) -> Vec<Trial> {
    let per_node = per_node(case);
    let mut trials: BTreeMap<u32, (usize, Trial)> = BTreeMap::new();
    for part in parts {
        let (count, trial) = trials.entry(part.trial).or_default();
        *count += 1;
        let mut threads: BTreeMap<u64, Curve> = BTreeMap::new();
        for sample in part.samples.iter().filter(|sample| sample.channel == RECEIVED) {
            threads.entry(sample.at.count("thread").unwrap_or(0)).or_default().push(sample);
        }
        trial.curves.entry(part.index as usize / per_node).or_default().extend(threads.into_values());
        trial.flows.extend(flows(case, part));
    }
    let is_whole = |(count, trial): (usize, Trial)| (count == case.places.len()).then_some(trial);
    trials.into_values().filter_map(is_whole).collect()
}

/// The rate of each flow that a part received.
fn flows(case: &Case, part: &PartRecord) -> Vec<(Flow, f64)> {
    let node = |part: u32| part as usize / per_node(case);
    let parts = u32::try_from(case.places.len()).unwrap_or(u32::MAX);
    let sources =
        Exchange::of(&case.params, parts).map(|exchange| exchange.sources(part.index)).unwrap_or_default();
    let threads = part.evidence.get(RECEIVED).map(Vec::<ReceivedBytes>::deserialize);
    let threads = threads.and_then(Result::ok).unwrap_or_default();
    let mut flows = Vec::with_capacity(sources.len());
    for (thread, ReceivedBytes { window_ns, bytes }) in threads.iter().enumerate() {
        let sources = sources.iter().skip(thread).step_by(threads.len());
        for (source, bytes) in sources.zip(bytes) {
            let rate = *bytes as f64 / Nanos((*window_ns).max(1)).as_secs() * GBIT;
            flows.push(((node(*source), node(part.index)), rate));
        }
    }
    flows
}

/// Sum of all nodes, interval by interval. The nodes have separate clocks, but they begin at one moment: each cuts the
/// time that its flows have in common into the same number of intervals.
fn throughput(trial: &Trial) -> Option<Vec<f64>> {
    let window = |curves: &Vec<Curve>| common_window(&curves.iter().collect::<Vec<_>>());
    let windows: Vec<(u64, u64)> = trial.curves.values().map(window).collect::<Option<_>>()?;
    let intervals = windows.iter().map(|(start, end)| ((end - start) / INTERVAL_NS).clamp(1, MOST)).min()?;
    let mut sums = vec![0.0; intervals as usize];
    for (curves, (start, end)) in trial.curves.values().zip(windows) {
        // 128 bits: the nanoseconds of an hour times the number of intervals overflow 64.
        let edge =
            |at: u64| start + (u128::from(end - start) * u128::from(at) / u128::from(intervals)) as u64;
        for (at, sum) in (0..).zip(&mut sums) {
            *sum += curves.iter().map(|curve| curve.rate(edge(at), edge(at + 1)) * GBIT).sum::<f64>();
        }
    }
    Some(sums)
}

impl Collected {
    fn trial(&mut self, case: &Case, trial: &Trial, throughput: Vec<f64>) {
        let mut add =
            |name: &'static str, values: Vec<f64>| self.metrics.entry(name).or_default().push(values);
        add("throughput", throughput);
        let rates: Vec<f64> = trial.flows.iter().map(|(_, rate)| *rate).collect();
        add("slowest_flow", least(rates.iter().copied()));
        add("fairness", fairness(&rates).into_iter().collect());
        let mut nodes: BTreeMap<(usize, Way), Vec<f64>> = BTreeMap::new();
        let mut flows: BTreeMap<Flow, f64> = BTreeMap::new();
        for ((from, to), rate) in &trial.flows {
            nodes.entry((*from, Way::Send)).or_default().push(*rate);
            nodes.entry((*to, Way::Receive)).or_default().push(*rate);
            *flows.entry((*from, *to)).or_default() += rate;
        }
        let sum = |rates: &Vec<f64>| rates.iter().sum::<f64>();
        add("slowest_node", least(nodes.values().map(sum)));
        add("slowest_exchange", least(nodes.values().filter_map(|rates| exchange(rates))));
        for (place, rates) in &nodes {
            self.by_node.entry(*place).or_default().push(vec![sum(rates)]);
        }
        if case.nodes.len() <= MOST_IN_MATRIX {
            flows.into_iter().for_each(|(flow, rate)| self.by_flow.entry(flow).or_default().push(vec![rate]));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Send,
    Receive,
}

impl Way {
    fn word(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Receive => "receive",
        }
    }
}

/// The median of flows times their number; of a skewed distribution not more than their sum.
fn exchange(rates: &[f64]) -> Option<f64> {
    let even = Sorted::new(rates).ok()?.median() * rates.len() as f64;
    Some(even.min(rates.iter().sum()))
}

fn per_node(case: &Case) -> usize {
    (case.places.len() / case.nodes.len().max(1)).max(1)
}

fn least(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values.reduce(f64::min).into_iter().collect()
}

/// The node with the lowest median rate in one direction, if that is far below the median of all nodes.
fn slow_node(case: &Case, by_node: &BTreeMap<(usize, Way), Vec<Vec<f64>>>) -> Option<Finding> {
    let median = |values: Vec<f64>| Sorted::new(&values).ok().map(|sorted| sorted.median());
    let rates: Vec<(usize, Way, f64)> = by_node
        .iter()
        .filter_map(|((node, way), trials)| Some((*node, *way, median(trials.concat())?)))
        .collect();
    let (node, way, rate) = rates.iter().min_by(|(.., one), (.., other)| one.total_cmp(other))?;
    let usual = median(rates.iter().filter(|(_, own, _)| own == way).map(|(.., rate)| *rate).collect())?;
    if rates.len() < 2 * FEWEST_NODES || *rate >= SLOW * usual {
        return None;
    }
    let (node, way) = (&case.nodes[*node], way.word());
    let text = format!("{node} {way}s {rate:.3} Gbit/s, and half of the nodes {usual:.3} Gbit/s or more");
    let finding = Finding::new("slowest-node", Severity::Warning, Subject::node(), text);
    Some(Finding { node: Some(node.clone()), evidence: vec!["by_node".to_owned()], ..finding })
}

/// Of two nodes nobody knows which one is slow.
const FEWEST_NODES: usize = 3;
