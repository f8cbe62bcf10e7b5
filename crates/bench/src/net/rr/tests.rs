//! Plan and reduction; the two ends together are tested with real sockets.

use std::time::Duration;

use seatrial_model::machine::{Cpu, CpuThread, Machine};
use seatrial_model::{Case, Cause, Params, Phase, Sample, Site, SiteNode};

use super::RequestResponse;
use crate::{Benchmark, Offer, Part, Sink, Stop};

fn node(name: &str) -> SiteNode {
    let thread = |id| CpuThread { id, core: Some(id), online: true, allowed: true, ..CpuThread::default() };
    let cpu = Cpu { threads: vec![thread(0), thread(1)], ..Cpu::default() };
    SiteNode::new(name, Machine { cpu, ..Machine::default() })
}

fn params(changed: &[(&str, &str)]) -> Params {
    let about = RequestResponse.about();
    let mut params: Params =
        about.params.iter().map(|spec| (spec.name.to_owned(), spec.default_value())).collect();
    for (name, value) in changed {
        let spec = about.param(name).expect("a parameter");
        params.set(name, spec.parse(value).expect("a value"));
    }
    params
}

fn planned(nodes: &[&str], changed: &[(&str, &str)]) -> Case {
    let site = Site { nodes: nodes.iter().map(|name| node(name)).collect() };
    RequestResponse.plan(&params(changed), &site).expect("a plan").remove(0)
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
    assert_ne!(alone.places[0].seats[0].cpu, alone.places[1].seats[0].cpu);
    let named = planned(&["n1", "n2"], &[("interface", "eth1")]);
    assert_eq!(named.subject.as_str(), "n1/eth1->n2/eth1");
}

#[test]
fn an_interface_of_one_node_alone_is_refused() {
    let site = Site { nodes: vec![node("n1")] };
    let reason = RequestResponse.plan(&params(&[("interface", "eth0")]), &site).expect_err("refused");
    assert_eq!(reason.cause, Cause::Inapplicable);
}

#[derive(Default)]
struct Kept {
    samples: Vec<Sample>,
    facts: std::collections::BTreeMap<String, serde_json::Value>,
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn evidence(&mut self, name: &str, value: serde_json::Value) {
        self.facts.insert(name.to_owned(), value);
    }
}

/// Both ends of `case` in this process, connected.
fn ends(case: &Case) -> (Box<dyn Part>, Box<dyn Part>) {
    let mut client = RequestResponse.part(case, &case.places[0]).expect("a client");
    let mut server = RequestResponse.part(case, &case.places[1]).expect("a server");
    let offers: Vec<Offer> = vec![client.prepare().expect("ready"), server.prepare().expect("listening")];
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| server.connect(&offers));
        client.connect(&offers).expect("connected");
        serving.join().expect("joined").expect("accepted");
    });
    (client, server)
}

/// A case that takes whatever CPU there is: the machine that tests may have one, or a set without 0.
fn unpinned(changed: &[(&str, &str)]) -> Case {
    let mut case = planned(&["n1"], changed);
    case.places.iter_mut().for_each(|place| place.seats.clear());
    case
}

#[test]
fn round_trips_are_counted_checked_and_reduced() {
    let case = unpinned(&[("request", "300 B"), ("response", "9 B")]);
    let (mut client, mut server) = ends(&case);
    let mut kept = Kept::default();
    let stop = || Stop::after(Duration::from_millis(60));
    std::thread::scope(|scope| {
        scope.spawn(|| server.run(Phase::Measure, &stop(), &mut Kept::default()).expect("serves"));
        client.run(Phase::Measure, &stop(), &mut kept).expect("asks");
    });
    assert!(matches!(client.verify(), Ok(seatrial_model::Integrity::Verified { checked }) if checked > 0));
    assert!(matches!(server.verify(), Ok(seatrial_model::Integrity::Verified { checked }) if checked > 0));
    assert_eq!(kept.facts["connection"]["interface"], "lo");
    let part = seatrial_model::PartRecord {
        part: "client".to_owned(),
        index: 0,
        node: "n1".to_owned(),
        trial: 0,
        samples: kept.samples,
        integrity: seatrial_model::Integrity::Verified { checked: 1 },
        evidence: kept.facts,
    };
    let measures = RequestResponse.reduce(&case, &[part]).expect("numbers");
    for name in ["round_trip", "rate", "slowest"] {
        assert!(measures.metrics[name].trials[0].iter().all(|value| *value > 0.0), "{name}");
    }
}

#[test]
fn a_server_that_goes_is_told_and_not_waited_for() {
    let case = unpinned(&[]);
    let (mut client, server) = ends(&case);
    drop(server);
    let error = client.run(Phase::Measure, &Stop::after(Duration::from_secs(30)), &mut Kept::default());
    assert_eq!(error.expect_err("nobody answers").cause, Cause::IoError);
}

#[test]
fn nothing_measured_is_no_number() {
    let case = planned(&["n1", "n2"], &[]);
    assert_eq!(RequestResponse.reduce(&case, &[]).expect_err("nothing").cause, Cause::TooShort);
}
