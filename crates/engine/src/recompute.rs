//! Makes the record of a case again from its samples, to verify stored runs.

use seatrial_bench::Registry;
use seatrial_model::record::{CaseRecord, NotMade};
use seatrial_model::{
    Case, Cause, CompletedTrials, DisturbedTrial, DisturbedTrials, Fact, Integrity, Outcome, PartRecord,
    Reason, RepeatedTrials, Site,
};
use serde_json::Value;

use crate::disturbance::disturbance;
use crate::guarded::guarded;
use crate::running_case::{MOST_REPEATS, tell_disturbed};
use crate::{placement, probes, summarise};

#[cfg(test)]
mod tests;

/// The largest plausible number: nanoseconds of nine years, 256 PiB. Sums and products of numbers up to it do not
/// overflow.
const MOST_COUNTED: u64 = 1 << 58;

#[derive(Clone, Debug, PartialEq)]
pub enum Recomputation {
    /// This record. Values that do not follow from samples are as recorded: duration, start of the parts, concurrent
    /// cases, lost nodes.
    Record(Box<CaseRecord>),
    /// No numbers, and none were recorded: the case ended by an event of its workers or agents, not by its numbers.
    AsRecorded,
    /// This build cannot recompute the record, and why.
    Cannot(String),
}

/// Makes the record of `case` again from what the parts of all its trials reported, and from the nodes.
pub fn recompute(
    registry: Registry,
    case: &Case,
    recorded: &CaseRecord,
    parts: &[PartRecord],
    site: &Site,
) -> Recomputation {
    let Some(bench) = registry.find(&case.bench) else {
        return Recomputation::Cannot(format!("this build has no benchmark {}", case.bench));
    };
    let here = bench.about.version;
    if here != recorded.version {
        return Recomputation::Cannot(format!(
            "it was measured by version {} of {}, this build has version {here}",
            recorded.version, case.bench
        ));
    }
    if let Some(part) = parts.iter().find(|part| !is_countable(part)) {
        return Recomputation::Cannot(format!(
            "trial {} of its part {} on {} has a time or a number beyond what a run can measure",
            part.trial, part.index, part.node
        ));
    }
    let corrupt = parts.iter().any(|part| matches!(part.integrity, Integrity::Corrupt { .. }));
    if corrupt && recorded.outcome == Outcome::Measured {
        let reason = Reason::new(Cause::CorruptData, "a part of it found its data corrupt");
        return Recomputation::Record(Box::new(CaseRecord::without_numbers(case, &reason)));
    }
    let (counted, disturbed, repeated) = counted(case, recorded, parts);
    let trials = distinct(&counted);
    if recorded.outcome != Outcome::Measured && !is_of_its_numbers(recorded, trials, parts) {
        return Recomputation::AsRecorded;
    }
    let made = guarded(&case.bench, "making numbers of its samples", || {
        bench.reduce(case, &counted).and_then(|measures| summarise::record(bench, case, measures, site))
    });
    let mut record = match made {
        Ok(record) => record,
        Err(reason) => CaseRecord::without_numbers(case, &reason),
    };
    if record.outcome == Outcome::Measured {
        let seen = probes::over_trials(&counted);
        if !seen.0.is_empty() {
            seen.put(&mut record.evidence);
        }
        tell_disturbed(&mut record, disturbed, repeated);
        keep(&mut record, recorded, &["start", "together", NotMade::NAME]);
    } else {
        keep(&mut record, recorded, &[CompletedTrials::NAME]);
    }
    record.seconds = recorded.seconds;
    record.lost.clone_from(&recorded.lost);
    Recomputation::Record(Box::new(record))
}

/// Whether times increase and all numbers are plausible. Larger numbers are no measurement and would overflow sums.
fn is_countable(part: &PartRecord) -> bool {
    fn fits(value: &Value) -> bool {
        match value {
            Value::Number(number) => number.as_f64().is_none_or(|number| number.abs() <= MOST_COUNTED as f64),
            Value::Array(values) => values.iter().all(fits),
            Value::Object(values) => values.values().all(fits),
            Value::Null | Value::Bool(_) | Value::String(_) => true,
        }
    }
    let checked = match part.integrity {
        Integrity::Verified { checked } => checked,
        Integrity::Corrupt { wrong, of, .. } => wrong.max(of),
        Integrity::Unverified { .. } => 0,
    };
    checked <= MOST_COUNTED
        && part.evidence.values().all(fits)
        && part.samples.iter().all(|sample| {
            let amount = sample.amount.base();
            sample.start <= sample.end
                && sample.end.get() <= MOST_COUNTED
                && amount.abs() <= MOST_COUNTED as f64
        })
}

/// Copies evidence that does not follow from samples.
fn keep(record: &mut CaseRecord, recorded: &CaseRecord, names: &[&str]) {
    for name in names {
        if let Some(value) = recorded.evidence.get(*name) {
            record.evidence.insert((*name).to_owned(), value.clone());
        }
    }
}

/// Whether a case without numbers has none although all its trials completed. A trial that was cut short has samples
/// too, beside those of the others.
fn is_of_its_numbers(recorded: &CaseRecord, counted: usize, parts: &[PartRecord]) -> bool {
    use Cause::{Contradiction, Inapplicable, Missing, Protocol, TooShort, Underloaded};
    let may_be = matches!(
        recorded.cause,
        Some(Contradiction | Inapplicable | Missing | Protocol | TooShort | Underloaded)
    );
    let completed = CompletedTrials::of(&recorded.evidence);
    may_be && !parts.is_empty() && completed.is_some_and(|completed| completed.0 as usize == counted)
}

fn distinct(parts: &[PartRecord]) -> usize {
    let mut trials: Vec<u32> = parts.iter().map(|part| part.trial).collect();
    trials.sort_unstable();
    trials.dedup();
    trials.len()
}

/// The parts of the trials that counted, which trial was disturbed by what, and how many of these, the first ones,
/// were repeated. Of concurrent cases, what disturbed one disturbed all; their samples are not all available here, so
/// the record is trusted. It is also trusted if fewer trials were repeated than allowed: other cases needed the time.
fn counted(
    case: &Case,
    recorded: &CaseRecord,
    parts: &[PartRecord],
) -> (Vec<PartRecord>, Vec<DisturbedTrial>, u32) {
    let mut numbers: Vec<u32> = parts.iter().map(|part| part.trial).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let told: Vec<DisturbedTrial> = match placement::co_run_key(case) {
        Some(_) => DisturbedTrials::of(&recorded.evidence).unwrap_or_default().0,
        None => {
            let of = |number: &u32| {
                let of_trial = parts.iter().filter(|part| part.trial == *number);
                disturbance(of_trial).map(|why| DisturbedTrial { trial: *number, why })
            };
            numbers.iter().filter_map(of).collect()
        }
    };
    let most = u32::try_from(told.len()).unwrap_or(MOST_REPEATS).min(MOST_REPEATS);
    let repeats = RepeatedTrials::of(&recorded.evidence).map_or(most, |repeated| repeated.0.min(most));
    let repeated: Vec<u32> = told.iter().take(repeats as usize).map(|disturbed| disturbed.trial).collect();
    let counted = parts.iter().filter(|part| !repeated.contains(&part.trial)).cloned().collect();
    (counted, told, repeats)
}
