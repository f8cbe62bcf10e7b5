//! Exchanges of scripted nodes, judged by the bisection that a profile states.

use seatrial_model::Verdict;
use serde_json::{Value, json};

use crate::rig::{Home, Script, machine};

/// Four nodes with a port of 10 Gbit/s each. Every node receives 1 Gbit/s from each of the three others: 12 flows,
/// 12 Gbit/s in all.
fn script() -> Script {
    let known = |value: Value| json!({ "known": value });
    let nic = json!({
        "name": "eth0", "kind": "physical", "link_layer": known("ethernet".into()), "up": known(true.into()),
        "speed_mbit_s": known(10_000.into()), "mtu": known(9000.into()), "networks": known(json!(["10.1.0.0/16"])),
    });
    let gbit = 125_000_000;
    let samples = json!([{
        "channel": "received", "at": { "thread": 0 }, "unit": "B", "span": "100 ms", "amounts": [3.0 * f64::from(gbit) / 10.0],
        "repeat": 10,
    }]);
    let received = json!([{ "window_ns": 1_000_000_000, "bytes": [gbit, gbit, gbit] }]);
    let rule = json!({ "samples": samples, "evidence": { "received": received } });
    let nodes = vec![json!({ "name": "n", "count": 4, "machine": machine() })];
    Script::of(nodes, vec![rule]).interface(&nic)
}

/// A profile that states the bisection of the network, and demands `percent` of it.
fn profile(bisection: &str, percent: u32) -> String {
    format!(
        r#"
title = "exchange of all nodes"

[[test]]
id = "exchange"
use = "net.all_to_all"
params = {{ trials = 1, max_trials = 1 }}

[[limit]]
test = "exchange"
metric = "throughput"
value = "{bisection}"
source = "two uplinks of 10 Gbit/s between the leaf switches"

[[criterion]]
test = "exchange"
metric = "throughput"
at_least = {{ percent_of = "limit", value = {percent} }}
"#
    )
}

#[test]
fn the_bisection_that_a_profile_states_is_the_limit_and_percentages_are_of_it() {
    // 12 of 20 Gbit/s are 60 %.
    for (percent, verdict, code) in [(59, Verdict::Pass, 0), (61, Verdict::Fail, 1)] {
        let home = Home::new();
        let file = home.file("exchange.toml", profile("20 Gbit/s", percent));
        let run = home.seatrial("check -o json").word(&file).script(&script()).run().exits(code);
        let document = run.document();
        let metric = &document.results[0].metrics["throughput"];
        assert!((metric.median - 12.0).abs() < 1e-9, "{metric:?}");
        assert_eq!(metric.limit.value, Some(20.0), "{:?}", metric.limit);
        let source = "two uplinks of 10 Gbit/s between the leaf switches";
        let told = [&metric.limit.formula, &metric.limit.provenance].into_iter().flatten();
        assert!(told.clone().any(|text| text.contains(source)), "{:?}", metric.limit);
        let [judged] = document.verdicts.as_slice() else { panic!("{:?}", document.verdicts) };
        assert_eq!(
            (judged.verdict, judged.measured.map(seatrial_model::Quantity::value)),
            (verdict, Some(12.0)),
            "{judged:?}"
        );
        // So many percent of 20 Gbit/s.
        let bound = 20.0 * f64::from(percent) / 100.0;
        assert!(judged.bound.contains(&format!("{bound} Gbit/s")), "{}", judged.bound);
        let margin = judged.margin_percent.expect("a bound");
        assert!((margin - 100.0 * (12.0 / bound - 1.0)).abs() < 0.01, "{margin}");
        home.seatrial("report --details").run().exits(0).shows(source);
    }
}

#[test]
fn the_sum_of_the_ports_is_the_limit_where_it_is_tighter_than_the_stated_bisection() {
    let home = Home::new();
    let file = home.file("exchange.toml", profile("100 Gbit/s", 30));
    let document = home.seatrial("check -o json").word(&file).script(&script()).run().exits(0).document();
    let limit = &document.results[0].metrics["throughput"].limit;
    // Of a frame of 9038 B on the wire 8948 B are payload (headers, preamble, gap and timestamps are not).
    let ports = 4.0 * 10.0 * 8948.0 / 9038.0;
    assert!(limit.value.is_some_and(|value| (value - ports).abs() < 1e-6), "{ports}: {limit:?}");
    assert_eq!(document.verdicts[0].verdict, Verdict::Pass, "{:?}", document.verdicts);
}
