//! Patterns on scripted nodes: pairs and results.

use seatrial_model::record::Document;

use crate::rig::{Home, Script};

const ONCE: &str = "-p trials=1 -p max_trials=1";

fn pairs(document: &Document) -> Vec<String> {
    let mut pairs: Vec<String> = document.results.iter().map(|record| record.nodes.join("+")).collect();
    pairs.sort();
    pairs
}

fn found<'a>(document: &'a Document, kind: &str) -> Vec<Option<&'a str>> {
    let of_kind = document.findings.iter().filter(|finding| finding.kind == kind);
    of_kind.map(|finding| finding.node.as_deref()).collect()
}

#[test]
fn a_node_that_is_slow_in_random_pairs_is_measured_again_and_named() {
    let home = Home::new();
    let script = Script::round_trips(10).round_trip("*@n04+*", 12_000.0).round_trip("*+n04/*", 12_000.0);
    let run = home.seatrial(&format!("run net.rr --pattern matchings {ONCE} -o json")).script(&script).run();
    let document =
        run.exits(0).says("n04 was slow and is measured again with partners that were good").document();
    assert_eq!(document.results.len(), 3 * 5 + 2);
    let with_it = document.results.iter().filter(|record| record.nodes.contains(&"n04".to_owned()));
    assert_eq!(with_it.count(), 3 + 2);
    assert_eq!(found(&document, "slow-node"), [Some("n04")]);
    home.seatrial("report")
        .run()
        .exits(0)
        .shows("from row to column")
        .shows("slow-node: n04 has 1.33 times its peers' round_trip");
}

#[test]
fn halves_are_measured_at_the_same_time_also_on_one_kernel() {
    let home = Home::new();
    let script = Script::round_trips(6).one_kernel();
    let run = home.seatrial(&format!("run net.rr --pattern bisection {ONCE} -o json")).script(&script).run();
    let document = run.exits(0).document();
    assert_eq!(pairs(&document), ["n1+n4", "n2+n5", "n3+n6"]);
    for record in &document.results {
        assert_eq!(record.evidence["together"]["cases"], serde_json::json!([3]), "{}", record.case);
        assert!(record.case.as_str().contains("#bisection.1"), "{}", record.case);
    }
}

#[test]
fn a_survivor_of_a_step_is_told_and_not_measured_by_itself() {
    let home = Home::new();
    let script = Script::round_trips(4).lose("n3", "*#trunk.1*");
    let run = home.seatrial(&format!("run net.rr --pattern trunk {ONCE} -o json")).script(&script).run();
    let document = run.exits(1).document();
    assert_eq!(pairs(&document), ["n1", "n1", "n1+n3", "n1+n3", "n2+n4"]);
    let ids: std::collections::BTreeSet<_> = document.results.iter().map(|record| &record.case).collect();
    assert_eq!(ids.len(), 5, "{ids:?}");
}

#[test]
fn a_partner_is_measured_with_and_not_judged() {
    let home = Home::new();
    let profile = format!(
        "title = \"t\"\n[roles.head]\nnodes = \"n1\"\n[roles.production]\nnodes = \"n[2-4]\"\n\
         [[test]]\nid = \"echo\"\nuse = \"net.rr\"\nroles = [\"production\"]\npartner = \"head\"\n\
         params = {{ trials = 1, max_trials = 1 }}\n[[criterion]]\ntest = \"echo\"\nmetric = \"round_trip\"\n{}\n",
        "at_most = \"10 us\""
    );
    let file = home.file("partner.toml", profile);
    let run = home.seatrial("check -o json").word(&file).script(&Script::round_trips(4)).run();
    let document = run.document();
    assert_eq!(pairs(&document), ["n2+n1", "n3+n1", "n4+n1"]);
    let judged: std::collections::BTreeSet<_> =
        document.verdicts.iter().filter_map(|verdict| verdict.node.as_deref()).collect();
    assert_eq!(judged.into_iter().collect::<Vec<_>>(), ["n2", "n3", "n4"]);
}

#[test]
fn rounds_of_a_pattern_without_any_are_refused() {
    let home = Home::new();
    home.seatrial("run net.rr --pattern ring --rounds 2")
        .script(&Script::round_trips(4))
        .run()
        .exits(2)
        .says("pattern ring has no rounds to be counted");
    home.seatrial("run net.rr --pattern trnk").script(&Script::round_trips(4)).run().exits(2).says("'trunk'");
}

#[test]
fn a_test_beside_a_load_is_measured_alone_first_and_tells_how_much_worse_it_became() {
    let home = Home::new();
    let script = Script::streams(8, 10.0)
        .round_trip("*net.rr@*", 20_000.0)
        .round_trip("*net.rr@*#beside.4*", 100_000.0);
    let line = format!("run net.rr --beside net.tcp_stream --pattern bisection {ONCE} -o json");
    let document = home.seatrial(&line).script(&script).run().exits(0).document();
    let by_load = |is_load: bool| {
        let of = document.results.iter().filter(move |record| record.origin.is_load() == is_load);
        of.filter_map(|record| Some((record.origin.beside.as_ref()?.percent, record)))
    };
    let count = |is_load, percent| by_load(is_load).filter(|(of, _)| *of == percent).count();
    assert_eq!([0, 25, 50, 100].map(|percent| count(false, percent)), [4; 4]);
    assert_eq!([0, 25, 50, 100].map(|percent| count(true, percent)), [0, 1, 2, 4]);
    for (percent, record) in by_load(false) {
        let cases = 4 + count(true, percent);
        assert_eq!(record.evidence["together"]["cases"], serde_json::json!([cases]), "{}", record.case);
    }
    let told =
        document.findings.iter().find(|finding| finding.kind == "congestion-impact").expect("the impact");
    assert!(
        told.text.starts_with("net.rr beside net.tcp_stream: mean of round_trip 20 us alone and 100 us"),
        "{}",
        told.text
    );
    home.seatrial("report --details").run().exits(0).shows("net.rr beside net.tcp_stream").shows("slowdown");
    let exported = home.seatrial("export --prometheus -").run().exits(0).out;
    let series = exported.lines().filter(|line| line.starts_with("seatrial_net_rr_round_trip_seconds{"));
    assert_eq!(series.count(), 16, "{exported}");
    home.seatrial("run net.rr --beside net.rr").script(&script).run().exits(2).says("name another");
}

#[test]
fn criteria_judge_a_test_beside_its_load_and_never_the_load() {
    let home = Home::new();
    let profile = home.file(
        "beside.toml",
        r#"
title = "round trips beside a stream"

[[test]]
id = "ping"
use = "net.rr"
beside = "bulk"

[[test]]
id = "bulk"
use = "net.tcp_stream"

[[criterion]]
test = "ping"
metric = "round_trip"
at_most = "50 us"

[[criterion]]
test = "bulk"
metric = "throughput"
at_least = "5 Gbit/s"
"#,
    );
    let slow_load = Script::streams(2, 10.0)
        .round_trip("*ping*", 20_000.0)
        .stream("*#load-of-ping*", 1, 1.0)
        .round_trip("*ping*#beside.2*", 100_000.0);
    let run = home.seatrial("check").word(&profile).word("-o").word("json").script(&slow_load).run();
    let document = run.exits(1).document();
    let verdicts: Vec<_> =
        document.verdicts.iter().map(|it| (it.criterion.as_str(), it.verdict.word())).collect();
    assert_eq!(
        verdicts,
        [("ping.round_trip", "pass"), ("ping.round_trip", "fail"), ("bulk.throughput", "pass")]
    );
}
