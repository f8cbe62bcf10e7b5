//! Plan and reduction; both ends over real sockets are tested in `tests/udp`.

use std::collections::BTreeMap;

use seatrial_model::machine::{Known, Nic, NicKind};
use seatrial_model::{
    Better, Case, Cause, Measures, Nanos, PartRecord, Reason, Sample, Site, SiteNode, Unit,
};
use serde_json::json;

use super::record::{Counts, Effort, Received, Sent, SentFlow, Tally};
use crate::rig;
use crate::udp_stream::BENCHMARK;

fn node(name: &str, cores: u32) -> SiteNode {
    let nic = Nic {
        name: "eth0".to_owned(),
        kind: NicKind::Physical,
        up: Known::Known(true),
        mtu: Known::Known(1500),
        speed_mbit_s: Known::Known(10_000),
        networks: Known::Known(vec!["10.0.0.0/24".to_owned()]),
        ..Nic::default()
    };
    let mut node = seatrial_testkit::node(name, cores);
    node.machine.nics = Known::Known(vec![nic]);
    node
}

fn site(names: &[&str], cores: u32) -> Site {
    Site { nodes: names.iter().map(|name| node(name, cores)).collect() }
}

fn planned(names: &[&str], cores: u32, changed: &[(&str, &str)]) -> Result<Case, Reason> {
    Ok(BENCHMARK.plan(&rig::params(&BENCHMARK, changed), &site(names, cores))?.remove(0))
}

fn pair(changed: &[(&str, &str)]) -> Case {
    planned(&["n1", "n2"], 8, changed).expect("a plan")
}

#[test]
fn the_direction_says_who_sends() {
    for (direction, parts) in [
        ("forward", ["sender", "receiver"]),
        ("reverse", ["receiver", "sender"]),
        ("both", ["sender", "receiver"]),
    ] {
        let case = pair(&[("direction", direction)]);
        let found: Vec<_> = case.places.iter().map(|place| place.part.as_str()).collect();
        assert_eq!(found, parts, "{direction}");
        assert_eq!(case.nodes, ["n1", "n2"]);
        let bindings = if direction == "both" { 2 } else { 1 };
        assert!(case.places.iter().all(|place| place.bindings.len() == bindings), "{direction}");
    }
}

#[test]
fn threads_have_a_core_each_and_only_then_spin() {
    let of = |names: &[&str], cores, changed: &[(&str, &str)]| {
        let case = planned(names, cores, changed).expect("a plan");
        (case.planned.count("threads").expect("told"), case.planned.text("pacing").expect("told").to_owned())
    };
    let twelve = ("flows", "12");
    assert_eq!(of(&["n1", "n2"], 8, &[twelve]), (8, "spin".to_owned()));
    assert_eq!(
        of(&["n1"], 8, &[twelve]),
        (4, "spin".to_owned()),
        "a node that is both ends has half for each"
    );
    assert_eq!(of(&["n1", "n2"], 8, &[twelve, ("direction", "both")]), (4, "spin".to_owned()));
    assert_eq!(of(&["n1"], 1, &[]), (1, "sleep".to_owned()));
    assert_eq!(of(&["n1", "n2"], 2, &[twelve, ("threads", "3")]), (3, "sleep".to_owned()));
    assert_eq!(of(&["n1", "n2"], 8, &[("affinity", "none")]).1, "sleep");
    assert_eq!(of(&["n1", "n2"], 8, &[("threads", "5")]).0, 1, "one flow needs no more than one");
}

#[test]
fn parameters_that_cannot_hold_together_are_refused_before_anything_runs() {
    for changed in [
        vec![("rate", "fast")],
        vec![("rate", "3 s")],
        vec![("rate", "0 Gbit/s")],
        vec![("pacing", "spin")],
        vec![("offload", "gso"), ("message", "40000 B")],
        vec![("offload", "gso"), ("batch", "1")],
        vec![("port", "65530"), ("flows", "7")],
    ] {
        let reason = planned(&["n1", "n2"], 8, &changed).expect_err("refused");
        assert_eq!(reason.cause, Cause::Contradiction, "{changed:?}: {reason}");
    }
    planned(&["n1", "n2"], 8, &[("port", "65530"), ("flows", "6")]).expect("the last port is one too");
}

#[test]
fn the_limit_is_what_headers_leave_of_the_port_both_ways_when_both_are_used() {
    let limit = |changed: &[(&str, &str)]| {
        let case = pair(changed);
        let limits = BENCHMARK.limits(&case, &site(&["n1", "n2"], 8));
        let record =
            limits["throughput"].record(Better::Higher, Unit::GigabitsPerSecond).expect("of the dimension");
        record.value.expect("a bound")
    };
    assert!((limit(&[]) - 10.0 * 1472.0 / 1538.0).abs() < 1e-9);
    assert!((limit(&[("message", "100 B")]) - 10.0 * 100.0 / 166.0).abs() < 1e-9);
    assert!((limit(&[("direction", "both")]) - 20.0 * 1472.0 / 1538.0).abs() < 1e-9);
}

/// Records of the ends of a trial. Times in ms, amounts in bytes.
struct Made {
    sent: Sent,
    received: Received,
    slices: Vec<(u64, u64, u64, f64)>,
}

impl Made {
    /// Two flows of 1000 datagrams of 1000 B in 10 ms.
    fn whole() -> Self {
        let flow = SentFlow { datagrams: 1000, span_ns: 10_000_000, ..SentFlow::default() };
        let effort =
            Effort { span_ns: 10_000_000, user_ns: 1_000_000, system_ns: 4_000_000, ..Effort::default() };
        let sent = Sent {
            message: 1000,
            path_mtu: Some(1500),
            headers: 28,
            segments: 1,
            flows: vec![flow; 2],
            effort,
            ..Sent::default()
        };
        let tally = Tally { sent: 1000, received: 1000, socket_drops: Some(0), ..Tally::default() };
        let received =
            Received { message: 1000, buffer: 400_000, flows: vec![tally; 2], effort, ..Received::default() };
        let slices = vec![(0, 0, 10, 1e6), (0, 10, 20, 1e6), (1, 5, 15, 5e5), (1, 15, 25, 5e5)];
        Self { sent, received, slices }
    }

    fn parts(&self) -> Vec<PartRecord> {
        let sample = |(flow, start, end, bytes): &(u64, u64, u64, f64)| Sample {
            channel: "received".to_owned(),
            at: [("flow".to_owned(), (*flow).into())].into_iter().collect(),
            start: Nanos(start * 1_000_000),
            end: Nanos(end * 1_000_000),
            amount: seatrial_model::Quantity::new(*bytes, Unit::Byte).expect("finite"),
        };
        let part = |part: &str, index, samples, evidence| PartRecord {
            part: part.to_owned(),
            index,
            node: format!("n{}", index + 1),
            evidence,
            ..seatrial_testkit::part(samples)
        };
        let samples = self.slices.iter().map(sample).collect();
        vec![
            part("sender", 0, Vec::new(), BTreeMap::from([("sent".to_owned(), json!(self.sent))])),
            part("receiver", 1, samples, BTreeMap::from([("received".to_owned(), json!(self.received))])),
        ]
    }

    fn reduced(&self) -> Result<Measures, Reason> {
        BENCHMARK.reduce(&pair(&[("flows", "2")]), &self.parts())
    }

    fn finding(&self, kind: &str) -> Option<String> {
        let findings = self.reduced().expect("numbers").findings;
        findings.into_iter().find(|finding| finding.kind == kind).map(|finding| finding.text)
    }
}

fn only(measures: &Measures, name: &str) -> Vec<f64> {
    measures.metrics[name].trials.concat()
}

#[test]
fn throughput_is_what_came_in_the_time_that_all_flows_have_in_common() {
    let measures = Made::whole().reduced().expect("numbers");
    // From 5 to 20 ms: 0.8 Gbit/s of the first, 0.4 Gbit/s of the second.
    let rates = only(&measures, "throughput");
    assert_eq!(rates.len(), 1);
    assert!((rates[0] - 1.2).abs() < 1e-9, "{rates:?}");
    assert!((only(&measures, "packets")[0] - 150_000.0).abs() < 1e-3);
    assert!((only(&measures, "offered")[0] - 1.6).abs() < 1e-9);
    assert_eq!(only(&measures, "loss"), [0.0]);
    assert!((only(&measures, "sender_cpu")[0] - 50.0).abs() < 1e-9);
    let by_flow: Vec<f64> = measures.series["by_flow"].iter().map(|row| row.values.trials[0][0]).collect();
    assert!((by_flow[0] - 0.8).abs() < 1e-9 && (by_flow[1] - 0.4).abs() < 1e-9, "{by_flow:?}");
    assert!(measures.findings.is_empty(), "{:?}", measures.findings);
    let moved = json!([{ "from": "n1", "to": "n2", "bytes": 2_000_000, "buffered": 0 }]);
    assert_eq!(measures.evidence["moved"], moved);
}

#[test]
fn time_in_which_nothing_came_any_more_counts_until_the_sender_has_ended() {
    // Flows of a second; a slice of 0.1 s has 0.8 Gbit/s.
    let mean = |slices: Vec<(u64, u64, u64, f64)>| {
        let mut made = Made::whole();
        made.sent.flows.iter_mut().for_each(|flow| flow.span_ns = 1_000_000_000);
        made.slices = slices;
        let rates = only(&made.reduced().expect("numbers"), "throughput");
        rates.iter().sum::<f64>() / rates.len() as f64
    };
    let whole = |flow: u64| (0..10).map(move |slice| (flow, 100 * slice, 100 * (slice + 1), 1e7));
    let cut = |flow: u64| whole(flow).take(1);
    let close = |rate: f64, wanted: f64| assert!((rate - wanted).abs() < 1e-6, "{rate} {wanted}");
    close(mean(whole(0).chain(whole(1)).collect()), 1.6);
    close(mean(whole(0).chain(cut(1)).collect()), 0.88);
    close(mean(cut(0).chain(cut(1)).collect()), 0.16);
    // The last datagram of a flow that was not cut comes a little before its sender has ended.
    let early = whole(0).take(9).chain([(0, 900, 960, 6e6)]);
    close(mean(early.chain(whole(1)).collect()), 1.6);
}

#[test]
fn loss_is_of_what_was_sent_and_is_told_with_where_and_what_helps() {
    let mut made = Made::whole();
    let flow = &mut made.received.flows[0];
    (flow.received, flow.lost, flow.socket_drops) = (900, 100, Some(60));
    made.received.counters =
        Counts { counts: BTreeMap::from([("backlog_dropped".to_owned(), 30)]), unknown: Vec::new() };
    assert_eq!(only(&made.reduced().expect("numbers"), "loss"), [5.0]);
    let text = made.finding("datagrams-lost").expect("told");
    for part in [
        "100 of 2000",
        "60 in the receive buffer",
        "30 in the queue of packets",
        "10 in the network",
        "rmem_max",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    made.received.coalesced = true;
    let text = made.finding("datagrams-lost").expect("told");
    assert!(text.contains("pieces of up to 64") && !text.contains("network"), "{text}");
    made.received.coalesced = false;
    made.received.counters.unknown.push("no permission".to_owned());
    let text = made.finding("datagrams-lost").expect("told");
    assert!(
        text.contains("no counter could be read (no permission)"),
        "what is not known is not blamed on others: {text}"
    );
}

#[test]
fn a_sender_that_could_not_keep_its_rate_measures_nothing() {
    let mut made = Made::whole();
    made.sent.rate = Some(1e8);
    made.sent.flows[1].slipped_ns = 9_000;
    made.reduced().expect("it is within a thousandth");
    made.sent.flows[1].slipped_ns = 11_000;
    let reason = made.reduced().expect_err("it is not");
    assert_eq!(reason.cause, Cause::Underloaded);
    assert!(reason.text.contains("sender could not offer 0.800000 Gbit/s"), "{reason}");
    made.sent.rate = None;
    made.reduced().expect("as fast as it can has no schedule");
}

#[test]
fn a_trial_in_which_the_sender_was_late_is_left_out_while_most_were_not() {
    let mut late = Made::whole();
    late.sent.rate = Some(1e8);
    late.received.flows[0].lost = 500;
    late.sent.flows[0].slipped_ns = 5_000_000;
    let reduced = |kinds: &[&Made]| {
        let numbered = |(trial, made): (usize, &&Made)| {
            made.parts().into_iter().map(move |part| PartRecord { trial: trial as u32, ..part })
        };
        let parts: Vec<PartRecord> = kinds.iter().enumerate().flat_map(numbered).collect();
        BENCHMARK.reduce(&pair(&[("flows", "2")]), &parts)
    };
    let whole = Made::whole();
    let measures = reduced(&[&whole, &late, &whole]).expect("two of three");
    assert_eq!(measures.metrics["loss"].trials, [[0.0], [0.0]], "its loss is nobody's");
    let finding = measures.findings.iter().find(|finding| finding.kind == "sender-late").expect("told");
    assert!(finding.text.starts_with("1 of the trials were left out"), "{}", finding.text);
    assert_eq!(reduced(&[&whole, &late]).expect_err("half is not most").cause, Cause::Underloaded);
}

#[test]
fn counts_that_did_not_come_over_make_no_number() {
    let mut made = Made::whole();
    made.received.silent = Some("n1 did not answer".to_owned());
    assert_eq!(made.reduced().expect_err("no count").cause, Cause::IoError);
    made = Made::whole();
    made.slices.clear();
    assert_eq!(made.reduced().expect_err("no time").cause, Cause::TooShort);
    assert_eq!(BENCHMARK.reduce(&pair(&[]), &[]).expect_err("nothing").cause, Cause::TooShort);
}

#[test]
fn fragments_foreign_and_late_ones_are_findings() {
    let mut made = Made::whole();
    made.sent.path_mtu = Some(1000);
    made.sent.counters.counts.insert("fragments_made".to_owned(), 4000);
    made.received.flows[1].foreign = 7;
    made.received.flows[0].late = 3;
    let text = made.finding("fragmented").expect("told");
    assert!(text.contains("path MTU of 1000 B") && text.contains("4000 made"), "{text}");
    assert!(made.finding("foreign-datagrams").is_some_and(|text| text.starts_with("7 datagrams")));
    assert!(made.finding("datagrams-late").is_some_and(|text| text.starts_with("3 datagrams")));
    made.sent.path_mtu = Some(1500);
    made.received.counters.counts.insert("fragments_come".to_owned(), 5);
    assert!(made.finding("fragmented").is_some_and(|text| text.contains("a device on the path")));
}

/// Both ends receive: the first one, of index 0, over `there` ms on its clock, the second one over `back` ms.
fn both_ways(there: u64, back: u64) -> Measures {
    let end = |index: u32, span: u64, offset: u64, bytes: f64| {
        let mut made = Made::whole();
        made.received.flows.truncate(1);
        made.sent.flows.truncate(1);
        made.slices = (0..span / 10).map(|at| (0, offset + at * 10, offset + at * 10 + 10, bytes)).collect();
        let [sender, receiver] = <[PartRecord; 2]>::try_from(made.parts()).expect("two");
        let mut evidence = sender.evidence;
        evidence.extend(receiver.evidence);
        PartRecord { index, node: format!("n{}", index + 1), evidence, ..receiver }
    };
    let parts = [end(0, there, 0, 1e6), end(1, back, 86_400_000, 2e6)];
    BENCHMARK.reduce(&pair(&[("direction", "both")]), &parts).expect("numbers")
}

#[test]
fn each_direction_counts_in_its_own_window_and_the_sum_is_of_both() {
    for (there, back) in [(100, 100), (100, 70), (40, 110)] {
        let measures = both_ways(there, back);
        let mean = |name: &str| {
            let values = only(&measures, name);
            values.iter().sum::<f64>() / values.len() as f64
        };
        // 1 MB and 2 MB each 10 ms, whatever part of the time the slices cover.
        assert!((mean("reverse") - 0.8).abs() < 1e-9 && (mean("forward") - 1.6).abs() < 1e-9);
        assert!((mean("throughput") - 2.4).abs() < 1e-9, "{there} and {back} ms: {}", mean("throughput"));
        let counts = ["throughput", "forward", "reverse"].map(|name| only(&measures, name).len());
        assert_eq!(counts, [there.min(back) as usize / 10; 3]);
    }
}

/// Reduces a search with these steps: requested MB/s of each flow, losses of a thousand datagrams, result.
fn searched(trials: &[&[(u64, u64, &str)]]) -> Result<Measures, Reason> {
    let step = |(asked, lost, came): &(u64, u64, &str)| {
        json!({
            "asked": (*asked > 0).then_some(*asked as f64 * 1e6), "offered": if *asked > 0 { *asked as f64 * 1e6 } else { 1e9 },
            "sent": 1000, "received": 1000 - lost, "lost": lost, "span_ns": 250_000_000, "came": came,
        })
    };
    let part = |(trial, steps): (usize, &&[(u64, u64, &str)])| PartRecord {
        part: "sender".to_owned(),
        trial: trial as u32,
        evidence: BTreeMap::from([("steps".to_owned(), steps.iter().map(step).collect())]),
        ..seatrial_testkit::part(Vec::new())
    };
    let parts: Vec<PartRecord> = trials.iter().enumerate().map(part).collect();
    BENCHMARK.reduce(&pair(&[("rate", "search")]), &parts)
}

#[test]
fn the_loss_free_rate_is_that_of_the_fastest_step_without_loss() {
    let steps = [(0, 800, "lost"), (125, 0, "free"), (250, 3, "lost"), (126, 1, "lost")];
    let measures = searched(&[&steps, &steps]);
    let measures = measures.expect("numbers");
    assert_eq!(measures.metrics["loss_free"].trials, [[1.0], [1.0]]);
    let lost: Vec<f64> = measures.series["step_lost"].iter().map(|row| row.values.trials[1][0]).collect();
    assert_eq!(lost, [800.0, 0.0, 3.0, 1.0]);
    assert!((measures.series["step_received"][0].values.trials[0][0] - 1.6).abs() < 1e-9);
    assert!(measures.findings.is_empty() && !measures.metrics.contains_key("throughput"));
    // 250 ms each of 1000, 125, 250 and 126 MB/s, less the thousandths that were lost, in two trials.
    let moved = 2.0 * 250e3 * (1000.0 * 0.2 + 125.0 + 250.0 * 0.997 + 126.0 * 0.999);
    let wanted = json!([{ "from": "n1", "to": "n2", "bytes": moved as u64, "buffered": 0 }]);
    assert_eq!(measures.evidence["moved"], wanted);
}

#[test]
fn a_search_that_never_lost_says_that_the_border_was_not_reached() {
    let measures = searched(&[&[(0, 0, "free")], &[(0, 5, "lost"), (990, 0, "free"), (999, 2, "lost")]]);
    let measures = measures.expect("numbers");
    assert_eq!(measures.metrics["loss_free"].trials[0], [8.0]);
    assert_eq!(measures.evidence["search_border"], json!(["not_reached", "lost"]));
    let finding = &measures.findings[0];
    assert_eq!(finding.kind, "loss-free-not-reached");
    assert!(finding.text.contains("in 1 of 2 trials the sender could offer no more"), "{}", finding.text);
}

#[test]
fn a_search_without_a_loss_free_step_has_no_number() {
    let late = searched(&[&[(0, 0, "late"), (100, 0, "late")]]).expect_err("no load");
    assert_eq!(late.cause, Cause::Underloaded);
    let lossy = searched(&[&[(0, 9, "lost"), (20, 1, "lost"), (100, 2, "lost")]]).expect_err("always lost");
    assert_eq!(lossy.cause, Cause::TooShort);
    assert!(lossy.text.contains("even at 0.160000 Gbit/s, 1 of 1000"), "{lossy}");
    assert_eq!(searched(&[]).expect_err("nothing").cause, Cause::TooShort);
}

#[test]
fn a_search_goes_one_way_and_has_the_time_that_its_steps_take() {
    for changed in [("direction", "both"), ("pacing", "kernel")] {
        let reason = planned(&["n1", "n2"], 8, &[("rate", "search"), changed]).expect_err("refused");
        assert_eq!(reason.cause, Cause::Contradiction, "{reason}");
    }
    let case = pair(&[("rate", "search"), ("time", "2 s")]);
    assert_eq!(case.budget.measure, Nanos::millis(18 * (500 + 400)));
    let limits = BENCHMARK.limits(&case, &site(&["n1", "n2"], 8));
    assert!(matches!(limits["loss_free"], seatrial_model::Limit::Chain(_)));
}
