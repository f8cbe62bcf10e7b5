//! Exchanges of several nodes, each with cards of its own, over the fake fabric.

use std::time::{Duration, Instant};

use seatrial_bench::all_to_all::FlowBytes;
use seatrial_bench::find;
use seatrial_model::machine::Known;
use seatrial_model::{
    Better, Bytes, Case, Cause, Integrity, Measures, Nanos, PartRecord, Quantity, Reason, Sample, Site,
    SiteNode, Unit,
};
use serde_json::json;

use super::device::trial;
use super::rack::{Rack, case_on};
use super::{card, node, planned_of, two_cards};

const ID: &str = "rdma.all_to_all";

/// Nodes of one card each, which have other names, so that the fake fabric knows them apart.
fn three() -> Vec<SiteNode> {
    let own = |number: u32| card(&format!("mlx5_{number}"), "0000:17:00.0", &format!("image:{number}"), 0);
    (0..3).map(|number| node(&format!("n{}", number + 1), vec![own(number)])).collect()
}

/// Nodes that are alike.
fn alike(count: usize) -> Vec<SiteNode> {
    (1..=count).map(|number| node(&format!("n{number}"), two_cards())).collect()
}

fn planned(nodes: Vec<SiteNode>, changed: &[(&str, &str)]) -> Result<Vec<Case>, Reason> {
    planned_of(find(crate::BENCHMARKS, ID).expect("there"), &Site { nodes }, changed)
}

#[test]
fn each_port_of_the_first_node_is_a_case_over_all_nodes_and_says_what_it_takes_of_them() {
    let cases = planned(alike(4), &[]).expect("planned");
    let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids[1], "rdma.all_to_all@n[1-4]/hca:mlx5_1/1");
    assert_eq!(cases.len(), 3);
    let case = &cases[1];
    assert_eq!(case.planned.text("port"), Ok("mlx5_1/1"), "the same on all nodes");
    assert_eq!(case.facts.text("link_layer"), Ok("InfiniBand"));
    assert_eq!(case.places.iter().map(|place| place.bindings[0].cpu).collect::<Vec<_>>(), [4; 4]);
    let count = |case: &Case, name: &str| case.planned.count(name).expect("a count");
    assert_eq!((count(case, "queue_pairs"), count(case, "threads"), count(case, "depth")), (3, 1, 16));
    // Three peers, each with a slice that is sent from and one that is written to.
    assert_eq!(case.planned.bytes("registered"), Ok(Some(Bytes::kib(6 * 64))));
    let shifted = &planned(alike(4), &[("shift", "1"), ("size", "1 MiB")]).expect("planned")[0];
    assert_eq!(count(shifted, "queue_pairs"), 2, "one to each neighbour");
    let half = &planned(alike(4), &[("shift", "2")]).expect("planned")[0];
    assert_eq!(count(half, "queue_pairs"), 1, "both are the same");
    let many = &planned(alike(100), &[("size", "256 KiB")]).expect("planned")[0];
    assert_eq!((count(many, "threads"), count(many, "depth")), (2, 2), "64 MiB of 99 flows");
    let named = &planned(three(), &[]).expect("planned")[0];
    assert_eq!(named.planned.text("port"), Ok("mlx5_0/1,mlx5_1/1,mlx5_2/1"));
}

#[test]
fn parts_take_the_ports_that_are_listed_in_turn() {
    let asked = [("device", "mlx5_0+mlx5_1/1"), ("per_node", "2")];
    let cases = planned(alike(2), &asked).expect("planned");
    let [case] = cases.as_slice() else { panic!("{cases:?}") };
    assert_eq!(case.subject.to_string(), "hca:mlx5_0/1+mlx5_1/1");
    assert!(case.facts.text("name").is_err(), "a requirement on a port is none on several");
    let cpus: Vec<u32> = case.places.iter().map(|place| place.bindings[0].cpu).collect();
    assert_eq!(cpus, [0, 4, 0, 4], "each near its card");
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    for (nodes, changed, cause, text) in [
        (1, &[][..], Cause::Missing, "rdma.all_to_all needs 2 nodes"),
        (2, &[("device", "mlx5_0+mlx5_1")][..], Cause::Contradiction, "set -p per_node=2, or a multiple"),
        (2, &[("device", "mlx5_0+auto")][..], Cause::Contradiction, "not a list of ports"),
        (2, &[("device", "mlx5_9")][..], Cause::Missing, "it has mlx5_0/1"),
        (2, &[("shift", "2")][..], Cause::Contradiction, "every node to itself"),
        (100, &[("size", "256 MiB")][..], Cause::NoSpace, "lower -p size= or per_node=, or set shift="),
        (5, &[("per_node", "256")][..], Cause::Contradiction, "1024 parts are the most"),
    ] {
        let reason = planned(alike(nodes), changed).expect_err("refused");
        assert!(reason.cause == cause && reason.text.contains(text), "{changed:?}: {reason}");
    }
}

#[test]
fn what_a_device_has_not_is_told_before_anything_moves() {
    for (words, text) in [
        ("qps=1", "mlx5_0/1: 2 queue pairs are needed, and the device has 1 at most"),
        ("cqes=67", "mlx5_0/1: a completion queue of 68 entries is needed, and the device has 67 at most"),
    ] {
        let error = Rack::new(words).connected(&case_on(three(), ID, &[])).map(drop).expect_err("refused");
        assert!(error.cause == Cause::NoSpace && error.text.starts_with(text), "{error}");
    }
}

#[test]
fn the_limit_is_the_sum_of_the_ports_with_the_headers_of_a_write() {
    let bench = find(crate::BENCHMARKS, ID).expect("there");
    let mut half = card("mlx5_1", "0000:17:00.0", "image:1", 0);
    (half.ports[0].rate_gbit_s, half.ports[0].lanes) = (Known::Known(50.0), Known::Known(2));
    let mut site = Site { nodes: three() };
    site.nodes[1] = node("n2", vec![half]);
    let case = &planned_of(bench, &site, &[]).expect("planned")[0];
    let limits = bench.limits(case, &site);
    let of = |name: &str| {
        let record = limits[name].record(Better::Higher, Unit::GigabitsPerSecond).expect("a rate");
        let value = record.value.unwrap_or_else(|| panic!("{:?}", record.reason));
        (value, record.formula.expect("told"))
    };
    let share = 65_536.0 / 65_968.0;
    for (name, wanted) in
        [("throughput", 250.0 * share), ("slowest_node", 50.0 * share), ("slowest_flow", 25.0 * share)]
    {
        let (value, formula) = of(name);
        assert!((value - wanted).abs() < 1e-6, "{name}: {value}, {formula}");
        assert!(!formula.contains("n1/") && formula.contains("RETH 16"), "{formula}");
    }
}

#[test]
fn every_flow_moves_data_that_is_checked_over_whatever_queue_pairs() {
    let parts = [("per_node", "4"), ("threads", "3"), ("device", "mlx5_0+mlx5_1")];
    for (cards, nodes, changed, flows) in [
        (Rack::new(""), three(), &[][..], 6),
        (Rack::roce(""), three(), &[][..], 6),
        (Rack::new(""), three(), &[("shift", "1"), ("moderation", "4")][..], 3),
        (Rack::new(""), alike(2), &parts[..], 2),
        (Rack::new(""), alike(4), &[("shift", "2"), ("device", "mlx5_1"), ("completion", "event")][..], 4),
    ] {
        let case = case_on(nodes, ID, changed);
        let is_whole = |_: &[PartRecord], measures: &Measures| measures.series["by_flow"].len() == flows;
        let (records, measures) = cards.measured(&case, is_whole);
        let received = if changed.is_empty() { 2 } else { case.planned.count("queue_pairs").expect("some") };
        for record in &records {
            let least = 4096 * if changed.contains(&("shift", "1")) { 1 } else { received };
            let told = &record.integrity;
            assert!(matches!(told, Integrity::Verified { checked } if *checked == least), "{told:?}");
        }
        let flows = measures.series["by_flow"].iter().flat_map(|row| row.values.trials.concat());
        assert!(flows.clone().all(|rate| rate > 0.0), "{:?}", measures.series["by_flow"]);
        let sum: f64 = flows.sum();
        let sent: f64 = measures.series["by_node"]
            .iter()
            .filter(|row| row.at.text("direction") == Ok("send"))
            .flat_map(|row| row.values.trials.concat())
            .sum();
        assert!((sum - sent).abs() < 1e-9 * sum, "{sum}, {sent}");
    }
}

#[test]
fn rates_are_those_of_the_ports_and_the_slow_one_is_named() {
    // 8 MB/s are 0.064 Gbit/s; the card of n2 sends a tenth.
    let (port, slow) = (0.064, 0.0064);
    let cards = Rack::new("rate=8000 slow=2");
    let case = case_on(three(), ID, &[]);
    let near = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 0.05;
    let first = |measures: &Measures, name: &str| measures.metrics[name].trials[0][0];
    let row = |measures: &Measures, from: &str, to: &str| {
        let is_it = |at: &seatrial_model::Params| at.text("from") == Ok(from) && at.text("to") == Ok(to);
        let rows = &measures.series["by_flow"];
        rows.iter().find(|row| is_it(&row.at)).expect("a row").values.trials[0][0]
    };
    let (_, measures) = cards.measured(&case, |_, measures| {
        let sums = &measures.metrics["throughput"].trials[0];
        near(sums.iter().sum::<f64>() / sums.len() as f64, 2.0 * port + slow)
            && near(first(measures, "slowest_node"), slow)
            && near(first(measures, "slowest_flow"), slow / 2.0)
            && near(row(measures, "n2", "n1"), slow / 2.0)
            && near(row(measures, "n1", "n2"), port / 2.0)
    });
    let [finding] = measures.findings.as_slice() else { panic!("{:?}", measures.findings) };
    assert_eq!((finding.kind.as_str(), finding.node.as_deref()), ("slowest-node", Some("n2")));
    assert!(finding.text.starts_with("n2 sends 0.00"), "{}", finding.text);
}

#[test]
fn bytes_are_counted_where_they_are_sent_and_a_missing_part_makes_no_number() {
    let case = case_on(three(), ID, &[]);
    // In the order of the rounds: to the next node, and to the one after it. 125 MB are 1 Gbit.
    let device = |index: u32| {
        let why = format!("GID ::{index} to GID ::9; RoCE v2: IPv4 addresses of one network of 24 bits");
        json!({ "port": "mlx5_0/1", "gid": { "index": 3, "gid": format!("::{index}"), "why": why } })
    };
    let record = |index: u32, sent: [u64; 2]| PartRecord {
        part: "node".to_owned(),
        index,
        node: format!("n{}", index + 1),
        evidence: [
            ("sent".to_owned(), json!([FlowBytes { window_ns: 1_000_000_000, bytes: sent.to_vec() }])),
            ("device".to_owned(), device(index)),
        ]
        .into(),
        ..seatrial_testkit::part(vec![Sample::new(
            "sent",
            [("thread", 0_u64.into())].into(),
            (Nanos(0), Nanos(1_000_000_000)),
            Quantity::bytes(sent.iter().sum()),
        )])
    };
    let (full, tenth) = (125_000_000, 12_500_000);
    let records = [record(0, [full, full]), record(1, [tenth, tenth]), record(2, [full, full])];
    let bench = find(crate::BENCHMARKS, ID).expect("there");
    let measures = bench.reduce(&case, &records).expect("numbers");
    let [finding] = measures.findings.as_slice() else { panic!("{:?}", measures.findings) };
    assert_eq!(finding.text, "n2 sends 0.200 Gbit/s, and half of the nodes 2.000 Gbit/s or more");
    let slow: Vec<String> = measures.series["by_flow"]
        .iter()
        .filter(|row| row.values.trials[0][0] < 0.5)
        .map(|row| row.at.to_string())
        .collect();
    assert_eq!(slow, ["from=n2,to=n1", "from=n2,to=n3"]);
    let gid = json!({ "index": 3, "why": "RoCE v2: IPv4 addresses of one network of 24 bits" });
    assert_eq!(measures.evidence["device"], json!([{ "port": "mlx5_0/1", "gid": gid }]), "told once");
    assert_eq!(bench.reduce(&case, &records[..2]).expect_err("too few").cause, Cause::TooShort);
}

#[test]
fn a_wrong_word_is_found_and_its_flow_is_named() {
    let cards = Rack::new("flip=2");
    let case = case_on(three(), ID, &[]);
    let records = trial(&case, cards.parts(&case), Duration::from_secs(1));
    for record in &records {
        match &record.integrity {
            Integrity::Corrupt { wrong: 1, of: 2, first } if record.node != "n2" => {
                assert!(first.starts_with("byte 4095 of slot 0 of the flow from n2 is 0x"), "{first}");
            }
            Integrity::Verified { .. } if record.node == "n2" => {}
            other => panic!("{}: {other:?}", record.node),
        }
    }
}

#[test]
fn a_queue_pair_that_breaks_names_its_flow_and_the_node_at_the_other_end() {
    for (words, named, changed, flow) in [
        ("fail=100", "IBV_WC_GENERAL_ERR", &[][..], "/1: flow to n"),
        // The queue pair of the other end breaks, too, and flushes what is under way: that is not the cause.
        ("fail=100 status=10", "IBV_WC_REM_ACCESS_ERR", &[][..], "/1: flow to n"),
        ("silent=100", "no request completed for 5 s", &[][..], "/1: flow to n"),
        ("fail=100", "IBV_WC_GENERAL_ERR", &[("per_node", "2")][..], "/1: flow to part "),
    ] {
        let told: Vec<String> = Rack::new(words)
            .errors(&case_on(three(), ID, changed))
            .into_iter()
            .map(|error| error.text)
            .collect();
        let cause = told.iter().find(|text| text.contains(named));
        assert!(cause.is_some_and(|text| text.contains(flow)), "{words}: {told:?}");
    }
}

#[test]
fn a_flow_that_stands_still_is_named_while_the_others_of_its_thread_go_on() {
    let (clock, given) = (Instant::now(), Duration::from_secs(60));
    let told = Rack::new("stall=100").errors(&case_on(three(), ID, &[]));
    let [error] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(error.cause, Cause::IoError);
    assert!(
        error.text.contains("/1: flow to n") && error.text.contains("no request completed for 5 s"),
        "{error}"
    );
    assert!(clock.elapsed() < given, "the end of the measuring time is not waited for");
}
