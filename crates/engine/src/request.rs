//! What somebody wants measured, and the cases it makes on a site.

use std::collections::BTreeMap;

use seatrial_model::name::nearest;
use seatrial_model::profile::Profile;
use seatrial_model::{About, ParamError, Params, Site};

/// One benchmark with one or more values a parameter: a sweep over their product.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The test of the profile, or the benchmark's id.
    pub group: String,
    pub bench: String,
    /// Values by parameter, as typed; parameters not named take their default.
    pub params: BTreeMap<String, Vec<String>>,
    /// Facts a subject must have.
    pub on: Params,
    /// Roles that a node must play one of; none named means every node.
    pub roles: Vec<String>,
    /// How nodes are paired for a benchmark of two parts; none is the first of [`PATTERNS`](crate::PATTERNS).
    pub pattern: Option<String>,
    /// Who may be on the other side, which is measured with and never judged: `any` node of the run, or a role. None
    /// where both nodes are tested.
    pub partner: Option<String>,
    /// Rounds of a pattern that has any.
    pub rounds: Option<u32>,
    /// How many links there are between the groups of a pattern that shares them, when somebody knows.
    pub links: Option<u32>,
}

/// What a plan is made for.
#[derive(Clone, Copy)]
pub struct PlanInputs<'a> {
    /// The nodes whose agents are there.
    pub site: &'a Site,
    /// Nodes that were asked for and could not be reached, with the reason.
    pub absent: &'a [(String, String)],
    /// Whether a node plays one of these roles.
    pub plays: &'a dyn Fn(&str, &[String]) -> bool,
}

impl<'a> PlanInputs<'a> {
    /// A site on which everybody came and roles mean nothing.
    pub fn of(site: &'a Site) -> Self {
        Self { site, absent: &[], plays: &|_, _| true }
    }
}

/// Why a request makes no plan: always the user's to mend.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// No benchmark of that id.
    #[error("there is no benchmark '{id}' (`seatrial list` shows all){}", seatrial_model::name::did_you_mean(.nearest))]
    UnknownBenchmark { id: String, nearest: Option<String> },
    /// No pattern of that name.
    #[error("there is no pattern '{id}'{}", seatrial_model::name::did_you_mean(.nearest))]
    UnknownPattern { id: String, nearest: Option<String> },
    /// No parameter of that name, nor a factor that the benchmark declares.
    #[error("--factors {name}: {bench} has no parameter or factor '{name}'{}", seatrial_model::name::did_you_mean(.nearest))]
    UnknownFactor { bench: String, name: String, nearest: Option<String> },
    /// A parameter that does not exist or whose value does not fit.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Values that cannot hold together.
    #[error("{0}")]
    Contradiction(String),
    /// The product of all values is absurd.
    #[error("{bench}: the sweep has {cases} combinations, more than {most}: give fewer values")]
    TooMany {
        bench: String,
        /// How many it would be.
        cases: usize,
        /// How many are allowed.
        most: usize,
    },
}

/// Combinations of values of one request at most.
const MOST_COMBINATIONS: usize = 100_000;

impl Request {
    /// What `profile` wants measured: its tests whose benchmark exists.
    pub fn of_profile(profile: &Profile) -> Vec<Self> {
        let runnable = profile.tests.iter().filter(|test| !test.planned);
        runnable
            .map(|test| Self {
                group: test.id.clone(),
                bench: test.bench.clone(),
                params: test.params.clone(),
                on: test.on.clone(),
                roles: test.roles.clone(),
                pattern: test.pattern.clone(),
                partner: test.partner.clone(),
                rounds: test.rounds,
                links: test.links,
            })
            .collect()
    }

    /// Every combination of values with the defaults filled in, the last parameter varying fastest.
    ///
    /// # Errors
    /// [`RequestError::Param`] for names and values that the benchmark does not know.
    pub fn combinations(&self, about: &About) -> Result<Vec<Params>, RequestError> {
        for name in self.params.keys() {
            if about.param(name).is_none() {
                let names = about.params.iter().map(|spec| spec.name);
                return Err(RequestError::Param(ParamError::Unknown {
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
            for typed in self.params.get(spec.name).map_or(&[][..], Vec::as_slice) {
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
                return Err(RequestError::TooMany {
                    bench: about.id.to_owned(),
                    cases,
                    most: MOST_COMBINATIONS,
                });
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
}
