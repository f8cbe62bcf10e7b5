//! Which ports are measured together, and the limits of their paths.

mod all_to_all;
mod device;
mod errors;
mod fabric;
mod fake;
mod ports;
pub(crate) mod rack;

use seatrial_model::machine::{
    Cpu, CpuThread, Hca, HcaPort, Known, Machine, Memory, NumaNode, PciDevice, PciPath, PciPort,
};
use seatrial_model::{Better, Case, Cause, Limit, Parts, Reason, Site, SiteNode, Unit, Value};

use seatrial_sys::verbs::VerbKind;

use seatrial_bench::verbs::{Method, RdmaConfig, RemoteCompletion};
use seatrial_bench::{Benchmark, find};

fn port(number: u32, state: &str, layer: &str) -> HcaPort {
    let word = |text: &str| Known::Known(text.to_owned());
    HcaPort {
        number,
        state: word(state),
        link_layer: word(layer),
        rate_gbit_s: Known::Known(100.0),
        lanes: Known::Known(4),
        speed_class: word("EDR"),
        active_mtu: Known::Known(4096),
        ..HcaPort::default()
    }
}

/// An InfiniBand card at this PCI address, on this NUMA node.
fn card(name: &str, address: &str, image: &str, node: u32) -> Hca {
    let pci =
        PciDevice { address: address.to_owned(), numa_node: Known::Known(node), ..PciDevice::default() };
    Hca {
        name: name.to_owned(),
        pci: Known::Known(pci),
        sys_image_guid: Known::Known(image.to_owned()),
        ports: vec![port(1, "ACTIVE", "InfiniBand")],
        ..Hca::default()
    }
}

fn node(name: &str, hcas: Vec<Hca>) -> SiteNode {
    let thread = |id: u32| CpuThread { node: Some(id / 4), l3: Some(id / 4), ..seatrial_testkit::thread(id) };
    let numa = |id: u32| NumaNode {
        id,
        cpus: (4 * id..4 * id + 4).collect(),
        total_bytes: Known::Known(8 << 30),
        available_bytes: Known::Known(6 << 30),
        ..NumaNode::default()
    };
    let machine = Machine {
        cpu: Cpu { threads: (0..8).map(thread).collect(), ..Cpu::default() },
        numa: vec![numa(0), numa(1)],
        memory: Memory { effective_available_bytes: Known::Known(12 << 30), ..Memory::default() },
        hcas: Known::Known(hcas),
        ..Machine::default()
    };
    SiteNode::new(name, machine)
}

fn write_bw() -> &'static Benchmark {
    find(crate::BENCHMARKS, "rdma.write_bw").expect("there")
}

fn planned_of(bench: &Benchmark, site: &Site, changed: &[(&str, &str)]) -> Result<Vec<Case>, Reason> {
    let about = bench.about;
    let params = seatrial_testkit::params(about, changed);
    bench.plan(&params, site)
}

fn planned(nodes: Vec<SiteNode>, changed: &[(&str, &str)]) -> Result<Vec<Case>, Reason> {
    planned_of(write_bw(), &Site { nodes }, changed)
}

fn two_cards() -> Vec<Hca> {
    vec![
        card("mlx5_0", "0000:17:00.0", "image:1", 0),
        card("mlx5_1", "0000:98:00.0", "image:2", 1),
        card("mlx5_2", "0000:98:00.1", "image:2", 1),
    ]
}

fn ports_of(case: &Case) -> (&str, &str) {
    (case.planned.text("port").expect("noted"), case.planned.text("peer_port").expect("noted"))
}

#[test]
fn a_machine_without_a_device_is_skipped_and_one_that_does_not_tell_is_not() {
    assert_eq!(planned(vec![node("n1", Vec::new())], &[]).expect_err("none").cause, Cause::Inapplicable);
    let silent = SiteNode::new("n1", Machine::default());
    assert_eq!(planned(vec![silent], &[]).expect_err("unknown").cause, Cause::Missing);
    let down =
        Hca { ports: vec![port(1, "DOWN", "InfiniBand")], ..card("mlx5_0", "0000:17:00.0", "image:1", 0) };
    let reason = planned(vec![node("n1", vec![down])], &[]).expect_err("down");
    assert!(reason.cause == Cause::Missing && reason.text.contains("mlx5_0/1"), "{reason}");
}

#[test]
fn each_active_port_is_a_case_and_meets_its_like_on_the_other_node() {
    let cases = planned(vec![node("n1", two_cards()), node("n2", two_cards())], &[]).expect("planned");
    let subjects: Vec<String> = cases.iter().map(|case| case.subject.to_string()).collect();
    assert_eq!(
        subjects,
        ["n1/mlx5_0/1->n2/mlx5_0/1", "n1/mlx5_1/1->n2/mlx5_1/1", "n1/mlx5_2/1->n2/mlx5_2/1"]
    );
    assert_eq!(cases[1].key.as_deref(), Some("pci:0000:98:00.0/1"));
    assert_eq!(cases[0].facts.text("link_layer"), Ok("InfiniBand"));
    let cpu = |case: &Case, end: usize| case.places[end].bindings[0].cpu;
    assert_eq!((cpu(&cases[0], 0), cpu(&cases[1], 0), cpu(&cases[1], 1)), (0, 4, 4));
    let mut ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[test]
fn cards_of_other_names_meet_in_their_order_and_layers_are_not_mixed() {
    let other = vec![card("ibp1", "0000:01:00.0", "image:5", 0), card("ibp2", "0000:02:00.0", "image:6", 0)];
    let own = two_cards()[..2].to_vec();
    let cases = planned(vec![node("n1", own.clone()), node("n2", other)], &[]).expect("planned");
    assert_eq!(ports_of(&cases[1]), ("mlx5_1/1", "ibp2/1"));
    let roce =
        Hca { ports: vec![port(1, "ACTIVE", "Ethernet")], ..card("roce0", "0000:01:00.0", "image:5", 0) };
    let reason = planned(vec![node("n1", own), node("n2", vec![roce])], &[]).expect_err("nobody to talk to");
    assert!(reason.cause == Cause::Missing && reason.text.contains("InfiniBand"), "{reason}");
}

#[test]
fn on_one_node_another_card_is_the_peer_and_functions_of_one_card_are_not_two() {
    let cases = planned(vec![node("n1", two_cards())], &[]).expect("planned");
    assert_eq!(ports_of(&cases[0]), ("mlx5_0/1", "mlx5_1/1"));
    assert_eq!(ports_of(&cases[1]), ("mlx5_1/1", "mlx5_0/1"));
    assert_eq!(cases[0].subject.to_string(), "hca:mlx5_0/1");
    assert_eq!(cases[0].planned.flag("distinct_cards"), Ok(true));
    assert_eq!(
        (cases[0].planned.text("slot"), cases[0].planned.text("peer_slot")),
        (Ok("0000:17:00"), Ok("0000:98:00"))
    );
    let one_card = two_cards()[1..].to_vec();
    let itself = planned(vec![node("n1", one_card.clone())], &[]).expect("planned");
    assert_eq!(ports_of(&itself[0]), ("mlx5_1/1", "mlx5_1/1"));
    assert_eq!(itself[0].planned.flag("distinct_cards"), Ok(false));
    let reason = planned(vec![node("n1", one_card)], &[("peer_device", "other-card")]).expect_err("one card");
    assert_eq!(reason.cause, Cause::Missing);
    assert!(reason.text.contains("mlx5_2 is on the same card"), "{reason}");
    // Two PCI slots with one system image GUID, as a card in two slots has, are one card; an unknown GUID proves
    // nothing.
    let mut split = two_cards()[..2].to_vec();
    split[1].sys_image_guid = Known::Known("image:1".to_owned());
    assert!(planned(vec![node("n1", split.clone())], &[("peer_device", "other-card")]).is_err());
    split[1].sys_image_guid = Known::unknown("no such file");
    let reason = planned(vec![node("n1", split)], &[("peer_device", "other-card")]).expect_err("not told");
    assert!(reason.text.contains("system image GUID is not known"), "{reason}");
}

#[test]
fn a_port_is_asked_for_by_name_and_what_is_not_there_is_named() {
    let site = || vec![node("n1", two_cards())];
    let cases = planned(site(), &[("device", "mlx5_1"), ("peer_device", "mlx5_2/1")]).expect("planned");
    assert_eq!((cases.len(), ports_of(&cases[0])), (1, ("mlx5_1/1", "mlx5_2/1")));
    let reason = planned(site(), &[("device", "mlx5_9")]).expect_err("none");
    assert!(reason.text.contains("it has mlx5_0/1, mlx5_1/1, mlx5_2/1"), "{reason}");
}

#[test]
fn contradictions_are_told_before_anything_is_made() {
    let refused = |id: &str, changed: &[(&str, &str)]| {
        let bench = find(crate::BENCHMARKS, id).expect("there");
        let site = Site { nodes: vec![node("n1", two_cards())] };
        planned_of(bench, &site, changed).expect_err("refused")
    };
    for reason in [
        refused("rdma.write_bw", &[("size", "64 KiB"), ("up_to", "4 KiB")]),
        refused("rdma.send_bw", &[("transport", "ud"), ("size", "8 KiB")]),
        refused("rdma.write_bw", &[("transport", "uc"), ("fence", "true")]),
        refused("rdma.write_bw", &[("buffers", "fresh"), ("post_list", "4")]),
    ] {
        assert_eq!(reason.cause, Cause::Contradiction, "{reason}");
    }
    let pieces = refused("rdma.write_bw", &[("size", "256 MiB"), ("buffers", "fresh")]);
    assert!(pieces.cause == Cause::NoSpace, "{pieces}");
    let large = refused("rdma.write_bw", &[("size", "256 MiB"), ("queue_pairs", "1024")]);
    assert!(large.cause == Cause::NoSpace && large.text.contains("queue_pairs="), "{large}");
}

#[test]
fn the_port_bounds_what_the_headers_leave_and_both_directions_twice() {
    let limit = |changed: &[(&str, &str)], site: Vec<SiteNode>| {
        let site = Site { nodes: site };
        let cases = planned_of(write_bw(), &site, changed).expect("planned");
        write_bw().limits(&cases[0], &site)["throughput"].clone()
    };
    let pair = || vec![node("n1", two_cards()), node("n2", two_cards())];
    let value = |limit: &Limit| {
        limit.record(Better::Higher, Unit::GigabitsPerSecond).expect("a rate").value.expect("known")
    };
    // 16 packets of 4096 B with 26 B of headers each, and 16 B once.
    let one_way = value(&limit(&[], pair()));
    assert!((one_way - 100.0 * 65_536.0 / 65_968.0).abs() < 1e-6, "{one_way}");
    let both = value(&limit(&[("direction", "both")], pair()));
    assert!((both - 2.0 * one_way).abs() < 1e-6, "{both}");
    let small = value(&limit(&[("mtu", "256")], pair()));
    assert!(small < 0.92 * one_way, "{small}");
    let itself = limit(&[("peer_device", "mlx5_0")], vec![node("n1", two_cards())]);
    assert!(matches!(itself, Limit::Unknown { reason } if reason.contains("need not leave the card")));
}

#[test]
fn memory_that_takes_long_to_fill_is_no_hang() {
    let patience = |buffers: &str| {
        let cases = planned(vec![node("n1", two_cards())], &[("buffers", buffers)]).expect("planned");
        cases[0].budget.prepare.get() / 1_000_000_000
    };
    // Two sides of 256 MiB at 16 MiB/s.
    assert_eq!((patience("same"), patience("different")), (30, 62));
}

#[test]
fn sizes_of_a_ladder_each_get_some_of_the_time() {
    let case =
        &planned(vec![node("n1", two_cards())], &[("size", "2 B"), ("up_to", "8 MiB"), ("time", "50 ms")])
            .expect("planned")[0];
    assert!(case.budget.measure.get() >= 23 * 60_000_000, "{:?}", case.budget);
    assert_eq!(case.params.get("fence"), Some(&Value::Flag(false)));
}

#[test]
fn several_ports_are_one_case_with_threads_next_to_each_and_the_sum_of_their_limits() {
    let site = || vec![node("n1", two_cards()), node("n2", two_cards())];
    let asked = [("device", "mlx5_0/1+mlx5_1"), ("queue_pairs", "4"), ("threads", "2")];
    let cases = planned(site(), &asked).expect("planned");
    let [case] = cases.as_slice() else { panic!("{cases:?}") };
    assert_eq!(ports_of(case), ("mlx5_0/1+mlx5_1/1", "mlx5_0/1+mlx5_1/1"));
    assert_eq!(case.subject.to_string(), "n1/mlx5_0/1+mlx5_1/1->n2/mlx5_0/1+mlx5_1/1");
    assert_eq!(case.planned.text("slot"), Ok("0000:17:00+0000:98:00"));
    assert_eq!(case.key.as_deref(), Some("pci:0000:17:00.0/1+pci:0000:98:00.0/1"));
    assert!(case.facts.text("name").is_err(), "a requirement on a port is none on several");
    let cpus = |end: usize| case.places[end].bindings.iter().map(|binding| binding.cpu).collect::<Vec<_>>();
    assert_eq!((cpus(0), cpus(1)), (vec![0, 1, 4, 5], vec![0, 1, 4, 5]));
    let method = Method { verb: VerbKind::Write, remote_completion: RemoteCompletion::None };
    let config = RdmaConfig::all(method, case, &case.places[1]).expect("config");
    let told: Vec<(String, u32)> =
        config.iter().map(|config| (config.label(), config.bindings[0].cpu)).collect();
    assert_eq!(told, [("mlx5_0/1".to_owned(), 0), ("mlx5_1/1".to_owned(), 4)]);

    let known = |site: Vec<SiteNode>, device: &str| {
        let site = Site { nodes: site };
        let cases = planned_of(write_bw(), &site, &[("device", device)]).expect("planned");
        let limit = write_bw().limits(&cases[0], &site)["throughput"].clone();
        limit.record(Better::Higher, Unit::GigabitsPerSecond).expect("a rate").value.expect("known")
    };
    let share = 65_536.0 / 65_968.0;
    let both = known(site(), "mlx5_0+mlx5_1");
    assert!((both - 200.0 * share).abs() < 1e-6, "{both}");
    // Two functions of one card share its link of 16 GT/s and 8 lanes, which carries less than both ports; separate
    // cards have separate links.
    let link = |hcas: Vec<Hca>| -> Vec<Hca> {
        let port = PciPort {
            address: "own".to_owned(),
            express: true,
            max_speed_gts: Known::Known(16.0),
            max_width: Known::Known(8),
            ..PciPort::default()
        };
        let path = PciPath { ports: vec![port] };
        let with = |hca: Hca| Hca { pci: hca.pci.map(|pci| PciDevice { path: path.clone(), ..pci }), ..hca };
        hcas.into_iter().map(with).collect()
    };
    let linked = || vec![node("n1", link(two_cards())), node("n2", link(two_cards()))];
    let (shared, own) = (known(linked(), "mlx5_1+mlx5_2"), known(linked(), "mlx5_0+mlx5_1"));
    assert!((own - both).abs() < 1e-6, "{own}");
    assert!((100.0..130.0).contains(&shared), "{shared}");
}

#[test]
fn every_benchmark_of_two_parts_takes_several_ports_as_one_case_with_its_threads_next_to_each() {
    let site = Site { nodes: vec![node("n1", two_cards()), node("n2", two_cards())] };
    for bench in crate::BENCHMARKS.iter().filter(|bench| !matches!(bench.about.parts, Parts::TwoOrMore(_))) {
        let id = bench.about.id;
        let threads = bench.about.param("threads").is_some();
        let asked = [("device", "mlx5_0+mlx5_1"), ("queue_pairs", "4"), ("threads", "2")];
        let asked = if threads { &asked[..] } else { &asked[..1] };
        let cases = planned_of(bench, &site, asked).unwrap_or_else(|reason| panic!("{id}: {reason}"));
        let [case] = cases.as_slice() else { panic!("{id}: {cases:?}") };
        assert_eq!(ports_of(case), ("mlx5_0/1+mlx5_1/1", "mlx5_0/1+mlx5_1/1"), "{id}");
        let cpus: Vec<u32> = case.places[1].bindings.iter().map(|binding| binding.cpu).collect();
        assert_eq!(cpus, if threads { vec![0, 1, 4, 5] } else { vec![0, 4] }, "{id}");
        assert!(bench.about.series("by_port").is_some(), "{id}");
        let reason = planned_of(bench, &site, &[("peer_device", "mlx5_0+mlx5_1")]).expect_err("refused");
        assert_eq!(reason.cause, Cause::Contradiction, "{id}: {reason}");
    }
}

#[test]
fn crossed_ports_are_each_paired_with_that_of_the_next_one() {
    let nodes = vec![node("n1", two_cards()), node("n2", two_cards())];
    let asked = [("device", "mlx5_0+mlx5_1+mlx5_2"), ("peer_device", "cross")];
    let case = &planned(nodes, &asked).expect("planned")[0];
    assert_eq!(ports_of(case), ("mlx5_0/1+mlx5_1/1+mlx5_2/1", "mlx5_1/1+mlx5_2/1+mlx5_0/1"));
}

#[test]
fn ports_that_cannot_be_measured_together_are_refused_with_the_reason() {
    let refused = |nodes: usize, changed: &[(&str, &str)]| {
        let site = ["n1", "n2"][..nodes].iter().map(|name| node(name, two_cards())).collect();
        planned(site, changed).expect_err("refused")
    };
    for (nodes, changed, text) in [
        (2, &[("device", "mlx5_0+mlx5_0")][..], "mlx5_0/1 would be in two pairs"),
        (1, &[("device", "mlx5_0+mlx5_1")][..], "name others with peer_device="),
        (2, &[("device", "mlx5_0+")][..], "not a list of ports"),
        (2, &[("device", "mlx5_0+auto")][..], "not a list of ports"),
        (2, &[("peer_device", "mlx5_0+mlx5_1")][..], "needs as many in device="),
        (2, &[("device", "mlx5_0+mlx5_1"), ("peer_device", "mlx5_0")][..], "not as many ports"),
        (2, &[("peer_device", "cross")][..], "needs several ports in device="),
    ] {
        let reason = refused(nodes, changed);
        assert!(reason.cause == Cause::Contradiction && reason.text.contains(text), "{changed:?}: {reason}");
    }
    let missing = refused(2, &[("device", "mlx5_0+mlx5_9")]);
    assert!(missing.cause == Cause::Missing && missing.text.contains("it has mlx5_0/1"), "{missing}");
    let apart = planned(
        vec![node("n1", two_cards())],
        &[("device", "mlx5_1+mlx5_2"), ("peer_device", "mlx5_1+mlx5_2")],
    );
    assert_eq!(apart.expect("planned")[0].planned.flag("distinct_cards"), Ok(false));
}
