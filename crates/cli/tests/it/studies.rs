//! Studies on scripted nodes: factors, load sweeps, aliases.

use std::fs;

use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{Finding, Outcome};
use serde_json::json;

use crate::rig::{Ended, Home, Script};

const ONCE: &str = "-p trials=1 -p max_trials=1";

fn findings<'a>(document: &'a Document, kind: &str) -> Vec<&'a Finding> {
    document.findings.iter().filter(|finding| finding.kind == kind).collect()
}

/// Streams of 9.4 Gbit/s, half of that with nodelay.
fn slowed_by_nodelay() -> Script {
    Script::streams(2, 9.4).stream("*nodelay=true*", 1, 4.7)
}

const FACTORS: &str = "run net.tcp_stream --factors nodelay,method --repeats 4 --seed 7 -o json";

#[test]
fn a_study_of_factors_tells_what_each_is_worth() {
    let home = Home::new();
    let document = home.seatrial(FACTORS).script(&slowed_by_nodelay()).run().exits(0).document();
    assert_eq!(document.results.len(), 4 * 3);
    let found = findings(&document, "factor");
    let gains: Vec<_> = found.iter().map(|it| it.value.expect("a gain").value()).collect();
    let [method, nodelay] = gains.as_slice() else { panic!("{found:?}") };
    assert!((method - 1.0).abs() < 1e-9 && (nodelay - 2.0).abs() < 1e-9, "{gains:?}");
    assert!(found.iter().all(|it| it.ci95.is_some()), "{found:?}");
    assert!(document.results.iter().all(|it| it.origin.study.as_ref().is_some_and(|study| study.seed == 7)));
    assert!(findings(&document, "did-not-converge").is_empty());
    home.seatrial("report")
        .run()
        .exits(0)
        .shows("gain of each factor")
        .shows("nodelay=false nodelay=true 9.40 4.70 2.000 2.000 to 2.000")
        .shows("receive=read send=write 9.40 9.40 1.000 1.000 to 1.000");
}

#[test]
fn crossed_factors_tell_whether_the_gain_of_one_depends_on_the_other() {
    let home = Home::new();
    let typed = format!("{FACTORS} --crossed");
    let document = home.seatrial(&typed).script(&slowed_by_nodelay()).run().exits(0).document();
    assert_eq!(document.results.len(), 4 * 4);
    let found = findings(&document, "factor");
    let interaction = found.iter().find(|it| it.text.starts_with("nodelay=true and method: "));
    let (_, text) =
        interaction.and_then(|it| it.text.split_once(": ")).unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(text, "an interaction of 1 (1 to 1), over 4 of 4 repeats: no interaction can be told");
    home.seatrial("report last --details")
        .run()
        .exits(0)
        .shows("interaction of two factors")
        .shows("nodelay=true method 9.40 4.70 9.40 4.70 1.000 1.000 to 1.000 cannot tell");
}

#[test]
fn the_plan_of_a_study_of_factors_is_what_runs_also_when_it_is_gone_on_with() {
    let home = Home::new();
    let script = slowed_by_nodelay();
    let plan = home.seatrial(&format!("{FACTORS} --plan")).script(&script).run().exits(0);
    let plan: serde_json::Value = serde_json::from_str(&plan.out).expect("JSON");
    let planned: Vec<&str> =
        plan["cases"].as_array().expect("cases").iter().filter_map(|case| case["id"].as_str()).collect();
    let whole = home.seatrial(FACTORS).script(&script).run().exits(0).document();
    let order = |document: &Document| -> Vec<String> {
        document.results.iter().map(|record| record.case.to_string()).collect()
    };
    assert_eq!(order(&whole), planned);
    keep_results(&home, 5);
    let again = home.seatrial("run --resume -o json").script(&script).run().exits(0).document();
    assert_eq!(order(&again), planned);
    assert_eq!(findings(&again, "factor"), findings(&whole, "factor"));
}

/// Removes all but the first results of the only run, as after a kill.
fn keep_results(home: &Home, count: usize) {
    let file = home.run().join("results.jsonl");
    let text = fs::read_to_string(&file).expect("results");
    let kept: String = text.split_inclusive('\n').take(count).collect();
    assert!(kept.len() < text.len(), "there were no more than {count}");
    fs::write(&file, kept).expect("written");
}

#[test]
fn what_is_no_factor_of_a_benchmark_is_refused_with_what_to_do() {
    let home = Home::new();
    let script = Script::streams(2, 9.4);
    let refused = |words: &str| home.seatrial(words).script(&script).run().exits(2);
    refused("run net.tcp_stream --factors flows=2,rx_ring")
        .says("nic.rx_ring is a setting of the hosts: write nic.rx_ring=VALUE");
    refused("run net.tcp_stream --factors nodlay").says("did you mean 'nodelay'?");
    refused("run net.tcp_stream -p flows=1,2 --factors nodelay").says("-p flows= gives 2 values: give one");
    refused("run net.tcp_stream net.rr --factors nodelay").says("--factors takes one benchmark, not 2");
    refused("run net.trunk --factors nodelay").says("measured one by one");
    refused("run net.tcp_stream --seed 3").says("--factors");
    refused("run net.tcp_stream --crossed").says("--factors");
    refused("run net.tcp_stream --factors nodelay --crossed")
        .says("two factors that change different parameters");
    assert!(home.runs().is_empty());
}

/// Streams that work with at most 12 flows, for both message sizes.
fn works_with_twelve() -> Script {
    let hang = json!({ "hangs": { "phase": "measure" } });
    let mut script = Script::streams(2, 9.4);
    for flows in [8, 10, 12] {
        script = script.stream(&format!("*flows={flows},*"), flows, 20.0);
    }
    for flows in [11, 13, 14, 16] {
        script = script.fault(&format!("*flows={flows},*"), hang.clone());
    }
    script
}

fn flows(document: &Document) -> Vec<(u64, Outcome)> {
    let of = |record: &CaseRecord| (record.params.count("flows").expect("flows"), record.outcome);
    let mut all: Vec<_> = document.results.iter().map(of).collect();
    all.sort_unstable();
    all
}

#[test]
fn the_highest_load_that_works_is_looked_for_and_named_also_when_it_is_gone_on_with() {
    use Outcome::{Failed, Measured};
    let home = Home::new();
    let script = works_with_twelve();
    let line = format!("run net.tcp_stream -p flows=1,8,16 {ONCE} -o json");
    let run = home.seatrial(&line).script(&script).run().exits(1);
    let whole = run.says("looking for the highest flows that works").document();
    let expected = [(1, Measured), (8, Measured), (12, Measured), (13, Failed), (14, Failed), (16, Failed)];
    assert_eq!(flows(&whole), expected);
    let found = findings(&whole, "highest-working");
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(finding.text, "the highest working flows is 12; failed: 13 (hang), 14 (hang), 16 (hang)");
    for kept in [5, 3, 1] {
        keep_results(&home, kept);
        let again = home.seatrial("run --resume -o json").script(&script).run().exits(1).document();
        assert_eq!(flows(&again), expected, "after {kept} results");
        assert_eq!(findings(&again, "highest-working"), found);
    }
}

#[test]
fn a_load_that_nobody_demanded_is_not_judged() {
    let home = Home::new();
    let file = home.file(
        "load.toml",
        "title = \"t\"\n[[test]]\nid = \"load\"\nuse = \"net.tcp_stream\"\n\
         params = { flows = [1, 8, 16], trials = 1, max_trials = 1 }\n\
         [[criterion]]\ntest = \"load\"\nmetric = \"throughput\"\nat_least = \"1 Gbit/s\"\n",
    );
    let document =
        home.seatrial("check -o json").word(&file).script(&works_with_twelve()).run().exits(1).document();
    assert_eq!(document.results.len(), 6);
    let cases: Vec<_> = document.verdicts.iter().filter_map(|verdict| verdict.case.as_deref()).collect();
    assert_eq!(cases.len(), 3, "{cases:?}");
    assert_eq!(findings(&document, "highest-working").len(), 1);
}

#[test]
fn a_sweep_over_two_parameters_is_a_table_with_failures_in_their_places() {
    let home = Home::new();
    let hang = json!({ "hangs": { "phase": "measure" } });
    let script = works_with_twelve().fault("*flows=12,*message=1 MiB*", hang);
    let line = format!("run net.tcp_stream -p flows=1,8,12 -p message=64KiB,1MiB {ONCE}");
    let ended: Ended = home.seatrial(&line).script(&script).run().exits(1);
    let ended = ended
        .shows("flows ↓ message → 64 KiB 1 MiB")
        .shows("1 9.40 9.40 8 *20.00 20.00 10 20.00 11 ✗ failed hang [")
        .shows("12 20.00 ✗ failed hang [")
        .shows("message=1 MiB: the highest working flows is 10; failed: 11 (hang), 12 (hang)")
        .shows("message=64 KiB: saturated at flows=8: throughput is 20 Gbit/s, and a higher load does not raise it")
        .shows("peak: the highest throughput is 20 Gbit/s with flows=8, message=64 KiB");
    assert!(!ended.out.contains("retransmits"), "no row a case beside the table:\n{}", ended.out);
    // There is no overview of sixteen columns.
    let sizes: Vec<String> = (1..=16).map(|size| format!("{size}KiB")).collect();
    let line = format!("run net.tcp_stream -p flows=1,8 -p message={} {ONCE}", sizes.join(","));
    let ended = home.seatrial(&line).script(&script).run().exits(0);
    assert!(!ended.out.contains('↓'), "{}", ended.out);
}

#[test]
fn a_benchmark_under_a_pattern_has_a_name_of_its_own() {
    let home = Home::new();
    let script = Script::streams(4, 9.4);
    let run = home.seatrial(&format!("run net.trunk --links 2 {ONCE} -o json")).script(&script).run();
    let document = run.exits(0).document();
    let steps: Vec<_> = document.results.iter().map(|it| it.origin.step.expect("a step")).collect();
    assert_eq!(steps, [1, 2, 2]);
    assert!(document.results.iter().all(|it| it.group == "net.trunk" && it.bench == "net.tcp_stream"));
    assert!(document.results.iter().all(|it| it.origin.links == Some(2)));
    home.seatrial("report").run().exits(0).shows("trunk · throughput in Gbit/s · flows at the same time");
    let pairs = home.seatrial(&format!("run net.pairs {ONCE}")).script(&script).run().exits(0);
    pairs.shows("throughput in Gbit/s").shows("· from row to column");
    home.seatrial("run net.pairs --pattern pair").script(&script).run().exits(2).says(
        "net.pairs is net.tcp_stream with the pattern all-pairs: leave out --pattern pair, or run \
         net.tcp_stream with it",
    );
    home.seatrial("run net.trnk").run().exits(2).says("did you mean 'net.trunk'?");
}

#[test]
fn the_list_has_patterns_and_names_and_explains_them() {
    let home = Home::new();
    home.seatrial("list").run().exits(0).shows("Patterns").shows("net.trunk").shows("bisection");
    let trunk = home.seatrial("list trunk").run().exits(0);
    trunk.shows("step 2 n1-n4, n2-n5").shows("--links").shows("net.trunk");
    let name = home.seatrial("list net.trunk").run().exits(0);
    name.shows("net.tcp_stream: TCP throughput").shows("step 3 n1-n4, n2-n5, n3-n6").shows("retransmits");
    home.seatrial("list net.tcp_stream").run().exits(0).shows("without it: send=write receive=read");
    home.seatrial("list bisecton").run().exits(2).says("did you mean 'bisection'?");
}

#[test]
fn a_profile_places_tests_by_name_pattern_rounds_and_links() {
    let home = Home::new();
    let params = "params = { trials = 8, max_trials = 8, time = \"200 ms\" }";
    let profile = format!(
        "title = \"t\"\n\
         [[test]]\nid = \"uplink\"\nuse = \"net.trunk\"\nlinks = 2\n{params}\n\
         [[test]]\nid = \"fabric\"\nuse = \"net.pairs\"\n{params}\n\
         [[test]]\nid = \"lots\"\nuse = \"net.tcp_stream\"\npattern = \"matchings\"\nrounds = 2\n{params}\n\
         [[criterion]]\ntest = \"fabric\"\nmetric = \"throughput\"\nat_least = \"9 Gbit/s\"\n"
    );
    let file = home.file("fabric.toml", profile);
    // Two simultaneous flows share one link, every time.
    let script = Script::streams(4, 9.4).stream("uplink*#trunk.2*", 1, 4.7);
    let document = home.seatrial("check -o json").word(&file).script(&script).run().exits(0).document();
    let of = |group: &str| document.results.iter().filter(|it| it.group == group).count();
    assert_eq!((of("uplink"), of("fabric"), of("lots")), (3, 12, 8));
    assert_eq!(document.verdicts.len(), 12);
    let found = findings(&document, "missing-link");
    let [finding] = found.as_slice() else { panic!("{:?}", document.findings) };
    assert!(
        finding.text.starts_with("of 2 links between the two groups at most 1 carried flows"),
        "{}",
        finding.text
    );
    let clash = home.file(
        "clash.toml",
        "title = \"t\"\n[[test]]\nid = \"a\"\nuse = \"net.trunk\"\npattern = \"ring\"\n\
         [[criterion]]\ntest = \"a\"\nmetric = \"throughput\"\nat_least = \"1 Gbit/s\"\n",
    );
    let refused = home.seatrial("check").word(&clash).script(&script).run().exits(2);
    refused.says("net.trunk is net.tcp_stream with the pattern trunk");
    let without = home.file(
        "rounds.toml",
        "title = \"t\"\n[[test]]\nid = \"a\"\nuse = \"net.pairs\"\nrounds = 2\n\
         [[criterion]]\ntest = \"a\"\nmetric = \"throughput\"\nat_least = \"1 Gbit/s\"\n",
    );
    let refused = home.seatrial("check").word(&without).script(&script).run().exits(2);
    refused.says("pattern all-pairs has no rounds to be counted");
}
