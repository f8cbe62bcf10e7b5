//! Duplicates, order, losses and damage compared with the records of a relay.

use std::collections::HashSet;
use std::time::Duration;

use seatrial_model::{Integrity, Phase};
use seatrial_net::udp_stream::BENCHMARK;

use crate::relay::{Deed, Relay, Relayed};
use crate::rig::{Counted, Ends, Kept, case, records};

const SPAN: Duration = Duration::from_millis(400);

const ENOUGH: u64 = 150;

const TRIES: usize = 40;

/// Measures through a relay; returns the records of both ends, the receiver's check, and what was passed on. Repeats
/// if the sender had so little CPU time that it sent next to nothing, or the relay so little that the receiver gave
/// up.
fn relayed(changed: &[(&str, &str)], deed: fn(u64) -> Deed) -> ([Kept; 2], Integrity, Vec<u64>) {
    for _ in 0..TRIES {
        let mut relay = None;
        let mut ends = Ends::of(&case(&["n1"], changed), [&|| {}, &|| {}], |offers| {
            relay = Some(Relay::before(offers, deed));
        })
        .expect("connected");
        let kept = ends.measure(SPAN);
        let integrity = ends.parts[1].verify().expect("looked");
        let Relayed { order, seen, is_prompt } = relay.expect("a relay").end();
        if is_prompt && seen == sent(&kept) && seen > ENOUGH {
            return (kept, integrity, order);
        }
    }
    panic!("the sender did not come to send more than {ENOUGH} datagrams in any of {TRIES} trials");
}

fn hold_against(kept: &Kept, order: &[u64], sent: u64) {
    let distinct: HashSet<u64> = order.iter().copied().collect();
    let (mut first, mut reordered, mut extent) = (HashSet::new(), 0, 0);
    for (at, number) in order.iter().enumerate() {
        let overtaken = order[..at].iter().position(|other| other > number);
        if first.insert(*number)
            && let Some(earliest) = overtaken
        {
            reordered += 1;
            extent = extent.max((at - earliest) as u64);
        }
    }
    let truth = [
        ("sent", sent),
        ("received", distinct.len() as u64),
        ("lost", sent - distinct.len() as u64),
        ("duplicates", (order.len() - distinct.len()) as u64),
        ("reordered", reordered),
        ("extent", extent),
        ("late", 0),
        ("foreign", 0),
        ("stale", 0),
    ];
    for (name, count) in truth {
        assert_eq!(kept.flow(0, name), count, "{name} of {sent}");
    }
}

fn sent(kept: &[Kept; 2]) -> u64 {
    kept[0].evidence["sent"]["flows"][0]["datagrams"].as_u64().expect("a count")
}

#[test]
fn copies_and_overtaken_datagrams_are_counted_exactly() {
    let deed = |number: u64| match number % 20 {
        // The last datagram is not duplicated: the time to wait for its copies would be unknown.
        _ if number > ENOUGH => Deed::Pass,
        3 => Deed::Copy(1),
        7 => Deed::Copy(3),
        11 => Deed::Delay(4),
        13 => Deed::Delay(1),
        _ => Deed::Pass,
    };
    for offload in ["plain", "gso"] {
        let (kept, integrity, order) = relayed(&[("offload", offload)], deed);
        assert!(matches!(integrity, Integrity::Verified { checked } if checked > 0), "{integrity:?}");
        hold_against(&kept[1], &order, sent(&kept));
        assert!(kept[1].flow(0, "duplicates") > 3 && kept[1].flow(0, "reordered") > 3, "{offload}");
    }
}

#[test]
fn losses_at_the_head_in_bursts_and_at_the_tail_are_counted_exactly_and_hidden_by_no_copy() {
    let (kept, _, order) = relayed(&[], |number| match number {
        0..5 => Deed::Drop,
        50..57 | 80..87 => Deed::Drop,
        60 | 61 => Deed::Copy(9),
        100.. => Deed::Drop,
        _ => Deed::Pass,
    });
    let sent = sent(&kept);
    hold_against(&kept[1], &order, sent);
    let bursts = &kept[1].evidence["received"]["flows"][0]["bursts"];
    assert_eq!(bursts[0], serde_json::json!([5, 5, 1]));
    assert_eq!(bursts[1], serde_json::json!([7, 7, 2]));
    assert_eq!(kept[1].flow(0, "longest_burst"), sent - 100);
    let loss = kept[1].flow(0, "lost") as f64 / sent as f64 * 100.0;
    let case = case(&["n1"], &[]);
    let parts = records(&case, kept, Integrity::Verified { checked: 1 });
    match BENCHMARK.reduce(&case, &parts) {
        Ok(measures) => {
            assert!(
                (measures.metrics["loss"].trials[0][0] - loss).abs() < 1e-9,
                "{:?}",
                measures.metrics["loss"]
            );
            let lost = measures.findings.iter().find(|finding| finding.kind == "datagrams-lost");
            assert!(lost.is_some_and(|lost| lost.text.contains("in the network")), "{lost:?}");
        }
        Err(reason) => assert_eq!(reason.cause, seatrial_model::Cause::Underloaded, "{reason}"),
    }
}

#[test]
fn a_bit_that_was_turned_on_the_way_is_found_unless_nothing_is_to_be_compared() {
    let deed = |number| if number == 90 { Deed::Damage(77) } else { Deed::Pass };
    // Read one by one, so that each is checked.
    let (kept, integrity, _) = relayed(&[("offload", "plain"), ("batch", "1")], deed);
    let Integrity::Corrupt { wrong, first, .. } = integrity else { panic!("{integrity:?}") };
    assert_eq!(wrong, 1);
    assert!(first.starts_with("byte 77 of datagram 90 of flow 0"), "{first}");
    assert_eq!(kept[1].flow(0, "lost"), 0, "it came");
    let (kept, integrity, _) = relayed(&[("offload", "plain"), ("batch", "1"), ("verify", "none")], deed);
    assert_eq!((kept[1].flow(0, "checked"), kept[1].flow(0, "wrong")), (0, 0));
    let Integrity::Unverified { why } = integrity else { panic!("{integrity:?}") };
    assert_eq!(why, "contents were not checked (verify=none)");
}

#[test]
fn what_the_warm_up_sent_is_not_measured() {
    let case = case(&["n1"], &[("flows", "3"), ("threads", "2")]);
    let mut ends = Ends::here(&case).expect("connected");
    let warm = ends.run(Phase::WarmUp, Duration::from_millis(60));
    warm.into_iter().for_each(|(_, ended)| ended.expect("warms up"));
    let kept = ends.measure(Duration::from_millis(100));
    for flow in 0..3 {
        let sent = kept[0].evidence["sent"]["flows"][flow]["datagrams"].as_u64().expect("a count");
        assert_eq!((kept[1].flow(flow, "received"), kept[1].flow(flow, "lost")), (sent, 0), "flow {flow}");
    }
}

#[test]
fn datagrams_go_both_ways_at_once_and_the_other_way_alone() {
    for (direction, receivers) in [("both", vec![0, 1]), ("reverse", vec![0])] {
        let case = case(&["n1"], &[("direction", direction), ("flows", "2")]);
        let is_enough = |kept: &[Kept; 2]| {
            let told = receivers.iter().map(|index| kept[*index].flow(1, "received"));
            told.min().is_some_and(|least| least > 0)
        };
        let (ends, kept) = Ends::measured(&case, Duration::from_millis(120), is_enough);
        for (index, kept) in kept.iter().enumerate() {
            assert_eq!(kept.evidence.contains_key("received"), receivers.contains(&index), "{direction}");
            if receivers.contains(&index) {
                assert_eq!(kept.flow(1, "lost"), 0);
            }
        }
        let mut parts = ends.parts;
        let integrity = parts[0].verify().expect("looked");
        assert!(matches!(integrity, Integrity::Verified { .. }), "{direction}: {integrity:?}");
    }
}
