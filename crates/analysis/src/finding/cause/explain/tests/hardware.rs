//! Causes of one node's lower number: its hardware, its clock, its settings.

use seatrial_model::machine::{Dimm, Dimms, Gpu, Hca, HcaPort, Nic, NicKind, PciDevice, PciPath, PciPort};

use super::*;
use crate::judge::Assignment;

/// One case of `bench` on each of four nodes, of which n3 reaches half.
fn records(bench: &str, subject: &str) -> Vec<CaseRecord> {
    let one = |node: u32| {
        let mut case = case(&format!("n{node}"), subject);
        let Ok(id) = format!("{subject}@n{node}").parse();
        case.case = id;
        case.bench = bench.to_owned();
        let rate = if node == 3 { 50.0 } else { 100.0 + f64::from(node) };
        case.metrics.insert("bandwidth".to_owned(), metric(rate, (rate - 0.1, rate + 0.1), no_limit()));
        case
    };
    (1..=4).map(one).collect()
}

/// The cause of n3's lower number, and its finding.
fn cause_of_n3(records: &[CaseRecord], site: &Site) -> (String, Finding) {
    let found = crate::fleet_findings(site, &Assignment::default(), records, &[]);
    let mut outliers: Vec<Finding> = found.into_iter().filter(|finding| finding.kind == "outlier").collect();
    assert_eq!(outliers.iter().filter_map(|one| one.node.as_deref()).collect::<Vec<_>>(), ["n3"]);
    let outlier = outliers.remove(0);
    (outlier.cause.clone().unwrap_or_default(), outlier)
}

/// The machines of n1, n2 and n4 changed in one way, that of n3 in another.
fn machines(change: impl Fn(&mut Machine, bool)) -> Site {
    let mut site = site(|_| {});
    for node in &mut site.nodes {
        change(&mut node.machine, node.name == "n3");
    }
    site
}

fn modules(usual: (usize, u32), own: (usize, u32)) -> Site {
    machines(|machine, is_n3| {
        let (count, speed) = if is_n3 { own } else { usual };
        let module = Dimm { configured_mts: Some(speed), ..Dimm::default() };
        machine.dimms = Known::Known(Dimms { modules: vec![module; count], ..Dimms::default() });
    })
}

fn gpu_lanes(usual: u32, own: u32) -> Site {
    machines(|machine, is_n3| {
        let width = Known::Known(if is_n3 { own } else { usual });
        let path = PciPath { ports: vec![PciPort { width, ..PciPort::default() }] };
        let gpu = |index: u32| Gpu {
            index,
            pci: PciDevice {
                path: if index == 0 { path.clone() } else { PciPath::default() },
                ..PciDevice::default()
            },
            ..Gpu::default()
        };
        machine.gpus = Known::Known(vec![gpu(0), gpu(1)]);
    })
}

#[test]
fn memory_that_is_missing_or_slower_is_the_cause_and_more_of_it_is_none() {
    let memory = records("mem.bandwidth", "node");
    let (cause, finding) = cause_of_n3(&memory, &modules((16, 4800), (15, 4800)));
    assert_eq!(cause, "missing-memory");
    let says = "n3 has 49 % of its peers' bandwidth: a memory module is missing or switched off: memory modules is 15, on 3 others \
                16; 50 GB/s, the median of 4 nodes like it is 101.5 GB/s";
    assert!(finding.text.starts_with(says), "{}", finding.text);
    assert!(finding.full_text().contains("dmidecode -t memory"), "{}", finding.full_text());
    assert_eq!(cause_of_n3(&memory, &modules((16, 4800), (16, 4400))).0, "slow-memory");
    assert_eq!(
        cause_of_n3(&memory, &modules((15, 4800), (16, 5600))).0,
        "",
        "more and faster than the others"
    );
    let disks = records("storage.file", "fs:/scratch");
    assert_eq!(cause_of_n3(&disks, &modules((16, 4800), (15, 4800))).0, "", "of another family");
}

#[test]
fn a_narrow_link_is_the_cause_for_the_device_behind_it_alone() {
    let site = gpu_lanes(16, 8);
    let (cause, finding) = cause_of_n3(&records("gpu.host_copy", "gpu:0"), &site);
    assert_eq!(cause, "narrow-link");
    assert!(finding.text.contains("PCIe lanes of gpu:0 is 8, on 3 others 16"), "{}", finding.text);
    assert_eq!(cause_of_n3(&records("gpu.host_copy", "gpu:1"), &site).0, "", "another device");
    assert_eq!(cause_of_n3(&records("gpu.host_copy", "gpu:0"), &gpu_lanes(8, 16)).0, "");
    assert_eq!(cause_of_n3(&records("storage.file", "fs:/scratch"), &site).0, "", "no GPU takes part");
    assert_eq!(of_n3(&slow_to_n3(), &site).0, "unexplained", "no GPU takes part");
}

#[test]
fn a_slower_port_that_was_not_chosen_is_no_cause() {
    let site = machines(|machine, is_n3| {
        let nic = |name: &str, speed| Nic {
            name: name.to_owned(),
            kind: NicKind::Physical,
            speed_mbit_s: Known::Known(speed),
            ..Nic::default()
        };
        machine.nics =
            Known::Known(vec![nic("eth0", 25_000), nic("eno1", if is_n3 { 1_000 } else { 10_000 })]);
    });
    let over = |name: &str| {
        let mut records = slow_to_n3();
        for case in &mut records {
            case.chosen.set("interface", name);
            case.chosen.set("peer_interface", name);
        }
        of_n3(&records, &site).0
    };
    assert_eq!((over("eth0").as_str(), over("eno1").as_str()), ("unexplained", "slow-port"));
}

#[test]
fn what_is_set_as_it_should_be_is_no_cause() {
    assert_eq!(of_n3(&slow_to_n3(), &with_setting("nic.irq_local", ["false", "true"])).0, "unexplained");
    let memory = records("mem.bandwidth", "node");
    assert_eq!(cause_of_n3(&memory, &with_setting("cpu.governor", ["powersave", "performance"])).0, "");
}

#[test]
fn a_machine_check_of_one_node_is_the_cause_and_of_all_is_none() {
    let memory = records("mem.bandwidth", "node");
    let cause = |values| cause_of_n3(&memory, &with_setting("state.machine_check", values));
    let (id, finding) = cause(["false", "true"]);
    assert_eq!(id, "machine-check");
    assert!(finding.text.contains("state.machine_check is true"), "{}", finding.text);
    assert_eq!(cause(["true", "true"]).0, "");
}

#[test]
fn a_slower_port_is_the_cause_of_slow_pairs() {
    let site = machines(|machine, is_n3| {
        let speed_mbit_s = Known::Known(if is_n3 { 10_000 } else { 25_000 });
        let nic = Nic { name: "eth0".to_owned(), kind: NicKind::Physical, speed_mbit_s, ..Nic::default() };
        machine.nics = Known::Known(vec![nic]);
    });
    let (cause, text, action) = of_n3(&slow_to_n3(), &site);
    assert_eq!(cause, "slow-port");
    assert!(text.contains("speed of nic:eth0 is 10 Gbit/s, on 3 others 25 Gbit/s"), "{text}");
    assert!(action.contains("ethtool eth0"), "{action}");
}

#[test]
fn a_slower_port_of_an_rdma_card_has_the_commands_of_such_cards() {
    let site = machines(|machine, is_n3| {
        let rate = if is_n3 { "100 Gb/sec (4X EDR)" } else { "200 Gb/sec (4X HDR)" };
        let port = HcaPort { number: 1, rate_text: Known::Known(rate.to_owned()), ..HcaPort::default() };
        machine.hcas =
            Known::Known(vec![Hca { name: "mlx5_0".to_owned(), ports: vec![port], ..Hca::default() }]);
    });
    let (cause, text, action) = of_n3(&slow_to_n3(), &site);
    assert_eq!(cause, "slow-hca-port");
    assert!(text.contains("rate of hca:mlx5_0/1 is 100 Gb/sec (4X EDR), on 3 others 200"), "{text}");
    assert!(action.contains("ibstat") && !action.contains("ethtool"), "{action}");
}

#[test]
fn another_governor_is_the_cause_only_where_most_agree() {
    let memory = records("mem.bandwidth", "node");
    let (cause, finding) = cause_of_n3(&memory, &with_setting("cpu.governor", ["performance", "powersave"]));
    assert_eq!(cause, "cpu-clock-settings");
    assert!(finding.text.contains("cpu.governor is powersave, on 3 others performance"), "{}", finding.text);
    let mut split = with_setting("cpu.governor", ["performance", "powersave"]);
    split.nodes[0].settings = split.nodes[2].settings.clone();
    assert_eq!(cause_of_n3(&memory, &split).0, "", "two of four have it");
}

#[test]
fn errors_that_n3_alone_has_counted_are_the_cause() {
    let counted = |own: &str, others: &str| {
        let site = with_setting("state.memory_corrected", [others, own]);
        cause_of_n3(&records("mem.bandwidth", "node"), &site).0
    };
    assert_eq!(counted("4711", "0"), "machine-check");
    assert_eq!(counted("4711", "12"), "");
    assert_eq!(counted("0", "0"), "");
}

#[test]
fn heat_and_findings_of_the_gpu_are_causes_unless_the_others_have_them_too() {
    let hot = |everywhere: bool| {
        let mut records = records("mem.bandwidth", "node");
        for case in records.iter_mut().filter(|case| everywhere || case.nodes == ["n3"]) {
            let node = case.nodes[0].clone();
            let counts = json!({ "throttle": { "counts": { "core_throttles": 12 } } });
            case.evidence.insert("probes".to_owned(), json!({ node: counts }));
        }
        cause_of_n3(&records, &site(|_| {})).0
    };
    assert_eq!(hot(false), "heat");
    assert_eq!(hot(true), "");
    let with = |kind: &str, everywhere: bool| {
        let mut records = records("gpu.memory", "gpu:0");
        for case in records.iter_mut().filter(|case| everywhere || case.nodes == ["n3"]) {
            let text = "the GPU says so";
            case.findings.push(Finding::new(kind, Severity::Warning, case.subject.clone(), text));
        }
        cause_of_n3(&records, &site(|_| {})).0
    };
    let causes = [
        ("gpu-throttled", "gpu-clock"),
        ("gpu-shared", "gpu-shared"),
        ("gpu-xid", "gpu-fault"),
        ("pcie-link-reduced", "narrow-link"),
    ];
    for (kind, cause) in causes {
        assert_eq!((with(kind, false).as_str(), with(kind, true).as_str()), (cause, ""), "{kind}");
    }
}

#[test]
fn what_differs_is_no_cause_of_a_case_without_a_number() {
    let mut records = records("mem.bandwidth", "node");
    let failed = &mut records[2];
    failed.metrics.clear();
    (failed.outcome, failed.cause) = (Outcome::Failed, Some(Cause::IoError));
    failed.reason = Some("broken pipe".to_owned());
    assert_eq!(told(&records, &modules((16, 4800), (15, 4800))), []);
}
