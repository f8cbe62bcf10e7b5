//! Drafts from records made by hand.

use seatrial_model::machine::{Known, Machine};
use seatrial_model::profile::{Absence, Bar};
use seatrial_model::{MetricSpec, SiteNode, Unit};

use super::*;
use crate::judge::fixture::{limit, measured, metric, no_limit, params};

const METRIC: MetricSpec = MetricSpec::higher_is_better("bandwidth", Unit::GigabytesPerSecond).doc("");

static ABOUT: About = About {
    id: "mem.bandwidth",
    metrics: &[METRIC, MetricSpec { name: "traffic", ..METRIC }],
    ..About::WORKER
};

fn case(node: &str, kernel: &str, median: f64) -> CaseRecord {
    let mut case = measured(node);
    case.params = params(&[("kernel", kernel), ("store", "nt")]);
    case.case = format!("memory:mem.bandwidth@{node}/node[kernel={kernel}]").parse().unwrap();
    let record = metric(median, (median - 1.0, median + 1.0), no_limit());
    case.metrics.insert("bandwidth".to_owned(), record);
    case
}

fn site(nodes: &[(&str, &str)]) -> Site {
    let node = |(name, cpu): &(&str, &str)| {
        let mut machine = Machine::default();
        machine.cpu.model = Known::Known((*cpu).to_owned());
        SiteNode::new(*name, machine)
    };
    Site { nodes: nodes.iter().map(node).collect() }
}

fn memory() -> Test {
    let params = [("kernel".to_owned(), vec!["copy".to_owned(), "read".to_owned()])];
    Test {
        id: "memory".to_owned(),
        bench: "mem.bandwidth".to_owned(),
        planned: false,
        pattern: None,
        roles: Vec::new(),
        params: params.into(),
        on: Params::default(),
        require: BTreeMap::new(),
        expect: None,
        if_none: Absence::default(),
        partner: None,
        rounds: None,
        links: None,
        beside: None,
        groups: None,
    }
}

fn run<'a>(id: &'a str, results: &'a [CaseRecord], site: &'a Site) -> DraftRun<'a> {
    DraftRun { id, results, site, tests: vec![memory()], roles: BTreeMap::new() }
}

/// Criteria with their bounds.
fn bounds(draft: &Draft) -> Vec<String> {
    draft.profile.criteria.iter().map(|it| format!("{} {}", it.id, it.bounds)).collect()
}

#[test]
fn a_bound_stands_beyond_the_worst_by_the_spread_or_by_the_floor() {
    let nodes = site(&[("n1", "x"), ("n2", "x"), ("n3", "x")]);
    let results = [
        case("n1", "copy", 100.0),
        case("n2", "copy", 101.0),
        case("n3", "copy", 99.0),
        case("n1", "read", 100.0),
        case("n2", "read", 120.0),
        case("n3", "read", 140.0),
    ];
    let found = draft(&[run("r1", &results, &nodes)], &[&ABOUT], false);
    // Copy: the worst interval ends at 98, and 5 % of 100 are more than 3 x 1. Read: 99 - 3 x 20.
    assert_eq!(
        bounds(&found),
        ["memory.bandwidth[kernel=copy] at least 93 GB/s", "memory.bandwidth[kernel=read] at least 39 GB/s"]
    );
    let spread = &found.spreads["memory.bandwidth[kernel=copy]"];
    assert_eq!((spread.count, spread.median, spread.mad, spread.worst), (3, 100.0, 1.0, 98.0));
    assert!(spread.worst_case.contains("n3"), "{spread:?}");
    assert!(found.left_out.iter().any(|text| text.contains("traffic") && text.contains("--all-metrics")));
    assert!(found.profile.roles.is_empty());
}

#[test]
fn several_runs_make_one_spread_and_the_profile_passes_on_each() {
    let nodes = site(&[("n1", "x")]);
    let (one, other) = ([case("n1", "copy", 100.0)], [case("n1", "copy", 80.0)]);
    let runs = [run("r1", &one, &nodes), run("r2", &other, &nodes)];
    let found = draft(&runs, &[&ABOUT], false);
    // The median of 100 and 80 is 90, their MAD 10: 79 - 30.
    assert_eq!(bounds(&found), ["memory.bandwidth at least 49 GB/s"]);
    for run in &runs {
        let names: Vec<String> = run.site.nodes.iter().map(|node| node.name.clone()).collect();
        let assigned = crate::Assignment::new(&found.profile, &names, &BTreeMap::new());
        let judged = crate::judge(
            &found.profile,
            &crate::JudgeInputs {
                typed: "draft",
                nodes: &assigned,
                records: run.results,
                reference: None,
                site: run.site,
                settings: &[],
                today: jiff::civil::date(2026, 3, 1),
            },
        );
        assert_eq!(judged.verdict, Some(seatrial_model::Verdict::Pass), "{:#?}", judged.verdicts);
    }
}

#[test]
fn sorts_of_nodes_become_roles_with_bounds_of_their_own() {
    let nodes = site(&[("n1", "x"), ("n2", "x"), ("gpu1", "y")]);
    let results = [case("n1", "copy", 100.0), case("n2", "copy", 100.0), case("gpu1", "copy", 400.0)];
    let found = draft(&[run("r1", &results, &nodes)], &[&ABOUT], false);
    assert_eq!(
        bounds(&found),
        ["memory-nodes-a.bandwidth at least 94 GB/s", "memory-nodes-b.bandwidth at least 379 GB/s"]
    );
    let roles: Vec<_> =
        found.profile.roles.iter().map(|(name, role)| format!("{name}={}", role.nodes)).collect();
    assert_eq!(roles, ["nodes-a=n[1-2]", "nodes-b=gpu1"]);
    assert_eq!(found.classes["nodes-b"], "cpu y");
    assert_eq!(found.profile.tests[1].roles, ["nodes-b"]);
}

#[test]
fn what_is_no_ground_for_a_bound_is_left_out_with_the_reason() {
    let nodes = site(&[("n1", "x")]);
    let left_out = |change: fn(&mut CaseRecord)| {
        let mut one = case("n1", "copy", 100.0);
        change(&mut one);
        let found = draft(&[run("r1", &[one], &nodes)], &[&ABOUT], false);
        assert!(found.profile.criteria.is_empty() && found.profile.tests.is_empty(), "{found:#?}");
        found.left_out.join("\n")
    };
    let beyond = left_out(|case| {
        let record = metric(100.0, (99.0, 101.0), limit(80.0));
        case.metrics.insert("bandwidth".to_owned(), record);
    });
    assert!(beyond.contains("beyond its limit"), "{beyond}");
    let zero = left_out(|case| {
        let mut record = metric(0.0, (0.0, 0.0), no_limit());
        record.better = Better::Lower;
        case.metrics.insert("bandwidth".to_owned(), record);
    });
    assert!(zero.contains("every value was 0"), "{zero}");
    let failed = left_out(|case| {
        case.outcome = Outcome::Failed;
        case.reason = Some("the worker hung".to_owned());
    });
    assert!(failed.contains("the worker hung") && failed.contains("no case of it was measured"), "{failed}");
    let together = left_out(|case| case.origin.step = Some(2));
    assert!(together.contains("share links on purpose"), "{together}");
}

#[test]
fn a_bound_of_a_latency_is_above_the_worst() {
    let nodes = site(&[("n1", "x")]);
    let mut one = case("n1", "copy", 100.0);
    one.metrics.get_mut("bandwidth").unwrap().better = Better::Lower;
    let found = draft(&[run("r1", &[one], &nodes)], &[&ABOUT], false);
    let [criterion] = found.profile.criteria.as_slice() else { panic!("{found:#?}") };
    // Its interval ends at 101, and 5 % of 100 are 5.
    assert_eq!(criterion.bounds, Bounds::AtMost(Bar::Absolute("106 GB/s".parse().unwrap())));
}
