//! The inputs of a plan: a test with every combination of its values, and the reachable nodes.

use std::borrow::Cow;

use seatrial_bench::{Benchmark, Registry};
use seatrial_model::name::nearest;
use seatrial_model::profile::Test;
use seatrial_model::{About, ParamError, Params, Site};

#[derive(Clone, Copy)]
pub struct PlanInputs<'a> {
    /// The nodes with an agent.
    pub site: &'a Site,
    /// Requested nodes that could not be reached, with the reason.
    pub absent: &'a [(String, String)],
    pub plays: &'a dyn Fn(&str, &[String]) -> bool,
}

impl<'a> PlanInputs<'a> {
    /// A site with all nodes reached and without roles.
    pub fn of(site: &'a Site) -> Self {
        Self { site, absent: &[], plays: &|_, _| true }
    }

    /// Whether a node of the run plays a role of the test.
    pub fn has_player(&self, test: &Test) -> bool {
        let here = self.site.nodes.iter().map(|node| &node.name);
        here.chain(self.absent.iter().map(|(name, _)| name)).any(|name| (self.plays)(name, &test.roles))
    }
}

/// Why a test makes no plan: always for the user to correct.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    #[error("there is no benchmark '{id}' (`seatrial list` shows all){}", seatrial_model::name::did_you_mean(.nearest))]
    UnknownBenchmark { id: String, nearest: Option<String> },
    #[error("there is no pattern '{id}'{}; the patterns: {known}", seatrial_model::name::did_you_mean(.nearest))]
    UnknownPattern { id: String, nearest: Option<String>, known: String },
    /// Neither a parameter nor a factor that the benchmark declares.
    #[error("--factors {name}: {bench} has no parameter or factor '{name}'{}; it has {known}", seatrial_model::name::did_you_mean(.nearest))]
    UnknownFactor { bench: String, name: String, nearest: Option<String>, known: String },
    /// A parameter that does not exist or whose value does not fit.
    #[error(transparent)]
    Param(#[from] ParamError),
    #[error("{0}")]
    Contradiction(String),
    #[error("{bench}: the sweep has {cases} combinations, more than {most}: give fewer values")]
    TooMany { bench: String, cases: usize, most: usize },
}

/// Largest number of combinations of values in one test.
const MOST_COMBINATIONS: usize = 100_000;

/// Every combination of values with the defaults filled in, the last parameter varying fastest.
pub fn combinations(test: &Test, about: &About) -> Result<Vec<Params>, PlanError> {
    for name in test.params.keys() {
        if about.param(name).is_none() {
            let names = about.params.iter().map(|spec| spec.name);
            return Err(PlanError::Param(ParamError::Unknown {
                bench: about.id.to_owned(),
                name: name.clone(),
                nearest: nearest(name, names.clone()).map(str::to_owned),
                known: names.collect::<Vec<_>>().join(", "),
            }));
        }
    }
    let mut combinations = vec![Params::default()];
    for spec in about.params {
        let mut values = Vec::new();
        for typed in test.params.get(spec.name).map_or(&[][..], Vec::as_slice) {
            let value = spec.parse(typed).map_err(|why| ParamError::Invalid {
                bench: about.id.to_owned(),
                name: spec.name.to_owned(),
                why,
            })?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.is_empty() {
            values.push(spec.default_value());
        }
        let cases = combinations.len().saturating_mul(values.len());
        if cases > MOST_COMBINATIONS {
            return Err(PlanError::TooMany { bench: about.id.to_owned(), cases, most: MOST_COMBINATIONS });
        }
        combinations = combinations
            .iter()
            .flat_map(|so_far| {
                values.iter().map(move |value| {
                    let mut params = so_far.clone();
                    params.set(spec.name, value.clone());
                    params
                })
            })
            .collect();
    }
    Ok(combinations)
}

/// The benchmark of a test.
pub fn bench_of(registry: &Registry, test: &Test) -> Result<&'static Benchmark, PlanError> {
    registry.find(&test.bench).ok_or_else(|| PlanError::UnknownBenchmark {
        id: test.bench.clone(),
        nearest: registry.nearest(&test.bench).map(str::to_owned),
    })
}

/// The nodes, the first of which tells the benchmark what its tested part must have.
pub fn with_selection<'a>(site: &'a Site, on: &Params) -> Cow<'a, Site> {
    let mut site = Cow::Borrowed(site);
    if !on.is_empty()
        && let Some(node) = site.to_mut().nodes.first_mut()
    {
        node.on.clone_from(on);
    }
    site
}
