//! The search for the highest loss-free rate, before a policer of a known rate. Simulated time in
//! `net/udp_stream/policed.rs` tests that the search finds this rate: on a real machine the sender may get too little
//! CPU time.

use std::time::{Duration, Instant};

use seatrial_model::{Cause, Integrity, Phase, Reason};
use seatrial_net::udp_stream::BENCHMARK;
use serde_json::Value;

use crate::rig::{Ends, case, records};
use crate::space::{Net, Pair};
use seatrial_testkit::starved::Watch;

/// Searches until one must be near the policer's rate: a rate that a sender without a CPU does not offer is not
/// found.
const TRIES: usize = 8;

/// Datagrams per second of the policer, and its burst: more than the 80 with which a sender catches up after 20 ms,
/// so that none of these is lost.
const RATE: f64 = 4000.0;
const BURST: f64 = 120.0;

/// Share of the time without a CPU that may disturb a search: a step of 250 ms with 20 ms missing is late, and a step
/// that is late twice is not loss-free.
const DISTURBED: f64 = 0.01;

type Searched = (Result<f64, Reason>, f64);

/// Searches before the policer. `None`, and a message, without namespaces.
fn search() -> Option<Searched> {
    let mut failed = Vec::new();
    while failed.len() < TRIES {
        match try_search()? {
            // An end without a CPU for seconds is taken for gone, and what waits for it is lost.
            Err(why) => failed.push(why),
            Ok(searched) => return Some(searched),
        }
    }
    panic!("no search came to its end: {failed:#?}");
}

fn try_search() -> Option<Result<Searched, String>> {
    let buffer = ("buffer", "64 MiB");
    let changed = [("rate", "search"), ("offload", "plain"), ("message", "1000 B"), ("time", "1 s"), buffer];
    let pair = Pair::new(&Net { four: true, six: false, mtu: 1500 })?;
    pair.second.drop_datagrams(&format!("limit rate over {RATE}/second burst {BURST} packets"));
    let (first, second) = (|| pair.first.enter(), || pair.second.enter());
    let case = case(&["n1", "n2"], &changed);
    let mut ends = Ends::of(&case, [&first, &second], |_| {}).expect("connected");
    let (watch, began) = (Watch::begin(), Instant::now());
    let ran = ends.run(Phase::Measure, Duration::from_nanos(case.budget.measure.get()));
    let (took, starved) = (began.elapsed().as_secs_f64(), watch.end());
    let mut kept = Vec::new();
    for (told, ended) in ran {
        match ended {
            Ok(()) => kept.push(told),
            Err(error) if starved * took > 1.0 => return Some(Err(error.text)),
            Err(error) => panic!("{error}"),
        }
    }
    let integrity = ends.parts[1].verify().expect("looked");
    assert!(matches!(integrity, Integrity::Verified { checked } if checked > 0), "{integrity:?}");
    let steps = kept[0].evidence["steps"].as_array().expect("steps").clone();
    let sum = |name: &str| steps.iter().map(|step| step[name].as_u64().expect("a count")).sum::<u64>();
    assert_eq!(sum("sent"), sum("received") + sum("lost"));
    // Exact: the loss of all steps is what the filter dropped. A receiver without a CPU for seconds gives up waiting
    // datagrams.
    let dropped = pair.second.dropped();
    if sum("lost") > dropped && starved * took > 1.0 {
        return Some(Err(format!("{} lost, {dropped} dropped", sum("lost"))));
    }
    assert_eq!(sum("lost"), dropped, "{steps:?}");
    for step in steps.iter().filter(|step| step["came"] == "free") {
        holds(step);
    }
    let kept = <[_; 2]>::try_from(kept).expect("two ends");
    let parts = records(&case, kept, integrity);
    let found = BENCHMARK.reduce(&case, &parts);
    let found = found.map(|measures| measures.metrics["loss_free"].trials[0][0] * 1e9 / 8.0 / 1000.0);
    Some(Ok((found, starved)))
}

/// No more passes without loss than the rate and one burst, and a second burst if the last ones were late.
fn holds(step: &Value) {
    let span = step["span_ns"].as_f64().expect("a time") / 1e9;
    let sent = step["sent"].as_f64().expect("a count");
    assert!(sent <= (RATE * span + 2.0 * BURST) * 1.01, "{step}");
}

#[test]
fn every_loss_of_a_search_is_one_of_the_policers_drops_and_no_more_than_its_rate_is_found() {
    // If the sender gets too little CPU time, there is no rate, and the reason says so.
    if let Some((Err(reason), _)) = search() {
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
            Some((Ok(found), _)) if found > RATE * 0.95 => return,
            Some((found, starved)) => seen.push((found.map_err(|reason| reason.to_string()), starved)),
        }
    }
    // A machine on which every try was disturbed shows it; the bounds above have held for all tries.
    let is_disturbed = seen.iter().all(|(_, starved)| *starved > DISTURBED);
    assert!(is_disturbed, "{RATE} datagrams a second pass, and of the time without a CPU: {seen:?}");
}

#[test]
fn a_link_that_takes_all_that_can_be_offered_is_said_to_be_not_reached() {
    // One datagram per call against a receiver of hundreds: no loss over the loopback.
    let changed =
        [("rate", "search"), ("batch", "1"), ("message", "100 B"), ("time", "400 ms"), ("buffer", "512 MiB")];
    let case = case(&["n1"], &changed);
    for _ in 0..20 {
        let mut ends = Ends::here(&case).expect("connected");
        let ran = ends.run(Phase::Measure, Duration::from_nanos(case.budget.measure.get()));
        let [(sender, Ok(())), (receiver, Ok(()))] = ran else { continue };
        let steps = sender.evidence["steps"].as_array().expect("steps").clone();
        let parts = records(&case, [sender, receiver], Integrity::Verified { checked: 1 });
        let measures = BENCHMARK.reduce(&case, &parts);
        let kinds: Vec<_> =
            measures.iter().flat_map(|all| &all.findings).map(|one| one.kind.as_str()).collect();
        if steps[0]["lost"] == 0 && steps[0]["sent"] != 0 {
            assert_eq!((steps.len(), &steps[0]["came"]), (1, &serde_json::json!("free")), "{steps:?}");
            assert_eq!(kinds, ["loss-free-not-reached"]);
            return;
        }
        // Sender or receiver had too little CPU time; the result is no path without loss.
        assert!(steps.len() > 1 || steps[0]["came"] != "free", "{steps:?}");
    }
}
