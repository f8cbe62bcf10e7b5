//! Every method and every direction over the loopback: the data sent is the data received.

use std::time::Duration;

use seatrial_model::{Integrity, Measures, PartRecord, Reason};

use super::super::BENCHMARK;
use super::super::method::{RECEIVES, SENDS};
use super::super::record::End;
use super::rig::{Both, alone, assert_verified, metrics};

const SPAN: Duration = Duration::from_millis(120);

fn ends(records: &[PartRecord]) -> Vec<End> {
    records.iter().flat_map(|record| End::all(&record.evidence)).collect()
}

/// Whether this kernel or container refuses io_uring, which is no fault.
fn without_ring(words: [&str; 2], error: &Reason) -> bool {
    words.contains(&"uring") && error.text.contains("the kernel refuses")
}

#[test]
fn every_way_to_send_and_to_receive_carries_every_byte() {
    let ways = SENDS.iter().map(|send| (*send, "read")).chain(RECEIVES.iter().map(|way| ("write", *way)));
    for (send, receive) in ways {
        let case = alone(&[("send", send), ("receive", receive)]);
        let mut both = Both::connected(case, |_| ());
        let [(client, _), (server, _)] = both.phase(seatrial_model::Phase::Measure, SPAN);
        if let Some(error) = client.as_ref().err().or(server.as_ref().err()) {
            assert!(without_ring([send, receive], error), "{send} {receive}: {error}");
            continue;
        }
        for end in both.verified() {
            let integrity = end.unwrap_or_else(|error| panic!("{send} {receive}: {error}"));
            assert!(matches!(integrity, Integrity::Verified { .. }), "{send} {receive}: {integrity:?}");
        }
    }
}

#[test]
fn every_direction_has_its_own_connections_and_figures() {
    for (direction, senders) in
        [("forward", ["client"].as_slice()), ("reverse", &["server"]), ("both", &["client", "server"])]
    {
        let case = alone(&[("direction", direction), ("flows", "2"), ("send", "write"), ("receive", "read")]);
        let moves = |measures: &Measures| {
            measures.metrics["throughput"].trials.iter().flatten().all(|rate| *rate > 0.0)
        };
        let (records, measures) = Both::measured_until(&case, SPAN, moves);
        assert_verified(&records, direction);
        assert_eq!(ends(&records).len(), 4 * senders.len(), "{direction}");
        for record in &records {
            let sends = End::all(&record.evidence).iter().any(|end| end.sends);
            assert_eq!(sends, senders.contains(&record.part.as_str()), "{direction}: {}", record.part);
        }
        let found = metrics(&case, &records);
        assert!(
            found["fairness"].iter().all(|index| (0.5 / senders.len() as f64..=1.000_001).contains(index))
        );
        assert_eq!(found.contains_key("forward"), senders.len() == 2, "{direction}");
        let series = measures.series;
        assert_eq!(series["by_flow"].len(), 2 * senders.len(), "{direction}");
    }
}

#[test]
fn small_odd_messages_arrive_as_well() {
    let case = alone(&[("message", "777 B"), ("nodelay", "true"), ("send", "write"), ("receive", "read")]);
    let records = Both::connected(case, |_| ()).measured(SPAN);
    assert_verified(&records, "777 B");
}

#[test]
fn both_ends_find_a_way_by_themselves_and_show_the_trials() {
    let case = alone(&[]);
    let records = Both::connected(case.clone(), |_| ()).measured(SPAN);
    assert_verified(&records, "auto");
    for record in &records {
        let methods = &record.evidence["methods"];
        let (send, receive) = (methods["send"].as_str(), methods["receive"].as_str());
        assert!(send.is_some_and(|word| SENDS.contains(&word)), "{methods}");
        assert!(receive.is_some_and(|word| RECEIVES.contains(&word) && word != "trunc"), "{methods}");
    }
    let tried = |part: usize, parameter: &str| records[part].evidence["methods"]["trials"][parameter].clone();
    for word in SENDS {
        let shown = tried(0, "send")[word].clone();
        assert!(shown["gbit_s_a_flow"].is_number() || shown["refused"].is_string(), "{word}: {shown}");
    }
    for word in RECEIVES {
        let shown = tried(1, "receive")[word].clone();
        assert!(shown["gbit_s_a_flow"].is_number() || shown["refused"].is_string(), "{word}: {shown}");
    }
}

#[test]
fn sockets_are_as_they_were_asked_to_be_and_say_so() {
    let changed = [
        ("buffer", "64 KiB"),
        ("congestion", "reno"),
        ("pacing", "800"),
        ("send", "write"),
        ("receive", "read"),
    ];
    let records = Both::connected(alone(&changed), |_| ()).measured(SPAN);
    for end in ends(&records) {
        // The kernel doubles the requested size (socket(7)).
        assert_eq!(end.socket.receive_buffer, Some(128 << 10), "{end:?}");
        assert_eq!(end.socket.send_buffer, Some(128 << 10), "{end:?}");
        assert_eq!(end.socket.congestion.as_deref(), Some("reno"));
        assert_eq!(end.socket.pacing, end.sends.then_some(100_000_000));
    }
}

#[test]
fn packets_are_no_larger_than_they_were_asked_to_be() {
    for direction in ["forward", "reverse"] {
        let changed = [("mtu", "1500"), ("direction", direction), ("send", "write"), ("receive", "read")];
        let records = Both::connected(alone(&changed), |_| ()).measured(SPAN);
        assert_verified(&records, direction);
        let sender = ends(&records).into_iter().find(|end| end.sends).expect("one sends");
        // Less the headers of IPv4 and TCP, and timestamps where enabled.
        assert!(matches!(sender.tcp.mss, Some(1448 | 1460)), "{:?}", sender.tcp);
    }
}

#[test]
fn several_paths_of_one_connection_carry_every_byte_where_the_kernel_has_them() {
    let case = alone(&[("protocol", "mptcp")]);
    if let Err(error) = BENCHMARK.part(&case, &case.places[1]).prepare() {
        assert_eq!(error.cause, seatrial_model::Cause::Inapplicable, "{error}");
        assert!(error.text.starts_with("this kernel does not support mptcp"), "{error}");
        return;
    }
    assert_verified(&Both::connected(case, |_| ()).measured(SPAN), "mptcp");
}

#[test]
fn what_a_receiver_counts_is_what_the_kernel_counts() {
    let case = alone(&[("send", "write"), ("receive", "read")]);
    // Whether any data arrived in the window depends on the CPUs of the machine.
    let (records, _) = Both::measured_until(&case, SPAN, |_| true);
    let receiver = ends(&records).into_iter().find(|end| !end.sends).expect("one receives");
    let slices = records[1].samples.iter().filter(|sample| sample.channel == "received");
    let in_slices: f64 = slices.map(|sample| sample.amount.value()).sum();
    // Receipts before the first edge and after the last are in no slice.
    assert!(in_slices > 0.0 && in_slices <= receiver.bytes as f64, "{in_slices} of {}", receiver.bytes);
}
