//! What is measured without each factor, in which order, and what is refused.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::{Params, Site};

use super::*;

fn site(names: &[&str]) -> Site {
    Site { nodes: names.iter().map(|name| seatrial_testkit::node(name, 1)).collect() }
}

fn test(params: &[(&str, &str)], pattern: Option<&str>) -> Test {
    let values = |text: &str| text.split(',').map(str::to_owned).collect();
    Test {
        id: "net.tcp_stream".to_owned(),
        bench: "net.tcp_stream".to_owned(),
        params: params.iter().map(|(name, value)| ((*name).to_owned(), values(value))).collect(),
        pattern: pattern.map(str::to_owned),
        ..Test::default()
    }
}

fn planned(params: &[(&str, &str)], typed: &str, seed: u64) -> Result<Plan, PlanError> {
    crossed(params, typed, seed, false)
}

fn crossed(params: &[(&str, &str)], typed: &str, seed: u64, is_crossed: bool) -> Result<Plan, PlanError> {
    let typed = typed.split_whitespace().map(str::to_owned).collect();
    let site = site(&["n1", "n2"]);
    let study = Factors { typed, is_crossed, repeats: 4, seed };
    study.plan(&test(params, None), &seatrial_registry::REGISTRY, PlanInputs::of(&site))
}

fn labels(plan: &Plan, repeat: usize) -> Vec<&str> {
    let studies = plan.cases.iter().map(|case| case.origin.study.as_ref().expect("a study"));
    studies.filter(|study| study.repeat as usize == repeat).map(|study| study.factor.as_str()).collect()
}

fn changed(plan: &Plan) -> BTreeMap<String, String> {
    let of = |label: &str| {
        let case = plan
            .cases
            .iter()
            .find(|case| case.origin.study.as_ref().is_some_and(|study| study.factor == label));
        case.expect("planned").params.clone()
    };
    let baseline = of(BASELINE);
    let all: BTreeSet<&str> = labels(plan, 1).into_iter().collect();
    let others = all.into_iter().filter(|label| *label != BASELINE);
    others
        .map(|label| {
            let own = of(label);
            let off: Params = own
                .iter()
                .filter(|(name, value)| baseline.get(name) != Some(*value))
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect();
            (label.to_owned(), off.to_string())
        })
        .collect()
}

#[test]
fn one_thing_is_left_out_at_a_time() {
    let given = [("flows", "4"), ("buffer", "4 MiB")];
    let plan = planned(&given, "flows affinity method nodelay buffer message=64KiB", 1).expect("a plan");
    let expected = [
        ("affinity", "affinity=none"),
        ("buffer=auto", "buffer=auto"),
        ("flows=1", "flows=1"),
        ("message=64 KiB", "message=64 KiB"),
        ("method", "receive=read,send=write"),
        ("nodelay=true", "nodelay=true"),
    ];
    assert_eq!(changed(&plan), expected.map(|(name, off)| (name.to_owned(), off.to_owned())).into());
    assert_eq!(plan.cases.len(), 4 * 7);
    assert!(plan.cases.iter().all(|case| case.budget.max_trials == 1));
}

#[test]
fn crossed_factors_are_left_out_by_twos_unless_they_change_the_same() {
    let plan = crossed(&[("flows", "4")], "flows affinity method send=sendfile", 1, true).expect("a plan");
    let all = changed(&plan);
    let both: Vec<(&str, &str)> = all
        .iter()
        .filter(|(label, _)| label.contains(" + "))
        .map(|(label, off)| (label.as_str(), off.as_str()))
        .collect();
    let expected = [
        ("affinity + method", "affinity=none,receive=read,send=write"),
        ("affinity + send=sendfile", "affinity=none,send=sendfile"),
        ("flows=1 + affinity", "affinity=none,flows=1"),
        ("flows=1 + method", "flows=1,receive=read,send=write"),
        ("flows=1 + send=sendfile", "flows=1,send=sendfile"),
    ];
    assert_eq!(both, expected);
    assert_eq!(plan.cases.len(), 4 * (1 + 4 + 5));
    let text = crossed(&[], "nodelay", 1, true).expect_err("one factor").to_string();
    assert!(text.contains("needs two factors that change different parameters"), "{text}");
}

#[test]
fn every_repeat_has_all_of_it_in_an_order_drawn_by_lot_from_the_seed() {
    let plan = |seed| planned(&[], "flows=2 affinity nodelay send", seed).expect("a plan");
    let first = plan(1);
    let all: BTreeSet<&str> = labels(&first, 1).into_iter().collect();
    assert_eq!(all.len(), 1 + 3 + 4, "{all:?}");
    let orders: BTreeSet<Vec<&str>> = (1..=4).map(|repeat| labels(&first, repeat)).collect();
    assert_eq!(orders.len(), 4, "{orders:?}");
    assert!(orders.iter().all(|order| order.iter().copied().collect::<BTreeSet<_>>() == all));
    assert_eq!(plan(1), first, "the same seed gives the same plan");
    assert_ne!(plan(2), first);
    assert!(plan(2).cases.iter().all(|case| case.origin.study.as_ref().is_some_and(|study| study.seed == 2)));
}

#[test]
fn every_case_of_a_study_has_an_id_of_its_own() {
    let plan = planned(&[("flows", "2")], "flows", 1).expect("a plan");
    let ids: BTreeSet<String> = plan.cases.iter().map(|case| case.id.to_string()).collect();
    assert_eq!(ids.len(), plan.cases.len());
    let wanted = "net.tcp_stream@n1+n2/n1->n2#repeat.3[flows=2,max_trials=1,trials=1]";
    assert!(ids.contains(wanted), "{ids:?}");
}

#[test]
fn what_cannot_be_held_against_one_baseline_is_refused_with_what_to_do() {
    let refused = |params: &[(&str, &str)], typed| planned(params, typed, 1).expect_err(typed).to_string();
    for (params, typed, says) in [
        (&[("flows", "1,2")][..], "nodelay", "-p flows= gives 2 values: give one"),
        (&[], "flows", "compares with flows=1, which is the value already"),
        (&[], "buffer", "give one with --factors buffer=VALUE"),
        (&[], "warp", "net.tcp_stream has no parameter or factor 'warp'"),
        (&[], "flwos", "did you mean 'flows'?"),
        (&[], "flows=0", "0 is outside 1 to 128"),
    ] {
        let text = refused(params, typed);
        assert!(text.contains(says), "{typed}: {text}");
    }
    let site = site(&["n1", "n2"]);
    let study = Factors { typed: vec!["nodelay".to_owned()], is_crossed: false, repeats: 2, seed: 1 };
    let trunk = test(&[], Some("trunk"));
    let text = study
        .plan(&trunk, &seatrial_registry::REGISTRY, PlanInputs::of(&site))
        .expect_err("a trunk")
        .to_string();
    assert!(text.contains("measured one by one"), "{text}");
}

#[test]
fn every_declared_factor_fits_the_parameters_of_its_benchmark() {
    for bench in seatrial_registry::REGISTRY.benchmarks() {
        for factor in bench.factors {
            assert!(factor.doc.ends_with('.') && !factor.off.is_empty(), "{}", factor.name);
            for (name, value) in factor.off {
                let spec = bench.about.param(name).unwrap_or_else(|| panic!("{name} of {}", factor.name));
                spec.parse(value).unwrap_or_else(|why| panic!("{}: {why}", factor.name));
            }
        }
    }
}
