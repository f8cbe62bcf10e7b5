//! Plans, limits and reduction with exact numbers and no clock.

use seatrial_model::machine::{Hca, HcaPort, Known, Machine, Nic, NicKind};
use seatrial_model::{
    Bound, Bytes, Case, Cause, Limit, Measures, Nanos, Params, Quantity, Reason, Sample, Site, SiteNode,
};
use seatrial_mpi_job::between_nodes::MESSAGES;

use super::BENCHMARK;
use super::config::{Op, RankConfig, osu_iterations};
use crate::copies::of_copies;
use crate::fixture::{machine, site};

fn case(typed: &[(&str, &str)]) -> Result<Case, Reason> {
    let params = seatrial_testkit::params(BENCHMARK.about, typed);
    Ok(BENCHMARK.plan(&params, &site())?.remove(0))
}

fn region(case: &Case) -> u64 {
    case.planned.bytes("region").expect("planned").map_or(0, Bytes::get)
}

#[test]
fn ranks_have_a_core_each_and_too_many_are_told() {
    let four = case(&[("ranks", "4")]).expect("a case");
    let cpus: Vec<u32> = four.places[0].bindings.iter().map(|binding| binding.cpu).collect();
    assert_eq!((cpus, four.findings.len()), (vec![0, 1, 2, 3], 0));
    let ten = case(&[("ranks", "10")]).expect("a case");
    assert!(ten.places[0].bindings.is_empty(), "none is pinned");
    assert_eq!(ten.findings[0].kind, "oversubscribed");
    assert!(ten.findings[0].text.starts_with("10 ranks on 8 cores"), "{}", ten.findings[0].text);
}

/// Nodes with a port of 10 Gbit/s in one network each.
fn nodes(names: &[&str]) -> Site {
    let nic = Nic {
        name: "eth0".to_owned(),
        kind: NicKind::Physical,
        up: Known::Known(true),
        mtu: Known::Known(9000),
        speed_mbit_s: Known::Known(10_000),
        networks: Known::Known(vec!["10.0.0.0/24".to_owned()]),
        link_layer: Known::Known("ethernet".to_owned()),
        ..Nic::default()
    };
    let node = |name: &&str| {
        let boot_id = Known::Known((*name).to_owned());
        SiteNode::new(*name, Machine { nics: Known::Known(vec![nic.clone()]), boot_id, ..machine() })
    };
    Site { nodes: names.iter().map(node).collect() }
}

fn case_on(site: &Site, typed: &[(&str, &str)]) -> Result<Case, Reason> {
    Ok(BENCHMARK.plan(&seatrial_testkit::params(BENCHMARK.about, typed), site)?.remove(0))
}

#[test]
fn a_job_has_as_many_ranks_on_each_node() {
    let two = nodes(&["n1", "n2"]);
    let ranks = |site: &Site, typed: &[(&str, &str)]| {
        let case = case_on(site, typed).expect("a case");
        (case.planned.count("ranks").expect("planned"), case.places[1].bindings.len(), case.nodes.len())
    };
    assert_eq!(ranks(&two, &[]), (2, 1, 2));
    assert_eq!(ranks(&two, &[("ranks_per_node", "4")]), (8, 4, 2));
    assert_eq!(ranks(&two, &[("ranks", "4")]), (4, 2, 2));
    assert_eq!(ranks(&nodes(&["n1", "n2", "n3"]), &[("ranks_per_node", "2")]), (6, 2, 3));
    let planned = case_on(&two, &[]).expect("a case");
    assert_eq!(
        (planned.planned.text("interface"), planned.planned.text("network")),
        (Ok("eth0"), Ok("10.0.0.0/24"))
    );
    assert_eq!(planned.planned.flag("active_hca"), Ok(false));
    assert!(planned.budget.connect >= planned.budget.prepare, "the job starts when the parts are connected");
    for (typed, why) in [
        (&[("ranks", "3")][..], "ranks=3: each of the 2 nodes"),
        (&[("ranks", "4"), ("ranks_per_node", "4")], "ranks=4: ranks_per_node=4 on 2 nodes makes 8"),
        (&[("ranks_per_node", "4096")], "8192 ranks on 2 nodes"),
    ] {
        let reason = case_on(&two, typed).expect_err(why);
        assert!(reason.cause == Cause::Contradiction && reason.text.starts_with(why), "{reason}");
    }
    let alone = case(&[("interface", "eth0")]).expect_err("one node");
    assert!(alone.text.starts_with("interface= is for jobs over several nodes"), "{alone}");
}

#[test]
fn between_nodes_the_ports_that_send_are_the_limit() {
    let two = nodes(&["n1", "n2"]);
    let limit = |site: &Site, op: &str| {
        let case = case_on(site, &[("op", op)]).expect("a case");
        match BENCHMARK.limits(&case, site)["bandwidth"].clone() {
            Limit::Chain(bounds) => (bounds[0].value.value(), bounds[0].provenance.clone()),
            other => panic!("{other:?}"),
        }
    };
    // MTU 9000 with timestamps, and 38 B of Ethernet around it.
    let port = 10.0 * 8948.0 / 9038.0;
    let is = |(value, from): (f64, String), wanted: f64| {
        assert!((value - wanted).abs() < 1e-9 && from == "nic speed", "{value} {from}");
    };
    is(limit(&two, "bandwidth"), port);
    is(limit(&two, "both_directions"), 2.0 * port);
    is(limit(&nodes(&["n1", "n2", "n3", "n4"]), "bandwidth"), 2.0 * port);
    let mut with_hca = two;
    for node in &mut with_hca.nodes {
        let port = HcaPort {
            number: 1,
            state: Known::Known("ACTIVE".to_owned()),
            link_layer: Known::Known("InfiniBand".to_owned()),
            rate_gbit_s: Known::Known(200.0),
            speed_class: Known::Known("HDR".to_owned()),
            lanes: Known::Known(4),
            active_mtu: Known::Known(4096),
            ..HcaPort::default()
        };
        let hca = Hca { name: "mlx5_0".to_owned(), ports: vec![port], ..Hca::default() };
        node.machine.hcas = Known::Known(vec![hca]);
    }
    let (value, from) = limit(&with_hca, "bandwidth");
    assert!(value > 100.0 && value < 200.0, "{value} of {from}");
}

#[test]
fn moved_bytes_are_told_by_node_and_the_slowest_rank_with_its_node() {
    let site = nodes(&["n1", "n2"]);
    let case = case_on(&site, &[("ranks_per_node", "2"), ("size", "1000B")]).expect("a case");
    let samples = (0..4).map(|rank| sample(rank, 1000, 0, (0, if rank % 2 == 1 { 4000 } else { 1000 }), 500));
    let measures = BENCHMARK.reduce(&case, &[seatrial_testkit::part(samples.collect())]).expect("measured");
    assert_eq!(
        (&measures.evidence["slowest_rank"], &measures.evidence["slowest_node"]),
        (&1.into(), &"n1".into())
    );
    let rows = measures.evidence["moved"].as_array().expect("rows");
    let told: Vec<_> = rows.iter().map(|row| (row["from"].as_str(), row["bytes"].as_u64())).collect();
    assert_eq!(told, [(Some("n1"), Some(1_000_000)), (Some("n2"), Some(1_000_000))]);
    let slow = measures.findings.iter().find(|finding| finding.kind == "slow-rank").expect("named");
    assert!(slow.text.contains("on CPU 1 of n1 and CPU 1 of n2 reach"), "{}", slow.text);
    assert_eq!(slow.node.as_deref(), Some("n1"));
}

#[test]
fn contradictions_are_refused() {
    for (typed, why) in [
        (&[("ranks", "5")][..], "ranks=5"),
        (&[("like", "osu"), ("ranks", "4")], "ranks=4"),
        (&[("like", "osu"), ("op", "bandwidth"), ("window", "8")], "window=8"),
        (&[("like", "osu"), ("buffers", "fresh")], "buffers=fresh"),
    ] {
        let reason = case(typed).expect_err(why);
        assert!(reason.cause == Cause::Contradiction && reason.text.starts_with(why), "{reason}");
    }
    let too_much =
        case(&[("op", "bandwidth"), ("size", "1GiB"), ("window", "64")]).expect_err("64 GiB a rank");
    assert_eq!(too_much.cause, Cause::NoSpace);
}

#[test]
fn fresh_places_are_beyond_the_caches_and_hold_a_window() {
    assert_eq!(region(&case(&[]).expect("latency")), 0, "one buffer");
    // Four times 32 MiB over two regions; the window of the sweep's largest size is more.
    let fresh = case(&[("op", "bandwidth"), ("size", "1KiB")]).expect("a case");
    assert_eq!(region(&fresh), 64 << 20);
    assert_eq!(region(&case(&[("op", "bandwidth")]).expect("a sweep")), 256 << 20);
    let both = case(&[("op", "both_directions"), ("size", "1KiB"), ("ranks", "8")]).expect("a case");
    assert_eq!(region(&both), 8 << 20);
    assert_eq!(region(&case(&[("op", "bandwidth"), ("like", "osu")]).expect("a case")), 0);
}

#[test]
fn the_limit_is_a_copy_through_memory_where_messages_leave_the_caches() {
    let limit = |typed: &[(&str, &str)], metric: &str| {
        let case = case(typed).expect("a case");
        BENCHMARK.limits(&case, &site())[metric].clone()
    };
    let reason = |limit: Limit| match limit {
        Limit::Unknown { reason } => reason,
        other => panic!("{other:?}"),
    };
    let cached = reason(limit(&[("op", "bandwidth"), ("buffers", "one")], "bandwidth"));
    assert!(cached.contains("may stay in the caches"), "{cached}");
    assert!(reason(limit(&[], "latency")).contains("no hardware fact bounds the latency"));
    let fresh = limit(&[("op", "bandwidth")], "bandwidth");
    assert_eq!(
        fresh,
        seatrial_inventory::memory_limit(&machine()),
        "modules that nobody sees have no bound to halve"
    );
    let whole = Bound::new("200 GB/s".parse().expect("a rate"), "2 x 100", "dmi");
    let half = Bound::new(
        "100 GB/s".parse().expect("a rate"),
        "(2 x 100) / 2, as a copy reads and writes each byte",
        "dmi",
    );
    assert_eq!(of_copies(Limit::Chain(vec![whole.clone()])), Limit::Chain(vec![half.clone()]));
    let at_most = |bound| Limit::AtMost { bound, reason: "no table".to_owned() };
    assert_eq!(of_copies(at_most(whole)), at_most(half));
}

#[test]
fn counts_of_osu_are_those_of_its_source() {
    assert_eq!(osu_iterations(Op::Latency, 8192), (100, 10_000));
    assert_eq!(osu_iterations(Op::Latency, 8193), (10, 1000));
    assert_eq!(osu_iterations(Op::Bandwidth, 1), (10, 100));
    assert_eq!(osu_iterations(Op::BothDirections, 1 << 22), (2, 20));
    let config =
        RankConfig::of(&case(&[("op", "bandwidth"), ("like", "osu")]).expect("a case")).expect("read");
    assert_eq!((config.window, config.region, config.sizes.len()), (64, 0, 23));
}

/// A sample of a rank: so many messages of a size in these microseconds.
fn sample(rank: u64, size: u64, slice: u64, (start, end): (u64, u64), messages: u64) -> Sample {
    let at = Params::from([("rank", rank.into()), ("size", size.into()), ("slice", slice.into())]);
    Sample::new(MESSAGES, at, (Nanos(start * 1000), Nanos(end * 1000)), Quantity::count(messages))
}

fn reduced(typed: &[(&str, &str)], samples: Vec<Sample>) -> Result<Measures, Reason> {
    BENCHMARK.reduce(&case(typed).expect("a case"), &[seatrial_testkit::part(samples)])
}

fn values(measures: &Measures, metric: &str) -> Vec<f64> {
    measures.metrics[metric].trials.concat()
}

#[test]
fn latency_is_half_of_the_round_trip_of_the_smallest_size() {
    let samples = [
        sample(0, 8, 0, (0, 1000), 500),
        sample(1, 8, 0, (0, 1000), 500),
        sample(0, 16, 1, (1000, 2000), 100),
        sample(1, 16, 1, (1000, 2000), 100),
        sample(0, 8, 2, (2000, 4000), 500),
        sample(1, 8, 2, (2000, 4000), 500),
    ];
    let measures = reduced(&[], samples.to_vec()).expect("measured");
    assert_eq!(values(&measures, "latency"), [1.0, 2.0]);
    let rows = &measures.series["latency_by_size"];
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].values.trials, [[5.0]]);
    assert!(!measures.metrics.contains_key("bandwidth"));
    assert_eq!(measures.findings[0].kind, "not-reached", "21 sizes are missing");
    assert!(measures.findings[0].text.starts_with("21 sizes"), "{}", measures.findings[0].text);
}

#[test]
fn pairs_add_up_in_the_time_that_they_have_in_common() {
    let typed = [("op", "bandwidth"), ("ranks", "4"), ("size", "1000B")];
    // The second pair is later: 1 and 3 messages a microsecond, 4 together from 200 us to 1000 us.
    let samples = [
        sample(0, 1000, 0, (0, 1000), 1000),
        sample(2, 1000, 0, (0, 1000), 1000),
        sample(1, 1000, 0, (200, 1200), 3000),
        sample(3, 1000, 0, (200, 1200), 3000),
        // A slice in which a pair has no sample counts for nothing.
        sample(0, 1000, 1, (2000, 3000), 9000),
    ];
    let measures = reduced(&typed, samples.to_vec()).expect("measured");
    let close = |found: &[f64], wanted: f64| found.len() == 1 && (found[0] - wanted).abs() < 1e-9;
    assert!(close(&values(&measures, "bandwidth"), 4.0), "{:?}", values(&measures, "bandwidth"));
    assert!(close(&values(&measures, "message_rate"), 4.0));
    // With both directions every rank sends.
    let both = reduced(
        &[("op", "both_directions"), ("size", "1000B")],
        vec![sample(0, 1000, 0, (0, 1000), 1000), sample(1, 1000, 0, (0, 1000), 1000)],
    );
    assert!(close(&values(&both.expect("measured"), "bandwidth"), 2.0));
}

#[test]
fn the_slowest_rank_is_named_with_its_partner_and_their_cpus() {
    let typed = [("op", "message_rate"), ("ranks", "8")];
    let rate = |rank: u64| if rank % 4 == 2 { 500 } else { 1000 };
    let samples = (0..8).map(|rank| sample(rank, 8, 0, (0, 1000), rate(rank)));
    let measures = reduced(&typed, samples.collect()).expect("measured");
    assert_eq!(values(&measures, "slowest_rate"), [0.5]);
    assert_eq!(values(&measures, "message_rate"), [3.5]);
    assert_eq!(measures.evidence["slowest_rank"], 2);
    let slow = measures.findings.iter().find(|finding| finding.kind == "slow-rank").expect("named");
    assert!(
        slow.text.starts_with("rank 2 is the slowest: ranks 2 and 6 on CPUs 2 and 6 reach 50 %"),
        "{}",
        slow.text
    );
    let even = (0..8).map(|rank| sample(rank, 8, 0, (0, 1000), 1000));
    assert_eq!(reduced(&typed, even.collect()).expect("measured").findings, []);
}

#[test]
fn a_rank_whose_runs_were_all_too_short_is_left_out() {
    let measures = reduced(&[("size", "8B")], vec![sample(0, 8, 0, (0, 1000), 500)]).expect("measured");
    assert_eq!((values(&measures, "latency"), measures.series["latency_by_rank"].len()), (vec![1.0], 1));
}

#[test]
fn no_samples_are_too_short() {
    assert_eq!(reduced(&[], Vec::new()).expect_err("nothing").cause, Cause::TooShort);
    let apart = [sample(0, 8, 0, (0, 100), 9), sample(1, 8, 0, (500, 600), 9), sample(2, 8, 0, (0, 100), 9)];
    let reason = reduced(&[("op", "bandwidth"), ("ranks", "4"), ("size", "8B")], apart.to_vec());
    let reason = reason.expect_err("never together");
    assert!(reason.cause == Cause::TooShort && reason.text.contains("at the same time"), "{reason}");
}
