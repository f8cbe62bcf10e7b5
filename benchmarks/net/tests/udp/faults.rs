//! Foreign datagrams, ends that leave or freeze, ports that are taken.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

use seatrial_bench::Stop;
use seatrial_model::{Cause, Integrity, Phase};
use seatrial_net::udp_stream::BENCHMARK;

use crate::rig::{Counted, Ends, Kept, case, records};

#[test]
fn foreign_datagrams_are_counted_by_themselves_and_are_in_no_number() {
    let case = case(&["n1"], &[]);
    let mut port = 0;
    let mut ends = Ends::of(&case, [&|| {}, &|| {}], |offers| {
        port = offers[1].data["ports"][0].as_u64().expect("a port") as u16;
    })
    .expect("connected");
    // Before and during the measurement: too short for a header, as long as the real datagrams, and longer.
    let foreign = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let shout = || {
        for length in [0, 5, 100, 5000] {
            foreign.send_to(&vec![7; length], (Ipv4Addr::LOCALHOST, port)).expect("sent");
        }
    };
    shout();
    let (kept, ()) = ends.measure_while(|| {
        std::thread::sleep(Duration::from_millis(150));
        shout();
        std::thread::sleep(Duration::from_millis(150));
    });
    let sent = kept[0].evidence["sent"]["flows"][0]["datagrams"].as_u64().expect("a count");
    assert_eq!(kept[1].flow(0, "foreign"), 8);
    assert_eq!((kept[1].flow(0, "received"), kept[1].flow(0, "lost")), (sent, 0));
    let parts = records(&case, kept, Integrity::Verified { checked: 1 });
    match BENCHMARK.reduce(&case, &parts) {
        Ok(measures) => assert!(measures.findings.iter().any(|finding| finding.kind == "foreign-datagrams")),
        Err(reason) => assert_eq!(reason.cause, Cause::Underloaded, "{reason}"),
    }
}

#[test]
fn what_the_receive_buffer_has_no_room_for_is_counted_there() {
    let case =
        case(&["n1"], &[("offload", "plain"), ("rate", "max"), ("buffer", "4 KiB"), ("message", "1000 B")]);
    // A sender without a CPU, or only while the receiver has one, fills no buffer.
    let is_full = |kept: &[Kept; 2]| kept[1].flow(0, "socket_drops") > 0;
    let (_, kept) = Ends::measured(&case, Duration::from_millis(300), is_full);
    let receiver = &kept[1];
    let (lost, dropped) = (receiver.flow(0, "lost"), receiver.flow(0, "socket_drops"));
    // The loopback uses the backlog of a CPU, which may overflow as well; others may add to its count.
    let backlog = &receiver.evidence["received"]["counters"]["counts"]["backlog_dropped"];
    let backlog = backlog.as_u64().expect("a count");
    assert!(lost >= dropped && lost - dropped <= backlog, "{lost} lost, {dropped}, {backlog}");
    assert_eq!(receiver.flow(0, "received") + lost, receiver.flow(0, "sent"));
}

#[test]
fn an_end_that_goes_is_told_at_once_and_not_waited_for() {
    for gone in [0, 1] {
        let mut ends = Ends::here(&case(&["n1"], &[])).expect("connected").parts.into_iter();
        let (first, second) = (ends.next().expect("an end"), ends.next().expect("another"));
        let (mut left, going) = if gone == 1 { (first, second) } else { (second, first) };
        drop(going);
        let began = Instant::now();
        let ended = left.run(Phase::Measure, &Stop::after(Duration::from_secs(600)), &mut Kept::default());
        assert_eq!(ended.expect_err("alone").cause, Cause::PartnerLost);
        assert!(began.elapsed() < Duration::from_secs(300), "it would have measured for ten minutes");
    }
}

#[test]
fn an_end_that_freezes_keeps_the_other_no_longer_than_its_patience() {
    let parts = Ends::here(&case(&["n1"], &[])).expect("connected").parts;
    let [sender, mut receiver]: [_; 2] = parts.try_into().ok().expect("two ends");
    let mut kept = Kept::default();
    // It answers in time, so that only the frozen end is late for its supervisor.
    let stop = || Stop::after(Duration::from_millis(50));
    receiver.run(Phase::Measure, &stop(), &mut kept).expect("ends by itself");
    assert!(kept.evidence["received"]["silent"].as_str().is_some_and(|why| why.contains("did not answer")));
    let again = receiver.run(Phase::Measure, &stop(), &mut kept).expect_err("there is nobody");
    assert_eq!(again.cause, Cause::IoError);
    drop(sender);
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
    let port = taken.local_addr().expect("told").port().to_string();
    let case = case(&["n1"], &[("port", &port)]);
    let error = BENCHMARK.part(&case, &case.places[1]).prepare().err().expect("taken");
    assert_eq!(error.cause, Cause::IoError);
    assert!(error.text.contains(&format!("port {port}")), "{}", error.text);
}
