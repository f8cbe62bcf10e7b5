//! Network interfaces.

use seatrial_model::Value;
use seatrial_model::machine::{Bond, BondMember, CpuThread, Known, Nic, NicKind, PciDevice, Queueing};

use crate::tree::Tree;

fn nic(name: &str, kind: NicKind, mbit: Option<u64>) -> Nic {
    let speed = mbit.map_or_else(|| Known::unknown("Invalid argument"), Known::Known);
    Nic { name: name.to_owned(), kind, speed_mbit_s: speed, up: Known::Known(true), ..Nic::default() }
}

fn tree(nics: Vec<Nic>) -> Tree {
    nics.iter()
        .fold(Tree::new(), |tree, nic| {
            let folder = format!("/sys/class/net/{}", nic.name);
            tree.files(&folder, &[("mtu", "9000\n"), ("tx_queue_len", "1000\n")])
        })
        .machine(|machine| machine.nics = Known::Known(nics))
}

#[test]
fn every_interface_but_the_loopback_has_its_own_reading() {
    let tree = tree(vec![
        nic("lo", NicKind::Loopback, None),
        nic("eth0", NicKind::Physical, Some(10_000)),
        nic("br0", NicKind::Bridge, None),
    ]);
    assert_eq!(tree.lines("nic.mtu"), ["nic:eth0: 9000", "nic:br0: 9000"]);
    assert_eq!(tree.lines("nic.txqueuelen"), ["nic:eth0: 1000", "nic:br0: 1000"]);
    let readings = tree.read("nic.mtu");
    let facts = &readings[0].facts;
    assert_eq!((facts.text("kind"), facts.text("speed")), (Ok("nic"), Ok("10 Gbit/s")));
    assert_eq!((facts.flag("up"), facts.flag("virtual")), (Ok(true), Ok(false)));
    assert_eq!(readings[1].facts.get("speed"), None);
    assert_eq!(readings[1].facts.get("virtual"), Some(&Value::Flag(true)));
}

#[test]
fn the_command_names_the_interface() {
    let tree = tree(vec![nic("ens1f0np0", NicKind::Physical, None)]);
    assert_eq!(tree.command("nic.mtu", "9000").as_deref(), Some("ip link set dev ens1f0np0 mtu 9000"));
    assert_eq!(
        tree.command("nic.txqueuelen", "10000").as_deref(),
        Some("ip link set dev ens1f0np0 txqueuelen 10000")
    );
}

#[test]
fn an_interface_that_went_away_and_garbage_are_told() {
    let gone = Tree::new().machine(|machine| {
        machine.nics = Known::Known(vec![nic("eth0", NicKind::Physical, None)]);
    });
    assert_eq!(gone.line("nic.mtu"), "nic:eth0: absent: /sys/class/net/eth0/mtu does not exist");
    for wrong in ["", "large\n", "-1\n"] {
        let tree = tree(vec![nic("eth0", NicKind::Physical, None)]).file("/sys/class/net/eth0/mtu", wrong);
        assert!(tree.line("nic.mtu").contains("expected a whole number"), "{wrong}");
    }
}

#[test]
fn interfaces_that_nobody_could_list_are_unreadable_and_none_are_absent() {
    let unlisted = Tree::new().machine(|machine| machine.nics = Known::unknown("Permission denied"));
    assert_eq!(unlisted.line("nic.mtu"), "nic: unreadable: Permission denied");
    let alone = tree(vec![nic("lo", NicKind::Loopback, None)]);
    assert_eq!(alone.line("nic.mtu"), "nic: absent: there is no network interface but loopback");
}

#[test]
fn a_card_is_asked_for_its_rings_moderation_flow_control_and_offloads() {
    let coalescing = "3 64 0 0 16 32 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0";
    let answers = [
        ("rings", "8192 0 0 8192 1024 0 0 512"),
        ("coalescing", coalescing),
        ("pause", "1 0 1"),
        ("channels", "0 0 1 32 0 0 1 16"),
        ("tso", "1"),
        ("gro", "0"),
    ];
    let tree = tree(vec![nic("ens1", NicKind::Physical, Some(10_000)), nic("br0", NicKind::Bridge, None)])
        .files("/ethtool/ens1", &answers);
    for (setting, line) in [
        ("nic.rx_ring", "nic:ens1: 1024"),
        ("nic.tx_ring", "nic:ens1: 512"),
        ("nic.rx_usecs", "nic:ens1: 3 us"),
        ("nic.tx_usecs", "nic:ens1: 16 us"),
        ("nic.adaptive_rx", "nic:ens1: true"),
        ("nic.channels", "nic:ens1: 16"),
        ("nic.rx_pause", "nic:ens1: false"),
        ("nic.tx_pause", "nic:ens1: true"),
        ("nic.tso", "nic:ens1: true"),
        ("nic.gro", "nic:ens1: false"),
        ("nic.lro", "nic:ens1: absent: the driver does not support `ethtool -k ens1`"),
    ] {
        assert_eq!(tree.line(setting), line, "{setting}");
    }
    let command = |setting, value| tree.command(setting, value).expect("a way");
    assert_eq!(command("nic.rx_ring", "4096"), "ethtool -G ens1 rx 4096");
    assert_eq!(command("nic.rx_usecs", "50 us"), "ethtool -C ens1 adaptive-rx off rx-usecs 50");
    assert_eq!(command("nic.gro", "true"), "ethtool -K ens1 gro on");
}

#[test]
fn a_machine_without_a_card_has_no_rings() {
    let tree = tree(vec![nic("br0", NicKind::Bridge, None)]);
    assert_eq!(tree.line("nic.rx_ring"), "nic: absent: there is no network card");
}

#[test]
fn a_queue_is_told_with_what_is_below_it_or_what_it_shapes_to() {
    let queue = |kind: &str, root, rate| Queueing {
        kind: kind.to_owned(),
        root,
        rate_bytes_per_second: rate,
        ..Queueing::default()
    };
    let with = |all: Known<Vec<Queueing>>| {
        let eth0 = Nic { queueing: all, ..nic("eth0", NicKind::Physical, None) };
        tree(vec![eth0]).line("nic.qdisc")
    };
    assert_eq!(with(Known::Known(vec![queue("fq", true, None)])), "nic:eth0: fq");
    let many = vec![queue("mq", true, None), queue("fq_codel", false, None)];
    assert_eq!(with(Known::Known(many)), "nic:eth0: mq (of fq_codel)");
    let shaped = vec![queue("tbf", true, Some(25_000_000))];
    assert_eq!(with(Known::Known(shaped)), "nic:eth0: tbf (it shapes to 200 Mbit/s)");
    assert!(with(Known::Known(Vec::new())).starts_with("nic:eth0: absent"));
    assert_eq!(with(Known::unknown("EPERM")), "nic:eth0: unreadable: EPERM");
}

#[test]
fn interrupts_are_held_against_the_node_of_their_card() {
    let with = |cpus: Known<Vec<u32>>, node: Option<u32>| {
        let numa_node = node.map_or_else(|| Known::unknown("no file"), Known::Known);
        let pci = Known::Known(PciDevice { numa_node, ..PciDevice::default() });
        let eth0 = Nic { irq_cpus: cpus, pci, ..nic("eth0", NicKind::Physical, None) };
        let thread = |id| CpuThread { id, node: Some(id / 4), ..CpuThread::default() };
        let tree = tree(vec![eth0]).machine(|machine| machine.cpu.threads = (0..8).map(thread).collect());
        tree.line("nic.irq_local")
    };
    assert_eq!(with(Known::Known(vec![4, 5]), Some(1)), "nic:eth0: true");
    let away = "nic:eth0: false (the NIC is on node 1, its interrupts CPU 3 of node 0)";
    assert_eq!(with(Known::Known(vec![3, 4]), Some(1)), away);
    assert!(with(Known::Known(vec![0]), None).contains("unreadable: its NUMA node is unknown"));
    assert!(with(Known::Known(vec![99]), Some(0)).contains("unreadable"));
    assert_eq!(with(Known::unknown("EPERM"), Some(0)), "nic:eth0: unreadable: EPERM");
    let tree = tree(vec![nic("eth0", NicKind::Physical, None)]);
    let command = tree.command("nic.irq_local", "true").expect("a way");
    assert!(
        command.contains("/sys/class/net/eth0/device") && command.contains("cat local_cpulist >"),
        "{command}"
    );
}

#[test]
fn bonds_and_infiniband_are_told_where_there_are_some() {
    let member = |name: &str, link: &str| BondMember {
        name: name.to_owned(),
        link: Known::Known(link.to_owned()),
        ..BondMember::default()
    };
    let bond = Bond {
        members: vec![member("eth0", "up"), member("eth1", "down")],
        mode: Known::Known("802.3ad".to_owned()),
        hash_policy: Known::unknown("no file"),
        miimon_ms: Known::Known(100),
        ..Bond::default()
    };
    let mode = Some(Known::Known("connected".to_owned()));
    let there = tree(vec![
        Nic { bond: Some(bond), ..nic("bond0", NicKind::Bond, None) },
        Nic { ipoib_mode: mode, ..nic("ib0", NicKind::Physical, None) },
    ]);
    for (setting, line) in [
        ("nic.bond_mode", "nic:bond0: 802.3ad"),
        ("nic.bond_hash_policy", "nic:bond0: unreadable: no file"),
        ("nic.bond_miimon", "nic:bond0: 100 ms"),
        ("state.bond_members_up", "nic:bond0: false (eth1 down)"),
        ("nic.ipoib_mode", "nic:ib0: connected"),
    ] {
        assert_eq!(there.line(setting), line, "{setting}");
    }
    let miimon = there.command("nic.bond_miimon", "100 ms").expect("a way");
    assert_eq!(miimon, "echo $((100000 / 1000)) > /sys/class/net/bond0/bonding/miimon");
    let none = tree(vec![nic("eth0", NicKind::Physical, None)]);
    assert_eq!(none.line("nic.bond_mode"), "nic: absent: there is no bond");
    assert_eq!(none.line("nic.ipoib_mode"), "nic: absent: there is no IPoIB interface");
}
