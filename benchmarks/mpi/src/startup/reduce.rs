//! The times of each job, by the number of ranks; of the largest job those of each rank, and the rank that comes last.

use std::collections::BTreeMap;

use seatrial_bench::{Trials, median};
use seatrial_model::{
    Case, Cause, Finding, Measures, Nanos, Params, PartRecord, Quantity, Reason, Row, Sample, Severity,
    Subject, Unit, Value, Values,
};
use seatrial_mpi_job::FINALIZE;
use seatrial_mpi_job::ranks::{cpu_of, place_of};
use seatrial_mpi_job::worker::keep_job;

use super::part::LAUNCHER;
use super::program::{INIT, LOAD, WAITING};

/// The times of a job, in the order of [`JobTimes::values`].
const OF_JOB: [&str; 6] = ["init", "launch", "load", "startup", "finalize", "exit"];

/// The times of a rank, in the order of [`JobTimes::of_rank`].
const OF_RANK: [&str; 3] = ["init_by_rank", "launch_by_rank", "load_by_rank"];

/// The last rank is slow from this multiple of the time of the median rank on, and this much above it.
const SLOW_TIMES: f64 = 2.0;
const SLOW_SECONDS: f64 = 0.1;

/// Ranks from which one can be told from the others.
const FEWEST_RANKS: usize = 4;

/// MPI_Init grows with the ranks from this time on, where twice the ranks take so many times as long.
const LONG_INIT_SECONDS: f64 = 1.0;
const GROWTH: f64 = 1.8;

/// The spans of one job.
#[derive(Default)]
struct JobTimes {
    launcher: Option<(Nanos, Nanos)>,
    /// By channel and rank.
    steps: BTreeMap<String, BTreeMap<u64, (Nanos, Nanos)>>,
}

fn seconds(nanos: Nanos) -> f64 {
    nanos.get() as f64 / 1e9
}

impl JobTimes {
    fn add(&mut self, sample: &Sample) {
        let span = (sample.start, sample.end);
        if sample.channel == LAUNCHER {
            self.launcher = Some(span);
        } else {
            let rank = sample.at.count("rank").unwrap_or(0);
            self.steps.entry(sample.channel.clone()).or_default().insert(rank, span);
        }
    }

    /// The spans of a step in all ranks; `None` where one is missing.
    fn step(&self, channel: &str, ranks: u64) -> Option<&BTreeMap<u64, (Nanos, Nanos)>> {
        self.steps.get(channel).filter(|spans| spans.len() as u64 == ranks)
    }

    /// Seconds of the job, in the order of [`OF_JOB`].
    fn values(&self, ranks: u64) -> Option<[f64; 6]> {
        let (begun, ended) = self.launcher?;
        let longest = |channel: &str| {
            let spans = self.step(channel, ranks)?.values();
            spans.map(|(start, end)| seconds(end.since(*start))).max_by(f64::total_cmp)
        };
        let last = |channel: &str| self.step(channel, ranks)?.values().map(|(_, end)| *end).max();
        let starts = |channel: &str| Some(self.step(channel, ranks)?.values().map(|(start, _)| *start));
        let launch = starts(WAITING)?.max()?.since(begun);
        let startup = launch.plus(last(INIT)?.since(starts(LOAD)?.min()?));
        let exit = ended.since(last(FINALIZE)?);
        let (launch, startup, exit) = (seconds(launch), seconds(startup), seconds(exit));
        Some([longest(INIT)?, launch, longest(LOAD)?, startup, longest(FINALIZE)?, exit])
    }

    /// Seconds of one rank, in the order of [`OF_RANK`].
    fn of_rank(&self, rank: u64) -> Option<[f64; 3]> {
        let step = |channel: &str| self.steps.get(channel)?.get(&rank).copied();
        let span = |(start, end): (Nanos, Nanos)| seconds(end.since(start));
        let launch = seconds(step(WAITING)?.0.since(self.launcher?.0));
        Some([span(step(INIT)?), launch, span(step(LOAD)?)])
    }
}

/// Values of each trial, by number.
struct ByNumber<const N: usize>(BTreeMap<u64, [Trials; N]>);

impl<const N: usize> ByNumber<N> {
    /// Adds the values of one trial.
    fn add(&mut self, trial: BTreeMap<u64, Vec<[f64; N]>>) {
        for (number, values) in trial {
            let all = self.0.entry(number).or_insert_with(|| std::array::from_fn(|_| Trials::new()));
            for (at, trials) in all.iter_mut().enumerate() {
                trials.push(values.iter().map(|values| values[at]).collect());
            }
        }
    }

    fn rows(&self, axis: &str, at: usize) -> Vec<Row> {
        let row = |(number, trials): (&u64, &[Trials; N])| Row {
            at: Params::from([(axis, Value::from(*number))]),
            values: Values { unit: Unit::Second, trials: trials[at].clone() },
        };
        self.0.iter().map(row).collect()
    }
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (mut by_ranks, mut by_rank) = (ByNumber(BTreeMap::new()), ByNumber(BTreeMap::new()));
    let jobs: Vec<_> = parts.iter().map(jobs_of).collect();
    let largest = jobs.iter().flat_map(BTreeMap::keys).map(|(ranks, _)| *ranks).max().unwrap_or(0);
    for jobs in &jobs {
        let mut trial: BTreeMap<u64, Vec<_>> = BTreeMap::new();
        let mut of_ranks: BTreeMap<u64, Vec<_>> = BTreeMap::new();
        for ((ranks, _), job) in jobs {
            let Some(values) = job.values(*ranks) else { continue };
            trial.entry(*ranks).or_default().push(values);
            for rank in (0..*ranks).filter(|_| *ranks == largest) {
                of_ranks.entry(rank).or_default().extend(job.of_rank(rank));
            }
        }
        by_ranks.add(trial);
        by_rank.add(of_ranks);
    }
    let of_largest = by_ranks
        .0
        .get(&largest)
        .ok_or_else(|| Reason::new(Cause::TooShort, "no job was started within the time; raise -p time="))?;
    let mut measures = Measures::default();
    for (at, name) in OF_JOB.into_iter().enumerate() {
        measures.metric(name, Unit::Second, of_largest[at].clone());
        measures.series.insert(format!("{name}_by_ranks"), by_ranks.rows("ranks", at));
    }
    for (at, name) in OF_RANK.into_iter().enumerate() {
        measures.series.insert(name.to_owned(), by_rank.rows("rank", at));
    }
    name_last(&mut measures, case, &by_rank.0);
    measures.findings.extend(growth(&by_ranks.0));
    keep_job(&mut measures, parts);
    Ok(measures)
}

/// The jobs of a trial, by their number of ranks and the round.
fn jobs_of(part: &PartRecord) -> BTreeMap<(u64, u64), JobTimes> {
    let mut jobs: BTreeMap<(u64, u64), JobTimes> = BTreeMap::new();
    for sample in &part.samples {
        let count = |name| sample.at.count(name).unwrap_or(0);
        jobs.entry((count("ranks"), count("round"))).or_default().add(sample);
    }
    jobs
}

/// Names the rank that comes to MPI_Init last, for which all others wait there, and says so where it falls behind them.
fn name_last(measures: &mut Measures, case: &Case, ranks: &BTreeMap<u64, [Trials; 3]>) {
    let steps: BTreeMap<u64, [f64; 2]> =
        ranks.iter().map(|(rank, [_, launch, load])| (*rank, [median(launch), median(load)])).collect();
    let sum = |steps: &[f64; 2]| steps.iter().sum::<f64>();
    let Some((rank, own)) = steps.iter().max_by(|(_, one), (_, other)| sum(one).total_cmp(&sum(other)))
    else {
        return;
    };
    let typical = |of: &dyn Fn(&[f64; 2]) -> f64| median(&[steps.values().map(of).collect()]);
    measures.evidence.insert("slowest_rank".to_owned(), (*rank).into());
    let place = place_of(case, *rank);
    if let Some(place) = place.filter(|_| case.nodes.len() > 1) {
        measures.evidence.insert("slowest_node".to_owned(), place.node.as_str().into());
    }
    let (last, others) = (sum(own), typical(&sum));
    // Ranks that are not pinned wait for cores.
    let is_slow = last >= SLOW_TIMES * others && last >= others + SLOW_SECONDS;
    let (Some(place), Some(_), true) = (place, cpu_of(case, *rank), is_slow) else { return };
    if steps.len() < FEWEST_RANKS {
        return;
    }
    let [launch, load] = [0, 1].map(|at| own[at] - typical(&|steps: &[f64; 2]| steps[at]));
    let doing = if launch >= load { "starting its process" } else { "loading the library" };
    let text = format!(
        "rank {rank} on {} comes to MPI_Init {last:.2} s after the launcher began, the median rank after {others:.2} s: it spends \
         the time on {doing}",
        place.node
    );
    let mut finding = Finding::new("slow-rank", Severity::Warning, Subject::node(), text);
    finding.value = Quantity::new(last, Unit::Second).ok();
    finding.node = Some(place.node.clone());
    finding.evidence = vec!["launch_by_rank".to_owned(), "load_by_rank".to_owned()];
    measures.findings.push(finding);
}

/// The finding that MPI_Init takes as many times as long as there are more ranks.
fn growth(by_ranks: &BTreeMap<u64, [Trials; 6]>) -> Option<Finding> {
    let mut largest = by_ranks.iter().rev().map(|(ranks, times)| (*ranks as f64, median(&times[0])));
    let ((ranks, init), (fewer, before)) = (largest.next()?, largest.next()?);
    let doublings = (ranks / fewer).log2();
    let growth = (init / before).powf(1.0 / doublings);
    if init < LONG_INIT_SECONDS || growth.is_nan() || growth < GROWTH {
        return None;
    }
    let text = format!(
        "MPI_Init takes {init:.2} s with {ranks} ranks and {before:.2} s with {fewer}: twice the ranks take {growth:.1} times as \
         long, as where each rank connects to all others at once"
    );
    let mut finding = Finding::new("init-grows", Severity::Warning, Subject::node(), text);
    finding.value = Quantity::new(growth, Unit::Ratio).ok();
    finding.evidence = vec!["init_by_ranks".to_owned()];
    Some(finding)
}
