//! Findings on the clocks.

use std::collections::BTreeMap;

use seatrial_model::{Case, Finding, PartRecord, Quantity, Severity, Subject, Unit};
use seatrial_stats::median;

use super::readings::Readings;

/// Largest difference between the two chains, in percent.
const CHAINS_APART: f64 = 2.0;

/// Ratio of the clock with all cores to that with one core, in percent, below which a finding says so.
const WITH_ALL: f64 = 95.0;

/// Ratio of a core's clock to the median core's, in percent, below which a finding names the core.
const SLOW_CORE: f64 = 95.0;

/// Ratio of the clock at the end to that at the start of a trial, in percent, below which a finding says so.
const DRIFT: f64 = 98.0;

/// Time for the clock to rise, in milliseconds, above which a finding says so.
const SLOW_RAMP_MS: f64 = 20.0;

const MOST_NAMED: usize = 8;

pub fn all(readings: &Readings, case: &Case, parts: &[PartRecord]) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(chains_disagree(readings));
    found.extend(lower_with_all(readings));
    found.extend(slow_cores(readings));
    found.extend(not_measured(readings, case));
    found.extend(drift(readings));
    found.extend(slow_ramp(parts));
    found
}

fn finding(kind: &str, severity: Severity, percent: f64, evidence: &str, text: String) -> Finding {
    let finding = Finding::new(kind, severity, Subject::node(), text);
    let value = Quantity::new(percent, Unit::Percent).ok();
    Finding { value, evidence: vec![evidence.to_owned()], ..finding }
}

fn chains_disagree(readings: &Readings) -> Option<Finding> {
    let percent = 100.0 * median(&readings.ratios)?;
    if (percent - 100.0).abs() <= CHAINS_APART {
        return None;
    }
    let text = format!(
        "the two instruction chains disagree: the checking chain gives {percent:.1} % of the clock of the \
         addition chain; this CPU executes one of them in an unknown number of cycles, so the results may \
         not be its clock; please report the CPU model"
    );
    Some(finding("chains-disagree", Severity::Warning, percent, "clock_one", text))
}

fn lower_with_all(readings: &Readings) -> Option<Finding> {
    let one = median(&readings.alone().concat())?;
    let all = median(&pooled(readings).into_values().collect::<Vec<_>>())?;
    let percent = 100.0 * all / one;
    if percent >= WITH_ALL {
        return None;
    }
    let text = format!(
        "with all cores busy the median core runs at {all:.2} GHz, {percent:.0} % of the {one:.2} GHz of one \
         core alone: the cores share the turbo budget (power, current, heat), and programs on all cores run \
         at the lower clock"
    );
    Some(finding("clock-lower-with-all-cores", Severity::Info, percent, "by_core", text))
}

fn pooled(readings: &Readings) -> BTreeMap<u64, f64> {
    let by_cpu = readings.by_cpu().into_iter();
    by_cpu.filter_map(|(cpu, trials)| Some((cpu, median(&trials.concat())?))).collect()
}

fn slow_cores(readings: &Readings) -> Option<Finding> {
    let clocks = pooled(readings);
    let middle = median(&clocks.values().copied().collect::<Vec<_>>())?;
    let slow: Vec<(u64, f64)> =
        clocks.into_iter().filter(|(_, clock)| 100.0 * clock < SLOW_CORE * middle).collect();
    let slowest = slow.iter().map(|(_, clock)| *clock).reduce(f64::min)?;
    let percent = 100.0 * slowest / middle;
    let text = format!(
        "while all cores run, CPU {} is slower than the median core, down to {slowest:.2} GHz of {middle:.2} \
         GHz: the core is of another type, hotter or limited, or the hypervisor runs two virtual CPUs on one \
         core",
        named(slow.iter().map(|(cpu, _)| *cpu))
    );
    Some(finding("slow-core", Severity::Warning, percent, "by_core", text))
}

/// Finding: cores without a sample while all ran, which `clock_all` leaves out.
fn not_measured(readings: &Readings, case: &Case) -> Option<Finding> {
    let measured = readings.by_cpu();
    let bindings = case.places.iter().flat_map(|place| &place.bindings).map(|binding| u64::from(binding.cpu));
    let missing: Vec<u64> = bindings.filter(|cpu| !measured.contains_key(cpu)).collect();
    if missing.is_empty() || measured.is_empty() {
        return None;
    }
    let text = format!(
        "CPU {} never ran long enough for a sample while all cores ran, so clock_all does not include it: \
         other processes hold it",
        named(missing.iter().copied())
    );
    let finding = Finding::new("core-not-measured", Severity::Warning, Subject::node(), text);
    let value = Quantity::new(missing.len() as f64, Unit::Count).ok();
    Some(Finding { value, evidence: vec!["by_core".to_owned()], ..finding })
}

fn named(cpus: impl ExactSizeIterator<Item = u64>) -> String {
    let more = cpus.len().saturating_sub(MOST_NAMED);
    let names: Vec<String> = cpus.take(MOST_NAMED).map(|cpu| cpu.to_string()).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &more
}

/// Finding: the clock in the last third of a trial is lower than in the first.
fn drift(readings: &Readings) -> Option<Finding> {
    let share = |trial: &BTreeMap<u64, f64>| {
        let clocks: Vec<f64> = trial.values().copied().collect();
        let third = clocks.len() / 3;
        let first = median(&clocks[..third])?;
        Some(100.0 * median(&clocks[clocks.len() - third..])? / first)
    };
    let shares: Option<Vec<f64>> = readings.over_time().iter().map(share).collect();
    let shares = shares.filter(|shares| shares.iter().all(|percent| *percent < DRIFT))?;
    let percent = median(&shares)?;
    let text = format!(
        "while all cores run, the clock falls within a trial to {percent:.1} % of its start: the turbo \
         budget is used up, or the CPU throttles; -p time=60s shows the final clock"
    );
    Some(finding("clock-drift", Severity::Warning, percent, "over_time", text))
}

fn slow_ramp(parts: &[PartRecord]) -> Option<Finding> {
    let ramps: Vec<&serde_json::Value> = parts.iter().filter_map(|part| part.evidence.get("ramp")).collect();
    // A clock that was not reached took longer than the watched time.
    let took = |ramp: &&serde_json::Value| ramp["reached_ms"].as_f64().or(ramp["watched_ms"].as_f64());
    let times: Vec<f64> = ramps.iter().filter_map(took).collect();
    let middle = median(&times).filter(|took| *took > SLOW_RAMP_MS)?;
    let first = median(&ramps.iter().filter_map(|ramp| ramp["first_percent"].as_f64()).collect::<Vec<_>>())?;
    let text = format!(
        "after idling the clock starts at {first:.0} % and takes {middle:.0} ms or more to rise: short \
         bursts of work run below the measured clock; the cpufreq governor performance avoids it"
    );
    let value = Quantity::new(middle, Unit::Millisecond).ok();
    Some(Finding { value, ..finding("slow-ramp-up", Severity::Info, first, "ramp", text) })
}
