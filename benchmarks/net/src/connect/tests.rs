//! Both ends over the loopback.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::time::Duration;

use seatrial_model::{Case, Cause, Integrity, Params, PartRecord, Phase, Sample, Site};

use super::BENCHMARK;
use crate::rig;
use seatrial_bench::testing::Kept;
use seatrial_bench::{Running, Stop};
use seatrial_testkit::node;

fn planned(exchange: &str) -> Case {
    let site = Site { nodes: vec![node("n1", 1)] };
    let params = rig::params(&BENCHMARK, &[("exchange", exchange)]);
    rig::anywhere(BENCHMARK.plan(&params, &site).expect("planned").remove(0))
}

fn ends(case: &Case) -> rig::Ends {
    rig::ends(&BENCHMARK, case)
}

/// The server's count, once it reaches `wanted` or after a minute: the kernel completes connections before the
/// server, which may get no CPU for a while, accepts them.
fn counted(server: &mut Box<dyn Running>, name: &str, wanted: u64) -> u64 {
    let mut count = 0;
    for _ in 0..6000 {
        let mut theirs = Kept::default();
        server.run(Phase::Measure, &Stop::after(Duration::ZERO), &mut theirs).expect("served");
        count = theirs.evidence[name].as_u64().expect("a count");
        if count >= wanted {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    count
}

#[test]
fn connections_are_made_timed_and_counted() {
    for exchange in ["false", "true"] {
        let case = planned(exchange);
        let (mut client, mut server) = ends(&case);
        let mut kept = Kept::until(8);
        client.run(Phase::Measure, &kept.stop.clone(), &mut kept).expect("connects");
        assert!(matches!(client.verify(), Ok(Integrity::Verified { checked }) if checked > 0));
        let made = kept.evidence["made"].as_u64().expect("counted");
        assert_eq!(counted(&mut server, "accepted", made + 1), made + 1, "{exchange}");
        let part = kept.record(&case.places[0], Integrity::Verified { checked: 1 });
        let measures = BENCHMARK.reduce(&case, &[part]).expect("numbers");
        for name in ["connect", "rate", "slowest"] {
            assert!(measures.metrics[name].trials[0].iter().all(|value| *value > 0.0), "{name}");
        }
    }
}

#[test]
fn connections_of_others_are_closed_and_counted() {
    let case = planned("true");
    let (mut client, mut server) = ends(&case);
    let mut kept = Kept::until(8);
    client.run(Phase::Measure, &kept.stop.clone(), &mut kept).expect("connects");
    let at: std::net::SocketAddr =
        serde_json::from_value(kept.evidence["connection"]["ends"][1].clone()).expect("an address");
    let from = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    // Another address of the loopback is another host to the server.
    from.bind(&std::net::SocketAddr::from(([127, 0, 0, 2], 0)).into()).expect("bound");
    from.connect(&at.into()).expect("connected");
    let mut foreign: TcpStream = from.into();
    let closed = std::io::Read::read(&mut foreign, &mut [0]);
    assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    assert_eq!(counted(&mut server, "foreign", 1), 1);
}

#[test]
fn a_server_that_goes_is_told() {
    let case = planned("false");
    let (mut client, server) = ends(&case);
    drop(server);
    let mut kept = Kept::until(8);
    let error = client.run(Phase::Measure, &kept.stop.clone(), &mut kept).expect_err("nobody accepts");
    assert_eq!(error.cause, Cause::IoError);
    assert!(error.text.contains("refused"), "{}", error.text);
}

#[test]
fn packets_of_connections_that_carry_nothing_prove_the_path_too() {
    for (exchange, there, back) in [("false", 84, 44), ("true", 132, 92)] {
        let mut case = planned(exchange);
        case.nodes = vec!["n1".to_owned(), "n2".to_owned()];
        let mut latencies = seatrial_bench::Latencies::default();
        (0..3).for_each(|_| latencies.record(seatrial_model::Nanos(5000)));
        let sample = Sample {
            channel: "median".to_owned(),
            at: Params::default(),
            start: seatrial_model::Nanos(0),
            end: seatrial_model::Nanos(1),
            amount: seatrial_model::Quantity::new(5000.0, seatrial_model::Unit::Nanosecond).expect("finite"),
        };
        let part = PartRecord {
            part: "client".to_owned(),
            evidence: BTreeMap::from([("connections".to_owned(), latencies.to_evidence())]),
            ..seatrial_testkit::part(vec![sample])
        };
        let measures = BENCHMARK.reduce(&case, &[part]).expect("numbers");
        let row = |from: &str, to: &str, bytes: u64| serde_json::json!({ "from": from, "to": to, "bytes": bytes, "buffered": 0 });
        let wanted = serde_json::json!([row("n1", "n2", 3 * there), row("n2", "n1", 3 * back)]);
        assert_eq!(measures.evidence["moved"], wanted, "exchange={exchange}");
    }
}

#[test]
fn nothing_measured_is_no_number() {
    assert_eq!(BENCHMARK.reduce(&planned("false"), &[]).expect_err("nothing").cause, Cause::TooShort);
}
