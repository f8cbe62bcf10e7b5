//! Datagrams, multicast groups, events and atomics on fake cards.

use std::time::Duration;

use seatrial_model::{Cause, Integrity, Measures};
use seatrial_sys::verbs::VerbKind;

use super::device::trial;
use super::rack::{Rack, case, is_verified};
use super::{node, planned_of, two_cards};
use seatrial_bench::find;
use seatrial_bench::verbs::{Layout, Method, RdmaConfig, RemoteCompletion};

fn is_whole(measures: &Measures) -> bool {
    measures.metrics.get("loss").is_none_or(|loss| loss.trials == [[0.0]])
}

#[test]
fn datagrams_of_infiniband_go_by_local_identifiers_or_behind_a_global_header() {
    let near = Rack::new("lid=9");
    let far = Rack::between("lid=9 global=1", ["fe80:0000:0000:0000", "fec0:0000:0000:0001"]);
    for (cards, gid) in [(near, None), (far, Some("fe80:0000:0000:0000:0000:0000:0000:0001"))] {
        for (id, pairs) in [("rdma.send_bw", "2"), ("rdma.send_lat", "1")] {
            let mut changed = vec![("transport", "ud"), ("size", "100 B")];
            changed.extend((pairs != "1").then_some(("queue_pairs", pairs)));
            let (records, _) = cards.measured(&case(id, &changed), |_, measures| is_whole(measures));
            is_verified(&records);
            let told = &records[0].evidence["device"]["gid"]["gid"];
            assert_eq!(told.as_str(), gid, "{id}");
        }
    }
}

#[test]
fn datagrams_that_get_lost_are_counted_and_the_others_are_still_whole() {
    let cards = Rack::new("lose=4");
    let case = case("rdma.send_bw", &[("transport", "ud"), ("direction", "both")]);
    let (records, _) = cards.measured(&case, |records, measures| {
        let sent: u64 = records.iter().map(|record| record.evidence["sent"].as_u64().expect("a count")).sum();
        // The first counted message may be any of four.
        (measures.metrics["loss"].trials[0][0] - 25.0).abs() <= 100.0 / sent as f64
    });
    is_verified(&records);
}

#[test]
fn ends_that_sleep_are_woken_by_the_events_of_the_card_and_acknowledge_them() {
    for (id, completion, wakes) in [
        ("rdma.send_bw", "event", true),
        ("rdma.send_lat", "event", true),
        ("rdma.send_lat", "polled", false),
    ] {
        let cards = Rack::new("");
        let (records, _) = cards.measured(&case(id, &[("completion", completion)]), |_, _| true);
        is_verified(&records);
        let count = |name: &str| cards.fake.told(name);
        assert_eq!(count("taken") > 0, wakes, "{id}, {completion}");
        assert!(count("taken") <= count("events") && count("taken") == count("acknowledged"), "{id}");
    }
}

#[test]
fn writes_that_are_seen_in_memory_are_measured_at_each_size() {
    for transport in ["rc", "uc"] {
        let cards = Rack::new("");
        let changed = [("transport", transport), ("size", "16 B"), ("up_to", "64 B")];
        let case = case("rdma.write_poll_lat", &changed);
        let (records, _) =
            cards.measured(&case, |_, measures| is_whole(measures) && measures.series["by_size"].len() == 3);
        is_verified(&records);
    }
}

#[test]
fn what_lies_beside_a_message_has_room_there_and_a_message_of_pages_is_alone() {
    let spare = |method: Method, id: &str, changed: &[(&str, &str)]| {
        let case = case(id, changed);
        let config = RdmaConfig::of(method, &case, &case.places[0]).expect("config");
        Layout::of(&config).stride - config.largest()
    };
    let write = |remote_completion| Method { verb: VerbKind::Write, remote_completion };
    let send = Method { verb: VerbKind::Send, remote_completion: RemoteCompletion::Cqe };
    assert_eq!(spare(write(RemoteCompletion::None), "rdma.write_bw", &[]), 0);
    assert!(spare(write(RemoteCompletion::None), "rdma.write_bw", &[("fence", "true")]) >= 8, "the proof");
    assert!(spare(write(RemoteCompletion::Polled), "rdma.write_poll_lat", &[]) >= 8, "the size");
    assert_eq!(spare(send, "rdma.send_bw", &[]), 0);
    assert!(spare(send, "rdma.send_bw", &[("transport", "ud")]) >= 40, "the global header");
    let atomic = Method { verb: VerbKind::Atomic, remote_completion: RemoteCompletion::None };
    assert!(8 + spare(atomic, "rdma.atomic", &[("depth", "512")]) >= 8 * 512, "the results");
    assert!(8 + spare(atomic, "rdma.atomic", &[("words", "1024")]) >= 8 * 1024, "the words");
}

#[test]
fn a_put_that_is_proven_by_a_read_leaves_the_message_whole() {
    let case = case("rdma.write_bw", &[("fence", "true"), ("queue_pairs", "2")]);
    let (records, _) = Rack::new("").measured(&case, |_, _| true);
    is_verified(&records);
}

#[test]
fn atomics_are_right_and_the_first_that_is_not_is_named() {
    for (operation, words) in
        [("fetch_add", "1"), ("compare_swap", "1"), ("fetch_add", "3"), ("compare_swap", "1024")]
    {
        let several = [("words", words)];
        let words = if words == "1" { &[][..] } else { &several[..] };
        let right = case("rdma.atomic", &[words, &[("operation", operation), ("queue_pairs", "2")]].concat());
        let (records, _) = Rack::new("").measured(&right, |_, _| true);
        is_verified(&records);
        let wrong = case("rdma.atomic", &[words, &[("operation", operation)]].concat());
        let cards = Rack::new("wrong=10");
        let records = trial(&wrong, cards.parts(&wrong), Duration::from_secs(1));
        let Integrity::Corrupt { wrong, of, first } = &records[0].integrity else {
            panic!("{operation}: {:?}", records[0].integrity);
        };
        assert_eq!(*wrong, of / 10);
        let named = match words {
            [(_, "3")] => "operation 3 on word 0 of queue pair 0 found 4,",
            [(_, "1024")] => "operation 0 on word 9 of queue pair 0 found 1,",
            _ => "operation 9 on word 0 of queue pair 0 found 10,",
        };
        assert!(first.starts_with(named), "{operation}: {first}");
    }
}

#[test]
fn datagrams_to_a_group_come_to_the_other_end_and_the_group_is_left_at_the_end() {
    for (multicast, network) in [("true", Some("0000:0000:0000:0000:0000:ffff:ef")), ("false", None)] {
        let cards = Rack::roce("");
        let changed =
            [("transport", "ud"), ("multicast", multicast), ("direction", "both"), ("queue_pairs", "2")];
        // Each queue pair has its own group, or more messages would arrive than were sent.
        let (records, _) = cards.measured(&case("rdma.send_bw", &changed), |_, measures| is_whole(measures));
        is_verified(&records);
        let groups: Vec<Option<&str>> =
            records.iter().map(|record| record.evidence["device"]["group"]["gid"].as_str()).collect();
        assert!(groups.iter().all(|group| group.is_some() == network.is_some()), "{groups:?}");
        if let (Some(network), [Some(one), Some(other)]) = (network, groups.as_slice()) {
            assert!(one.starts_with(network) && other.starts_with(network) && one != other, "{groups:?}");
        }
        assert_eq!(cards.fake.told("grouped") > 0, network.is_some());
        assert_eq!(cards.fake.told("attached"), 0, "a queue pair in a group is not destroyed");
    }
}

#[test]
fn where_groups_cannot_be_had_the_case_does_not_apply() {
    let asked = [("transport", "ud"), ("multicast", "true")];
    for (cards, text) in [
        (Rack::new(""), "mlx5_0/1: multicast=true: on InfiniBand the subnet manager makes groups"),
        (Rack::roce("mcast=0"), "mlx5_0/1: joining a group: mlx5_0 offers no multicast"),
    ] {
        let error = cards.connected(&case("rdma.send_bw", &asked)).map(drop).expect_err("refused");
        assert_eq!(error.cause, Cause::Inapplicable);
        assert!(error.text.starts_with(text), "{error}");
    }
    let bench = find(crate::BENCHMARKS, "rdma.send_bw").expect("there");
    let site = seatrial_model::Site { nodes: vec![node("n1", two_cards())] };
    let reason = planned_of(bench, &site, &asked[1..]).expect_err("refused");
    assert!(reason.cause == Cause::Contradiction && reason.text.contains("transport=rc"), "{reason}");
}

#[test]
fn what_is_asked_of_a_path_reaches_the_card() {
    let asked = [("service_level", "3"), ("traffic_class", "104"), ("pkey_index", "2")];
    for (id, transport) in [("rdma.write_bw", "rc"), ("rdma.send_bw", "ud")] {
        let of = |changed: &[(&str, &str)]| {
            let case = case(id, &[changed, &[("transport", transport)]].concat());
            Rack::roce("sl=3 class=104 pkeys=3 pkey=2").connected(&case).map(drop)
        };
        assert_eq!(of(&asked), Ok(()));
        assert!(of(&asked[..1]).is_err() && of(&asked[1..]).is_err(), "the card looks at both");
        assert!(of(&asked[..2]).is_err(), "and at the partition");
    }
}

#[test]
fn what_the_port_has_not_is_refused_in_one_sentence() {
    let of = |changed: &[(&str, &str)]| {
        Rack::new("pkeys=3").connected(&case("rdma.write_bw", changed)).map(drop).expect_err("refused")
    };
    for (changed, cause, text) in [
        (
            ("pkey_index", "3"),
            Cause::Missing,
            "mlx5_0/1: pkey_index=3: the port has 3 partition keys, counted from 0",
        ),
        (
            ("gid_index", "7"),
            Cause::Missing,
            "mlx5_0/1: gid_index=7: port 1 of mlx5_0 has no GID 7; its table has 0: \
             fe80:0000:0000:0000:0000:0000:0000:0001 IB",
        ),
        (
            ("traffic_class", "32"),
            Cause::Contradiction,
            "mlx5_0/1: traffic_class=32 stands in the global header, which packets inside a subnet of InfiniBand do without; \
             gid_index= puts one in, service_level= needs none",
        ),
    ] {
        let error = of(&[changed]);
        assert_eq!((error.cause, error.text.as_str()), (cause, text));
    }
    // A value that no port can have is refused by the parameter.
    let about = find(crate::BENCHMARKS, "rdma.write_bw").expect("there").about;
    for (name, value, most) in [
        ("service_level", "16", "15"),
        ("traffic_class", "256", "255"),
        ("pkey_index", "65536", "65535"),
        ("gid_index", "256", "255"),
    ] {
        let spec = about.param(name).expect("a parameter");
        let error = spec.parse(value).expect_err("refused").to_string();
        assert!(spec.parse(most).is_ok() && error.contains(value) && error.contains(most), "{error}");
    }
}
