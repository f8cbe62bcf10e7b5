//! The levels of a study of factors: its baseline, and the baseline without one factor, or without two.

use std::collections::BTreeMap;

use seatrial_bench::Benchmark;
use seatrial_model::name::nearest;
use seatrial_model::profile::Test;
use seatrial_model::{About, Factor, FactorCase, Kind, ParamError, ParamSpec, Params, Value};

use crate::inputs::{PlanError, combinations};

pub const BASELINE: &str = FactorCase::BASELINE;

/// Defaults in a study: one trial per case, since the study repeats the cases themselves.
const ONE_TRIAL: [&str; 2] = ["trials", "max_trials"];

#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// [`BASELINE`], or the factor: `method`, `affinity=none`.
    pub label: String,
    pub params: Params,
    /// The labels of the two levels that this one joins; else empty.
    pub crossed: Vec<String>,
}

impl Level {
    /// The defaults, and what `test` gives; fails unless that is one combination of values.
    pub fn baseline(about: &About, test: &Test) -> Result<Self, PlanError> {
        let params = baseline(about, test)?;
        Ok(Self { label: BASELINE.to_owned(), params, crossed: Vec::new() })
    }

    pub fn test(&self, like: &Test) -> Test {
        let typed = self.params.iter().map(|(name, value)| (name.to_owned(), vec![value.to_string()]));
        Test { params: typed.collect(), ..like.clone() }
    }
}

/// The baseline of `test` first, then a level for each of the factors `typed`; fails unless there is exactly one
/// baseline, with other values to compare.
pub fn levels(bench: &Benchmark, test: &Test, typed: &[String]) -> Result<Vec<Level>, PlanError> {
    let about = bench.about;
    let first = Level::baseline(about, test)?;
    let baseline = first.params.clone();
    let mut levels = vec![first];
    for factor in typed {
        for (label, off) in variations(bench, &baseline, factor)? {
            let mut params = baseline.clone();
            for (name, value) in off {
                params.set(&name, value);
            }
            if params == baseline {
                let text = format!(
                    "--factors {factor} compares with {label}, which is the value already: set another value with -p, or \
                     name the other one with --factors NAME=VALUE"
                );
                return Err(PlanError::Contradiction(text));
            }
            if levels.iter().all(|known| known.params != params) {
                levels.push(Level { label, params, crossed: Vec::new() });
            }
        }
    }
    Ok(levels)
}

/// Adds a level without each two of the factors of `levels`, of which the first one is the baseline. Factors that change
/// the same parameter are not crossed.
pub fn cross(levels: &mut Vec<Level>) -> Result<(), PlanError> {
    let (baseline, alone) = levels
        .split_first()
        .map_or((Params::default(), &[][..]), |(first, rest)| (first.params.clone(), rest));
    let mut crossed = Vec::new();
    for (at, one) in alone.iter().enumerate() {
        let (first, both) = (changes(&baseline, &one.params), one.params.clone());
        for other in &alone[at + 1..] {
            let second = changes(&baseline, &other.params);
            if second.iter().any(|(name, _)| first.iter().any(|(same, _)| same == name)) {
                continue;
            }
            let mut params = both.clone();
            second.iter().for_each(|(name, value)| params.set(name, (*value).clone()));
            let labels = vec![one.label.clone(), other.label.clone()];
            crossed.push(Level { label: labels.join(" + "), params, crossed: labels });
        }
    }
    if crossed.is_empty() {
        let text = "--crossed needs two factors that change different parameters";
        return Err(PlanError::Contradiction(text.to_owned()));
    }
    levels.extend(crossed);
    Ok(())
}

/// The parameters of `params` that differ from `baseline`.
fn changes<'a>(baseline: &Params, params: &'a Params) -> Vec<(&'a str, &'a Value)> {
    params.iter().filter(|(name, value)| baseline.get(name) != Some(*value)).collect()
}

fn baseline(about: &About, test: &Test) -> Result<Params, PlanError> {
    if let Some((name, values)) = test.params.iter().find(|(_, values)| values.len() > 1) {
        let text =
            format!("--factors needs one baseline, and -p {name}= gives {} values: give one", values.len());
        return Err(PlanError::Contradiction(text));
    }
    let mut params: BTreeMap<String, Vec<String>> = test.params.clone();
    let given = params.contains_key(ONE_TRIAL[0]);
    for name in ONE_TRIAL.iter().filter(|name| !given && about.param(name).is_some()) {
        params.entry((*name).to_owned()).or_insert_with(|| vec!["1".to_owned()]);
    }
    let mut combinations = combinations(&Test { params, ..test.clone() }, about)?;
    Ok(combinations.swap_remove(0))
}

type Off = Vec<(String, Value)>;

fn variations(bench: &Benchmark, baseline: &Params, typed: &str) -> Result<Vec<(String, Off)>, PlanError> {
    let about = bench.about;
    if let Some((name, value)) = typed.split_once('=') {
        let spec = spec(bench, name.trim())?;
        let value = parse(about, spec, value)?;
        return Ok(vec![(format!("{}={value}", spec.name), vec![(spec.name.to_owned(), value)])]);
    }
    let name = typed.trim();
    if let Some(factor) = bench.factors.iter().find(|factor| factor.name == name) {
        return Ok(vec![(factor.name.to_owned(), declared(bench, factor)?)]);
    }
    let spec = spec(bench, name)?;
    let off = plain(spec, baseline.get(name)).ok_or_else(|| {
        PlanError::Contradiction(format!(
            "--factors {name}: no default value to compare with; give one with --factors {name}=VALUE"
        ))
    })?;
    let label = |value: &Value| format!("{name}={value}");
    Ok(off.into_iter().map(|value| (label(&value), vec![(name.to_owned(), value)])).collect())
}

fn declared(bench: &Benchmark, factor: &Factor) -> Result<Off, PlanError> {
    let about = bench.about;
    let one =
        |(name, value): &(&str, &str)| Ok(((*name).to_owned(), parse(about, spec(bench, name)?, value)?));
    factor.off.iter().map(one).collect()
}

/// The value of a parameter without its effect, where its type tells: the least load, the other state of a switch,
/// each other word of a choice, the word that leaves a value to the benchmark.
fn plain(spec: &ParamSpec, now: Option<&Value>) -> Option<Vec<Value>> {
    match spec.kind {
        Kind::Load(least, _) => Some(vec![Value::Count(least)]),
        Kind::Flag => match now {
            Some(Value::Flag(flag)) => Some(vec![Value::Flag(!flag)]),
            _ => None,
        },
        Kind::Choice(words) => {
            let others = words.iter().map(|word| Value::from(*word)).filter(|word| Some(word) != now);
            Some(others.collect())
        }
        Kind::Count(..) | Kind::Number(..) | Kind::Size(..) | Kind::Time(..) | Kind::Text => {
            spec.word.map(Value::from).filter(|word| Some(word) != now).map(|word| vec![word])
        }
    }
}

fn parse(about: &About, spec: &ParamSpec, typed: &str) -> Result<Value, PlanError> {
    let invalid = |why| ParamError::Invalid { bench: about.id.to_owned(), name: spec.name.to_owned(), why };
    spec.parse(typed).map_err(|why| PlanError::Param(invalid(why)))
}

fn spec(bench: &Benchmark, name: &str) -> Result<&'static ParamSpec, PlanError> {
    let about = bench.about;
    about.param(name).ok_or_else(|| {
        let names = about.params.iter().map(|spec| spec.name);
        let known: Vec<&str> = bench.factors.iter().map(|factor| factor.name).chain(names).collect();
        PlanError::UnknownFactor {
            bench: about.id.to_owned(),
            name: name.to_owned(),
            nearest: nearest(name, known.iter().copied()).map(str::to_owned),
            known: known.join(", "),
        }
    })
}
