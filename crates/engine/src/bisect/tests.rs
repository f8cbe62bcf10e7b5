//! Bisections of a benchmark with one part on every node, on scripted nodes whose clock moves only when somebody waits.

use std::collections::BTreeMap;

use seatrial_analysis::{bisections, findings};
use seatrial_bench::{Benchmark, Part};
use seatrial_cluster::{Fault, Script, ScriptedFleet};
use seatrial_model::profile::Test;
use seatrial_model::{
    About, Budget, Cause, Limits, Measures, MetricSpec, Nanos, Outcome, Params, PartPlacement, Parts, Phase,
    Quantity, Reason, Sample, Subject, Unit, Values,
};

use super::*;
use crate::fixture::{self, Ran, site};
use crate::{Plan, PlanInputs, Study};

const SUM: MetricSpec = MetricSpec::higher_is_better("sum", Unit::GigabytesPerSecond);
const SLOWEST: MetricSpec = MetricSpec::higher_is_better("slowest_node", Unit::GigabytesPerSecond);

static ABOUT: About = About {
    id: "toy.all",
    metrics: &[SUM, SLOWEST.isolates()],
    parts: Parts::TwoOrMore("rank"),
    ..About::WORKER
};

const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: |about, params, site| {
        let budget = Budget {
            trials: 3,
            max_trials: 3,
            warm_up: Nanos::millis(10),
            measure: Nanos::millis(100),
            prepare: Nanos::secs(1),
            connect: Nanos::secs(1),
            precision_percent: 50.0,
            ..Budget::NOTHING
        };
        let mut case = Case::new(about, "", Subject::node(), params, budget);
        case.nodes = site.nodes.iter().map(|node| node.name.clone()).collect();
        let place = |(index, node): (u32, &String)| PartPlacement {
            part: "rank".to_owned(),
            index,
            node: node.clone(),
            bindings: Vec::new(),
        };
        case.places = (0..).zip(&case.nodes).map(place).collect();
        Ok(vec![case])
    },
    limits: |_, _, _| Limits::new(),
    part: |case, place| {
        Part::new(case, place, |_, _| Err(Reason::new(Cause::Missing, "scripted workers only")))
    },
    liveness_check: |_, _| None,
    reduce: |_, parts| {
        let mut trials: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for part in parts {
            trials.entry(part.trial).or_default().extend(part.samples.iter().map(|it| it.amount.value()));
        }
        let each = |of: fn(&[f64]) -> f64| Values {
            unit: Unit::GigabytesPerSecond,
            trials: trials.values().map(|rates| vec![of(rates); 2]).collect(),
        };
        let mut measures = Measures::default();
        measures.metrics.insert("sum".to_owned(), each(|rates| rates.iter().sum()));
        let least = |rates: &[f64]| rates.iter().copied().fold(f64::INFINITY, f64::min);
        measures.metrics.insert("slowest_node".to_owned(), each(least));
        Ok(measures)
    },
};

static WITHOUT_SLOWEST: About = About { id: "toy.sum", metrics: &[SUM], ..ABOUT };

static REGISTRY: Registry = Registry {
    families: &[&[BENCHMARK, Benchmark { about: &WITHOUT_SLOWEST, ..BENCHMARK }]],
    planned: &[],
    aliases: &[],
};

fn test() -> Test {
    let id = ABOUT.id.to_owned();
    Test { id: id.clone(), bench: id, pattern: Some("isolate".to_owned()), ..Test::default() }
}

fn plan(site: &Site) -> Vec<Case> {
    Plan::new(&[test()], &REGISTRY, PlanInputs::of(site)).expect("a plan").cases
}

fn wanted(done: &[CaseRecord]) -> Vec<WantedGroups> {
    let found = bisections(done).into_iter();
    found.map(|it| WantedGroups { whole: it.whole.case.clone(), steps: it.steps() }).collect()
}

/// Runs `cases`, of which `done` have records; a node of a group with a slow one gives what `rate` says.
fn run(
    site: &Site,
    cases: Vec<Case>,
    done: Vec<CaseRecord>,
    script: impl Fn(&Case, &str) -> Script + Send + 'static,
) -> Ran {
    let fleet = ScriptedFleet::new(site.nodes.clone(), move |case, place, _| script(case, &place.node));
    let study = Study::new(cases).then(Bisect::new(REGISTRY, site, &wanted));
    fixture::run(REGISTRY, site, fleet, study, done)
}

fn rate(gigabytes: f64) -> Script {
    let amount = Quantity::new(gigabytes, Unit::GigabytesPerSecond).expect("finite");
    let span = (Nanos::millis(0), Nanos::millis(100));
    Script::of(vec![Sample::new("rate", Params::default(), span, amount)])
}

fn with_slow(slow: &'static str) -> impl Fn(&Case, &str) -> Script + Send + 'static {
    move |_, node| rate(if node == slow { 9.0 } else { 10.0 })
}

fn kinds(records: &[CaseRecord]) -> Vec<(String, Option<String>)> {
    findings(records).into_iter().map(|finding| (finding.kind, finding.node)).collect()
}

fn slow_node(node: &str) -> Vec<(String, Option<String>)> {
    vec![("slow-node".to_owned(), Some(node.to_owned()))]
}

#[test]
fn groups_of_half_the_nodes_follow_the_whole_until_the_slow_node_is_named() {
    let site = site(8);
    let ran = run(&site, plan(&site), Vec::new(), with_slow("n6"));
    assert_eq!(kinds(&ran.records), slow_node("n6"));
    let sizes: Vec<Vec<usize>> =
        ran.rounds.iter().map(|round| round.iter().map(|case| case.nodes.len()).collect()).collect();
    assert_eq!(sizes, [vec![8], vec![4, 4], vec![4, 4], vec![4, 4], vec![4, 4]]);
    assert_eq!(ran.notes[0], "looking for what holds toy.all back: n[1-4] and n[5-8]");
    let second = &ran.rounds[1];
    assert_eq!(second[1].id.as_str(), "toy.all@n[5-8]/node#isolate.1");
    assert_eq!(second[1].origin.to_string(), "pattern=isolate, step=1");
    for record in &ran.records[1..] {
        assert_eq!(record.evidence["together"]["cases"], serde_json::json!([2, 2, 2]), "{}", record.case);
    }
}

/// The sum of all nodes falls by only 1/80 where one of eight nodes is slower by a tenth.
#[test]
fn a_whole_without_a_slow_node_costs_seven_cases_and_names_nobody() {
    let site = site(8);
    let ran = run(&site, plan(&site), Vec::new(), with_slow("none"));
    assert_eq!((ran.records.len(), kinds(&ran.records)), (7, vec![("no-slow-part".to_owned(), None)]));
}

#[test]
fn a_run_resumed_after_any_of_its_cases_ends_with_the_same_records() {
    let site = site(8);
    let cases = plan(&site);
    let whole = run(&site, cases.clone(), Vec::new(), with_slow("n3"));
    let ids = |records: &[CaseRecord]| {
        let mut ids: Vec<String> = records.iter().map(|record| record.case.to_string()).collect();
        ids.sort();
        ids
    };
    for left in 0..whole.records.len() {
        let mut planned = cases.clone();
        let mut known = 0;
        for round in &whole.rounds[1..] {
            known += 1;
            if known < left {
                planned.extend(round.clone());
            }
            known += round.len() - 1;
        }
        let resumed = run(&site, planned, whole.records[..left].to_vec(), with_slow("n3"));
        assert_eq!(ids(&resumed.records), ids(&whole.records), "{left}");
        assert_eq!(kinds(&resumed.records), slow_node("n3"), "{left}");
    }
}

#[test]
fn a_node_that_is_lost_on_the_way_is_left_out_of_the_groups() {
    let site = site(8);
    let script = |case: &Case, node: &str| {
        let is_lost = node == "n7" && case.origin.step == Some(2);
        if is_lost {
            Script::faulty(Fault::AgentLost { phase: Phase::Measure, why: "reset".to_owned() })
        } else {
            rate(if node == "n6" { 9.0 } else { 10.0 })
        }
    };
    let ran = run(&site, plan(&site), Vec::new(), script);
    let lost: Vec<&CaseRecord> = ran.records.iter().filter(|record| !record.lost.is_empty()).collect();
    assert!(!lost.is_empty() && lost.iter().all(|record| record.outcome != Outcome::Measured), "{lost:?}");
    assert!(kinds(&ran.records).contains(&("slow-node".to_owned(), Some("n6".to_owned()))));
}

#[test]
fn a_benchmark_whose_slowest_node_decides_no_metric_is_refused() {
    let planned =
        |test: Test| Plan::new(&[test], &REGISTRY, PlanInputs::of(&site(4))).map(|plan| plan.cases.len());
    assert_eq!(planned(test()), Ok(1));
    assert!(planned(Test { partner: Some("any".to_owned()), ..test() }).is_err());
    let refused = planned(Test { bench: "toy.sum".to_owned(), ..test() }).expect_err("a sum").to_string();
    assert_eq!(
        refused,
        "pattern isolate compares groups of nodes by a metric that their slowest node decides; toy.sum has none"
    );
}
