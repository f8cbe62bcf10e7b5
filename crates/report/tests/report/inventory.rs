//! The inventory of a machine.

use seatrial_model::machine::{
    Cache, CacheKind, Confinement, Cpu, CpuThread, Dimm, DimmSource, Dimms, Disk, DiskBus, FileSystem, Hca,
    HcaPort, Known, Machine, Nic, NicKind, NumaNode, PartLimit, PciDevice, PciPath, PciPort, ProcessLimit,
    Product, Remark, Virtualization,
};
use seatrial_model::{Bound, Limit, Subject};
use seatrial_report::TextStyle;
use seatrial_report::inventory::{Node, render};

use crate::golden;

fn word(text: &str) -> Known<String> {
    Known::Known(text.to_owned())
}

fn pci(address: &str, node: u32) -> PciDevice {
    let port = PciPort {
        address: address.to_owned(),
        speed_gts: Known::Known(16.0),
        width: Known::Known(16),
        ..PciPort::default()
    };
    PciDevice {
        address: address.to_owned(),
        numa_node: Known::Known(node),
        path: PciPath { ports: vec![port] },
        ..PciDevice::default()
    }
}

fn dimm() -> Dimm {
    Dimm {
        size_bytes: Some(16 << 30),
        kind: Some("DDR4".to_owned()),
        rated_mts: Some(3200),
        configured_mts: Some(2666),
        ..Dimm::default()
    }
}

/// Two sockets of four cores, an InfiniBand card, a bond, a dozen disks.
fn server() -> Machine {
    let thread =
        |id: u32| CpuThread { id, online: true, allowed: id > 0, node: Some(id / 4), ..CpuThread::default() };
    let node = |id: u32| NumaNode {
        id,
        cpus: (4 * id..4 * id + 4).collect(),
        total_bytes: Known::Known(128 << 30),
        distances: [(0, if id == 0 { 10 } else { 21 }), (1, if id == 1 { 10 } else { 21 })].into(),
        ..NumaNode::default()
    };
    let disk = |n: u8| Disk {
        name: format!("sd{}", char::from(b'a' + n)),
        bus: DiskBus::Sata,
        model: word("ST4000NM0035"),
        rotational: Known::Known(true),
        size_bytes: Known::Known(4_000_787_030_016),
        ..Disk::default()
    };
    let hca = Hca {
        name: "mlx5_0".to_owned(),
        model: word("MT4119"),
        firmware: word("16.35.2000"),
        pci: Known::Known(pci("0000:3b:00.0", 0)),
        ports: vec![HcaPort {
            number: 1,
            state: word("ACTIVE"),
            link_layer: word("InfiniBand"),
            rate_text: word("100 Gb/sec (4X EDR)"),
            ..HcaPort::default()
        }],
        ..Hca::default()
    };
    let nic = |name: &str, state: &str| Nic {
        name: name.to_owned(),
        kind: NicKind::Physical,
        driver: word("ixgbe"),
        state: word(state),
        speed_mbit_s: if state == "up" { Known::Known(10_000) } else { Known::unknown("the link is down") },
        mtu: Known::Known(9000),
        master: Some("bond0".to_owned()),
        pci: Known::Known(pci("0000:18:00.0", 0)),
        ..Nic::default()
    };
    let cache = |first: u32| Cache {
        level: 3,
        kind: CacheKind::Unified,
        size_bytes: 12 << 20,
        cpus: vec![first],
        ..Cache::default()
    };
    let mut machine = Machine {
        product: Product {
            vendor: word("Dell Inc."),
            name: word("PowerEdge R740"),
            firmware_version: word("2.19.1"),
            ..Product::default()
        },
        distribution: word("Debian GNU/Linux 12 (bookworm)"),
        kernel: word("6.1.0-18-amd64"),
        architecture: word("x86_64"),
        virtualization: Known::Known(Virtualization::default()),
        cpu: Cpu {
            model: word("Intel(R) Xeon(R) Gold 5122"),
            sockets: Known::Known(2),
            cores: Known::Known(8),
            isa: Known::Known(vec!["avx2".to_owned(), "avx512f".to_owned()]),
            threads: (0..8).map(thread).collect(),
            ..Cpu::default()
        },
        numa: vec![node(0), node(1), NumaNode { cpus: Vec::new(), ..node(2) }],
        dimms: Known::Known(Dimms { source: DimmSource::Smbios, slots: 24, modules: vec![dimm(); 12] }),
        confinement: Confinement {
            locked_memory: Known::Known(ProcessLimit { soft: Some(64 << 10), hard: None }),
            open_files: Known::Known(ProcessLimit { soft: None, hard: None }),
            ..Confinement::default()
        },
        nics: Known::Known(vec![nic("eno1", "up"), nic("eno2", "down")]),
        hcas: Known::Known(vec![hca]),
        gpus: Known::Known(Vec::new()),
        disks: Known::Known((0..12).map(disk).collect()),
        file_systems: Known::Known(vec![FileSystem {
            mount: "/scratch".to_owned(),
            source: "10.0.0.1@o2ib:/scratch".to_owned(),
            kind: "lustre".to_owned(),
            size_bytes: Known::Known(1 << 50),
            fill_percent: Known::unknown("did not answer within 2 s"),
            ..FileSystem::default()
        }]),
        remarks: vec![Remark {
            subject: "dimm".to_owned(),
            text: "the modules run below their rating".to_owned(),
        }],
        ..Machine::default()
    };
    machine.caches.instances = vec![cache(0), cache(4)];
    machine.memory.total_bytes = Known::Known(256 << 30);
    machine
}

fn bound(value: &str, formula: &str, provenance: &str) -> Bound {
    Bound {
        value: value.parse().expect("a quantity"),
        formula: formula.to_owned(),
        provenance: provenance.to_owned(),
        nominal: None,
    }
}

fn limits() -> Vec<PartLimit> {
    let limit = |subject: &str, limit| PartLimit {
        subject: subject.parse().expect("a subject"),
        what: "rate in one direction".to_owned(),
        limit,
    };
    let chain = vec![
        bound("15.75 GB/s", "8 GT/s x 16 lanes x 128/130", "pcie link"),
        bound("100 Gbit/s", "4 lanes x 25.78125 Gbit/s x 64/66", "ib port"),
    ];
    let mut limits = vec![
        limit("node", Limit::Chain(vec![bound("255.9 GB/s", "12 channels x 2666 MT/s x 8 B", "dmi")])),
        limit("hca:mlx5_0/1", Limit::Chain(chain)),
        limit("nic:eno2", Limit::unknown("the link is down")),
    ];
    let disk = |n: u8| {
        let name = format!("disk:sd{}", char::from(b'a' + n));
        limit(&name, Limit::Chain(vec![bound("600 MB/s", "6 Gbit/s x 8/10", "sata link")]))
    };
    limits.extend((0..12).map(disk));
    limits
}

#[test]
fn a_server_fits_on_one_screen() {
    let node = Node { name: "n07".to_owned(), machine: server(), limits: limits() };
    let text = render(&[node], TextStyle::new(Default::default(), Some(110)));
    assert!(text.lines().count() <= 40, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    golden!("inventory_of_a_server", text);
}

#[test]
fn a_machine_that_tells_nothing_says_why() {
    let node = Node { name: "n1".to_owned(), machine: Machine::default(), limits: Vec::new() };
    let subject = Subject::node();
    let unknown = PartLimit {
        subject,
        what: "memory bandwidth".to_owned(),
        limit: Limit::unknown("the firmware's table cannot be read"),
    };
    let text = render(&[Node { limits: vec![unknown], ..node }], TextStyle::default());
    golden!("inventory_of_nothing", text);
}

#[test]
fn nodes_that_are_alike_are_shown_once_with_what_differs() {
    let node = |name: &str| {
        let mut machine = server();
        // What differs from one moment to the next is no difference.
        let available = 1_u64 << (30 + name.len());
        machine.memory.effective_available_bytes = Known::Known(available);
        Node { name: name.to_owned(), machine, limits: limits() }
    };
    let mut other = node("n3");
    let Known::Known(nics) = &mut other.machine.nics else { panic!("network cards") };
    nics[0].mtu = Known::Known(1500);
    let login = Node { name: "login".to_owned(), machine: Machine::default(), limits: Vec::new() };
    let nodes = [node("n1"), node("n2"), other, login, node("n10")];
    let text = render(&nodes, TextStyle::new(Default::default(), Some(110)));
    golden!("inventory_of_nodes_that_are_alike", text);
}
