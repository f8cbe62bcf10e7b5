//! The plan and its limits, and both ends over the loopback.

use std::time::Duration;

use seatrial_model::machine::{Known, Nic, NicKind};
use seatrial_model::{
    Better, Case, Integrity, Limit, Nanos, Params, PartRecord, Phase, Reason, Sample, Site, SiteNode, Unit,
};

use super::BENCHMARK;
use crate::rig;
use seatrial_bench::Stop;
use seatrial_bench::testing::Kept;

fn node(name: &str, interface: &str, mtu: u64) -> SiteNode {
    let nic = Nic {
        name: interface.to_owned(),
        kind: if interface == "lo" { NicKind::Loopback } else { NicKind::Physical },
        up: Known::Known(true),
        mtu: Known::Known(mtu),
        networks: Known::Known(vec!["10.0.0.0/24".to_owned()]),
        ..Nic::default()
    };
    let mut node = seatrial_testkit::node(name, 2);
    node.machine.nics = Known::Known(vec![nic]);
    node
}

fn planned(nodes: Vec<SiteNode>) -> (Case, Site) {
    let params = rig::params(&BENCHMARK, &[]);
    let site = Site { nodes };
    let case = BENCHMARK.plan(&params, &site).expect("planned").remove(0);
    (case, site)
}

#[test]
fn the_smaller_mtu_of_both_interfaces_is_the_limit() {
    let (case, site) = planned(vec![node("n1", "eth0", 9000), node("n2", "ens1", 1500)]);
    let limits = BENCHMARK.limits(&case, &site);
    let Limit::Chain(bounds) = &limits["path"] else { panic!("{limits:?}") };
    let told: Vec<String> = bounds.iter().map(|bound| format!("{} {}", bound.value, bound.formula)).collect();
    assert_eq!(told, ["9000 B MTU of n1/eth0", "1500 B MTU of n2/ens1"]);
    // An end receives a VLAN tag beyond its MTU, but sends no more than its MTU.
    let tightest = |metric: &str| {
        let record = limits[metric].record(Better::Higher, Unit::Byte).expect("bytes");
        record.value.expect("known")
    };
    assert_eq!(["path", "forward", "reverse"].map(tightest), [1500.0, 1504.0, 1500.0]);
    // The loopback's MTU is one byte more than an IP packet can have.
    let (case, site) = planned(vec![node("n1", "lo", 65_536)]);
    assert!(
        matches!(&BENCHMARK.limits(&case, &site)["path"], Limit::Chain(bounds) if bounds[0].value.value() == 65_535.0)
    );
}

#[test]
fn a_plan_between_different_mtus_counts_the_waits_for_what_is_lost() {
    let trial = |second: u64| {
        let (case, _) = planned(vec![node("n1", "eth0", 9000), node("n2", "ens1", second)]);
        case.budget.overhead
    };
    assert_eq!(trial(9000), Nanos::millis(300));
    assert!(trial(1500) > Nanos::secs(2), "{}", trial(1500));
}

fn searched(case: &Case) -> Result<seatrial_model::Measures, Reason> {
    let (mut client, _server) = rig::try_ends(&BENCHMARK, case)?;
    let mut kept = Kept::default();
    client.run(Phase::Measure, &Stop::after(Duration::ZERO), &mut kept)?;
    let integrity = client.verify()?;
    assert!(matches!(integrity, Integrity::Verified { checked } if checked > 0), "{integrity:?}");
    let part = kept.record(&case.places[0], integrity);
    Ok(BENCHMARK.reduce(case, &[part]).expect("reduced"))
}

#[test]
fn the_loopback_carries_what_an_ip_packet_can_have() {
    let (case, _) = planned(vec![node("n1", "lo", 65_536)]);
    let mut seen = Vec::new();
    // A packet counts as lost if the receiving end gets no CPU for long enough, three times in a row.
    for _ in 0..20 {
        let found = searched(&case);
        if let Ok(measures) = &found
            && ["path", "forward", "reverse"]
                .iter()
                .all(|metric| measures.metrics[*metric].trials == [[65_535.0]])
        {
            assert!(measures.findings.is_empty(), "{:?}", measures.findings);
            return;
        }
        seen.push(found.map(|measures| measures.metrics));
    }
    panic!("{seen:#?}");
}

#[test]
fn packets_that_are_lost_on_the_way_are_a_problem_with_both_ends_named() {
    let (case, _) = planned(vec![node("n1", "eth0", 9000), node("n2", "eth0", 9000)]);
    let sample = |channel: &str, bytes: &str| Sample {
        channel: channel.to_owned(),
        at: Params::default(),
        start: Nanos(0),
        end: Nanos(1),
        amount: bytes.parse().expect("a size"),
    };
    let connection = serde_json::json!({
        "interface_mtu": 9000, "kernel_believes": 9000, "lost_above": { "forward": true, "reverse": false },
    });
    let part = PartRecord {
        part: "client".to_owned(),
        evidence: [("connection".to_owned(), connection)].into_iter().collect(),
        ..seatrial_testkit::part(vec![sample("forward", "1500 B"), sample("reverse", "9000 B")])
    };
    let measures = BENCHMARK.reduce(&case, &[part]).expect("reduced");
    assert_eq!(measures.metrics["path"].trials, [[1500.0]]);
    let [finding] = measures.findings.as_slice() else { panic!("{:?}", measures.findings) };
    assert_eq!(finding.kind, "mtu-mismatch");
    assert!(finding.text.starts_with("from n1 to n2 packets above 1500 B are lost"), "{}", finding.text);
    assert!(finding.text.contains("receives no ICMP message"), "{}", finding.text);
}
