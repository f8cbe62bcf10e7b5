//! Reduces the samples to one value per trial, over its whole window. A median of slices would hide a machine that
//! stands still in one slice of ten, and the demand is on the whole window.

use std::collections::BTreeSet;

use seatrial_model::{
    Case, Cause, Finding, Measures, Params, PartPlacement, PartRecord, Quantity, Reason, Row, Sample,
    Severity, Subject, Unit, Value, Values,
};
use seatrial_stats::Sorted;
use serde_json::json;

use super::part::MOST_LATE_PERCENT;
use super::scenario::Step;
use super::settings::{Mode, Settings};
use seatrial_bench::Latencies;

/// Least share of the demand at which the pace counts as kept, in percent: from COBALT2's README.
const ENOUGH_PERCENT: f64 = 99.75;

/// CPU share of the threads from which the CPUs count as fully used, in percent.
const ALWAYS_PERCENT: f64 = 97.0;

const EVIDENCE: [&str; 8] = ["place", "pages", "isa", "prefetch", "sched", "search", "lateness", "probes"];

struct Trial<'a> {
    settings: &'a Settings,
    /// The reported pace: the scenario's, or the fastest kept.
    pace: f64,
    samples: Vec<&'a Sample>,
    lateness: Option<Latencies>,
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    of(&Settings::of(&case.params)?, &case.places, parts)
}

pub(super) fn of(
    settings: &Settings,
    places: &[PartPlacement],
    parts: &[PartRecord],
) -> Result<Measures, Reason> {
    let trials: Vec<Trial<'_>> = parts.iter().filter_map(|part| Trial::of(settings, part)).collect();
    if trials.is_empty() {
        return Err(nothing(settings, parts));
    }
    let mut measures = Measures::default();
    figures(&mut measures, settings, &trials);
    tables(&mut measures, settings, &trials);
    support(&mut measures, &trials, parts);
    measures.findings.extend(behind(places, settings, &trials));
    measures.findings.extend(parts.first().and_then(|part| seatrial_bench::numa_check(&part.evidence)));
    measures.findings.extend(unfinished(settings, parts));
    Ok(measures)
}

impl<'a> Trial<'a> {
    fn of(settings: &'a Settings, part: &'a PartRecord) -> Option<Self> {
        let pace = |sample: &Sample| match sample.at.get("pace") {
            Some(Value::Number(pace)) => Some(*pace),
            Some(Value::Count(pace)) => Some(*pace as f64),
            _ => None,
        };
        let mut paces: Vec<f64> = part.samples.iter().filter_map(pace).collect();
        paces.sort_by(f64::total_cmp);
        paces.dedup();
        let at = |wanted: f64| {
            let samples = part.samples.iter().filter(|sample| pace(sample) == Some(wanted)).collect();
            let lateness = part.evidence.get("lateness").and_then(Latencies::from_evidence);
            Self { settings, pace: wanted, samples, lateness }
        };
        match settings.mode {
            Mode::Paced => paces.first().copied().map(at),
            Mode::Max => paces
                .into_iter()
                .rev()
                .map(at)
                .find(|trial| trial.late_percent(|_| true).is_some_and(|late| late <= MOST_LATE_PERCENT)),
        }
    }

    fn sum(&self, channel: &str, of: impl Fn(&Params) -> bool) -> Option<f64> {
        let samples = self.samples.iter().filter(|sample| sample.channel == channel && of(&sample.at));
        samples.map(|sample| sample.amount.value()).reduce(|a, b| a + b)
    }

    fn late_percent(&self, of: impl Fn(&Params) -> bool) -> Option<f64> {
        let due = self.sum("due", &of).filter(|due| *due > 0.0)?;
        Some(100.0 * self.sum("late", of)? / due)
    }

    /// Bytes per second of all steps, with a weight per counted byte of a step.
    fn rate(&self, of: impl Fn(&Params) -> bool, weight: impl Fn(&Step) -> f64) -> f64 {
        let done = self.samples.iter().filter(|sample| sample.channel == "done" && of(&sample.at));
        let weighted = done.filter_map(|sample| {
            let step = self.settings.scenario.steps.iter().find(|step| is_of(step, &sample.at))?;
            Some(sample.per_second()? * weight(step))
        });
        weighted.sum()
    }

    fn throughput(&self, of: impl Fn(&Params) -> bool) -> f64 {
        self.rate(of, |_| 1.0) / Unit::GigabitsPerSecond.factor()
    }

    /// Mean as in COBALT2's program: every step of every station has the same weight, whatever its number of blocks.
    fn mean_late_percent(&self) -> Option<f64> {
        let steps = &self.settings.scenario.steps;
        let late = steps.iter().map(|step| self.late_percent(|at| is_of(step, at)));
        late.sum::<Option<f64>>().map(|sum| sum / steps.len() as f64)
    }

    fn nodes(&self) -> BTreeSet<u64> {
        self.samples.iter().filter_map(|sample| sample.at.count("node").ok()).collect()
    }
}

fn is_of(step: &Step, at: &Params) -> bool {
    at.text("step") == Ok(&step.id)
}

fn is_on(node: u64, at: &Params) -> bool {
    at.count("node") == Ok(node)
}

fn values(unit: Unit, trials: &[Trial<'_>], value: impl Fn(&Trial<'_>) -> Option<f64>) -> Option<Values> {
    let trials: Vec<Vec<f64>> = trials.iter().filter_map(|trial| Some(vec![value(trial)?])).collect();
    (!trials.is_empty()).then_some(Values { unit, trials })
}

fn figures(measures: &mut Measures, settings: &Settings, trials: &[Trial<'_>]) {
    let mut put = |name: &str, unit: Unit, value: &dyn Fn(&Trial<'_>) -> Option<f64>| {
        if let Some(values) = values(unit, trials, value) {
            measures.metrics.insert(name.to_owned(), values);
        }
    };
    let desired = settings.scenario.desired().value();
    put("throughput", Unit::GigabitsPerSecond, &|trial| Some(trial.throughput(|_| true)));
    match settings.mode {
        Mode::Paced => {
            put("achieved", Unit::Percent, &|trial| Some(100.0 * trial.throughput(|_| true) / desired));
        }
        Mode::Max => put("headroom", Unit::Count, &|trial| Some(trial.pace)),
    }
    put("late", Unit::Percent, &|trial| trial.late_percent(|_| true));
    let micros = |nanos: seatrial_model::Nanos| nanos.get() as f64 / 1e3;
    put("lateness_p99", Unit::Microsecond, &|trial| Some(micros(trial.lateness.as_ref()?.value_at(0.99))));
    put("lateness_max", Unit::Microsecond, &|trial| Some(micros(trial.lateness.as_ref()?.longest())));
    let traffic = |trial: &Trial<'_>, weight: fn(&Step) -> u64| {
        Some(trial.rate(|_| true, |step| weight(step) as f64 / f64::from(step.counted)) / 1e9)
    };
    put("traffic_least", Unit::GigabytesPerSecond, &|trial| traffic(trial, |step| step.operation.touched()));
    put("traffic_most", Unit::GigabytesPerSecond, &|trial| {
        traffic(trial, |step| step.operation.touched() + u64::from(step.operation.writes()))
    });
}

fn tables(measures: &mut Measures, settings: &Settings, trials: &[Trial<'_>]) {
    let mut put = |name: &str, at: Params, unit: Unit, value: &dyn Fn(&Trial<'_>) -> Option<f64>| {
        if let Some(values) = values(unit, trials, value) {
            measures.series.entry(name.to_owned()).or_default().push(Row { at, values });
        }
    };
    for step in &settings.scenario.steps {
        let at = || [("step".to_owned(), Value::from(step.id.as_str()))].into_iter().collect();
        let of = |params: &Params| is_of(step, params);
        put("by_step", at(), Unit::GigabitsPerSecond, &|trial| Some(trial.throughput(of)));
        put("late_by_step", at(), Unit::Percent, &|trial| trial.late_percent(of));
    }
    let nodes: BTreeSet<u64> = trials.iter().flat_map(Trial::nodes).collect();
    for node in nodes {
        let at = || [("node".to_owned(), Value::from(node))].into_iter().collect();
        let of = |params: &Params| is_on(node, params);
        put("by_node", at(), Unit::GigabitsPerSecond, &|trial| Some(trial.throughput(of)));
        put("late_by_node", at(), Unit::Percent, &|trial| trial.late_percent(of));
    }
}

fn support(measures: &mut Measures, trials: &[Trial<'_>], parts: &[PartRecord]) {
    measures.keep_evidence(parts.first(), &EVIDENCE);
    measures.keep_integrity(parts.first());
    let mut put = |name: &str, value| measures.evidence.insert(name.to_owned(), value);
    put("late_mean_of_steps_percent", json!(trials.iter().map(Trial::mean_late_percent).collect::<Vec<_>>()));
    if let Some(trial) = trials.first() {
        let cpus = |node: &u64| Some((node.to_string(), trial.sum("cpus", |at| is_on(*node, at))?));
        let cpus: std::collections::BTreeMap<_, _> = trial.nodes().iter().filter_map(cpus).collect();
        put("cpus_used_by_node", json!(cpus));
    }
}

/// Finding: why the pace was not kept, from the CPU time of the threads.
fn behind(places: &[PartPlacement], settings: &Settings, trials: &[Trial<'_>]) -> Option<Finding> {
    if settings.mode == Mode::Max {
        return None;
    }
    let desired = settings.scenario.desired().value();
    let achieved: Vec<Vec<f64>> =
        trials.iter().map(|trial| vec![100.0 * trial.throughput(|_| true) / desired]).collect();
    let achieved = Sorted::pooled(&achieved).ok()?.median();
    if achieved >= ENOUGH_PERCENT {
        return None;
    }
    let cause = match cpu_percent(places, trials)? {
        percent if percent >= ALWAYS_PERCENT => {
            "the threads used the CPUs all the time: the CPUs are too few, or memory is too slow; \
             mem.bandwidth tells which"
                .to_owned()
        }
        percent => format!(
            "the threads ran for only {percent:.0} % of the CPU time, so blocks waited for other processes \
             or for CPU wake-up: check steal time and other processes in the probes, try -p sched=fifo:1"
        ),
    };
    let text = format!("{achieved:.2} % of the demand was reached, less than {ENOUGH_PERCENT} %: {cause}");
    let finding = Finding::new("behind-pace", Severity::Warning, Subject::node(), text);
    let value = Quantity::new(achieved, Unit::Percent).ok();
    let evidence = vec!["achieved".to_owned(), "cpus_used_by_node".to_owned()];
    Some(Finding { value, evidence, ..finding })
}

/// CPU time of the threads on the busiest node, in percent of the CPUs there: median of the trials.
fn cpu_percent(places: &[PartPlacement], trials: &[Trial<'_>]) -> Option<f64> {
    let bindings = &places.first()?.bindings;
    let of_trial = |trial: &Trial<'_>| {
        let percent = |node: u64| {
            let cpus = bindings.iter().filter(|binding| u64::from(binding.node) == node).count();
            Some(100.0 * trial.sum("cpus", |at| is_on(node, at))? / cpus.max(1) as f64)
        };
        trial.nodes().into_iter().filter_map(percent).reduce(f64::max)
    };
    let all: Vec<f64> = trials.iter().filter_map(of_trial).collect();
    Sorted::pooled(&[all]).ok().map(|all| all.median())
}

/// Finding: a search ran out of time before it knew the pace to one percent.
fn unfinished(settings: &Settings, parts: &[PartRecord]) -> Option<Finding> {
    let cut =
        |part: &&PartRecord| part.evidence.get("search").is_some_and(|search| !search["untried"].is_null());
    let count = parts.iter().filter(cut).count();
    if settings.mode == Mode::Paced || count == 0 {
        return None;
    }
    let text = format!(
        "in {count} of {} trials the search ended before the fastest pace was known to 1 %, so the headroom \
         may be higher: raise -p time=",
        parts.len()
    );
    Some(Finding::new("search-cut-short", Severity::Warning, Subject::node(), text))
}

fn nothing(settings: &Settings, parts: &[PartRecord]) -> Reason {
    let text = match settings.mode {
        _ if parts.iter().all(|part| part.samples.is_empty()) => "no trial completed a round of the scenario",
        Mode::Paced => "no trial recorded its pace",
        Mode::Max => "no pace was kept: raise -p time=, or run -p mode=paced to see why",
    };
    Reason::new(Cause::TooShort, text)
}
