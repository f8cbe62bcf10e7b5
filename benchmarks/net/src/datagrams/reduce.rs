//! Rates and losses from the records of both ends.

use seatrial_model::{
    Case, Cause, Finding, Measures, Params, PartRecord, Quantity, Reason, Row, Sample, Severity, Unit, Values,
};
use serde_json::json;

use super::config::{SEARCH, UdpStreamConfig};
use super::findings::findings;
use super::record::{DirectionRecord, Effort, SentFlow, Trial, trials};
use super::searched;
use seatrial_bench::{BY_TIME, Transferred, by_time, still_rising};

/// One byte per nanosecond is 8 Gbit/s.
const GIGABITS: f64 = 8.0;

/// What a receiver got in a trial, in the time that its flows have in common.
struct Common {
    slices: Vec<f64>,
    flows: Vec<f64>,
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    if case.params.text("rate") == Ok(SEARCH) {
        return searched::reduce(case, parts);
    }
    let trials = trials(parts);
    if trials.is_empty() {
        return Err(Reason::new(Cause::TooShort, "no trial was complete; raise -p time="));
    }
    trials.iter().flat_map(|trial| &trial.directions).try_for_each(is_told)?;
    let (trials, late) = offered_as_asked(trials)?;
    let slice_ns = case.places.first().and_then(|place| UdpStreamConfig::of(case, place).ok());
    let slice_ns = slice_ns.map_or(10e6, |config| config.slice.get() as f64);
    let mut measures = Measures::default();
    let common: Vec<Vec<Common>> = trials
        .iter()
        .map(|trial| common(&trial.directions, slice_ns))
        .collect::<Option<_>>()
        .ok_or_else(|| {
            let text = "too few datagrams arrived to measure the time between two; raise -p rate= or time=";
            Reason::new(Cause::TooShort, text)
        })?;
    let throughput = rates(&mut measures, &trials, &common);
    counts(&mut measures, &trials);
    effort(&mut measures, &trials);
    series(&mut measures, &trials, &common);
    let by_time = by_time(&throughput, case.budget.measure);
    if !by_time.is_empty() {
        measures.series.insert(BY_TIME.name.to_owned(), by_time);
    }
    evidence(&mut measures, &trials);
    transferred(&trials).tell(case, &mut measures);
    measures.findings = findings(case, &trials);
    measures.findings.extend(still_rising(case, &throughput));
    measures.findings.extend((!late.is_empty()).then(|| left_out(case, &late)));
    Ok(measures)
}

fn is_told(direction: &DirectionRecord<'_>) -> Result<(), Reason> {
    match direction.received.silent.as_ref().or(direction.sent.silent.as_ref()) {
        Some(why) => {
            Err(Reason::new(Cause::IoError, format!("the number of datagrams sent is not known: {why}")))
        }
        None => Ok(()),
    }
}

/// Leaves out trials in which the sender did not keep to its rate: they are no measurement of this load. Returns the
/// other trials, and the reasons of those left out.
fn offered_as_asked(trials: Vec<Trial<'_>>) -> Result<(Vec<Trial<'_>>, Vec<Reason>), Reason> {
    let count = trials.len();
    let (mut kept, mut late) = (Vec::new(), Vec::new());
    for trial in trials {
        match trial.directions.iter().try_for_each(|direction| has_kept_its_rate(&trial, direction)) {
            Ok(()) => kept.push(trial),
            Err(reason) => late.push(reason),
        }
    }
    match late.pop() {
        Some(last) if 2 * kept.len() <= count => Err(last),
        last => {
            late.extend(last);
            Ok((kept, late))
        }
    }
}

fn left_out(case: &Case, late: &[Reason]) -> Finding {
    let why = late.last().map_or("", |reason| reason.text.as_str());
    let text = format!("{} of the trials were left out: {why}", late.len());
    let mut finding = Finding::new("sender-late", Severity::Info, case.subject.clone(), text);
    finding.value = Quantity::new(late.len() as f64, Unit::Count).ok();
    finding
}

fn has_kept_its_rate(trial: &Trial<'_>, direction: &DirectionRecord<'_>) -> Result<(), Reason> {
    let Some(rate) = direction.sent.rate else { return Ok(()) };
    let behind = direction.sent.flows.iter().filter(|flow| flow.is_late());
    let worst = behind.max_by_key(|flow| flow.slipped_ns);
    let Some(worst) = worst else { return Ok(()) };
    let refused: u64 = direction.sent.flows.iter().map(|flow| flow.refused).sum();
    let busy = if refused > 0 {
        format!("; a queue of this node was full {refused} times: the link is slower than -p rate=")
    } else {
        "; raise -p threads= or use a faster sender".to_owned()
    };
    let text = format!(
        "the sender could not offer {:.6} Gbit/s per flow: in trial {} a flow was late by {:.1} ms in {:.0} ms{busy}",
        rate * 8.0 / 1e9,
        trial.number,
        worst.slipped_ns as f64 / 1e6,
        worst.span_ns as f64 / 1e6,
    );
    Err(Reason::new(Cause::Underloaded, text))
}

/// Most slices of a trial; limits the work on evidence with wrong times.
const MOST_CELLS: f64 = (1 << 24) as f64;

/// Rates of every direction; `None` if the flows of a direction have no time in common. The two ends have separate
/// clocks, so each direction has its own window, cut into the same number of slices. The slices can then be added one
/// by one, and the sum of the means is the mean of the sums.
fn common(directions: &[DirectionRecord<'_>], slice_ns: f64) -> Option<Vec<Common>> {
    let windows: Vec<Window<'_>> = directions.iter().map(Window::of).collect::<Option<_>>()?;
    let cells =
        windows.iter().map(|window| ((window.end - window.start) / slice_ns).floor().clamp(1.0, MOST_CELLS));
    let cells = cells.reduce(f64::min)?;
    Some(windows.iter().map(|window| window.cut(cells)).collect())
}

struct Window<'a> {
    start: f64,
    end: f64,
    by_flow: Vec<Vec<&'a Sample>>,
}

impl<'a> Window<'a> {
    fn of(direction: &DirectionRecord<'a>) -> Option<Self> {
        let mut by_flow: Vec<Vec<&Sample>> = vec![Vec::new(); direction.received.flows.len()];
        for sample in direction.part.samples.iter().filter(|sample| sample.channel == "received") {
            let flow = sample.at.count("flow").ok()? as usize;
            by_flow.get_mut(flow)?.push(sample);
        }
        // A flow without any received datagram has no time, and adds nothing.
        let starts = by_flow.iter().filter_map(|samples| samples.first()).map(|sample| sample.start.get());
        let start = starts.max()? as f64;
        let flows = by_flow.iter().zip(&direction.sent.flows);
        let end = flows.filter_map(|(samples, sent)| end_of(samples, sent)).min()? as f64;
        (end > start).then_some(Self { start, end, by_flow })
    }

    fn cut(&self, cells: f64) -> Common {
        let Self { start, end, by_flow } = self;
        let (start, end) = (*start, *end);
        let width = (end - start) / cells;
        let mut slices = vec![0.0; cells as usize];
        let mut flows = vec![0.0; by_flow.len()];
        for (flow, samples) in by_flow.iter().enumerate() {
            for sample in samples {
                let (from, to) = (sample.start.get() as f64, sample.end.get() as f64);
                let density = sample.amount.value() / (to - from);
                let first = ((from - start) / width).floor().max(0.0) as usize;
                for (cell, bytes) in slices.iter_mut().enumerate().skip(first) {
                    let (left, right) = (start + cell as f64 * width, start + (cell + 1) as f64 * width);
                    if left >= to {
                        break;
                    }
                    let inside = (to.min(right) - from.max(left)).max(0.0) * density;
                    *bytes += inside;
                    flows[flow] += inside;
                }
            }
        }
        slices.iter_mut().for_each(|bytes| *bytes *= GIGABITS / width);
        flows.iter_mut().for_each(|bytes| *bytes *= GIGABITS / (end - start));
        Common { slices, flows }
    }
}

/// A flow that is silent for longer before its sender has ended was cut off.
const SILENT_NS: u64 = 50_000_000;

/// When a flow ends at the receiver: with its last datagram, or with its sender where nothing came any more, as that is time in
/// which nothing was received. The sender's clock is another one; its duration counts from the first datagram.
fn end_of(samples: &[&Sample], sent: &SentFlow) -> Option<u64> {
    let (start, last) = (samples.first()?.start.get(), samples.last()?.end.get());
    let sender = start.saturating_add(sent.span_ns);
    // Two datagrams of a slow flow are as far apart.
    let usual = SILENT_NS.max(2 * sent.span_ns / sent.datagrams.max(1));
    Some(if sender > last.saturating_add(usual) { sender } else { last })
}

/// Adds the rates; returns the throughput of the slices of each trial.
fn rates(measures: &mut Measures, trials: &[Trial<'_>], common: &[Vec<Common>]) -> Vec<Vec<f64>> {
    let mut add = |name: &str, unit, trials| measures.metric_of_all(name, unit, trials);
    let sum = |directions: &Vec<Common>| -> Vec<f64> {
        let count = directions.first().map_or(0, |direction| direction.slices.len());
        (0..count).map(|at| directions.iter().map(|direction| direction.slices[at]).sum()).collect()
    };
    let sums: Vec<Vec<f64>> = common.iter().map(sum).collect();
    let packets = trials.iter().zip(&sums).map(|(trial, slices)| {
        let message = trial.directions[0].sent.message.max(1) as f64;
        slices.iter().map(|rate| rate * 1e9 / 8.0 / message).collect()
    });
    add("packets", Unit::PerSecond, packets.collect());
    add("throughput", Unit::GigabitsPerSecond, sums.clone());
    let offered =
        |trial: &Trial<'_>| vec![trial.directions.iter().map(|direction| direction.sent.offered()).sum()];
    add("offered", Unit::GigabitsPerSecond, trials.iter().map(offered).collect());
    if trials.iter().all(|trial| trial.directions.len() == 2) {
        for (name, index) in [("forward", 1), ("reverse", 0)] {
            let of = |(trial, common): (&Trial<'_>, &Vec<Common>)| {
                let at = trial.directions.iter().position(|direction| direction.part.index == index);
                at.map_or(Vec::new(), |at| common[at].slices.clone())
            };
            add(name, Unit::GigabitsPerSecond, trials.iter().zip(common).map(of).collect());
        }
    }
    sums
}

fn counts(measures: &mut Measures, trials: &[Trial<'_>]) {
    let mut add = |name: &str, unit, of: &dyn Fn(&Trial<'_>) -> Option<f64>| {
        let trials: Option<Vec<Vec<f64>>> =
            trials.iter().map(|trial| of(trial).map(|value| vec![value])).collect();
        if let Some(trials) = trials {
            measures.metric(name, unit, trials);
        }
    };
    let share = |part: fn(&super::record::Tally) -> u64, of: fn(&super::record::Tally) -> u64| {
        move |trial: &Trial<'_>| {
            let sum = |what: fn(&super::record::Tally) -> u64| -> u64 {
                trial.directions.iter().map(|direction| direction.received.total(what)).sum()
            };
            (sum(of) > 0).then(|| 100.0 * sum(part) as f64 / sum(of) as f64)
        }
    };
    add("loss", Unit::Percent, &share(|flow| flow.lost, |flow| flow.sent));
    add("duplicates", Unit::Percent, &share(|flow| flow.duplicates, |flow| flow.received));
    add("reordered", Unit::Percent, &share(|flow| flow.reordered, |flow| flow.received));
    add("jitter", Unit::Microsecond, &|trial| {
        let flows = trial.directions.iter().flat_map(|direction| &direction.received.flows);
        flows.filter_map(|flow| flow.jitter_ns).reduce(f64::max).map(|nanos| nanos / 1e3)
    });
}

fn effort(measures: &mut Measures, trials: &[Trial<'_>]) {
    type Of = fn(&Effort) -> Option<f64>;
    let threads: Of =
        |it| (it.span_ns > 0).then(|| 100.0 * (it.user_ns + it.system_ns) as f64 / it.span_ns as f64);
    let host: Of =
        |it| Some(100.0 * it.machine_busy_ns.filter(|_| it.phase_ns > 0)? as f64 / it.phase_ns as f64);
    type Side = fn(&DirectionRecord<'_>) -> Effort;
    let sender: Side = |direction| direction.sent.effort;
    let receiver: Side = |direction| direction.received.effort;
    for (name, side, of) in [
        ("sender_cpu", sender, threads),
        ("receiver_cpu", receiver, threads),
        ("sender_host", sender, host),
        ("receiver_host", receiver, host),
    ] {
        let trial = |trial: &Trial<'_>| {
            trial.directions.iter().map(|direction| of(&side(direction))).sum::<Option<f64>>()
        };
        let values: Option<Vec<Vec<f64>>> =
            trials.iter().map(|it| trial(it).map(|value| vec![value])).collect();
        if let Some(trials) = values {
            measures.metric(name, Unit::Percent, trials);
        }
    }
}

fn series(measures: &mut Measures, trials: &[Trial<'_>], common: &[Vec<Common>]) {
    let (mut rates, mut losses) = (Vec::new(), Vec::new());
    for (at, first) in trials[0].directions.iter().enumerate() {
        // 0 is forward: to the second end.
        let direction = u64::from(first.part.index == 0);
        for flow in 0..first.received.flows.len() {
            let place: Params =
                [("direction".to_owned(), direction.into()), ("flow".to_owned(), (flow as u64).into())]
                    .into_iter()
                    .collect();
            let row =
                |unit, trials: Vec<Vec<f64>>| Row { at: place.clone(), values: Values { unit, trials } };
            let rate =
                common.iter().filter_map(|directions| Some(vec![*directions.get(at)?.flows.get(flow)?]));
            rates.push(row(Unit::GigabitsPerSecond, rate.collect()));
            let tallies =
                trials.iter().filter_map(|trial| trial.directions.get(at)?.received.flows.get(flow));
            let loss: Vec<Vec<f64>> = tallies
                .filter(|tally| tally.sent > 0)
                .map(|tally| vec![100.0 * tally.lost as f64 / tally.sent as f64])
                .collect();
            if !loss.is_empty() {
                losses.push(row(Unit::Percent, loss));
            }
        }
    }
    measures.series.insert("by_flow".to_owned(), rates);
    if !losses.is_empty() {
        measures.series.insert("loss_by_flow".to_owned(), losses);
    }
}

/// Payload that arrived at each end. No datagrams are in flight when a phase ends.
fn transferred(trials: &[Trial<'_>]) -> Transferred {
    let mut moved = Transferred::default();
    for direction in trials.iter().flat_map(|trial| &trial.directions) {
        let bytes = direction.received.total(|flow| flow.received) * direction.received.message as u64;
        *(if direction.part.index == 0 { &mut moved.reverse } else { &mut moved.forward }) += bytes;
    }
    moved
}

fn evidence(measures: &mut Measures, trials: &[Trial<'_>]) {
    let direction = |direction: &DirectionRecord<'_>| {
        json!({
            "to": direction.part.node,
            "sent": direction.sent,
            "received": direction.received,
            "integrity": direction.part.integrity,
        })
    };
    let all: Vec<_> =
        trials.iter().map(|trial| trial.directions.iter().map(direction).collect::<Vec<_>>()).collect();
    measures.evidence.insert("trials".to_owned(), json!(all));
}
