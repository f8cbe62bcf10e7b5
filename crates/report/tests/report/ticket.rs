//! The text for a vendor, of one node.

use seatrial_model::Verdict;
use seatrial_model::machine::{Disk, FileSystem, Gpu, Known, Machine, Nic, PciDevice};
use seatrial_report::inventory::Node;
use seatrial_report::ticket::render;

use super::{fixture, golden};

#[test]
fn a_node_with_a_slow_gpu() {
    let gpu = |index: u32| Gpu {
        index,
        model: Known::Known("NVIDIA H100".to_owned()),
        uuid: Known::Known(format!("GPU-000{index}")),
        pci: PciDevice { address: format!("0000:{index}a:00.0"), ..PciDevice::default() },
        ..Gpu::default()
    };
    let machine = Machine { gpus: Known::Known(vec![gpu(0), gpu(1)]), ..Machine::default() };
    let node = Node { name: "g1".to_owned(), machine, limits: Vec::new() };
    let text = render(&fixture::two_gpus(), "g1", Some(&node), Ok("0123abcd"));
    assert!(text.contains("GPU-0001") && !text.contains("GPU-0000"), "{text}");
    golden!("ticket_of_a_slow_gpu", text);
}

#[test]
fn a_node_without_inventory_that_could_not_be_judged() {
    let text = render(&fixture::virtual_machine(), "vm-1", None, Err("the run still runs"));
    golden!("ticket_of_an_unjudged_node", text);
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
    let ticket = |subject: &str| {
        let mut case = fixture::measured("n1", "copy", "nt", 1.0, &fixture::limit(2.0));
        case.nodes.push("n2".to_owned());
        case.subject = subject.parse().expect("a subject");
        let verdict = fixture::judged(&case, Verdict::Fail, 90.0, None);
        render(
            &fixture::checked(fixture::document(&["n1", "n2"], vec![case]), vec![verdict]),
            "n1",
            Some(&node),
            Ok("0"),
        )
    };
    let has = |text: &str| ["aa:00", "aa:01", "S-A", "S-B"].map(|id| text.contains(id));
    assert_eq!(has(&ticket("n1/eth0->n2/eth1")), [true, false, false, false]);
    assert_eq!(has(&ticket("n2/eth0->n1/eth1")), [false, true, false, false]);
    assert_eq!(has(&ticket("fs:/scratch")), [false, false, false, true]);
    assert_eq!(has(&ticket("disk:sda")), [false, false, true, false]);
}
