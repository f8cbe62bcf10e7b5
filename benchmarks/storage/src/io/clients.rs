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

/// The clients of a trial, in the order of the nodes, in one time: nanoseconds from the moment at which all were to begin.
struct Clients<'a> {
    trials: Vec<Trial<'a>>,
    /// That moment by the clock of each; its own start where the clocks are not known.
    zeros: Vec<u64>,
    /// When the last thread of all had begun, and the first one ended.
    window: (u64, u64),
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
    let spread: Vec<Vec<&PartRecord>> =
        trials.iter().map(|all| all.trials.iter().map(|trial| trial.part).collect()).collect();
    seatrial_bench::tell_spread(spread.iter().map(Vec::as_slice), &mut measures.evidence);
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
    /// `None` without a time in which all threads of all clients worked.
    fn of(parts: Vec<&'a PartRecord>) -> Option<Self> {
        let agreed = seatrial_bench::agreed_starts(&parts);
        let trials = parts.into_iter().map(Trial::of).collect::<Option<Vec<Trial<'a>>>>()?;
        let zeros = agreed.unwrap_or_else(|| trials.iter().map(Trial::start).collect());
        let windows = || trials.iter().zip(&zeros).map(|(trial, zero)| (trial.window, *zero));
        let start = windows().map(|(window, zero)| window.0.saturating_sub(zero)).max()?;
        let end = windows().map(|(window, zero)| window.1.saturating_sub(zero)).min()?;
        (start < end).then_some(Self { trials, zeros, window: (start, end) })
    }

    /// Bytes of each client between two moments.
    fn bytes(&self, operations: &[usize], from: u64, to: u64) -> Vec<f64> {
        let own = |(trial, zero): (&Trial<'_>, &u64)| trial.bytes(operations, zero + from, zero + to);
        self.trials.iter().zip(&self.zeros).map(own).collect()
    }

    /// Sum of all clients in equal intervals of the window, in `unit` bytes per second.
    fn intervals(&self, operations: &[usize], unit: f64) -> Vec<f64> {
        let (start, end) = self.window;
        let count = ((end - start) / INTERVAL).clamp(1, MOST_INTERVALS);
        let at =
            |number: u64| start + (u128::from(end - start) * u128::from(number) / u128::from(count)) as u64;
        let of = |number: u64| {
            let (from, to) = (at(number), at(number + 1));
            let bytes: f64 = self.bytes(operations, from, to).iter().sum();
            bytes / unit / ((to - from).max(1) as f64 / 1e9)
        };
        (0..count).map(of).collect()
    }

    /// MB/s of each client in the window.
    fn rates(&self) -> Vec<f64> {
        let (start, end) = self.window;
        let bytes = self.bytes(&[0, 1], start, end).into_iter();
        bytes.map(|bytes| bytes / MEGA / ((end - start) as f64 / 1e9)).collect()
    }

    /// When the first thread of all began.
    fn start(&self) -> u64 {
        let starts =
            self.trials.iter().zip(&self.zeros).map(|(trial, zero)| trial.start().saturating_sub(*zero));
        starts.min().unwrap_or(self.window.0)
    }

    /// When each thread of each client was done.
    fn ends(&self) -> impl Iterator<Item = u64> + '_ {
        let clients = self.trials.iter().zip(&self.zeros);
        clients.flat_map(|(trial, zero)| trial.ends().map(move |end| end.saturating_sub(*zero)))
    }

    fn done_by(&self, end: Option<u64>) -> Vec<f64> {
        let start = self.start();
        let Some(end) = end.filter(|end| *end > start) else { return Vec::new() };
        let bytes: f64 = self.bytes(&[0, 1], start, end).iter().sum();
        vec![bytes / MEGA / ((end - start) as f64 / 1e9)]
    }

    /// All bytes over the time until the last client has flushed.
    fn durable(&self) -> Option<f64> {
        let flushed = |(trial, zero): (&Trial<'_>, &u64)| {
            let flushes = trial.flushes()?;
            let end = trial.ends().zip(&flushes).map(|(end, flush)| end + *flush as u64).max()?;
            Some(end.saturating_sub(*zero))
        };
        let ends = self.trials.iter().zip(&self.zeros).map(flushed).collect::<Option<Vec<u64>>>()?;
        let (start, end) = (self.start(), ends.into_iter().max()?);
        let bytes: f64 = self.bytes(&[1], start, end).iter().sum();
        (bytes > 0.0).then(|| bytes / MEGA / (end.saturating_sub(start).max(1) as f64 / 1e9))
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
