//! Tests that run beside a load: the cases of a test, all at the same time, first alone and then with a growing part of the
//! cases of another test.

use std::collections::BTreeSet;

use seatrial_bench::Registry;
use seatrial_model::profile::Test;
use seatrial_model::{Beside, Case, Cause, Nanos, Reason, Site};

use crate::guarded::replanned;
use crate::inputs::{PlanError, with_selection};
use crate::placement::{Cores, marked};

/// Parts of the load beside none of it, in percent of its cases.
const PERCENTS: [u32; 3] = [25, 50, 100];

/// How much longer the load runs than what is measured beside it, so that the load covers the end too.
const MARGIN: Nanos = Nanos::millis(500);

#[derive(Debug)]
pub struct WithLoads {
    pub cases: Vec<Case>,
    /// Cases that do not run, each with the reason.
    pub settled: Vec<(Case, Reason)>,
}

/// Replaces the `cases` of every test with `beside` by those that run at the same time as its load. The cases of the load
/// test stay: that test is measured by itself too.
pub fn with_loads(
    tests: &[Test],
    cases: Vec<Case>,
    registry: &Registry,
    site: &Site,
) -> Result<WithLoads, PlanError> {
    let (mut kept, mut settled) = (cases, Vec::new());
    for test in tests {
        let Some(load) = test.beside.as_deref().and_then(|id| tests.iter().find(|of| of.id == id)) else {
            continue;
        };
        let (measured, others): (Vec<Case>, Vec<Case>) =
            kept.into_iter().partition(|case| case.group == test.id);
        kept = others;
        // Without those that are the load of an earlier test.
        let is_own = |case: &&Case| case.group == load.id && !case.origin.is_load();
        let of_load = last_step(kept.iter().filter(is_own).cloned().collect());
        if combinations(&of_load).len() > 1 {
            return Err(PlanError::Contradiction(format!(
                "test {} has several combinations of parameters, and as a load beside {} it needs a single one",
                load.id, test.id
            )));
        }
        let measured = last_step(measured);
        if of_load.is_empty() {
            let text = format!("test {}, which is to run beside it, has no case here", load.id);
            let missing = measured.iter().cloned().map(|mut case| {
                mark(&mut case, &Beside { percent: 100, number: 1, ..beside(test, load) });
                (case, Reason::new(Cause::Missing, &text))
            });
            settled.extend(missing);
        }
        let mut number = 0;
        for params in combinations(&measured) {
            let of_params = || measured.iter().filter(|case| case.params.to_string() == params);
            let of_load = others_first(of_load.clone(), of_params());
            for (percent, count) in parts(of_load.len()) {
                number += 1;
                let origin = Beside { percent, number, ..beside(test, load) };
                let own = of_params().cloned().collect();
                let loading = of_load[..count].to_vec();
                kept.extend(at_once(own, loading, &origin, load, registry, site));
            }
        }
    }
    Ok(WithLoads { cases: kept, settled })
}

fn beside(test: &Test, load: &Test) -> Beside {
    Beside { test: test.id.clone(), load: load.id.clone(), percent: 0, number: 0, is_load: false }
}

/// Each part of `cases` in percent, with its number of cases; of parts with as many cases the largest.
fn parts(cases: usize) -> Vec<(u32, usize)> {
    let mut parts = vec![(0, 0)];
    for percent in PERCENTS {
        let count = (cases * percent as usize).div_ceil(100);
        parts.pop_if(|(_, before)| *before > 0 && *before == count);
        if count > 0 {
            parts.push((percent, count));
        }
    }
    parts
}

/// The parameters of `cases`, each combination once.
fn combinations(cases: &[Case]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for params in cases.iter().map(|case| case.params.to_string()) {
        if !found.contains(&params) {
            found.push(params);
        }
    }
    found
}

/// Of a pattern in steps, such as `trunk`, the last step, in which all pairs run; of others all cases.
fn last_step(mut cases: Vec<Case>) -> Vec<Case> {
    let last = cases.iter().filter_map(|case| case.origin.step).max();
    cases.retain(|case| case.origin.step == last);
    cases
}

/// Cases on nodes that nothing is measured on come first.
fn others_first<'a>(mut load: Vec<Case>, measured: impl Iterator<Item = &'a Case>) -> Vec<Case> {
    let nodes: BTreeSet<&String> = measured.flat_map(|case| &case.nodes).collect();
    load.sort_by_key(|case| case.nodes.iter().any(|node| nodes.contains(node)));
    load
}

/// The cases of one number: what is measured, and the load on cores that are left beside it.
fn at_once(
    mut measured: Vec<Case>,
    mut loading: Vec<Case>,
    origin: &Beside,
    load: &Test,
    registry: &Registry,
    site: &Site,
) -> Vec<Case> {
    let mut cores = Cores::default();
    for case in &mut measured {
        cores.take(case, site);
        mark(case, origin);
    }
    let most = |of: fn(&Case) -> u64| measured.iter().map(of).max().unwrap_or_default();
    let trials = most(|case| u64::from(case.budget.trials)) as u32;
    let measure = Nanos(most(|case| case.budget.measure.get())).plus(MARGIN);
    for case in &mut loading {
        if let Some(again) = on_free_cores(case, load, &cores, registry, site) {
            *case = again;
        }
        cores.take(case, site);
        mark(case, &Beside { is_load: true, ..origin.clone() });
        // The load makes the trials of what is measured, and none for its own precision.
        (case.budget.trials, case.budget.max_trials) = (trials, trials);
        case.budget.measure = case.budget.measure.max(measure);
    }
    measured.extend(loading);
    measured
}

/// `case` planned again on the cores that are left of its nodes.
fn on_free_cores(case: &Case, load: &Test, cores: &Cores, registry: &Registry, site: &Site) -> Option<Case> {
    let own = site.of(&case.nodes)?;
    let own = with_selection(&own, &load.on);
    let planned = replanned(*registry, &case.bench, &case.group, &case.params, &cores.left_of(&own)?)?;
    let again = planned.into_iter().find(|again| again.subject == case.subject)?;
    Some(Case { origin: case.origin.clone(), ..again })
}

/// Cases beside a load have no step: they run at the same time as all cases of their number.
fn mark(case: &mut Case, origin: &Beside) {
    let word = if origin.is_load { format!("load-of-{}", origin.test) } else { "beside".to_owned() };
    case.origin.step = None;
    case.id = marked(&case.id, &format!("{word}.{}", origin.number));
    case.origin.beside = Some(origin.clone());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Plan, PlanInputs};

    fn site(count: usize) -> Site {
        Site { nodes: (1..=count).map(|at| seatrial_testkit::node(&format!("n{at}"), 4)).collect() }
    }

    fn test(id: &str, bench: &str, pattern: &str, params: &[(&str, &[&str])]) -> Test {
        let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        let params: BTreeMap<String, Vec<String>> =
            params.iter().map(|(name, of)| ((*name).to_owned(), values(of))).collect();
        let (id, bench) = (id.to_owned(), bench.to_owned());
        Test { id, bench, pattern: Some(pattern.to_owned()), params, ..Test::default() }
    }

    fn ping(params: &[(&str, &[&str])]) -> Test {
        Test { beside: Some("bulk".to_owned()), ..test("ping", "net.rr", "pair", params) }
    }

    fn plan(tests: &[Test], site: &Site) -> Result<Plan, PlanError> {
        Plan::new(tests, &seatrial_registry::REGISTRY, PlanInputs::of(site))
    }

    /// By number: the percent, how many cases are measured, and the nodes of the load.
    fn groups(plan: &Plan) -> Vec<(u32, usize, Vec<String>)> {
        let mut groups: BTreeMap<u32, (u32, usize, Vec<String>)> = BTreeMap::new();
        for (case, beside) in plan.cases.iter().filter_map(|case| Some((case, case.origin.beside.as_ref()?)))
        {
            let group = groups.entry(beside.number).or_insert((beside.percent, 0, Vec::new()));
            match beside.is_load {
                true => group.2.push(case.nodes.join("+")),
                false => group.1 += 1,
            }
        }
        groups.into_values().collect()
    }

    #[test]
    fn a_test_runs_alone_and_then_beside_a_growing_part_of_the_load() {
        let site = site(8);
        let mut ping = ping(&[("trials", &["2"])]);
        ping.pattern = Some("incast".to_owned());
        let bulk = test("bulk", "net.tcp_stream", "bisection", &[("trials", &["7"]), ("time", &["100 ms"])]);
        let plan = plan(&[ping, bulk], &site).expect("a plan");
        let by_load: Vec<_> =
            groups(&plan).into_iter().map(|(percent, own, load)| (percent, own, load.len())).collect();
        assert_eq!(by_load, [(0, 7, 0), (25, 7, 1), (50, 7, 2), (100, 7, 4)]);
        let ids: BTreeSet<_> = plan.cases.iter().map(|case| &case.id).collect();
        assert_eq!(ids.len(), plan.cases.len());
        let alone = plan.cases.iter().filter(|case| case.group == "bulk" && case.origin.beside.is_none());
        assert_eq!(alone.count(), 4, "the load is measured by itself too");
        for case in plan.cases.iter().filter(|case| case.origin.is_load()) {
            assert_eq!((case.budget.trials, case.budget.max_trials), (2, 2));
            assert!(case.budget.measure > Nanos::secs(1), "{:?}", case.budget);
            let key = crate::placement::co_run_key(case);
            let own = plan.cases.iter().filter(|own| crate::placement::co_run_key(own) == key);
            assert_eq!(own.filter(|own| !own.origin.is_load()).count(), 7);
        }
    }

    #[test]
    fn the_load_is_first_on_other_nodes_and_on_other_cores_of_the_same_node() {
        let site = site(6);
        let mut ping = ping(&[]);
        ping.partner = Some("any".to_owned());
        ping.roles = vec!["victim".to_owned()];
        let bulk = test("bulk", "net.tcp_stream", "pair", &[]);
        let plays = |node: &str, roles: &[String]| roles.is_empty() || node == "n1";
        let inputs = PlanInputs { site: &site, absent: &[], plays: &plays };
        let plan = Plan::new(&[ping, bulk], &seatrial_registry::REGISTRY, inputs).expect("a plan");
        let loads: Vec<_> =
            groups(&plan).into_iter().map(|(percent, _, load)| (percent, load.join(" "))).collect();
        let expected = [(0, ""), (25, "n3+n4"), (50, "n3+n4 n5+n6"), (100, "n3+n4 n5+n6 n1+n2")];
        assert_eq!(loads, expected.map(|(percent, load)| (percent, load.to_owned())));
        let cpus = |case: &Case| -> BTreeSet<u32> {
            let of_first = case.places.iter().filter(|place| place.node == "n1");
            of_first.flat_map(|place| &place.bindings).map(|binding| binding.cpu).collect()
        };
        let whole: Vec<BTreeSet<u32>> = plan
            .cases
            .iter()
            .filter(|case| case.origin.beside.as_ref().is_some_and(|beside| beside.percent == 100))
            .map(cpus)
            .filter(|cpus| !cpus.is_empty())
            .collect();
        assert_eq!(whole.len(), 2);
        assert!(whole[0].is_disjoint(&whole[1]), "{whole:?}");
    }

    #[test]
    fn a_load_needs_a_single_combination_and_one_without_cases_is_told() {
        let site = site(2);
        let swept = test("bulk", "net.tcp_stream", "pair", &[("flows", &["1", "4"])]);
        let error = plan(&[ping(&[]), swept], &site).expect_err("refused").to_string();
        assert!(error.starts_with("test bulk has several combinations of parameters"), "{error}");
        let nowhere = Test { roles: vec!["head".to_owned()], ..test("bulk", "net.tcp_stream", "pair", &[]) };
        let plays = |_: &str, roles: &[String]| roles.is_empty();
        let inputs = PlanInputs { site: &site, absent: &[], plays: &plays };
        let plan = Plan::new(&[ping(&[]), nowhere], &seatrial_registry::REGISTRY, inputs).expect("a plan");
        assert_eq!(groups(&plan), [(0, 1, Vec::new())]);
        let told: Vec<_> =
            plan.settled.iter().map(|(_, reason)| (reason.cause, reason.text.as_str())).collect();
        assert_eq!(told, [(Cause::Missing, "test bulk, which is to run beside it, has no case here")]);
    }

    #[test]
    fn several_tests_have_the_same_load_once_each() {
        let other = Test { beside: Some("bulk".to_owned()), ..test("mtu", "net.mtu", "pair", &[]) };
        let bulk = test("bulk", "net.tcp_stream", "pair", &[]);
        let plan = plan(&[ping(&[]), other, bulk], &site(2)).expect("a plan");
        let loads = plan.cases.iter().filter(|case| case.origin.is_load());
        let of: Vec<_> = loads.filter_map(|case| Some(case.origin.beside.as_ref()?.test.as_str())).collect();
        assert_eq!(of, ["ping", "mtu"]);
    }

    #[test]
    fn each_combination_of_the_test_has_its_own_groups() {
        let bulk = test("bulk", "net.tcp_stream", "pair", &[]);
        let plan = plan(&[ping(&[("request", &["1 B", "1 KiB"])]), bulk], &site(2)).expect("a plan");
        let counts: Vec<_> =
            groups(&plan).into_iter().map(|(percent, own, load)| (percent, own, load.len())).collect();
        assert_eq!(counts, [(0, 1, 0), (100, 1, 1), (0, 1, 0), (100, 1, 1)]);
    }
}
