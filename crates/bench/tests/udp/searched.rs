//! The search for the highest loss-free rate, before a policer whose rate is known.

use std::time::Duration;

use seatrial_bench::Benchmark;
use seatrial_bench::net::udp_stream::UdpStream;
use seatrial_model::{Cause, Integrity, Reason};

use crate::rig::{Ends, case};
use crate::space::{Net, Pair};

/// Searches before the result must be near the policer's rate: other work on the machine keeps the sender from its CPU,
/// and what it then sends in a burst is dropped, which lowers the rate that is found.
const TRIES: usize = 8;

/// Datagrams a second that the policer lets through, and those that it lets through at once besides.
const RATE: f64 = 4000.0;
const BURST: f64 = 60.0;

/// Searches once before the policer; the highest loss-free rate in datagrams a second, where there is one.
///
/// None when there may be no spaces of the network here, which was said then.
fn search() -> Option<Result<f64, Reason>> {
    let changed = [("rate", "search"), ("offload", "plain"), ("message", "1000 B"), ("time", "1 s")];
    let pair = Pair::new(&Net { four: true, six: false, mtu: 1500 })?;
    pair.second.drop_datagrams(&format!("limit rate over {RATE}/second burst {BURST} packets"));
    let (first, second) = (|| pair.first.enter(), || pair.second.enter());
    let case = case(&["n1", "n2"], &changed);
    let mut ends = Ends::of(&case, [&first, &second], |_| {}).expect("connected");
    let kept = ends.measure(Duration::from_nanos(case.budget.measure.get()));
    let integrity = ends.parts[1].verify().expect("looked");
    assert!(matches!(integrity, Integrity::Verified { checked } if checked > 0), "{integrity:?}");
    let steps = kept[0].facts["steps"].as_array().expect("steps").clone();
    let sum = |name: &str| steps.iter().map(|step| step[name].as_u64().expect("a count")).sum::<u64>();
    // Exact, whatever the machine did meanwhile: all that was lost in all steps is what the filter dropped.
    assert_eq!(sum("lost"), pair.second.dropped(), "{steps:?}");
    assert_eq!(sum("sent"), sum("received") + sum("lost"));
    let [sender, receiver] = kept;
    let parts = [
        sender.record("sender", 0, Integrity::Unverified { why: "the other end checks".to_owned() }),
        receiver.record("receiver", 1, integrity),
    ];
    let measures = match UdpStream.reduce(&case, &parts) {
        Ok(measures) => measures,
        Err(reason) => return Some(Err(reason)),
    };
    let found = measures.metrics["loss_free"].trials[0][0] * 1e9 / 8.0 / 1000.0;
    // More than the rate and the burst over the shortest step cannot pass without loss.
    assert!(found <= (RATE + BURST / 0.25) * 1.01, "{found} a second: {steps:?}");
    Some(Ok(found))
}

#[test]
fn every_loss_of_a_search_is_one_of_the_policers_drops_and_no_more_than_its_rate_is_found() {
    // The machine may keep the sender from its CPU: then there is no rate, and that is said.
    if let Some(Err(reason)) = search() {
        assert!(matches!(reason.cause, Cause::Underloaded | Cause::TooShort), "{reason}");
    }
}

#[test]
#[ignore = "needs the machine for itself: cargo xtask test runs it last"]
fn alone_the_highest_loss_free_rate_is_what_a_policer_lets_through() {
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        match search() {
            None => return,
            Some(Ok(found)) if found > RATE * 0.95 => return,
            Some(found) => seen.push(found.map_err(|reason| reason.to_string())),
        }
    }
    panic!("{RATE} datagrams a second pass, and found were {seen:?}");
}

#[test]
fn a_link_that_takes_all_that_can_be_offered_is_said_to_be_not_reached() {
    // A sender of one datagram a call against a receiver of hundreds: over the loopback nothing is lost.
    let changed = [("rate", "search"), ("batch", "1"), ("message", "100 B"), ("time", "400 ms")];
    let case = case(&["n1"], &changed);
    for _ in 0..TRIES {
        let kept =
            Ends::here(&case).expect("connected").measure(Duration::from_nanos(case.budget.measure.get()));
        let steps = kept[0].facts["steps"].as_array().expect("steps").clone();
        if steps[0]["lost"] != 0 {
            // The receiver was kept from its CPU.
            continue;
        }
        assert_eq!((steps.len(), &steps[0]["came"]), (1, &serde_json::json!("free")), "{steps:?}");
        let [sender, receiver] = kept;
        let parts = [
            sender.record("sender", 0, Integrity::Unverified { why: "the other end checks".to_owned() }),
            receiver.record("receiver", 1, Integrity::Verified { checked: 1 }),
        ];
        let measures = UdpStream.reduce(&case, &parts).expect("numbers");
        assert_eq!(measures.findings[0].kind, "loss-free-not-reached");
        return;
    }
    #[expect(clippy::print_stdout, reason = "says why nothing was tested")]
    {
        println!("skipped: other work kept the receiver from its CPU in every run");
    }
}
