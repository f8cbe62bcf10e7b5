//! What somebody wants measured, and the cases it makes on a site.

use std::collections::{BTreeMap, HashSet};

use seatrial_bench::{Benchmark, Registry};
use seatrial_model::name::nearest;
use seatrial_model::profile::{Profile, Requirement};
use seatrial_model::{
    About, Budget, Case, CaseId, Cause, Nanos, ParamError, Params, Reason, Site, SiteNode, Subject,
};

use crate::pattern::{PATTERNS, Pattern};

/// One benchmark with one or more values a parameter: a sweep over their product.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The test of the profile, or the benchmark's id.
    pub group: String,
    /// The benchmark.
    pub bench: String,
    /// Values by parameter, as typed; parameters not named take their default.
    pub params: BTreeMap<String, Vec<String>>,
    /// Facts a subject must have.
    pub on: Params,
    /// Roles that a node must play one of; none named means every node.
    pub roles: Vec<String>,
    /// How nodes are paired for a benchmark of two parts; none is the first of [`PATTERNS`](crate::PATTERNS).
    pub pattern: Option<String>,
}

/// What a plan is made for.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The nodes whose agents are there.
    pub site: &'a Site,
    /// Nodes that were asked for and could not be reached, with the reason.
    pub absent: &'a [(String, String)],
    /// Whether a node plays one of these roles.
    pub plays: &'a dyn Fn(&str, &[String]) -> bool,
}

impl<'a> Ground<'a> {
    /// A site on which everybody came and roles mean nothing.
    pub fn of(site: &'a Site) -> Self {
        Self { site, absent: &[], plays: &|_, _| true }
    }
}

/// Cases to run, and cases that already have their outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// To run, in this order.
    pub cases: Vec<Case>,
    /// Not to run, each with the reason.
    pub settled: Vec<(Case, Reason)>,
}

/// Why a request makes no plan: always the user's to mend.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// No benchmark of that id.
    #[error("there is no benchmark '{id}' (`seatrial list` shows all){}", seatrial_model::name::did_you_mean(.nearest))]
    UnknownBenchmark {
        /// What was typed.
        id: String,
        /// The nearest id.
        nearest: Option<String>,
    },
    /// No pattern of that name.
    #[error("there is no pattern '{id}'{}", seatrial_model::name::did_you_mean(.nearest))]
    UnknownPattern {
        /// What was typed.
        id: String,
        /// The nearest one.
        nearest: Option<String>,
    },
    /// A parameter that does not exist or whose value does not fit.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Values that cannot hold together.
    #[error("{0}")]
    Contradiction(String),
    /// The product of all values is absurd.
    #[error("{bench}: the sweep has {cases} combinations, more than {most}: give fewer values")]
    TooMany {
        /// The benchmark.
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

/// The nodes of one plan each. A benchmark of one part is planned node by node, so that a node it cannot be planned on is
/// told by itself; one of two parts pair by pair; one of more on all nodes together.
///
/// One node that is left of several has nobody to be paired with; that is told by the cases of the absent ones.
fn sites(
    about: &About,
    request: &Request,
    players: Vec<SiteNode>,
    absent: usize,
) -> Result<Vec<Site>, RequestError> {
    let site = |nodes: Vec<SiteNode>| Site { nodes };
    Ok(match about.parts.len() {
        1 => players.into_iter().map(|node| site(vec![node])).collect(),
        2 => {
            let id = request.pattern.as_deref().unwrap_or(PATTERNS[0].id);
            let pattern = Pattern::find(id).ok_or_else(|| RequestError::UnknownPattern {
                id: id.to_owned(),
                nearest: nearest(id, PATTERNS.iter().map(|pattern| pattern.id)).map(str::to_owned),
            })?;
            let is_left_over = players.len() == 1 && absent > 0;
            let pairs = pattern.pairs(if is_left_over { 0 } else { players.len() }).into_iter();
            let nodes = |(a, b): (usize, usize)| {
                if a == b { vec![players[a].clone()] } else { vec![players[a].clone(), players[b].clone()] }
            };
            pairs.map(nodes).map(site).collect()
        }
        _ => vec![site(players)],
    })
}

impl Plan {
    /// The cases that `requests` make on `ground`.
    ///
    /// # Errors
    /// [`RequestError`] for what the user has to mend; what does not apply to the site is settled as skipped, and a
    /// node that could not be reached as never reached.
    pub fn new(requests: &[Request], registry: &Registry, ground: Ground<'_>) -> Result<Self, RequestError> {
        let mut plan = Plan::default();
        let mut seen = HashSet::new();
        for request in requests {
            let players: Vec<SiteNode> = ground
                .site
                .nodes
                .iter()
                .filter(|node| (ground.plays)(&node.name, &request.roles))
                .cloned()
                .collect();
            let bench = registry.find(&request.bench).ok_or_else(|| RequestError::UnknownBenchmark {
                id: request.bench.clone(),
                nearest: registry.nearest(&request.bench).map(str::to_owned),
            })?;
            let absent =
                ground.absent.iter().filter(|(name, _)| (ground.plays)(name, &request.roles)).count();
            let sites = sites(bench.about(), request, players, absent)?;
            for params in request.combinations(bench.about())? {
                for site in &sites {
                    plan.add(request, bench, &params, site, &mut seen)?;
                }
                let absent = ground.absent.iter().filter(|(name, _)| (ground.plays)(name, &request.roles));
                for (name, why) in absent {
                    plan.settle(request, bench.about(), &params, name, Reason::new(Cause::NeverReached, why));
                }
            }
        }
        Ok(plan)
    }

    fn add(
        &mut self,
        request: &Request,
        bench: &dyn Benchmark,
        params: &Params,
        site: &Site,
        seen: &mut HashSet<CaseId>,
    ) -> Result<(), RequestError> {
        let about = bench.about();
        match bench.plan(params, site) {
            Ok(cases) => {
                let wanted = cases.into_iter().filter(|case| Requirement::selects(&request.on, &case.facts));
                for case in wanted.map(|case| case.in_group(about, &request.group)) {
                    // Two combinations may come to the same case, for example 64 KiB and 65536 B.
                    if seen.insert(case.id.clone()) {
                        self.cases.push(case);
                    }
                }
            }
            Err(reason) if reason.cause == Cause::Contradiction => {
                return Err(RequestError::Contradiction(format!("{}: {}", about.id, reason.text)));
            }
            Err(reason) => {
                let node = site.nodes.first().map_or("", |node| node.name.as_str());
                self.settle(request, about, params, node, reason);
            }
        }
        Ok(())
    }

    /// Notes a case that will not run.
    fn settle(&mut self, request: &Request, about: &About, params: &Params, node: &str, reason: Reason) {
        let nothing = Budget {
            trials: 0,
            max_trials: 0,
            warm_up: Nanos(0),
            measure: Nanos(0),
            prepare: Nanos(0),
            overhead: Nanos(0),
            precision_percent: 0.0,
        };
        let case = Case::new(about, node, Subject::node(), params, nothing).in_group(about, &request.group);
        self.settled.push((case, reason));
    }

    /// The estimated time of all cases.
    pub fn estimate(&self) -> Nanos {
        self.cases.iter().fold(Nanos(0), |sum, case| sum.plus(case.estimate()))
    }

    /// The plan without the cases that `is_done`.
    pub fn without(mut self, is_done: impl Fn(&CaseId) -> bool) -> Self {
        self.cases.retain(|case| !is_done(&case.id));
        self.settled.retain(|(case, _)| !is_done(&case.id));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::{Cpu, CpuThread, Machine};

    fn site(names: &[&str]) -> Site {
        let thread = CpuThread { id: 0, core: Some(0), online: true, allowed: true, ..CpuThread::default() };
        let machine = Machine { cpu: Cpu { threads: vec![thread], ..Cpu::default() }, ..Machine::default() };
        Site { nodes: names.iter().map(|name| SiteNode::new(*name, machine.clone())).collect() }
    }

    fn plan(here: &[&str], absent: &[&str]) -> Plan {
        let request = Request {
            group: "net.rr".to_owned(),
            bench: "net.rr".to_owned(),
            params: BTreeMap::new(),
            on: Params::default(),
            roles: Vec::new(),
            pattern: None,
        };
        let absent: Vec<_> = absent.iter().map(|name| ((*name).to_owned(), "no route".to_owned())).collect();
        let site = site(here);
        let ground = Ground { absent: &absent, ..Ground::of(&site) };
        Plan::new(&[request], &seatrial_bench::registry(), ground).expect("a plan")
    }

    #[test]
    fn a_node_whose_partner_is_absent_is_not_measured_with_itself() {
        let broken = plan(&["n1"], &["n2"]);
        assert!(broken.cases.is_empty(), "{:?}", broken.cases);
        let [(case, reason)] = broken.settled.as_slice() else { panic!("{:?}", broken.settled) };
        assert_eq!((case.nodes.as_slice(), reason.cause), (&["n2".to_owned()][..], Cause::NeverReached));
        assert_eq!(plan(&["n1"], &[]).cases.len(), 1, "one node by itself was asked for");
        assert_eq!(plan(&["n1", "n2", "n3"], &[]).cases.len(), 2);
    }
}
