//! Network interfaces.

use seatrial_model::Value;
use seatrial_model::machine::{Known, Nic, NicKind};

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
    assert_eq!(alone.line("nic.mtu"), "nic: absent: there is no network interface besides the loopback");
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
        ("nic.lro", "nic:ens1: absent: the driver does not answer `ethtool -k ens1`"),
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
