//! Many nodes on one file system, or each on its own, at one moment: a case of all, and its sums.

use seatrial_bench::space::{lacking, room_of};
use seatrial_bench::{fairness, one_of_all};
use seatrial_model::{
    About, Case, Cause, Finding, Integrity, Measures, Params, PartRecord, Reason, Row, Site, SiteNode, Unit,
    Values,
};

use serde_json::json;

use super::job::JobSpec;
use super::reduce::{INTERVAL, MOST_INTERVALS, Trial, found_itself, throttled};
use crate::many;
use crate::metrics::{MEGA, MICRO, add_latencies};
use seatrial_bench::directory::file_system_of;
use seatrial_bench::directory::leftovers;

/// The case of all nodes of `site`, which `of_node` plans one by one.
///
/// # Errors
/// When a node has no plan, or the files of all do not fit together into a file system that they share.
pub fn plan(
    about: &About,
    site: &Site,
    job: &JobSpec,
    of_node: impl Fn(&SiteNode) -> Result<Vec<Case>, Reason>,
) -> Result<Vec<Case>, Reason> {
    if job.rounds > 1 {
        let text = "steady=true is for one node: many nodes have no common rounds; leave it out";
        return Err(Reason::new(Cause::Contradiction, text));
    }
    let mut case = one_of_all(about, site, of_node)?;
    if job.is_of_many_nodes() {
        // The file is made and filled once the nodes know where.
        case.budget.connect = case.budget.connect.plus(case.budget.prepare);
    }
    if many::expect_shared(&mut case, site) {
        require_room(&case, site, job.total_bytes().saturating_mul(site.nodes.len() as u64))?;
    }
    Ok(vec![case])
}

fn require_room(case: &Case, site: &Site, wanted: u64) -> Result<(), Reason> {
    let Ok(path) = case.planned.text("directory") else { return Ok(()) };
    let rooms = site.nodes.iter().filter_map(|node| room_of(file_system_of(&node.machine, path)?));
    let text = rooms.min().and_then(|(free, size)| lacking(wanted, free, size, path));
    text.map_or(Ok(()), |text| Err(Reason::new(Cause::NoSpace, text)))
}

/// The clients of a trial, in the order of the nodes. Each has its own clock, and all begin at one moment.
struct Clients<'a> {
    trials: Vec<Trial<'a>>,
    /// Nanoseconds from each client's start in which all of them worked.
    span: u64,
}

/// Sums over the nodes, in the time in which all of them worked.
///
/// # Errors
/// When there is no such time, or the parameters cannot be read.
pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let job = JobSpec::of(&case.params)?;
    let whole = many::whole_trials(case, parts);
    let trials: Vec<Clients<'_>> = whole.into_iter().filter_map(Clients::of).collect();
    let Some(last) = trials.last() else {
        let text = "the nodes never completed requests at the same time; raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    };
    let mut measures = Measures::default();
    let mut add = |name: &str, unit, of: &dyn Fn(&Clients<'_>) -> Vec<f64>| {
        measures.metric_of_all(name, unit, trials.iter().map(of).collect());
    };
    let (rate, block) = (Unit::MegabytesPerSecond, job.block as f64);
    add("throughput", rate, &|all| all.intervals(&[0, 1], MEGA));
    if job.operation.reads() && job.operation.writes() {
        add("read", rate, &|all| all.intervals(&[0], MEGA));
        add("written", rate, &|all| all.intervals(&[1], MEGA));
    }
    add("iops", Unit::PerSecond, &|all| all.intervals(&[0, 1], block));
    add("durable", rate, &|all| all.durable().into_iter().collect());
    if job.once {
        add("first_done", rate, &|all| all.done_by(all.ends().min()));
        add("last_done", rate, &|all| all.done_by(all.ends().max()));
    }
    add("flush", Unit::Microsecond, &|all| {
        let slowest = all.trials.iter().filter_map(Trial::flush).reduce(f64::max);
        slowest.map(|ns| ns / MICRO).into_iter().collect()
    });
    add("fairness", Unit::Ratio, &|all| fairness(&all.rates()).into_iter().collect());
    add("slowest_node", rate, &|all| all.rates().into_iter().reduce(f64::min).into_iter().collect());
    let quantiles = [("latency", 0.5), ("p99", 0.99), ("p999", 0.999)];
    let every = trials.iter().flat_map(|all| &all.trials).map(|trial| trial.part);
    add_latencies(every, &quantiles, &mut measures);
    measures.series.insert("by_node".to_owned(), by_node(case, &trials));
    let own: Vec<&PartRecord> = last.trials.iter().map(|trial| trial.part).collect();
    measures.keep_evidence(
        own.iter().copied(),
        &["files", "fixture", "engine", "cache", "moved", "throttle", "bytes"],
    );
    let integrity = Integrity::of_all(own.iter().map(|part| part.integrity.clone()));
    measures.evidence.insert("integrity".to_owned(), json!(integrity));
    measures.findings.extend(own.first().and_then(|part| found_itself(case, part)));
    measures.findings.extend(
        own.iter().find_map(|part| Some(Finding { node: Some(part.node.clone()), ..throttled(case, part)? })),
    );
    measures.findings.extend(many::own_file_systems(case, &own));
    measures.findings.extend(leftovers(parts));
    Ok(measures)
}

impl<'a> Clients<'a> {
    fn of(parts: Vec<&'a PartRecord>) -> Option<Self> {
        let trials = parts.into_iter().map(Trial::of).collect::<Option<Vec<Trial<'a>>>>()?;
        let span = trials.iter().map(|trial| trial.window.1 - trial.window.0).min()?;
        Some(Self { trials, span })
    }

    /// Sum of all clients in equal intervals of the common time, in `unit` bytes per second.
    fn intervals(&self, operations: &[usize], unit: f64) -> Vec<f64> {
        let count = (self.span / INTERVAL).clamp(1, MOST_INTERVALS);
        let at = |number: u64| (u128::from(self.span) * u128::from(number) / u128::from(count)) as u64;
        let of = |number: u64| {
            let (from, to) = (at(number), at(number + 1));
            let bytes =
                |trial: &Trial<'_>| trial.bytes(operations, trial.window.0 + from, trial.window.0 + to);
            self.trials.iter().map(bytes).sum::<f64>() / unit / ((to - from).max(1) as f64 / 1e9)
        };
        (0..count).map(of).collect()
    }

    /// MB/s of each client in the common time.
    fn rates(&self) -> Vec<f64> {
        let of = |trial: &Trial<'_>| {
            let (start, end) = (trial.window.0, trial.window.0 + self.span);
            trial.bytes(&[0, 1], start, end) / MEGA / (self.span.max(1) as f64 / 1e9)
        };
        self.trials.iter().map(of).collect()
    }

    /// When each thread of each client was done, from the client's start.
    fn ends(&self) -> impl Iterator<Item = u64> + '_ {
        self.trials.iter().flat_map(|trial| trial.ends().map(|end| end.saturating_sub(trial.start())))
    }

    fn done_by(&self, end: Option<u64>) -> Vec<f64> {
        let Some(end) = end.filter(|end| *end > 0) else { return Vec::new() };
        let bytes = |trial: &Trial<'_>| trial.bytes(&[0, 1], trial.start(), trial.start() + end);
        vec![self.trials.iter().map(bytes).sum::<f64>() / MEGA / (end as f64 / 1e9)]
    }

    /// All bytes over the time until the last client has flushed.
    fn durable(&self) -> Option<f64> {
        let flushed = |trial: &Trial<'_>| {
            let flushes = trial.flushes()?;
            let end = trial.ends().zip(&flushes).map(|(end, flush)| end + *flush as u64).max()?;
            let last = trial.ends().max()?;
            Some((trial.bytes(&[1], trial.start(), last), end.saturating_sub(trial.start())))
        };
        let all = self.trials.iter().map(flushed).collect::<Option<Vec<(f64, u64)>>>()?;
        let took = all.iter().map(|(_, took)| *took).max()?;
        let bytes: f64 = all.iter().map(|(bytes, _)| bytes).sum();
        (bytes > 0.0).then(|| bytes / MEGA / (took.max(1) as f64 / 1e9))
    }
}

fn by_node(case: &Case, trials: &[Clients<'_>]) -> Vec<Row> {
    let rates: Vec<Vec<f64>> = trials.iter().map(Clients::rates).collect();
    let row = |(at, place): (usize, &seatrial_model::PartPlacement)| {
        let trials = rates.iter().map(|trial| trial.get(at).copied().into_iter().collect()).collect();
        let at = Params::from([("node", place.node.as_str().into())]);
        Row { at, values: Values { unit: Unit::MegabytesPerSecond, trials } }
    };
    case.places.iter().enumerate().map(row).collect()
}
