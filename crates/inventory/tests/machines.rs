//! Whole machines, read from trees of files.

mod portrait;
mod tree;

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;

use portrait::portrait;
use seatrial_inventory::{Process, Space, Spaces, memory_bandwidth, part_limits, read, read_as};
use seatrial_model::Better;
use seatrial_model::machine::{Known, Machine};
use tree::{Module, Shape, Tree};

fn told(spaces: &[(&str, Known<Space>)]) -> Spaces {
    Spaces::Told(
        spaces.iter().map(|(mount, space)| ((*mount).to_owned(), space.clone())).collect::<BTreeMap<_, _>>(),
    )
}

fn gib(size: u64, free: u64, available: u64) -> Known<Space> {
    let [size_bytes, free_bytes, available_bytes] = [size, free, available].map(|gib| gib << 30);
    Known::Known(Space { size_bytes, free_bytes, available_bytes, ..Space::default() })
}

#[test]
fn virtual_machine_whose_sources_disagree() {
    let tree = Tree::fixture("vm-epyc");
    let root = tree.root();
    let process = Process {
        isa: Known::Known(["sse2", "avx2", "avx512f"].map(str::to_owned).to_vec()),
        page_size_bytes: Known::Known(4096),
        l3_by_libc_bytes: Known::Known(335_544_320),
        spaces: told(&[("/", gib(252, 236, 223)), ("/dev/shm", gib(23, 23, 23))]),
        ..Process::elsewhere(&root)
    };
    insta::assert_snapshot!(portrait(&read_as(&root, &process)));
}

#[test]
fn card_passed_through_to_a_virtual_machine() {
    let tree = Tree::fixture("vm-h200");
    let full = Space { size_bytes: 318_373_888, ..Space::default() };
    let root = Space {
        size_bytes: 270_553_174_016,
        free_bytes: 253_256_437_760,
        available_bytes: 68_692_201_472,
        inodes: 1000,
        free_inodes: 250,
    };
    let spaces = told(&[("/", Known::Known(root)), ("/usr/local/nvidia", Known::Known(full))]);
    let process = Process { spaces, ..Process::elsewhere(&tree.root()) };
    insta::assert_snapshot!(portrait(&read_as(&tree.root(), &process)));
}

#[test]
fn two_sockets_with_memory_below_its_rating() {
    let shape = Shape {
        sockets: 2,
        cores_a_socket: 8,
        threads_a_core: 2,
        nodes_a_socket: 1,
        cores_an_l3: 8,
        cache_kib: [48, 1280, 12_288],
        node_kib: 131_500_000,
        offline: &[],
    };
    let slot = |cpu: u32, channel: char, slot: u32| Module {
        locator: format!("P{cpu}-DIMM{channel}{slot}"),
        bank: "Not Specified",
        kind: 0x1a,
        gib: if slot == 1 { 16 } else { 0 },
        rated: 3200,
        configured: 2666,
    };
    let modules: Vec<Module> = (1..=2)
        .flat_map(|cpu| ('A'..='H').flat_map(move |channel| (1..=2).map(move |n| (cpu, channel, n))))
        .map(|(cpu, channel, n)| slot(cpu, channel, n))
        .collect();
    let tree = Tree::fixture("xeon-2s").with(&shape).with_modules(&modules);
    let silent = Known::unknown("statvfs(/projects) did not answer within 2 s");
    let spaces = told(&[
        ("/", gib(100, 60, 60)),
        ("/boot", gib(1, 1, 1)),
        ("/home", gib(793, 120, 120)),
        ("/local", gib(3576, 3000, 3000)),
        ("/scratch", gib(1_000_000, 381_000, 330_000)),
        ("/projects", silent),
        ("/dev/shm", gib(125, 125, 125)),
    ]);
    let process = Process { spaces, ..Process::elsewhere(&tree.root()) };
    insta::assert_snapshot!(portrait(&read_as(&tree.root(), &process)));
}

#[test]
fn one_socket_in_four_nodes_with_many_caches() {
    let shape = Shape {
        sockets: 1,
        cores_a_socket: 32,
        threads_a_core: 1,
        nodes_a_socket: 4,
        cores_an_l3: 4,
        cache_kib: [32, 1024, 32_768],
        node_kib: 98_500_000,
        offline: &[],
    };
    let tree = Tree::fixture("epyc-nps4").with(&shape);
    insta::assert_snapshot!(portrait(&read(&tree.root())));
}

/// One socket of a few cores, one node.
const SMALL: Shape = Shape {
    sockets: 1,
    cores_a_socket: 8,
    threads_a_core: 1,
    nodes_a_socket: 1,
    cores_an_l3: 8,
    cache_kib: [48, 2048, 23_040],
    node_kib: 65_000_000,
    offline: &[],
};

#[test]
fn memory_without_cpus_and_slots_that_do_not_tell() {
    let slot = |n: u32| Module {
        locator: format!("A{n}"),
        bank: "Not Specified",
        kind: 0x22,
        gib: 8,
        rated: 4800,
        configured: 4400,
    };
    let modules: Vec<Module> = (1..=8).map(slot).collect();
    let tree = Tree::fixture("cxl").with(&SMALL).with_modules(&modules);
    insta::assert_snapshot!(portrait(&read(&tree.root())));
}

#[test]
fn arm_server_with_a_cpu_offline() {
    let shape = Shape { cache_kib: [64, 1024, 116_736], node_kib: 492_000_000, offline: &[7], ..SMALL };
    let chip = |n: u32| Module {
        locator: format!("LP5x_{n}"),
        bank: "LP5x",
        kind: 0x23,
        gib: 30,
        rated: 6400,
        configured: 6400,
    };
    let modules: Vec<Module> = (0..2).map(chip).collect();
    let tree = Tree::fixture("grace").with(&shape).with_modules(&modules);
    insta::assert_snapshot!(portrait(&read(&tree.root())));
}

#[test]
fn machine_that_shows_next_to_nothing() {
    insta::assert_snapshot!(portrait(&read(&Tree::fixture("bare-vm").root())));
}

#[test]
fn machine_of_contradictions() {
    let tree = Tree::fixture("garbage");
    let full = Space { size_bytes: 10, free_bytes: 20, available_bytes: 30, ..Space::default() };
    let nothing = Known::Known(Space::default());
    let spaces = told(&[("/", Known::Known(full)), ("/d", nothing)]);
    let process = Process { spaces, ..Process::elsewhere(&tree.root()) };
    insta::assert_snapshot!(portrait(&read_as(&tree.root(), &process)));
}

#[test]
fn an_empty_tree_is_all_unknown_and_no_panic() {
    let dir = tempfile::tempdir().expect("a folder");
    let machine = read(&seatrial_sys::root::SysRoot::at(dir.path()));
    assert!(machine.cpu.threads.is_empty());
    assert!(!machine.memory.effective_available_bytes.is_known() && !machine.dimms.is_known());
    assert!(!memory_bandwidth(&machine).is_known());
    let parts = [
        machine.nics.is_known(),
        machine.hcas.is_known(),
        machine.gpus.is_known(),
        machine.disks.is_known(),
        machine.file_systems.is_known(),
    ];
    assert_eq!(parts, [false; 5], "what nobody told is not an empty list");
}

#[test]
fn a_container_without_sysfs_has_unknown_devices_and_known_mounts() {
    let tree = Tree::fixture("xeon-2s").without("/sys");
    let machine = read(&tree.root());
    for why in [machine.nics.why(), machine.hcas.why(), machine.gpus.why(), machine.disks.why()] {
        assert!(
            why.is_some_and(|why| why.starts_with("/sys/") && why.ends_with("does not exist")),
            "{why:?}"
        );
    }
    let systems = machine.file_systems.known().expect("they are in /proc");
    let root = systems.iter().find(|one| one.mount == "/").expect("the root");
    assert!(root.disks.is_empty() && root.device.is_none(), "nothing tells what /dev/mapper/vg0-root is");
    assert!(machine.confinement.locked_memory.is_known());
}

#[test]
fn files_that_are_empty_or_hold_no_sense_become_no_facts() {
    let contents: [&[u8]; 4] = [b"", b"\xff\xfe", b"-1", b"18446744073709551615"];
    for name in ["xeon-2s", "epyc-nps4"] {
        let tree = Tree::fixture(name);
        for content in contents {
            tree.fill_with(content);
            let machine = read(&tree.root());
            let text = serde_json::to_string(&machine).expect("serialises");
            assert_eq!(serde_json::from_str::<Machine>(&text).expect("reads"), machine);
            for nic in machine.nics.known().expect("they are listed") {
                assert!(!nic.speed_mbit_s.is_known() && nic.up != Known::Known(true), "{content:?}: {nic:?}");
            }
            let bounds = part_limits(&machine)
                .into_iter()
                .filter_map(|part| part.limit.tightest(Better::Higher).cloned());
            assert_eq!(bounds.collect::<Vec<_>>(), [], "{name} {content:?}");
        }
    }
}

#[test]
fn a_name_that_is_not_utf_8_is_left_out_and_said_so() {
    let tree = Tree::fixture("vm-epyc");
    let odd = tree.root().locate("/sys/class/net").join(std::ffi::OsStr::from_bytes(b"eth\xff"));
    std::os::unix::fs::symlink("../../devices/virtual/net/lo", odd).expect("linked");
    let mounts = tree.root().locate("/proc/self/mountinfo");
    let mut text = std::fs::read(&mounts).expect("read");
    text.extend(b"40 27 0:66 / /mnt/\xff rw - ext4 /dev/sdb1 rw\n");
    std::fs::write(mounts, text).expect("written");
    let machine = read(&tree.root());
    let remark = machine.remarks.iter().find(|remark| remark.subject == "nic").expect("a remark");
    assert!(remark.text.contains("left out"), "{remark:?}");
    assert_eq!(machine.nics.known().map(Vec::len), Some(3));
    assert_eq!(machine.file_systems.known().map(Vec::len), Some(3));
}

#[test]
fn the_running_machine_can_be_used() {
    let machine = read(&seatrial_sys::root::SysRoot::live());
    assert!(machine.cpu.one_per_core().count() >= 1, "{:?}", machine.remarks);
    assert!(machine.memory.effective_available_bytes.known().is_some_and(|&bytes| bytes > 0));
    assert!(machine.nodes_with_cpus().count() >= 1);
    let text = serde_json::to_string(&machine).expect("serialises");
    assert_eq!(serde_json::from_str::<Machine>(&text).expect("reads"), machine);
}
