//! Rates from slices: what all flows of a direction received in the time that they have in common.

use std::collections::BTreeMap;

use seatrial_model::{
    Case, Cause, Fact, Finding, LastFlows, Measures, Params, PartRecord, Reason, Row, Severity, Unit, Values,
};
use serde_json::json;

use super::advice::advice;
use super::bottleneck::{Bottleneck, Shares, bottleneck};
use super::config::Name;
use super::held_back::held_back;
use super::record::End;
use crate::rails;
use seatrial_bench::Direction;
use seatrial_bench::fairness;
use seatrial_bench::{BY_TIME, Curve, Transferred, by_time, common_window, still_rising};

/// Least time of a throughput sample, in nanoseconds.
pub const INTERVAL_NS: u64 = 100_000_000;

/// Step between the starts of sliding intervals, for the slowest interval, in nanoseconds.
const STEP_NS: u64 = 10_000_000;

/// Most intervals or steps of a trial; limits the work on evidence with wrong times.
const MOST: u64 = 1 << 20;

const GBIT: f64 = 8e-9;

struct Trial<'a> {
    curves: BTreeMap<Name, Curve>,
    parts: Vec<&'a PartRecord>,
}

struct DirectionRates {
    direction: Direction,
    window_ns: u64,
    flows: Vec<(Name, f64)>,
    /// Gbit/s of the sum, per interval.
    intervals: Vec<f64>,
    /// The same for intervals that start at every step.
    sliding: Vec<f64>,
}

/// Each trial gives the throughput of its intervals, and one value of each other metric.
pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let asked = Direction::of_case(case);
    let count = case.params.count("flows").unwrap_or(1) as usize;
    let trials = trials(parts);
    let mut values = Collected::default();
    for trial in &trials {
        let Some(directions) = directions(asked, &trial.curves, count) else { continue };
        values.trial(trial, &directions);
    }
    if values.metrics.get("throughput").is_none_or(|(_, trials)| trials.is_empty()) {
        return Err(Reason::new(Cause::TooShort, why_not(&trials, asked, count)));
    }
    let mut measures = Measures::default();
    let throughput = values.metrics.get("throughput").map_or(&[][..], |(_, trials)| trials);
    let by_time = by_time(throughput, case.budget.measure);
    if !by_time.is_empty() {
        measures.series.insert(BY_TIME.name.to_owned(), by_time);
    }
    measures.findings.extend(still_rising(case, throughput));
    for (name, (unit, trials)) in values.metrics {
        measures.metric_of_all(name, unit, trials);
    }
    let rows = values.flows.into_iter().map(|(name, trials)| Row {
        at: place(name),
        values: Values { unit: Unit::GigabitsPerSecond, trials },
    });
    let by_flow: Vec<Row> = rows.collect();
    let rails = rails::of(case).len();
    if rails > 0 {
        measures.series.insert("by_rail".to_owned(), by_rail(&by_flow, rails));
    }
    measures.series.insert("by_flow".to_owned(), by_flow);
    tell(case, &trials, values.windows, &mut measures);
    Ok(measures)
}

fn by_rail(by_flow: &[Row], rails: usize) -> Vec<Row> {
    let mut sums: BTreeMap<(Direction, usize), Vec<Vec<f64>>> = BTreeMap::new();
    for row in by_flow {
        let Some(Name { direction, flow }) = name(&row.at) else { continue };
        let sum = sums.entry((direction, rails::rail_of(flow, rails))).or_default();
        for (at, rate) in row.values.trials.iter().enumerate() {
            match sum.get_mut(at) {
                Some(before) => before.iter_mut().zip(rate).for_each(|(sum, rate)| *sum += rate),
                None => sum.push(rate.clone()),
            }
        }
    }
    let row = |((direction, rail), trials): ((Direction, usize), Vec<Vec<f64>>)| {
        let mut at = Params::default();
        at.set("direction", direction.word());
        at.set("rail", rail as u64);
        Row { at, values: Values { unit: Unit::GigabitsPerSecond, trials } }
    };
    sums.into_iter().map(row).collect()
}

fn trials(parts: &[PartRecord]) -> Vec<Trial<'_>> {
    let mut trials: BTreeMap<u32, Trial<'_>> = BTreeMap::new();
    for part in parts {
        let trial =
            trials.entry(part.trial).or_insert_with(|| Trial { curves: BTreeMap::new(), parts: Vec::new() });
        trial.parts.push(part);
        for sample in part.samples.iter().filter(|sample| sample.channel == "received") {
            if let Some(name) = name(&sample.at) {
                trial.curves.entry(name).or_default().push(sample);
            }
        }
    }
    trials.into_values().collect()
}

/// Rates of each direction of a trial; `None` if a direction is missing. The two ends have separate clocks, so each
/// direction has its own window, cut into the same number of intervals. The intervals can then be added one by one,
/// and the sum of the means is the mean of the sums.
fn directions(
    directions: &[Direction],
    curves: &BTreeMap<Name, Curve>,
    count: usize,
) -> Option<Vec<DirectionRates>> {
    let own = |direction: &Direction| -> Option<DirectionFlows<'_>> {
        let own = curves.iter().filter(|(name, _)| name.direction == *direction);
        let own: Vec<(Name, &Curve)> = own.map(|(name, curve)| (*name, curve)).collect();
        let only: Vec<&Curve> = own.iter().map(|(_, curve)| *curve).collect();
        let window = common_window(&only).filter(|_| own.len() >= count.max(1))?;
        Some((*direction, own, window))
    };
    let all: Vec<DirectionFlows<'_>> = directions.iter().map(own).collect::<Option<_>>()?;
    let intervals =
        all.iter().map(|(_, _, (start, end))| ((end - start) / INTERVAL_NS).clamp(1, MOST)).min()?;
    Some(all.into_iter().map(|flows| direction_rates(flows, intervals)).collect())
}

type DirectionFlows<'a> = (Direction, Vec<(Name, &'a Curve)>, (u64, u64));

fn direction_rates((direction, own, (start, end)): DirectionFlows<'_>, intervals: u64) -> DirectionRates {
    let only: Vec<&Curve> = own.iter().map(|(_, curve)| *curve).collect();
    let sum = |from: u64, to: u64| only.iter().map(|curve| curve.rate(from, to) * GBIT).sum::<f64>();
    // 128 bits: the nanoseconds of an hour times the number of intervals overflow 64.
    let edge = |at: u64| start + (u128::from(end - start) * u128::from(at) / u128::from(intervals)) as u64;
    let wide = INTERVAL_NS.min(end - start);
    let steps = ((end - start - wide) / STEP_NS).min(MOST);
    DirectionRates {
        direction,
        window_ns: end - start,
        flows: own.iter().map(|(name, curve)| (*name, curve.rate(start, end) * GBIT)).collect(),
        intervals: (0..intervals).map(|at| sum(edge(at), edge(at + 1))).collect(),
        sliding: (0..=steps).map(|at| sum(start + at * STEP_NS, start + at * STEP_NS + wide)).collect(),
    }
}

/// Sum of the directions, interval by interval. Their clocks differ, but they begin and end at the same moment within
/// the latency of an order.
fn together(of: &[&Vec<f64>]) -> Vec<f64> {
    let least = of.iter().map(|values| values.len()).min().unwrap_or(0);
    (0..least).map(|at| of.iter().map(|values| values[at]).sum()).collect()
}

#[derive(Default)]
struct Collected {
    metrics: BTreeMap<&'static str, (Unit, Vec<Vec<f64>>)>,
    flows: BTreeMap<Name, Vec<Vec<f64>>>,
    windows: Vec<u64>,
}

impl Collected {
    fn add(&mut self, name: &'static str, unit: Unit, values: Vec<f64>) {
        self.metrics.entry(name).or_insert_with(|| (unit, Vec::new())).1.push(values);
    }

    fn trial(&mut self, trial: &Trial<'_>, directions: &[DirectionRates]) {
        let gbit = Unit::GigabitsPerSecond;
        let throughput = together(&directions.iter().map(|rates| &rates.intervals).collect::<Vec<_>>());
        let slowest = together(&directions.iter().map(|rates| &rates.sliding).collect::<Vec<_>>());
        self.add("throughput", gbit, throughput);
        if directions.len() > 1 {
            for rates in directions {
                self.add(rates.direction.word(), gbit, rates.intervals.clone());
            }
        }
        self.add("slowest", gbit, slowest.into_iter().reduce(f64::min).into_iter().collect());
        let flows: Vec<(Name, f64)> =
            directions.iter().flat_map(|rates| rates.flows.iter().copied()).collect();
        let rates: Vec<f64> = flows.iter().map(|(_, rate)| *rate).collect();
        self.add("fairness", Unit::Ratio, fairness(&rates).into_iter().collect());
        for (name, rate) in flows {
            self.flows.entry(name).or_default().push(vec![rate]);
        }
        self.windows.extend(directions.iter().map(|rates| rates.window_ns));
        self.kernel(trial);
        self.effort(trial, rates.iter().sum());
    }

    fn kernel(&mut self, trial: &Trial<'_>) {
        let ends = ends(trial);
        let senders = || ends.iter().filter(|end| end.sends);
        let retransmits: Option<u64> = senders().map(|end| end.tcp.retransmits).sum();
        let retransmits = retransmits.filter(|_| senders().next().is_some());
        self.add("retransmits", Unit::Count, retransmits.map(|count| count as f64).into_iter().collect());
        let looks =
            trial.parts.iter().flat_map(|part| &part.samples).filter(|sample| sample.channel == "rtt");
        let mut rtts: Vec<f64> = looks.map(|sample| sample.amount.value()).collect();
        if rtts.is_empty() {
            rtts = senders().filter_map(|end| end.tcp.rtt_us).map(f64::from).collect();
        }
        self.add("rtt", Unit::Microsecond, rtts);
        let least = senders().filter_map(|end| end.tcp.min_rtt_us).min();
        self.add("rtt_min", Unit::Microsecond, least.map(f64::from).into_iter().collect());
    }

    fn effort(&mut self, trial: &Trial<'_>, gbit_s: f64) {
        let ends = ends(trial);
        let names = [
            (true, "sender_cpu", "sender_host", "sender_per_core"),
            (false, "receiver_cpu", "receiver_host", "receiver_per_core"),
        ];
        for (sends, own, host, per_core) in names {
            let side = ends.iter().filter(|end| end.sends == sends);
            let share = |end: &End| 100.0 * end.cpu_ns() as f64 / end.window_ns.max(1) as f64;
            self.add(own, Unit::Percent, vec![side.map(share).sum()]);
            let busy = busy_cores(trial, sends);
            self.add(host, Unit::Percent, busy.map(|cores| 100.0 * cores).into_iter().collect());
            let rate = busy.filter(|cores| *cores > 0.0).map(|cores| gbit_s / cores);
            self.add(per_core, Unit::GigabitsPerSecond, rate.into_iter().collect());
        }
    }
}

/// Busy CPUs of the sending (or receiving) nodes, each node once; `None` if a node lacks the value.
fn busy_cores(trial: &Trial<'_>, sends: bool) -> Option<f64> {
    let mut nodes: BTreeMap<&str, f64> = BTreeMap::new();
    for part in
        trial.parts.iter().filter(|part| End::all(&part.evidence).iter().any(|end| end.sends == sends))
    {
        let host = part.evidence.get("host")?;
        let (busy, window) = (host.get("busy_ns")?.as_f64()?, host.get("window_ns")?.as_f64()?);
        nodes.insert(&part.node, busy / window.max(1.0));
    }
    (!nodes.is_empty()).then(|| nodes.values().sum())
}

fn ends(trial: &Trial<'_>) -> Vec<End> {
    trial.parts.iter().flat_map(|part| End::all(&part.evidence)).collect()
}

fn tell(case: &Case, trials: &[Trial<'_>], windows: Vec<u64>, measures: &mut Measures) {
    measures.evidence.insert("windows_ns".to_owned(), json!(windows));
    let mut factors = Bottlenecks::new();
    let mut last = Vec::new();
    let rails = rails::of(case);
    let mut paths = vec![Transferred::default(); rails.len().max(1)];
    for trial in trials {
        last.clear();
        let ends = ends(trial);
        for end in &ends {
            let moved = &mut paths[rails::rail_of(end.flow, rails.len())];
            // Data moves between the phases too; what the sockets hold is counted by one end only.
            let buffer = if end.sends { end.socket.send_buffer } else { end.socket.receive_buffer };
            moved.buffered += buffer.unwrap_or(0) as u64;
            let received = if end.sends { 0 } else { end.bytes };
            match end.way {
                Direction::Forward => moved.forward += received,
                Direction::Reverse => moved.reverse += received,
            }
        }
        for sender in ends.iter().filter(|end| end.sends) {
            let Some(receiver) = ends.iter().find(|end| !end.sends && end.name() == sender.name()) else {
                continue;
            };
            let factor = bottleneck(sender, receiver);
            factors.entry(factor).or_default().push((sender.clone(), receiver.clone()));
            last.push(json!({
                "flow": sender.name().to_string(), "limited_by": factor.word(), "shares": Shares::of(sender, receiver),
                "sender": sender, "receiver": receiver,
            }));
        }
    }
    match rails.is_empty() {
        true => paths[0].tell(case, measures),
        false => {
            Transferred::tell_by_interface(&rails.into_iter().zip(paths).collect::<Vec<_>>(), case, measures);
        }
    }
    let flows = factors.values().flatten();
    held_back(flows.map(|(sender, receiver)| (sender, receiver))).put(&mut measures.evidence);
    let counts: BTreeMap<&str, usize> =
        factors.iter().map(|(factor, flows)| (factor.word(), flows.len())).collect();
    measures.evidence.insert("limited_by".to_owned(), json!(counts));
    // Only the last trial: all trials would be most of the record.
    measures.evidence.insert(LastFlows::NAME.to_owned(), json!(last));
    for part in trials.last().iter().flat_map(|trial| &trial.parts) {
        let facts = ["methods", "host", "interface", "queues", "foreign"];
        let facts: BTreeMap<&str, _> =
            facts.into_iter().filter_map(|name| Some((name, part.evidence.get(name)?))).collect();
        measures.evidence.insert(part.part.clone(), json!(facts));
    }
    measures.findings.extend(blame(case, &factors));
}

/// `n1->n3, `, the way of a flow; nothing on a single node.
fn of_pair(case: &Case, way: Direction) -> String {
    match (case.nodes.as_slice(), way) {
        ([from, to], Direction::Forward) | ([to, from], Direction::Reverse) => format!("{from}->{to}, "),
        _ => String::new(),
    }
}

type Bottlenecks = BTreeMap<Bottleneck, Vec<(End, End)>>;

/// A finding if one factor limited most flows of all trials and can be mended.
fn blame(case: &Case, factors: &Bottlenecks) -> Option<Finding> {
    let all: usize = factors.values().map(Vec::len).sum();
    let (factor, flows) = factors.iter().max_by_key(|(_, flows)| flows.len())?;
    if !factor.is_fault() || flows.len() * 2 <= all {
        return None;
    }
    let (sender, receiver) = flows.first()?;
    let text = advice(*factor, sender, receiver)?;
    let many =
        if all == 1 { String::new() } else { format!(" ({} of {all} flows over all trials)", flows.len()) };
    let text = format!("{}{}{many}: {text}", of_pair(case, sender.way), sender.name());
    let kind = format!("limited-by-{}", factor.word());
    let finding = Finding::new(&kind, Severity::Warning, case.subject.clone(), text);
    Some(Finding { evidence: vec!["limited_by".to_owned(), LastFlows::NAME.to_owned()], ..finding })
}

fn why_not(trials: &[Trial<'_>], directions: &[Direction], count: usize) -> String {
    let Some(trial) = trials.last() else { return "no trial has a record of its flows".to_owned() };
    for direction in directions {
        let flows = trial
            .curves
            .iter()
            .filter(|(name, curve)| name.direction == *direction && curve.span().is_some());
        let told = flows.count();
        if told < count {
            let word = direction.word();
            return format!(
                "only {told} of {count} flows {word} received data in the measuring phase; raise -p time="
            );
        }
    }
    "the flows did not run at the same time, so their rates cannot be added; raise -p time=".to_owned()
}

fn name(at: &Params) -> Option<Name> {
    let direction = Direction::parse(at.text("direction").ok()?)?;
    Some(Name { direction, flow: u32::try_from(at.count("flow").ok()?).ok()? })
}

fn place(name: Name) -> Params {
    let mut at = Params::default();
    at.set("direction", name.direction.word());
    at.set("flow", u64::from(name.flow));
    at
}
