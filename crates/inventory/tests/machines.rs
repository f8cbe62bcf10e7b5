//! Whole machines, from their trees of files to what is known of them.

mod tree;

use std::fmt::Write;

use seatrial_inventory::{Process, memory_bandwidth, node_memory_bandwidth, read, read_as};
use seatrial_model::machine::{Known, Machine};
use seatrial_model::{Bound, Bytes};
use tree::{Module, Shape, Tree};

/// Everything known of a machine: threads and caches as tables, the rest as it stands in a record.
fn portrait(machine: &Machine) -> String {
    let mut text = String::new();
    let place = |place: Option<u32>| place.map_or("-".to_owned(), |place| place.to_string());
    text += "cpu  core socket node l3 rank online allowed\n";
    for t in &machine.cpu.threads {
        let places = [t.core, t.socket, t.node, t.l3, t.smt_rank].map(place);
        let [core, socket, node, l3, rank] = &places;
        let (online, allowed) = (u8::from(t.online), u8::from(t.allowed));
        writeln!(text, "{:<4} {core:<4} {socket:<6} {node:<4} {l3:<2} {rank:<4} {online:<6} {allowed}", t.id)
            .expect("text");
    }
    text += "\n";
    for cache in &machine.caches.instances {
        let (level, kind, size) = (cache.level, cache.kind, Bytes(cache.size_bytes));
        let line = place(cache.line_bytes);
        writeln!(text, "L{level} {kind:?} {size}, line {line}, CPUs {:?}", cache.cpus).expect("text");
    }
    let all: Vec<u32> = machine.cpu.usable().map(|thread| thread.id).collect();
    writeln!(text, "\nlast level of the usable CPUs: {:?}", machine.last_level_cache(&all)).expect("text");
    writeln!(text, "memory bandwidth: {}", limit(&memory_bandwidth(machine))).expect("text");
    for node in &machine.numa {
        let bound = node_memory_bandwidth(machine, node.id);
        writeln!(text, "memory bandwidth of node {}: {}", node.id, limit(&bound)).expect("text");
    }
    let mut rest = machine.clone();
    rest.cpu.threads.clear();
    rest.caches.instances.clear();
    text + "\n" + &serde_json::to_string_pretty(&rest).expect("serialises")
}

fn limit(bound: &Known<Bound>) -> String {
    match bound {
        Known::Known(bound) => format!("{} = {} ({})", bound.value, bound.formula, bound.provenance),
        Known::Unknown(why) => format!("unknown: {why}"),
    }
}

#[test]
fn virtual_machine_whose_sources_disagree() {
    let tree = Tree::fixture("vm-epyc");
    let root = tree.root();
    let process = Process {
        isa: Known::Known(["sse2", "avx2", "avx512f"].map(str::to_owned).to_vec()),
        page_size_bytes: Known::Known(4096),
        l3_by_libc_bytes: Known::Known(335_544_320),
        ..Process::elsewhere(&root)
    };
    insta::assert_snapshot!(portrait(&read_as(&root, &process)));
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
    insta::assert_snapshot!(portrait(&read(&tree.root())));
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
    insta::assert_snapshot!(portrait(&read(&Tree::fixture("garbage").root())));
}

#[test]
fn an_empty_tree_is_all_unknown_and_no_panic() {
    let dir = tempfile::tempdir().expect("a folder");
    let machine = read(&seatrial_sys::root::SysRoot::at(dir.path()));
    assert!(machine.cpu.threads.is_empty());
    assert!(!machine.memory.effective_available_bytes.is_known() && !machine.dimms.is_known());
    assert!(!memory_bandwidth(&machine).is_known());
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
