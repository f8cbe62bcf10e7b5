//! The text for a vendor, of one node.

use std::collections::HashMap;

use seatrial_model::machine::{Disk, FileSystem, Gpu, Known, Machine, ModuleSerial, Nic, PciDevice, Serials};
use seatrial_model::record::Document;
use seatrial_model::{Finding, Severity, Subject, Verdict};
use seatrial_report::inventory::Node;
use seatrial_report::ticket::{TicketContext, render};

use super::{fixture, golden};

/// The metrics of the criteria of the fixtures.
fn metrics(document: &Document) -> HashMap<String, String> {
    let metric = |criterion: &str| if criterion == "gpu-host-to-device" { "h2d" } else { "bandwidth" };
    let criteria = document.verdicts.iter().map(|record| record.criterion.clone());
    criteria.map(|criterion| (criterion.clone(), metric(&criterion).to_owned())).collect()
}

fn ticket(document: &Document, name: &str, machine: Option<&Node>, evidence: Result<&str, &str>) -> String {
    render(document, name, TicketContext { machine, metrics: &metrics(document), evidence })
}

#[test]
fn a_node_with_a_slow_gpu() {
    let gpu = |index: u32| Gpu {
        index,
        model: Known::Known("NVIDIA H100".to_owned()),
        uuid: Known::Known(format!("GPU-000{index}")),
        pci: PciDevice { address: format!("0000:{index}a:00.0"), ..PciDevice::default() },
        ..Gpu::default()
    };
    let module = ModuleSerial {
        locator: "A1".to_owned(),
        bank: Some("P0 CHANNEL A".to_owned()),
        vendor: Some("Maker".to_owned()),
        part: None,
        serial: "S-17".to_owned(),
    };
    let serials = Serials { system: Some("J4X".to_owned()), modules: vec![module] };
    let machine = Machine { gpus: Known::Known(vec![gpu(0), gpu(1)]), serials, ..Machine::default() };
    let node = Node { name: "g1".to_owned(), machine, limits: Vec::new() };
    let text = ticket(&fixture::two_gpus(), "g1", Some(&node), Ok("0123abcd"));
    assert!(text.contains("GPU-0001") && !text.contains("GPU-0000"), "{text}");
    golden!("ticket_of_a_slow_gpu", text);
}

#[test]
fn a_node_without_inventory_that_could_not_be_judged() {
    let text = ticket(&fixture::virtual_machine(), "vm-1", None, Err("the run still runs"));
    golden!("ticket_of_an_unjudged_node", text);
}

#[test]
fn what_disturbed_many_cases_is_one_line() {
    let mut document = fixture::two_gpus();
    for at in 0..3 {
        let text = format!("{at} of 3 trials were disturbed");
        let finding = Finding::new("disturbed", Severity::Warning, Subject::node(), text);
        document.results[at].findings.push(finding);
    }
    let text = ticket(&document, "g1", None, Ok("0"));
    assert_eq!(text.matches("disturbed:").count(), 1, "{text}");
    assert!(text.contains("warning disturbed: first case: 0 of 3 trials were disturbed (3 cases)"), "{text}");
}

#[test]
fn the_devices_below_a_path_and_a_file_system_are_identified() {
    let nic = |name: &str, mac: &str| Nic {
        name: name.to_owned(),
        permanent_mac: Known::Known(mac.to_owned()),
        ..Nic::default()
    };
    let disk = |name: &str, serial: &str| Disk {
        name: name.to_owned(),
        size_bytes: Known::Known(1 << 40),
        serial: Known::Known(serial.to_owned()),
        ..Disk::default()
    };
    let file_system =
        FileSystem { mount: "/scratch".to_owned(), disks: vec!["sdb".to_owned()], ..FileSystem::default() };
    let machine = Machine {
        nics: Known::Known(vec![nic("eth0", "aa:00"), nic("eth1", "aa:01")]),
        disks: Known::Known(vec![disk("sda", "S-A"), disk("sdb", "S-B")]),
        file_systems: Known::Known(vec![file_system]),
        ..Machine::default()
    };
    let node = Node { name: "n1".to_owned(), machine, limits: Vec::new() };
    let of = |subject: &str| {
        let mut case = fixture::measured("n1", "copy", "nt", 1.0, &fixture::limit(2.0));
        case.nodes.push("n2".to_owned());
        case.subject = subject.parse().expect("a subject");
        let verdict = fixture::judged(&case, Verdict::Fail, 90.0, None);
        let document = fixture::checked(fixture::document(&["n1", "n2"], vec![case]), vec![verdict]);
        ticket(&document, "n1", Some(&node), Ok("0"))
    };
    let has = |text: &str| ["aa:00", "aa:01", "S-A", "S-B"].map(|id| text.contains(id));
    assert_eq!(has(&of("n1/eth0->n2/eth1")), [true, false, false, false]);
    assert_eq!(has(&of("n2/eth0->n1/eth1")), [false, true, false, false]);
    assert_eq!(has(&of("fs:/scratch")), [false, false, false, true]);
    assert_eq!(has(&of("disk:sda")), [false, false, true, false]);
}

#[test]
fn a_criterion_has_the_limit_of_its_own_metric_and_skipped_criteria_are_not_counted() {
    let mut case = fixture::measured("n1", "copy", "nt", 1.0, &fixture::limit(2.0));
    let mut latency = case.metrics["bandwidth"].clone();
    latency.limit = fixture::limit(7.0);
    case.metrics.insert("latency".to_owned(), latency);
    let verdicts = [Verdict::Fail, Verdict::Skip, Verdict::Pass].map(|verdict| {
        let mut record = fixture::judged(&case, verdict, 90.0, None);
        record.criterion = format!("of-latency-{verdict}");
        record
    });
    let document = fixture::checked(fixture::document(&["n1"], vec![case]), verdicts.to_vec());
    let metrics = HashMap::from([("of-latency-fail".to_owned(), "latency".to_owned())]);
    let context = TicketContext { machine: None, metrics: &metrics, evidence: Ok("0") };
    let text = render(&document, "n1", context);
    assert!(text.starts_with("n1: 1 of 2 criteria not met\n"), "{text}");
    assert!(text.contains("limit of latency: 7.00 GB/s") && !text.contains("limit of bandwidth"), "{text}");
}
