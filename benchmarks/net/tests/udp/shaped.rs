//! Losses between two namespaces, compared with the counters of a packet filter.

use std::time::Duration;

use seatrial_model::{Cause, Integrity, Phase};
use seatrial_net::udp_stream::BENCHMARK;

use crate::rig::{Counted, Ends, Kept, case, records};
use crate::space::{Net, Pair};

const ENOUGH: u64 = 150;

const FOUR: Net = Net { four: true, six: false, mtu: 1500 };

/// Measures with a filter rule at the receiver; returns the records of both ends, and the number of drops. Repeats if
/// the sender had so little CPU time that it sent next to nothing. `None` without namespaces.
fn dropped(rule: &str, changed: &[(&str, &str)]) -> Option<([Kept; 2], u64)> {
    for _ in 0..40 {
        let tried = try_dropped(&Pair::new(&FOUR)?, rule, changed);
        if tried.0[1].flow(0, "sent") > ENOUGH {
            return Some(tried);
        }
    }
    panic!("the sender did not come to send more than {ENOUGH} datagrams in any of 40 trials");
}

fn try_dropped(pair: &Pair, rule: &str, changed: &[(&str, &str)]) -> ([Kept; 2], u64) {
    pair.second.drop_datagrams(rule);
    let (first, second) = (|| pair.first.enter(), || pair.second.enter());
    let case = case(&["n1", "n2"], changed);
    let mut ends = Ends::of(&case, [&first, &second], |_| {}).expect("connected");
    let kept = ends.measure(Duration::from_millis(500));
    (kept, pair.second.dropped())
}

#[test]
fn one_in_ten_in_a_hundred_and_in_a_thousand_are_counted_as_the_filter_counts_them() {
    for (of, rate) in [(10, "0.8 Mbit/s"), (100, "0.8 Mbit/s"), (1000, "3.2 Mbit/s")] {
        // The filter counts packets, so each datagram needs its own.
        let changed = [("offload", "plain"), ("rate", rate)];
        let Some((kept, gone)) = dropped(&format!("numgen inc mod {of} == 1"), &changed) else { return };
        let receiver = &kept[1];
        assert!(gone > 0, "1 in {of} of {}", receiver.flow(0, "sent"));
        assert_eq!(receiver.flow(0, "lost"), gone, "1 in {of}");
        assert_eq!(receiver.flow(0, "received") + gone, receiver.flow(0, "sent"), "1 in {of}");
        assert_eq!(receiver.evidence["received"]["flows"][0]["bursts"], serde_json::json!([[1, 1, gone]]));
    }
}

#[test]
fn bursts_and_the_tail_are_counted_with_their_lengths() {
    let plain = &[("offload", "plain")];
    let Some((kept, gone)) = dropped("numgen inc mod 50 < 7", plain) else { return };
    assert_eq!(kept[1].flow(0, "lost"), gone);
    let bursts = &kept[1].evidence["received"]["flows"][0]["bursts"];
    assert!(bursts.as_array().expect("a list").iter().any(|class| class[0] == 7), "{bursts}");
    // Packets of 128 B, of which the first hundred pass.
    let Some((kept, gone)) = dropped("quota over 12800 bytes", plain) else { return };
    assert_eq!((kept[1].flow(0, "lost"), kept[1].flow(0, "received")), (gone, 100));
    assert_eq!(kept[1].flow(0, "longest_burst"), gone);
}

#[test]
fn pieces_that_are_cut_and_put_together_lose_nothing_over_both_protocols() {
    for net in [Net { four: true, six: true, mtu: 9000 }, Net { four: false, six: true, mtu: 1500 }] {
        let Some(pair) = Pair::new(&net) else { return };
        let (first, second) = (|| pair.first.enter(), || pair.second.enter());
        let changed =
            [("offload", "gso"), ("message", "auto"), ("flows", "3"), ("rate", "4 Mbit/s"), ("threads", "2")];
        let case = case(&["n1", "n2"], &changed);
        let measured = || {
            let mut ends = Ends::of(&case, [&first, &second], |_| {}).expect("connected");
            ends.measure(Duration::from_millis(300))
        };
        let mut kept = measured();
        for _ in 0..40 {
            if (0..3).all(|flow| kept[1].flow(flow, "received") > 0) {
                break;
            }
            kept = measured();
        }
        let headers = if net.four { 28 } else { 48 };
        assert_eq!(kept[0].evidence["sent"]["message"], net.mtu - headers, "what fits the path");
        for flow in 0..3 {
            assert_eq!((kept[1].flow(flow, "lost"), kept[1].flow(flow, "duplicates")), (0, 0));
            assert!(kept[1].flow(flow, "received") > 0, "flow {flow}");
        }
        let interface = &kept[1].evidence["received"]["interface"];
        assert_eq!(interface, "v2");
    }
}

#[test]
fn a_firewall_that_lets_only_the_control_through_is_named() {
    let Some(pair) = Pair::new(&FOUR) else { return };
    pair.second.drop_datagrams("");
    let (first, second) = (|| pair.first.enter(), || pair.second.enter());
    // All datagrams of a short warm-up may be lost without an error, and a sender may get no CPU for long.
    let tried = (0..40).find_map(|_| {
        let mut tried = Ends::of(&case(&["n1", "n2"], &[]), [&first, &second], |_| {}).expect("connected");
        let [(_, sender), (_, receiver)] = tried.run(Phase::WarmUp, Duration::from_millis(100));
        // It only sends. An end without a CPU for seconds may be taken for gone.
        sender.ok().and_then(|()| receiver.err())
    });
    let error = tried.expect("nothing arrived");
    assert_eq!(error.cause, Cause::IoError);
    for word in ["10.99.0.1", "UDP port", "v2", "firewall"] {
        assert!(error.text.contains(word), "{}", error.text);
    }
}

#[test]
fn a_message_larger_than_the_path_is_refused_or_goes_in_fragments_that_are_told() {
    let Some(pair) = Pair::new(&FOUR) else { return };
    let (first, second) = (|| pair.first.enter(), || pair.second.enter());
    let large = [("message", "8900 B"), ("rate", "8 Mbit/s")];
    let whole = case(&["n1", "n2"], &[large[0], large[1], ("fragment", "false")]);
    let error = Ends::of(&whole, [&first, &second], |_| {}).err().expect("refused");
    assert_eq!(error.cause, Cause::IoError);
    assert!(error.text.contains("path MTU of 1500 B") && error.text.contains("8928 B"), "{}", error.text);
    let cut = case(&["n1", "n2"], &large);
    let mut ends = Ends::of(&cut, [&first, &second], |_| {}).expect("connected");
    let kept = ends.measure(Duration::from_millis(200));
    let received = kept[1].flow(0, "received");
    assert_eq!(kept[1].flow(0, "lost"), 0);
    // 8908 bytes behind the IP header, 1480 in each fragment but the last.
    assert_eq!(kept[0].evidence["sent"]["counters"]["counts"]["fragments_made"], received * 7);
    assert_eq!(kept[1].evidence["received"]["counters"]["counts"]["fragments_come"], received * 7);
}

/// Floods through a shaper at the sender, of 20 Mbit/s and a queue of 20 kB. Returns the records of both ends, the
/// loss, drops of the queue, and refused calls. `None` without namespaces.
fn through_a_shaper(offload: &str) -> Option<([Kept; 2], u64, u64, u64)> {
    let pair = Pair::new(&FOUR)?;
    pair.first.run("tc qdisc add dev v1 root tbf rate 20mbit burst 10kb limit 20kb");
    let (first, second) = (|| pair.first.enter(), || pair.second.enter());
    let changed = [("offload", offload), ("rate", "max"), ("message", "1000 B")];
    let measured = || {
        let mut ends =
            Ends::of(&case(&["n1", "n2"], &changed), [&first, &second], |_| {}).expect("connected");
        ends.measure(Duration::from_millis(300))
    };
    let is_full = |kept: &[Kept; 2]| {
        let dropped = kept[0].evidence["sent"]["counters"]["counts"]["queue_dropped"].as_u64();
        dropped.is_some_and(|count| count > 0) && (offload == "plain" || kept[1].flow(0, "lost") > 0)
    };
    let kept = (0..40).map(|_| measured()).find(is_full).expect("a queue that is full");
    let sent = &kept[0].evidence["sent"];
    let dropped = sent["counters"]["counts"]["queue_dropped"].as_u64().expect("a count");
    let count = |name: &str| sent["flows"][0][name].as_u64().expect("a count");
    let refused = count("refused") + count("cut_short");
    let lost = kept[1].flow(0, "lost");
    Some((kept, lost, dropped, refused))
}

#[test]
fn a_queue_of_the_sender_that_is_full_is_waited_for_and_is_no_loss() {
    let Some((_, lost, dropped, refused)) = through_a_shaper("plain") else { return };
    assert!(refused > 0, "it sends as fast as it can");
    assert_eq!(lost, 0);
    // The kernel counts each refusal; a call may also be cut short by its timeout.
    assert!(dropped > 0 && dropped <= refused, "{dropped} dropped, {refused} refused");
}

#[test]
fn what_the_senders_queue_drops_without_a_word_is_found_there() {
    let Some((kept, lost, dropped, refused)) = through_a_shaper("gso") else { return };
    assert!(lost > 0, "a piece is larger than what the queue holds");
    let again = kept[0].evidence["sent"]["segments"].as_u64().expect("a count") * refused;
    assert!(dropped >= lost && dropped - lost <= again, "{lost} lost, {dropped} dropped, {again} sent again");
    let case = case(&["n1", "n2"], &[]);
    let parts = records(&case, kept, Integrity::Verified { checked: 1 });
    let measures = BENCHMARK.reduce(&case, &parts).expect("numbers");
    let finding = measures.findings.iter().find(|finding| finding.kind == "datagrams-lost").expect("told");
    assert!(finding.text.contains("in the sender's queue"), "{}", finding.text);
}

#[test]
fn an_interface_that_goes_down_ends_the_case_with_its_reason() {
    let Some(pair) = Pair::new(&FOUR) else { return };
    let (first, second) = (|| pair.first.enter(), || pair.second.enter());
    let mut ends = Ends::of(&case(&["n1", "n2"], &[]), [&first, &second], |_| {}).expect("connected");
    // The sender fails at once; the receiver waits for the count for some seconds more than the phase lasts.
    let results = std::thread::scope(|scope| {
        let running = scope.spawn(|| ends.run(Phase::Measure, Duration::from_secs(8)));
        std::thread::sleep(Duration::from_millis(200));
        pair.first.run("ip link set v1 down");
        running.join().expect("joined")
    });
    let [(_, sender), (kept, receiver)] = results;
    let error = sender.expect_err("there is no way any more");
    assert_eq!(error.cause, Cause::IoError, "{}", error.text);
    assert!(error.text.contains("10.99.0.2"), "{}", error.text);
    // The receiver waited for the count, and records that it never came.
    receiver.expect("it can go no further, which is no fault of its own");
    assert!(kept.evidence["received"]["silent"].as_str().is_some_and(|why| why.contains("10.99.0.1")));
}
