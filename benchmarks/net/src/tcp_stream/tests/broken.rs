//! Faults of the path between two namespaces, and connections of other programs.

use std::io::Write;
use std::net::TcpStream;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Phase, Reason};

use super::rig::{Both, Enter, Kept, alone, assert_verified, pair_of_nodes};
use super::space::{Net, Pair};
use seatrial_bench::{Running, Stop};

/// Congestion control last, for own namespaces: an unprivileged user may not choose just any.
const PLAIN: [(&str, &str); 3] = [("send", "write"), ("receive", "read"), ("congestion", "cubic")];

const FOREVER: Duration = Duration::from_secs(180);

/// Measures while `meddle` changes the path, and then until an end has noticed or `patience` is over. Returns both
/// ends, and how their phases ended.
fn meddled(pair: &Pair, patience: Duration, meddle: impl Fn()) -> ([Result<(), Reason>; 2], Both) {
    let enter: [&Enter<'_>; 2] = [&|| pair.first.enter(), &|| pair.second.enter()];
    let mut both = Both::connected_in(pair_of_nodes(&PLAIN), |_| (), enter);
    let stop = Stop::after(FOREVER);
    let run = &|end: &mut Box<dyn Running>| end.run(Phase::Measure, &stop, &mut Kept::default());
    let ended = std::thread::scope(|scope| {
        let ends = [&mut both.client, &mut both.server].map(|end| scope.spawn(move || run(end)));
        std::thread::sleep(Duration::from_millis(200));
        meddle();
        let until = Instant::now() + patience;
        while Instant::now() < until && !ends.iter().any(ScopedJoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(5));
        }
        stop.raise();
        ends.map(|end| end.join().expect("joined"))
    });
    (ended, both)
}

#[test]
fn a_connection_that_is_reset_on_the_way_is_told_by_its_flow() {
    let Some(pair) = Pair::new(&Net { four: true, six: false, mtu: 1500 }) else { return };
    let rule = "add rule inet t c meta l4proto tcp reject with tcp reset";
    let table = "add table inet t; add chain inet t c { type filter hook input priority 0; }";
    let (ended, _) = meddled(&pair, FOREVER, || {
        pair.second.run(&format!("nft '{table}; {rule}'"));
    });
    let errors: Vec<Reason> = ended.into_iter().filter_map(Result::err).collect();
    // The rule resets the sender; the receiver, whose packets the rule does not match, only hears nothing more.
    assert!(!errors.is_empty(), "a reset was not noticed");
    for error in errors {
        assert!(matches!(error.cause, Cause::IoError | Cause::PartnerLost), "{error}");
        assert!(error.text.starts_with("flow 0 forward"), "{error}");
    }
}

#[test]
fn an_interface_that_goes_down_in_the_middle_ends_the_phase_in_time_and_is_told() {
    let Some(pair) = Pair::new(&Net { four: true, six: false, mtu: 1500 }) else { return };
    let (ended, mut both) = meddled(&pair, Duration::from_millis(500), || {
        pair.first.run("ip link set v1 down");
    });
    // TCP keeps retrying; data from before the fault is there, followed by a silence.
    for end in ended {
        if let Err(error) = end {
            assert!(matches!(error.cause, Cause::IoError | Cause::PartnerLost), "{error}");
        }
    }
    let errors: Vec<Reason> = both.verified().into_iter().filter_map(Result::err).collect();
    assert!(!errors.is_empty(), "nothing confirms the data");
    assert!(errors.iter().all(|error| error.text.contains("flow 0 forward")), "{errors:?}");
}

#[test]
fn nodes_that_speak_only_version_6_are_measured_as_any_others() {
    let Some(pair) = Pair::new(&Net { four: false, six: true, mtu: 1500 }) else { return };
    let enter: [&Enter<'_>; 2] = [&|| pair.first.enter(), &|| pair.second.enter()];
    let both = Both::connected_in(pair_of_nodes(&PLAIN), |_| (), enter);
    let records = both.measured(Duration::from_millis(150));
    assert_verified(&records, "IPv6");
    let ends = super::super::record::End::all(&records[0].evidence);
    assert!(ends[0].socket.peer.as_deref().is_some_and(|peer| peer.starts_with("[fd99::2]")), "{ends:?}");
}

#[test]
fn a_foreign_program_at_the_port_is_refused_counted_and_in_no_number() {
    // Other programs connect as soon as the port is known, before the peer does.
    let case = alone(&PLAIN[..2]);
    let called = std::sync::Mutex::new(Vec::new());
    let both = Both::connected_after(case, |offer| {
        for _ in 0..3 {
            let port = offer.data[0]["port"].as_u64().expect("a port") as u16;
            let mut foreign = TcpStream::connect(("127.0.0.1", port)).expect("connected");
            foreign.write_all(&[7; 4096]).expect("written");
            called.lock().expect("held").push(foreign);
        }
    });
    let records = both.measured(Duration::from_millis(150));
    assert_verified(&records, "foreign");
    assert_eq!(records[1].evidence["foreign"], 3);
    let received = super::super::record::End::all(&records[1].evidence)[0].bytes;
    let sent = super::super::record::End::all(&records[0].evidence)[0].bytes;
    assert!(received > 0 && sent > 0);
}

#[test]
fn an_address_that_leads_nowhere_is_told_with_what_it_answered() {
    let case = alone(&PLAIN[..2]);
    let client = crate::tcp_stream::BENCHMARK.part(&case, &case.places[0]).prepare().expect("ready");
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|open| open.local_addr()).expect("a port");
    let reach =
        serde_json::json!([{ "addresses": ["127.0.0.1"], "port": free.port(), "key": "00".repeat(32) }]);
    let offer = seatrial_bench::Offer::new(&case.places[1], reach);
    let error = client.connect(&[offer]).err().expect("nobody listens");
    assert!(error.text.contains(&free.to_string()), "{error}");
}
