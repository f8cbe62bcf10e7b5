//! Reduces the threads' slices to rates over the time in which all of them worked.

use std::collections::BTreeSet;

use seatrial_model::{
    Case, Cause, Fact, Finding, Measures, Params, PartRecord, Reason, Row, Severity, Unit, Values,
};
use serde_json::Value;

use super::held_back::held_back;
use super::job::{JobSpec, Operation};
use crate::metrics::{MEGA, MICRO, add_latencies};
use seatrial_bench::{Curve, fairness};

/// Length of the interval of a sample, in nanoseconds.
pub(super) const INTERVAL: u64 = 100_000_000;

/// Most intervals per trial, far above any real trial: times in foreign evidence may be arbitrary.
pub(super) const MOST_INTERVALS: u64 = 1 << 20;

/// Ratio from which two rates count as different.
const APART: f64 = 1.1;

/// Share of the time of the threads' CPUs from which they count as the limit.
const BUSY: f64 = 0.85;

/// A device that reads less than this part of the requested bytes causes a finding.
const FROM_ELSEWHERE: f64 = 0.9;

pub(super) struct Trial<'a> {
    pub part: &'a PartRecord,
    /// By thread: bytes read, bytes written.
    threads: Vec<[Curve; 2]>,
    /// The time in which all threads worked, as start and end.
    pub window: (u64, u64),
}

/// Rate of a trial in MB/s; `None` without a time in which all threads worked.
pub fn mean_rate(part: &PartRecord) -> Option<f64> {
    let rates = Trial::of(part)?.intervals(&[0, 1], MEGA);
    Some(rates.iter().sum::<f64>() / rates.len() as f64)
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let job = JobSpec::of(&case.params)?;
    let trials: Vec<Trial<'_>> = parts.iter().filter_map(Trial::of).collect();
    if trials.is_empty() {
        let text = "the threads never completed requests at the same time; raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let mut add = |name: &str, unit, values| measures.metric_of_all(name, unit, values);
    let every = |of: &dyn Fn(&Trial<'_>) -> Vec<f64>| trials.iter().map(of).collect::<Vec<_>>();
    let (rate, per) = (Unit::MegabytesPerSecond, job.block as f64);
    add("throughput", rate, every(&|trial| trial.intervals(&[0, 1], MEGA)));
    if job.operation.reads() && job.operation.writes() {
        add("read", rate, every(&|trial| trial.intervals(&[0], MEGA)));
        add("written", rate, every(&|trial| trial.intervals(&[1], MEGA)));
    }
    add("iops", Unit::PerSecond, every(&|trial| trial.intervals(&[0, 1], per)));
    add("durable", rate, every(&|trial| trial.durable().into_iter().collect()));
    if job.once {
        add("first_done", rate, every(&|trial| trial.done_by(trial.ends().min())));
        add("last_done", rate, every(&|trial| trial.done_by(trial.ends().max())));
    }
    add("flush", Unit::Microsecond, every(&|trial| trial.flush().map(|ns| ns / MICRO).into_iter().collect()));
    add("cpu_per_io", Unit::Microsecond, every(&|trial| trial.cpu_per_io().into_iter().collect()));
    if job.threads > 1 {
        add("fairness", Unit::Ratio, every(&|trial| vec![trial.fairness()]));
    }
    let quantiles = [("latency", 0.5), ("p99", 0.99), ("p999", 0.999)];
    add_latencies(trials.iter().map(|trial| trial.part), &quantiles, &mut measures);
    measures.series.insert("by_thread".to_owned(), by_thread(&trials));
    let last = trials.last().expect("there is one");
    measures.keep_evidence(
        [last.part],
        &["files", "fixture", "engine", "cache", "moved", "throttle", "threads", "bytes", "requests"],
    );
    held_back(parts, job.direct).put(&mut measures.evidence);
    measures.keep_integrity(Some(last.part));
    measures.findings.extend(found_itself(case, last.part));
    measures.findings.extend(throttled(case, last.part));
    measures.findings.extend(first_writes(case, &job, last));
    measures.findings.extend(from_elsewhere(case, &job, last.part));
    measures.findings.extend(client_bound(case, &job, last));
    Ok(measures)
}

impl<'a> Trial<'a> {
    pub fn of(part: &'a PartRecord) -> Option<Self> {
        let mut threads: Vec<[Curve; 2]> = Vec::new();
        for sample in &part.samples {
            // Bounds the thread number, which foreign evidence may set to anything: every thread has samples.
            let thread = usize::try_from(sample.at.count("thread").ok()?).ok()?;
            if thread >= part.samples.len() {
                return None;
            }
            threads.resize_with(threads.len().max(thread + 1), Default::default);
            threads[thread][usize::from(sample.channel == "written")].push(sample);
        }
        let stopped = part.evidence.get("threads").and_then(Value::as_array);
        let started = part.evidence.get("start_ns").and_then(Value::as_u64).unwrap_or(0);
        // A thread that stops has fewer and fewer requests in flight until it is done.
        let stop_of = |thread: usize| {
            let told = stopped.and_then(|all| all.get(thread)?.get("stopped_ns")?.as_u64());
            told.map(|ns| started + ns)
        };
        let mut window = (0, u64::MAX);
        for (number, [read, _]) in threads.iter().enumerate() {
            let end = read.end()?;
            window.0 = window.0.max(read.start()?);
            window.1 = window.1.min(stop_of(number).map_or(end, |stop| stop.min(end)));
        }
        (window.0 < window.1 && !threads.is_empty()).then_some(Self { part, threads, window })
    }

    pub fn bytes(&self, operations: &[usize], from: u64, to: u64) -> f64 {
        self.threads
            .iter()
            .flat_map(|one| operations.iter().map(|operation| one[*operation].between(from, to)))
            .sum()
    }

    /// Rate in equal intervals of the window, for one or both operations, in `unit` bytes per second.
    fn intervals(&self, operations: &[usize], unit: f64) -> Vec<f64> {
        let (start, end) = self.window;
        let count = ((end - start) / INTERVAL).clamp(1, MOST_INTERVALS);
        let at =
            |number: u64| start + (u128::from(end - start) * u128::from(number) / u128::from(count)) as u64;
        (0..count)
            .map(|number| {
                let (from, to) = (at(number), at(number + 1));
                self.bytes(operations, from, to) / unit / ((to - from).max(1) as f64 / 1e9)
            })
            .collect()
    }

    pub fn ends(&self) -> impl Iterator<Item = u64> + '_ {
        self.threads.iter().filter_map(|[read, _]| read.end())
    }

    pub fn start(&self) -> u64 {
        self.threads.iter().filter_map(|[read, _]| read.start()).min().unwrap_or(self.window.0)
    }

    fn done_by(&self, end: Option<u64>) -> Vec<f64> {
        let start = self.start();
        end.filter(|end| *end > start)
            .map(|end| self.bytes(&[0, 1], start, end) / MEGA / ((end - start) as f64 / 1e9))
            .into_iter()
            .collect()
    }

    fn durable(&self) -> Option<f64> {
        let flushed = self.flushes()?;
        let end = self.ends().zip(&flushed).map(|(end, flush)| end + *flush as u64).max()?;
        let (start, last) = (self.start(), self.ends().max()?);
        Some(self.bytes(&[1], start, last) / MEGA / ((end - start).max(1) as f64 / 1e9))
    }

    pub fn flushes(&self) -> Option<Vec<f64>> {
        let threads = self.part.evidence.get("threads")?.as_array()?;
        threads.iter().map(|one| one.get("flush_ns")?.as_f64()).collect()
    }

    pub fn flush(&self) -> Option<f64> {
        self.flushes()?.into_iter().reduce(f64::max)
    }

    pub fn cpu_per_io(&self) -> Option<f64> {
        let number = |name: &str| self.part.evidence.get(name).and_then(Value::as_f64);
        Some(number("cpu_ns")? / number("requests").filter(|count| *count > 0.0)? / MICRO)
    }

    fn fairness(&self) -> f64 {
        let (from, to) = self.window;
        let rates: Vec<f64> = self
            .threads
            .iter()
            .map(|[read, written]| read.between(from, to) + written.between(from, to))
            .collect();
        fairness(&rates).unwrap_or(1.0)
    }
}

fn by_thread(trials: &[Trial<'_>]) -> Vec<Row> {
    let threads = trials.iter().map(|trial| trial.threads.len()).max().unwrap_or(0);
    let rate = |trial: &Trial<'_>, thread: usize| {
        let (from, to) = trial.window;
        let [read, written] = trial.threads.get(thread)?;
        Some((read.between(from, to) + written.between(from, to)) / MEGA / ((to - from) as f64 / 1e9))
    };
    (0..threads)
        .map(|thread| {
            let mut at = Params::default();
            at.set("thread", thread as u64);
            let trials = trials.iter().map(|trial| rate(trial, thread).into_iter().collect()).collect();
            Row { at, values: Values { unit: Unit::MegabytesPerSecond, trials } }
        })
        .collect()
}

/// Finding: where `directory=auto` put the files.
pub(super) fn found_itself(case: &Case, part: &PartRecord) -> Option<Finding> {
    let files = part.evidence.get("files").filter(|_| case.planned.text("directory") == Ok("auto"))?;
    let device = files.get("device").and_then(Value::as_str).unwrap_or("no block device");
    let text =
        format!("directory=auto: the files were in {}, on {device}", files.get("directory")?.as_str()?);
    Some(Finding::new("directory-chosen", Severity::Info, case.subject.clone(), text))
}

/// Finding: a control group limits the device, so the number is the group's and not the storage's.
pub(super) fn throttled(case: &Case, part: &PartRecord) -> Option<Finding> {
    let limits = part.evidence.get("throttle")?.as_object()?;
    let told: Vec<String> = limits
        .iter()
        .filter(|(_, value)| value.is_u64())
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    if told.is_empty() {
        return None;
    }
    let text = format!(
        "a control group (io.max or blkio.throttle) limits this process: {}; the result is that limit, not \
         the speed of the storage",
        told.join(", ")
    );
    Some(Finding::new("storage-throttled", Severity::Warning, case.subject.clone(), text))
}

/// Finding: first writes to blocks and later ones have different rates in one trial; the median of intervals is then
/// that of whichever lasted longer.
fn first_writes(case: &Case, job: &JobSpec, trial: &Trial<'_>) -> Option<Finding> {
    if job.operation != Operation::Write || job.overwrite {
        return None;
    }
    let start = trial.part.evidence.get("start_ns")?.as_u64()?;
    let threads = trial.part.evidence.get("threads")?.as_array()?;
    let second: Option<Vec<u64>> =
        threads.iter().map(|one| Some(start + one.get("second_pass_ns")?.as_u64()?)).collect();
    let (first, last) = second.as_ref().and_then(|all| Some((*all.iter().min()?, *all.iter().max()?)))?;
    let (from, to) = trial.window;
    if first < from + INTERVAL || to < last + INTERVAL {
        return None;
    }
    let rate = |from, to| trial.bytes(&[1], from, to) / MEGA / ((to - from) as f64 / 1e9);
    let (new, again) = (rate(from, first), rate(last, to));
    if new.max(again) < APART * new.min(again) {
        return None;
    }
    let text = format!(
        "the first write of every block ran at {new:.0} MB/s, later writes at {again:.0} MB/s: the median is \
         that of the longer part; measure first writes with -p work=once, later writes with -p overwrite=true"
    );
    let finding = Finding::new("first-writes", Severity::Info, case.subject.clone(), text);
    Some(Finding { evidence: vec!["threads".to_owned()], ..finding })
}

/// Finding: much of the data read did not come from the device.
fn from_elsewhere(case: &Case, job: &JobSpec, part: &PartRecord) -> Option<Finding> {
    let moved = part.evidence.get("moved")?;
    if !job.operation.reads() || moved.get("source")? != "device" {
        return None;
    }
    let share = moved.get("read_per_byte")?.as_f64()?;
    (share < FROM_ELSEWHERE).then(|| {
        let text = format!(
            "the device read only {:.0} % of the requested bytes: a cache, compression or another device \
             supplied the rest",
            100.0 * share
        );
        Finding::new("read-from-elsewhere", Severity::Warning, case.subject.clone(), text)
    })
}

/// Finding: the CPUs of the client are the limit, so that more clients may get more from the storage.
fn client_bound(case: &Case, job: &JobSpec, trial: &Trial<'_>) -> Option<Finding> {
    // A thread that polls for completions is always busy.
    let is_polled =
        trial.part.evidence.get("engine").and_then(|engine| engine.pointer("/ring/polled")?.as_bool());
    if is_polled == Some(true) {
        return None;
    }
    let bindings = &case.places.first()?.bindings;
    let cpus: BTreeSet<u32> = bindings.iter().map(|binding| binding.cpu).collect();
    let cpus = cpus.len().min(job.threads);
    let (from, to) = trial.window;
    let blocks = trial.bytes(&[0, 1], from, to) / job.block as f64;
    let cpu_per_io = trial.cpu_per_io()?;
    let busy = cpu_per_io * MICRO * blocks / ((to - from) as f64 * cpus as f64);
    (cpus > 0 && busy >= BUSY).then(|| {
        let text = format!(
            "the client is the limit, not the storage: {} threads kept {cpus} of its CPUs busy {:.0} % of the time, \
             {cpu_per_io:.0} us for each block; try more threads, larger blocks or more nodes",
            job.threads,
            100.0 * busy.min(1.0)
        );
        Finding::new("client-bound", Severity::Info, case.subject.clone(), text)
    })
}
