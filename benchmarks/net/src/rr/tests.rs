//! Plan and reduction; the two ends together are tested with real sockets.

use std::time::Duration;

use seatrial_model::{Case, Cause, Integrity, Params, Phase, Reason, Site, SiteNode};

use super::BENCHMARK;
use crate::rig;
use seatrial_bench::Stop;
use seatrial_bench::testing::Kept;

fn node(name: &str) -> SiteNode {
    seatrial_testkit::node(name, 2)
}

fn params(changed: &[(&str, &str)]) -> Params {
    rig::params(&BENCHMARK, changed)
}

fn planned(nodes: &[&str], changed: &[(&str, &str)]) -> Case {
    let site = Site { nodes: nodes.iter().map(|name| node(name)).collect() };
    BENCHMARK.plan(&params(changed), &site).expect("a plan").remove(0)
}

#[test]
fn two_nodes_are_client_and_server_and_one_is_both() {
    let pair = planned(&["n1", "n2"], &[]);
    assert_eq!(pair.subject.as_str(), "n1->n2");
    assert_eq!(pair.nodes, ["n1", "n2"]);
    assert!(pair.id.as_str().contains("n1+n2"), "{}", pair.id);
    let ends: Vec<_> = pair.places.iter().map(|place| (place.part.as_str(), place.node.as_str())).collect();
    assert_eq!(ends, [("client", "n1"), ("server", "n2")]);
    let alone = planned(&["n1"], &[]);
    assert_eq!(alone.subject.as_str(), "nic:lo");
    assert_ne!(alone.places[0].bindings[0].cpu, alone.places[1].bindings[0].cpu);
    let named = planned(&["n1", "n2"], &[("interface", "eth1")]);
    assert_eq!(named.subject.as_str(), "n1/eth1->n2/eth1");
}

#[test]
fn an_interface_of_one_node_alone_is_refused() {
    let site = Site { nodes: vec![node("n1")] };
    let reason = BENCHMARK.plan(&params(&[("interface", "eth0")]), &site).expect_err("refused");
    assert_eq!(reason.cause, Cause::Missing);
}

/// A case on any CPU: the test machine may have one, or a set without CPU 0.
pub fn unpinned(changed: &[(&str, &str)]) -> Case {
    rig::anywhere(planned(&["n1"], changed))
}

/// Measures until there are some slices. Repeats if an end without a CPU for seconds was taken for gone.
fn measured(changed: &[(&str, &str)]) -> seatrial_model::Measures {
    let mut failed = Vec::new();
    while failed.len() < 10 {
        match try_measured(changed) {
            Ok(measures) => return measures,
            Err(error) => failed.push(error),
        }
    }
    panic!("{changed:?}: {failed:#?}");
}

fn try_measured(changed: &[(&str, &str)]) -> Result<seatrial_model::Measures, Reason> {
    let case = unpinned(changed);
    let (mut client, mut server) = rig::ends(&BENCHMARK, &case);
    let mut kept = Kept::until(8);
    let stop = kept.stop.clone();
    std::thread::scope(|scope| {
        let end = stop.clone();
        let serving =
            scope.spawn(move || server.run(Phase::Measure, &end, &mut Kept::default()).map(|()| server));
        let asked = client.run(Phase::Measure, &stop, &mut kept);
        stop.raise();
        let served = serving.join().expect("joined");
        asked?;
        let mut server = served?;
        for end in [&mut client, &mut server] {
            let (checked, is_full) = (end.verify()?, case.params.text("verify") == Ok("full"));
            let is_verified = matches!(checked, Integrity::Verified { checked } if checked > 0);
            assert_eq!(is_verified, is_full, "{checked:?}");
        }
        Ok::<_, Reason>(())
    })?;
    assert_eq!(kept.evidence["connection"]["interface"], "lo");
    let part = kept.record(&case.places[0], Integrity::Verified { checked: 1 });
    let measures = BENCHMARK.reduce(&case, &[part]).expect("numbers");
    for name in ["round_trip", "rate", "slowest"] {
        assert!(measures.metrics[name].trials[0].iter().all(|value| *value > 0.0), "{name}");
    }
    Ok(measures)
}

#[test]
fn round_trips_are_counted_checked_and_reduced() {
    for protocol in ["tcp", "udp"] {
        for (wait, verify) in [("block", "full"), ("spin", "full"), ("block", "none")] {
            let changed = [
                ("request", "300 B"),
                ("response", "9 B"),
                ("protocol", protocol),
                ("wait", wait),
                ("verify", verify),
            ];
            let measures = measured(&changed);
            assert_eq!(measures.metrics.contains_key("loss"), protocol == "udp");
        }
    }
}

#[test]
fn requests_at_a_set_rate_are_answered_each_and_counted() {
    for protocol in ["tcp", "udp"] {
        let measures = measured(&[("rate", "500"), ("protocol", protocol)]);
        assert!(measures.evidence.contains_key("behind_ns"));
    }
}

#[test]
fn a_stream_beside_the_requests_moves_bytes_either_way() {
    for load in ["forward", "reverse"] {
        let measures = measured(&[("load", load)]);
        assert!(measures.evidence["load_gbit_s"].as_f64().is_some_and(|rate| rate > 0.0), "{load}");
    }
}

#[test]
fn a_message_that_no_datagram_holds_is_a_contradiction() {
    let site = Site { nodes: vec![node("n1")] };
    let params = params(&[("protocol", "udp"), ("response", "64 KiB")]);
    assert_eq!(BENCHMARK.plan(&params, &site).expect_err("refused").cause, Cause::Contradiction);
}

/// A responder that stalls on request, over TCP: an open loop must show the stall for every request that waits.
#[test]
fn a_stall_is_felt_by_every_request_that_falls_into_it() {
    use super::message::MessagePattern;
    use super::request_loop::RequestLoop;
    use super::wire::{Wait, Wire};
    use std::io::{Read, Write};

    const STALL: Duration = Duration::from_millis(300);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let stream = std::net::TcpStream::connect(listener.local_addr().expect("told")).expect("connected");
    let (mut theirs, _) = listener.accept().expect("accepted");
    let answering = std::thread::spawn(move || {
        let (pattern, mut message) = (MessagePattern::default(), [0; 16]);
        for number in 0.. {
            if theirs.read_exact(&mut message).is_err() {
                return;
            }
            if number == 100 {
                std::thread::sleep(STALL);
            }
            pattern.fill(&mut message, number);
            theirs.write_all(&message).expect("answered");
        }
    });
    let wire = Wire::stream(stream);
    wire.set_wait(Wait::Spin, Duration::from_secs(5)).expect("set");
    let mut requests = RequestLoop::new(wire, 16, 16);
    let mut latencies = Vec::new();
    let stop = Stop::after(Duration::from_secs(60));
    let mut each = |latency: seatrial_model::Nanos, _| {
        latencies.push(latency);
        if latencies.len() >= 1000 {
            stop.raise();
        }
    };
    requests.at_rate(1000, &stop, &mut each).expect("asked");
    drop(requests);
    answering.join().expect("joined");
    // One request per millisecond: the 100th waits for the whole stall, and half of the 300 behind it for half of the
    // stall and more.
    let at_least = |share: u32| {
        latencies
            .iter()
            .filter(|latency| latency.get() >= STALL.as_nanos() as u64 / 100 * u64::from(share))
            .count()
    };
    assert!(at_least(100) >= 1 && at_least(50) >= 149, "{} {}", at_least(100), at_least(50));
}

#[test]
fn lost_datagrams_are_counted_and_late_ones_are_not_taken_for_others() {
    use super::request_loop::RequestLoop;
    use super::wire::{ReceivedMessage, Wait, Wire};

    let socket = || std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let (ours, theirs) = (socket(), socket());
    ours.connect(theirs.local_addr().expect("told")).expect("connected");
    theirs.connect(ours.local_addr().expect("told")).expect("connected");
    let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let done = std::sync::Arc::clone(&over);
    let dropped = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let told = std::sync::Arc::clone(&dropped);
    let answering = std::thread::spawn(move || {
        let mut wire = Wire::Udp { socket: theirs, _control: None };
        wire.set_wait(Wait::Block, Duration::from_millis(20)).expect("set");
        let (mut message, mut seen) = ([0; 16], 0);
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            if let ReceivedMessage::Message(_) = wire.receive(&mut message).expect("received") {
                seen += 1;
                if seen % 5 == 0 {
                    told.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                } else {
                    wire.send(&message).expect("answered");
                }
            }
        }
    });
    let wire = Wire::Udp { socket: ours, _control: None };
    wire.set_wait(Wait::Block, super::request_loop::LOST_AFTER).expect("set");
    let mut requests = RequestLoop::new(wire, 16, 16);
    let (mut asked, mut answered) = (0, 0);
    // If the machine delays an answer beyond the deadline, that answer is one more loss, and arrives late during a
    // later request.
    loop {
        asked += 1;
        answered += u64::from(requests.once().expect("asked").is_some());
        let dropped = dropped.load(std::sync::atomic::Ordering::Relaxed);
        if asked >= 20 && requests.lost == dropped + requests.late {
            break;
        }
        assert!(asked < 300, "{} lost of {asked}, {dropped} dropped, {} late", requests.lost, requests.late);
    }
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    answering.join().expect("joined");
    assert!(requests.lost >= 4, "every fifth was dropped");
    assert_eq!(answered, asked - requests.lost);
}

#[test]
fn a_server_that_goes_is_told_and_not_waited_for() {
    let case = unpinned(&[]);
    let (mut client, server) = rig::ends(&BENCHMARK, &case);
    drop(server);
    let error = client.run(Phase::Measure, &Stop::after(Duration::from_secs(30)), &mut Kept::default());
    assert_eq!(error.expect_err("nobody answers").cause, Cause::IoError);
}

#[test]
fn nothing_measured_is_no_number() {
    let case = planned(&["n1", "n2"], &[]);
    assert_eq!(BENCHMARK.reduce(&case, &[]).expect_err("nothing").cause, Cause::TooShort);
}
