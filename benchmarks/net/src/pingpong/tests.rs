//! Plan and reduction, and both ends over real connections.

use std::net::{TcpListener, TcpStream};

use seatrial_model::machine::{Caches, Known, Machine, Memory};
use seatrial_model::{Bytes, Case, Cause, Integrity, Phase, Site, SiteNode};

use super::BENCHMARK;
use super::tcp::TcpTransport;
use crate::rig;
use seatrial_bench::testing::Kept;
use seatrial_testkit::node;

fn machine() -> Machine {
    let caches = Caches { l3_by_libc_bytes: Known::Known(256 << 10), ..Caches::default() };
    Machine { caches, ..node("n1", 2).machine }
}

fn planned(machine: Machine, changed: &[(&str, &str)]) -> Result<Case, seatrial_model::Reason> {
    let site = Site { nodes: vec![SiteNode::new("n1", machine)] };
    BENCHMARK.plan(&rig::params(&BENCHMARK, changed), &site).map(|mut cases| cases.remove(0))
}

fn ends(case: &Case) -> rig::Ends {
    rig::ends(&BENCHMARK, case)
}

#[test]
fn sizes_are_measured_checked_and_reduced_in_every_mode() {
    for mode in ["pingpong", "stream", "both"] {
        for buffers in ["same", "different"] {
            let changed = [("mode", mode), ("buffers", buffers), ("to", "300 kB"), ("from", "5 B")];
            let case = planned(machine(), &changed).expect("planned");
            let (mut leader, mut follower) = ends(&case);
            let mut kept = Kept::until(120);
            leader.run(Phase::Measure, &kept.stop.clone(), &mut kept).expect("measured");
            let checked = leader.verify().expect("checked");
            assert!(matches!(checked, Integrity::Verified { checked } if checked > 600_000), "{checked:?}");
            drop(leader);
            follower.verify().expect("followed to the end");
            let part = kept.record(&case.places[0], checked);
            let measures = BENCHMARK.reduce(&case, &[part]).expect("reduced");
            assert!(measures.metrics["throughput"].trials[0].iter().all(|rate| *rate > 0.0));
            assert_eq!(measures.metrics.contains_key("latency"), mode == "pingpong");
            let rows = &measures.series["by_size"];
            assert_eq!(
                rows.first().and_then(|row| row.at.bytes("size").ok().flatten()).map(Bytes::get),
                Some(5)
            );
            assert_eq!(
                rows.last().and_then(|row| row.at.bytes("size").ok().flatten()).map(Bytes::get),
                Some(300_000)
            );
            assert_eq!(measures.evidence["connection"]["interface"], "lo");
        }
    }
}

#[test]
fn a_follower_that_goes_is_told_and_not_waited_for() {
    let case = planned(machine(), &[("to", "1 KiB")]).expect("planned");
    let (mut leader, follower) = ends(&case);
    drop(follower);
    let mut kept = Kept::default();
    let error = leader.run(Phase::Measure, &kept.stop.clone(), &mut kept).expect_err("told");
    assert!(matches!(error.cause, Cause::PartnerLost | Cause::IoError), "{}", error.text);
}

#[test]
fn a_leader_that_goes_ends_the_follower() {
    let case = planned(machine(), &[("to", "1 KiB")]).expect("planned");
    let (leader, mut follower) = ends(&case);
    drop(leader);
    let mut kept = Kept::default();
    let error = follower.run(Phase::Measure, &kept.stop.clone(), &mut kept).expect_err("told");
    assert_eq!(error.cause, Cause::PartnerLost, "{}", error.text);
}

#[test]
fn contradictions_and_lack_of_memory_are_told_before_anything_is_made() {
    let reason = planned(machine(), &[("from", "2 KiB"), ("to", "1 KiB")]).expect_err("refused");
    assert_eq!(reason.cause, Cause::Contradiction);
    let small = Memory { effective_available_bytes: Known::Known(1 << 20), ..Memory::default() };
    let reason = planned(Machine { memory: small, ..machine() }, &[]).expect_err("refused");
    assert_eq!(reason.cause, Cause::NoSpace);
    assert!(reason.text.contains("lower -p to="), "{reason}");
}

#[test]
fn sizes_that_were_not_reached_are_told() {
    let case = planned(machine(), &[("to", "1 MiB"), ("beside", "0")]).expect("planned");
    let (mut leader, _follower) = ends(&case);
    let mut kept = Kept::until(10);
    leader.run(Phase::Measure, &kept.stop.clone(), &mut kept).expect("measured");
    let part = kept.record(&case.places[0], Integrity::Verified { checked: 1 });
    let findings = BENCHMARK.reduce(&case, &[part]).expect("reduced").findings;
    let told = findings.iter().find(|finding| finding.kind == "not-reached").expect("told");
    assert!(told.text.starts_with("30 sizes above 32 B"), "{}", told.text);
}

#[test]
fn the_wire_bounds_the_throughput_and_a_shaper_before_it_does_not() {
    use seatrial_model::machine::{Nic, NicKind, Queueing};
    let limit = |mode: &str, kind: NicKind, more: &[(&str, &str)]| {
        let shaper = Queueing {
            kind: "tbf".to_owned(),
            root: true,
            rate_bytes_per_second: Some(1000),
            ..Queueing::default()
        };
        let nic = Nic {
            name: "eth0".to_owned(),
            kind,
            up: Known::Known(true),
            speed_mbit_s: Known::Known(10_000),
            mtu: Known::Known(1500),
            link_layer: Known::Known("ethernet".to_owned()),
            networks: Known::Known(vec!["10.0.0.0/8".to_owned()]),
            queueing: Known::Known(vec![shaper]),
            ..Nic::default()
        };
        let second = Nic { name: "eth1".to_owned(), ..nic.clone() };
        let machine = Machine { nics: Known::Known(vec![nic, second]), ..machine() };
        let site = Site { nodes: ["n1", "n2"].map(|name| SiteNode::new(name, machine.clone())).to_vec() };
        let params = rig::params(&BENCHMARK, &[&[("mode", mode)], more].concat());
        let case = BENCHMARK.plan(&params, &site).expect("a plan").remove(0);
        let limits = BENCHMARK.limits(&case, &site);
        assert!(matches!(limits["latency"], seatrial_model::Limit::Unknown { .. }));
        match &limits["throughput"] {
            seatrial_model::Limit::Chain(bounds) => {
                bounds.iter().map(|bound| bound.value.value()).reduce(f64::min)
            }
            seatrial_model::Limit::AtMost { .. } | seatrial_model::Limit::Unknown { .. } => None,
        }
    };
    let wire = 10.0 * 1448.0 / 1538.0;
    for (mode, directions) in [("pingpong", 1.0), ("stream", 1.0), ("both", 2.0)] {
        let value = limit(mode, NicKind::Physical, &[]).expect("a bound");
        assert!((value - directions * wire).abs() < 1e-9, "{mode}: {value}");
    }
    assert_eq!(limit("pingpong", NicKind::Veth, &[]), None);
    let rails =
        limit("pingpong", NicKind::Physical, &[("rails", "eth0+eth1"), ("mtu", "576")]).expect("a sum");
    assert!((rails - 2.0 * 10.0 * 524.0 / 614.0).abs() < 1e-9, "{rails}");
}

#[test]
fn both_ways_at_once_moves_more_than_all_buffers_hold_over_each_interface() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("told");
    let exchange = |streams: Vec<Vec<TcpStream>>, fill: u8| {
        let (out, mut into) = (vec![fill; 32 << 20], vec![0; 32 << 20]);
        TcpTransport::new(streams).expect("set up").both(&out, &mut into).expect("exchanged");
        into.iter().all(|byte| *byte == 3 - fill)
    };
    for rails in 1..=3 {
        let ours =
            (0..rails).map(|_| TcpStream::connect(at).expect("connected")).map(|one| vec![one]).collect();
        let theirs =
            (0..rails).map(|_| listener.accept().expect("accepted").0).map(|one| vec![one]).collect();
        let other = std::thread::spawn(move || exchange(theirs, 1));
        assert!(exchange(ours, 2) && other.join().expect("joined"), "{rails} interfaces");
    }
}

#[test]
fn a_message_is_split_over_interfaces_from_two_pieces_on() {
    use seatrial_bench::pingpong::{Buffers, PingPongTransport};
    use std::io::Read;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("told");
    let ours = [0, 1].map(|_| vec![TcpStream::connect(at).expect("connected")]);
    let mut theirs = [0, 1].map(|_| listener.accept().expect("accepted").0);
    let mut transport = TcpTransport::new(ours.into()).expect("set up");
    let mut memory = Buffers::new(10_000, 0, false).expect("memory");
    for size in [4096, 10_000] {
        let message = memory.fill(size, 1);
        transport.send(&memory, message).expect("sent");
    }
    drop(transport);
    let came = theirs.each_mut().map(|stream| stream.read_to_end(&mut Vec::new()).expect("read"));
    assert_eq!(came, [4096 + 5000, 5000]);
}

#[test]
fn parameters_of_the_other_transport_are_refused() {
    for (changed, word) in [
        (vec![("operation", "read")], "transport=tcp does not support operation="),
        (vec![("buffers", "fresh")], "takes transport=verbs"),
        (vec![("transport", "mpi"), ("mtu", "1500")], "transport=mpi does not support mtu="),
        (vec![("transport", "mpi"), ("buffers", "fresh")], "takes transport=verbs"),
        (vec![("transport", "verbs"), ("mtu", "1500")], "transport=verbs does not support mtu="),
        (vec![("transport", "verbs"), ("rails", "eth0+eth1")], "does not support rails="),
        (vec![("transport", "verbs"), ("socket_buffer", "1 MiB")], "does not support socket_buffer="),
        (
            vec![("transport", "verbs"), ("operation", "send"), ("buffers", "different")],
            "use buffers=same or fresh",
        ),
    ] {
        let reason = planned(machine(), &changed).expect_err("refused");
        assert!(reason.cause == Cause::Contradiction && reason.text.contains(word), "{changed:?}: {reason}");
    }
}
