//! Faults are reported in time, and nothing waits for them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream as Socket};
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Integrity, Phase};

use super::super::config::Name;
use super::rig::{Both, Kept, alone, metrics};
use crate::byte_stream::closing::{PATIENCE, TAIL, receive_end, send_end};
use crate::byte_stream::pattern::{Check, PERIOD, bytes};
use seatrial_bench::Direction;
use seatrial_bench::Stop;

const PLAIN: [(&str, &str); 2] = [("send", "write"), ("receive", "read")];

/// Long enough that only a phase that ends by itself can pass.
const FOREVER: Duration = Duration::from_secs(600);

#[test]
fn a_peer_that_goes_is_told_by_the_flow_and_not_waited_for() {
    for direction in ["forward", "reverse"] {
        for phase in [Phase::WarmUp, Phase::Measure] {
            let case = alone(&[PLAIN[0], PLAIN[1], ("direction", direction), ("flows", "2")]);
            let Both { mut client, server, .. } = Both::connected(case, |_| ());
            let began = Instant::now();
            drop(server);
            let error =
                client.run(phase, &Stop::after(FOREVER), &mut Kept::default()).expect_err("nobody is there");
            assert!(matches!(error.cause, Cause::IoError | Cause::PartnerLost), "{error}");
            assert!(error.text.starts_with("flow "), "{error}");
            assert!(began.elapsed() < FOREVER / 2);
        }
    }
}

#[test]
fn a_peer_that_is_gone_at_the_end_is_told_too() {
    for direction in ["forward", "reverse"] {
        let case = alone(&[PLAIN[0], PLAIN[1], ("direction", direction)]);
        let mut both = Both::connected(case, |_| ());
        let measured = both.phase(Phase::Measure, Duration::from_millis(50));
        assert!(measured.iter().all(|(ran, _)| ran.is_ok()));
        drop(both.server);
        let error = both.client.verify().expect_err("nobody confirms");
        assert!(matches!(error.cause, Cause::IoError | Cause::PartnerLost), "{error}");
    }
}

#[test]
fn a_peer_that_does_nothing_ends_no_phase_late() {
    // The server is connected and never run, as if it were frozen.
    let case = alone(&[PLAIN[0], PLAIN[1], ("buffer", "64 KiB")]);
    let mut both = Both::connected(case, |_| ());
    let began = Instant::now();
    let mut kept = Kept::default();
    let ran = both.client.run(Phase::Measure, &Stop::after(Duration::from_millis(100)), &mut kept);
    ran.expect("the phase ends by itself");
    assert!(began.elapsed() < FOREVER / 2);
    let error = both.client.verify().expect_err("nobody confirms");
    assert_eq!(error.cause, Cause::PartnerLost);
    assert!(error.text.contains("flow 0 forward") && error.text.contains("no data moved for"), "{error}");
}

#[test]
fn a_receiver_that_stalls_shows_as_slowest_interval_and_not_as_a_hang() {
    let case = alone(&PLAIN);
    // A call, a rest of 1 s, a call: no data between two receipts. Two are enough.
    let rests = |config: &mut super::super::config::TcpStreamConfig| config.rest = Duration::from_secs(1);
    let records = Both::connected(case.clone(), rests).measured(Duration::from_secs(5));
    let found = metrics(&case, &records);
    let receiver_room = 128.0 * 1024.0;
    // At most the bytes of one call, evenly over the rest.
    assert!(found["slowest"][0] <= receiver_room * 8e-9 * 1.01, "{found:?}");
}

fn pair() -> (Socket, Socket) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let ours = Socket::connect(listener.local_addr().expect("told")).expect("connected");
    let (theirs, _) = listener.accept().expect("accepted");
    for end in [&ours, &theirs] {
        end.set_read_timeout(Some(Duration::from_millis(10))).expect("set");
        end.set_write_timeout(Some(Duration::from_millis(10))).expect("set");
    }
    (ours, theirs)
}

const NAME: Name = Name { direction: Direction::Forward, flow: 0 };

/// The end of a stream of 100 bytes: results of both sides when `meddle` has changed what the sender sends.
fn ending(meddle: impl Fn(Vec<u8>) -> Vec<u8> + Sync) -> (Integrity, Integrity) {
    let ((sender, mut from_sender), (mut to_receiver, receiver)) = (pair(), pair());
    std::thread::scope(|scope| {
        let sent = scope.spawn(|| send_end(&NAME, &sender, 100, true, PATIENCE).expect("ends"));
        let received = scope.spawn(|| {
            let mut check = Check::new();
            receive_end(&NAME, &receiver, 100, &mut check, true).expect("ends");
            check.integrity()
        });
        let wait = Some(Duration::from_secs(20));
        for end in [&from_sender, &to_receiver] {
            end.set_read_timeout(wait).expect("set");
        }
        let mut ready = [0];
        to_receiver.read_exact(&mut ready).expect("ready");
        from_sender.write_all(&ready).expect("passed on");
        let mut stream = Vec::new();
        from_sender.read_to_end(&mut stream).expect("read");
        to_receiver.write_all(&meddle(stream)).expect("passed on");
        to_receiver.shutdown(std::net::Shutdown::Write).expect("closed");
        let mut confirmed = [0; 8];
        to_receiver.read_exact(&mut confirmed).expect("confirmed");
        from_sender.write_all(&confirmed).expect("passed on");
        (sent.join().expect("joined"), received.join().expect("joined"))
    })
}

#[test]
fn a_stream_that_arrives_whole_is_verified_by_both() {
    let (sent, received) = ending(|stream| stream);
    assert!(matches!(sent, Integrity::Verified { .. }), "{sent:?}");
    assert_eq!(received, Integrity::Verified { checked: TAIL as u64 });
}

#[test]
fn a_flipped_bit_a_lost_byte_and_a_repeated_period_are_found() {
    let (_, received) = ending(|mut stream| {
        stream[5000] ^= 1;
        stream
    });
    let Integrity::Corrupt { wrong: 1, first, .. } = received else { panic!("{received:?}") };
    assert!(first.starts_with("byte 5100 of the stream"), "{first}");

    let (sent, received) = ending(|mut stream| {
        stream.remove(5000);
        stream
    });
    for found in [sent, received] {
        assert!(matches!(found, Integrity::Corrupt { .. }), "{found:?}");
    }

    let (sent, received) = ending(|stream| {
        let mut longer = bytes(100 + PERIOD)[100..].to_vec();
        longer.extend(stream);
        longer
    });
    let Integrity::Corrupt { wrong, .. } = sent else { panic!("{sent:?}") };
    assert_eq!(wrong, PERIOD as u64);
    let Integrity::Corrupt { wrong: 1, first, .. } = received else { panic!("{received:?}") };
    let sent = 100 + TAIL;
    let wanted = format!("{sent} bytes were sent and {} received", sent + PERIOD);
    assert!(first.contains(&wanted), "{first}");
}

#[test]
fn a_congestion_control_that_is_not_there_is_missing_and_the_others_are_named() {
    let case = alone(&[("congestion", "warp")]);
    let error = crate::tcp_stream::BENCHMARK.part(&case, &case.places[0]).prepare().err().expect("refused");
    assert!(matches!(error.cause, Cause::Missing | Cause::Denied), "{error}");
    assert!(error.text.contains("congestion=warp") && error.text.contains("reno"), "{error}");
}
