//! Connections over fake cards: properties and faults that soft-RoCE lacks.

use std::path::Path;
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Phase, Reason};
use seatrial_sys::memory::Pages;
use seatrial_sys::root::SysRoot;
use seatrial_sys::verbs::VerbKind;

use super::rack::{Rack, case, is_verified};
use seatrial_bench::Stop;
use seatrial_bench::testing::Kept;
use seatrial_bench::verbs::System;
use seatrial_bench::verbs::endpoint::RdmaEndpoint;
use seatrial_bench::verbs::{Method, RdmaConfig, RemoteCompletion};

#[test]
fn cards_of_infiniband_reach_each_other_by_local_identifiers_over_all_ports_of_a_case() {
    let cards = Rack::new("");
    for (id, changed) in [
        ("rdma.write_bw", [("transport", "rc"), ("direction", "both")]),
        ("rdma.write_bw", [("transport", "uc"), ("direction", "forward")]),
        ("rdma.read_bw", [("direction", "reverse"), ("queue_pairs", "3")]),
        ("rdma.send_bw", [("direction", "both"), ("queue_pairs", "2")]),
    ] {
        let case = case(id, &[&changed[..], &[("device", "mlx5_0+mlx5_1")]].concat());
        let directions = if changed.contains(&("direction", "both")) { 2 } else { 1 };
        let (records, measures) =
            cards.measured(&case, |_, measures| measures.series["by_port"].len() == 2 * directions);
        is_verified(&records);
        let facts = &records[0].evidence["device"];
        assert_eq!((&facts[0]["port"], &facts[1]["port"]), (&"mlx5_0/1".into(), &"mlx5_1/1".into()));
        assert!(facts[0].get("gid").is_none(), "one subnet needs no global header: {facts}");
        // Only the last slice may be a stall, of a thread that had no CPU to the end.
        let moved = |rates: &[f64]| {
            rates.split_last().is_some_and(|(last, rates)| {
                rates.iter().all(|rate| *rate > 0.0) && (*last > 0.0 || !rates.is_empty())
            })
        };
        let mut trials = measures.series["by_port"].iter().flat_map(|row| &row.values.trials);
        assert!(trials.all(|rates| moved(rates)), "{id}: {:?}", measures.series["by_port"]);
    }
}

#[test]
fn between_subnets_of_infiniband_a_global_header_is_put_in() {
    let (own, other) = ("fe80:0000:0000:0000", "fec0:0000:0000:0001");
    for (id, transport, what) in [
        ("rdma.write_bw", "rc", "connecting a queue pair"),
        ("rdma.send_bw", "ud", "making an address handle"),
    ] {
        let case = case(id, &[("transport", transport)]);
        let of = |words: &str, prefixes: [&str; 2]| Rack::between(words, prefixes).connected(&case).map(drop);
        assert_eq!(of("global=1", [own, other]), Ok(()));
        // The fake card only accepts what its words allow, so both cases are tested.
        assert_eq!(of("global=0", [own, own]), Ok(()));
        for (words, prefixes) in [("global=0", [own, other]), ("global=1", [own, own])] {
            let error = of(words, prefixes).expect_err("refused");
            assert!(error.text.contains(&format!("mlx5_0/1: {what}")), "{error}");
        }
    }
}

#[test]
fn what_a_card_cannot_do_or_a_port_that_is_down_is_told_before_anything_moves() {
    let opened = |words: &str, verb: VerbKind, id: &str, changed: &[(&str, &str)]| {
        let case = case(id, changed);
        let cards = Rack::new(words);
        let method = Method { verb, remote_completion: RemoteCompletion::None };
        let mut config = RdmaConfig::of(method, &case, &case.places[0]).expect("config");
        config.system = cards.system(0);
        RdmaEndpoint::open(&config, &[Pages::Base]).map(drop)
    };
    assert_eq!(opened("", VerbKind::Atomic, "rdma.atomic", &[]), Ok(()));
    let uc = &[("transport", "uc")][..];
    for (words, verb, id, changed, cause, text) in [
        ("atomics=0", VerbKind::Atomic, "rdma.atomic", &[][..], Cause::Inapplicable, "no atomic operations"),
        ("uc=0", VerbKind::Write, "rdma.write_bw", uc, Cause::Inapplicable, "no UC queue pairs"),
        ("state=1", VerbKind::Write, "rdma.write_bw", &[][..], Cause::Missing, "mlx5_0 is DOWN, not ACTIVE"),
        ("state=2", VerbKind::Write, "rdma.write_bw", &[][..], Cause::Missing, "the subnet manager"),
    ] {
        let error = opened(words, verb, id, changed).expect_err("refused");
        assert!(error.cause == cause && error.text.contains(text), "{words}: {error}");
    }
}

fn failed(words: &str, id: &str) -> Reason {
    let cards = Rack::new(words);
    let mut parts = cards.connected(&case(id, &[])).expect("connected");
    let (clock, given) = (Instant::now(), Duration::from_secs(60));
    let error = parts[0].run(Phase::Measure, &Stop::after(given), &mut Kept::default()).expect_err("failed");
    assert!(clock.elapsed() < given, "the end of the phase is not waited for");
    assert_eq!(error.cause, Cause::IoError, "{error}");
    error
}

#[test]
fn a_card_that_tells_nothing_more_ends_the_measurement_long_before_its_time() {
    let stream = failed("silent=100", "rdma.write_bw");
    assert!(stream.text.starts_with("mlx5_0/1: no request completed for 5 s"), "{stream}");
    let asked = failed("silent=100", "rdma.read_lat");
    assert!(asked.text.starts_with("mlx5_0/1: no answer for 5 s"), "{asked}");
}

#[test]
fn an_error_of_the_vendors_own_is_told_with_its_code() {
    for id in ["rdma.write_bw", "rdma.read_lat", "rdma.atomic"] {
        let error = failed("fail=100 vendor=129", id).text;
        assert!(error.contains("IBV_WC_GENERAL_ERR") && error.contains("vendor code 0x81"), "{id}: {error}");
    }
}

#[test]
fn the_library_of_the_system_is_not_taken_where_another_is_named() {
    let system =
        System { library: Some(Path::new("/nonexistent/libibverbs.so.1").into()), root: SysRoot::live() };
    let error = system.verbs().expect_err("nothing there");
    assert!(error.to_string().contains("/nonexistent"), "{error}");
}
