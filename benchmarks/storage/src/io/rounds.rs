//! Rounds of one trial, repeated until their rates reach a steady state.

use seatrial_model::{
    Case, Evidence, Finding, Measures, Params, PartRecord, Reason, Row, Sample, Severity, Unit, Values,
};
use serde_json::{Value, json};

use super::reduce::{self, mean_rate};
use super::steady::{SteadyState, WINDOW, Window};
use seatrial_bench::Sink;

/// Sink of one round: passes samples on with the number of the round, and keeps evidence for the round.
pub struct Round<'a> {
    number: u64,
    out: &'a mut dyn Sink,
    pub facts: serde_json::Map<String, Value>,
}

impl<'a> Round<'a> {
    pub fn new(number: u64, out: &'a mut dyn Sink) -> Self {
        Self { number, out, facts: serde_json::Map::new() }
    }
}

impl Sink for Round<'_> {
    fn sample(&mut self, mut sample: Sample) {
        sample.at.set("round", self.number);
        self.out.sample(sample);
    }

    fn evidence(&mut self, name: &str, value: Value) {
        self.facts.insert(name.to_owned(), value);
    }
}

fn rounds_of(part: &PartRecord) -> Vec<PartRecord> {
    let facts = part.evidence.get("rounds").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let one = |(number, facts): (u64, &Value)| {
        let own: Evidence = serde_json::from_value(facts.clone()).unwrap_or_default();
        let mut evidence = part.evidence.clone();
        evidence.remove("rounds");
        evidence.extend(own);
        let of_it = part.samples.iter().filter(|sample| sample.at.count("round") == Ok(number));
        PartRecord { samples: of_it.cloned().collect(), evidence, ..without_samples(part) }
    };
    (0..).zip(facts).map(one).collect()
}

fn without_samples(part: &PartRecord) -> PartRecord {
    PartRecord {
        part: part.part.clone(),
        index: part.index,
        node: part.node.clone(),
        trial: part.trial,
        samples: Vec::new(),
        integrity: part.integrity.clone(),
        evidence: Evidence::new(),
    }
}

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (mut trials, mut told) = (Vec::new(), Vec::new());
    let mut by_round: Vec<Vec<Vec<f64>>> = Vec::new();
    for part in parts {
        let rounds = rounds_of(part);
        // A round in which the threads never worked at the same time has rate 0.
        let rates: Vec<f64> = rounds.iter().map(|round| mean_rate(round).unwrap_or(0.0)).collect();
        let state = SteadyState::of(&rates);
        for (number, rate) in rates.iter().enumerate() {
            by_round.resize_with(by_round.len().max(number + 1), Vec::new);
            by_round[number].push(vec![*rate]);
        }
        let window = state.window(rates.len());
        told.push((state, Window::last(&rates[..window.end])));
        let worked = |at: &usize| rates[*at] > 0.0;
        trials.push(window.filter(worked).map(|at| rounds[at].clone()).collect::<Vec<_>>());
    }
    let flat: Vec<PartRecord> = trials.iter().flatten().cloned().collect();
    let mut measures = reduce::reduce(case, &flat)?;
    let counts: Vec<usize> = trials.iter().map(Vec::len).collect();
    let join = |values: &mut Values| {
        let mut rounds = std::mem::take(&mut values.trials).into_iter();
        values.trials = counts.iter().map(|count| rounds.by_ref().take(*count).flatten().collect()).collect();
        values.trials.retain(|trial: &Vec<f64>| !trial.is_empty());
    };
    measures.metrics.values_mut().for_each(join);
    measures.series.values_mut().flatten().for_each(|row| join(&mut row.values));
    let rows = (0_u64..).zip(by_round).map(|(number, trials)| {
        let mut at = Params::default();
        at.set("round", number);
        Row { at, values: Values { unit: Unit::MegabytesPerSecond, trials } }
    });
    measures.series.insert("by_round".to_owned(), rows.collect());
    measures.evidence.insert("steady".to_owned(), told.iter().map(document).collect());
    measures.findings.extend(findings(case, &told));
    Ok(measures)
}

fn document((state, window): &(SteadyState, Option<Window>)) -> Value {
    json!({
        "reached_after_rounds": state.reached,
        "left_after_rounds": state.left,
        "range_percent": window.map(|window| window.range),
        "trend_percent": window.map(|window| window.trend),
    })
}

fn findings(case: &Case, told: &[(SteadyState, Option<Window>)]) -> Vec<Finding> {
    let finding = |kind: &str, text: String| {
        let finding = Finding::new(kind, Severity::Warning, case.subject.clone(), text);
        Finding { evidence: vec!["steady".to_owned()], ..finding }
    };
    let mut found = Vec::new();
    let never = told.iter().filter(|(state, _)| state.reached.is_none());
    if let Some((count, (_, window))) = never.clone().next().map(|first| (never.count(), first)) {
        let how = window.map_or_else(
            || format!("there were fewer than {WINDOW} rounds"),
            |window| {
                format!(
                    "over the last {WINDOW} rounds the rate varied by {:.0} % of its mean (at most 20 %), \
                     with a trend of {:+.0} % (at most 10 %)",
                    window.range, window.trend
                )
            },
        );
        let text = format!(
            "no steady state in {count} of {} trials: {how}; the results are those of the last rounds; raise \
             -p rounds= or -p time=",
            told.len()
        );
        found.push(finding("steady-state-not-reached", text));
    }
    if let Some(left) = told.iter().find_map(|(state, _)| state.left) {
        let text = format!(
            "the steady state ended after {left} rounds, by a full write cache, thermal throttling or other \
             load; the results are those of the steady rounds before"
        );
        found.push(finding("steady-state-left", text));
    }
    found
}
