//! State at rest of disks, cards, cables and mounts.

use seatrial_model::machine::{Disk, DiskBus, Known, Nic, NicKind};

use crate::tree::Tree;

/// A host with a card eth0, a bridge, an NVMe disk and a SATA disk, up for two days.
fn host() -> Tree {
    Tree::new().file("/proc/uptime", "172800.00 100.00\n").machine(|machine| {
        let nic = |name: &str, kind| Nic {
            name: name.to_owned(),
            kind,
            firmware: Known::Known("22.39.1002".to_owned()),
            ..Nic::default()
        };
        let disk = |name: &str, bus| Disk { name: name.to_owned(), bus, ..Disk::default() };
        machine.nics = Known::Known(vec![nic("eth0", NicKind::Physical), nic("br0", NicKind::Bridge)]);
        machine.disks = Known::Known(vec![disk("nvme0n1", DiskBus::Nvme), disk("sda", DiskBus::Sata)]);
    })
}

fn counted(tree: &Tree, setting: &str) -> Vec<Option<u64>> {
    tree.read(setting).iter().map(|reading| reading.counted).collect()
}

#[test]
fn an_nvme_disk_tells_its_health() {
    let mut log = vec![0_u8; 512];
    log[3..6].copy_from_slice(&[100, 10, 3]);
    let sound = host().file("/nvme/nvme0/smart_log", &log);
    (log[0], log[3], log[160]) = (1, 9, 4);
    let worn = host().file("/nvme/nvme0/smart_log", &log);
    for (setting, of_sound, of_worn) in [
        ("state.nvme_warning", "false", "true (few spare blocks are left)"),
        ("state.nvme_spare", "100 (it warns below 10 %)", "9 (it warns below 10 %)"),
        ("state.nvme_used", "3", "3"),
        ("state.nvme_media_errors", "0", "4"),
    ] {
        assert_eq!(sound.line(setting), format!("disk:nvme0n1: {of_sound}"));
        assert_eq!(worn.line(setting), format!("disk:nvme0n1: {of_worn}"));
    }
    assert_eq!(counted(&worn, "state.nvme_media_errors"), [Some(4)]);
    let cut = host().file("/nvme/nvme0/smart_log", &log[..100]);
    assert!(cut.line("state.nvme_used").contains("expected a log page of 512 bytes"));
    assert!(host().line("state.nvme_used").starts_with("disk:nvme0n1: absent: "));
}

#[test]
fn a_card_counts_packets_with_errors_by_the_day() {
    let statistics = "/sys/class/net/eth0/statistics";
    let tree =
        host().files(statistics, &[("rx_errors", "7\n"), ("rx_crc_errors", "0\n"), ("tx_errors", "x\n")]);
    assert_eq!(tree.line("state.nic_rx_errors"), "nic:eth0: 3.5 (eth0 7, in 2.0 days)");
    assert_eq!(counted(&tree, "state.nic_rx_errors"), [Some(7)]);
    assert_eq!(tree.line("state.nic_crc_errors"), "nic:eth0: 0");
    assert!(tree.line("state.nic_tx_errors").starts_with("nic:eth0: unreadable: "));
    assert!(tree.line("state.nic_missed").starts_with("nic:eth0: absent: "));
}

#[test]
fn the_light_of_a_transceiver_is_told_in_dbm_with_its_alarm() {
    let mut qsfp = vec![0_u8; 256];
    for lane in 0..4 {
        // 10000 is 1 mW, 5000 half of it.
        qsfp[34 + lane * 2..36 + lane * 2].copy_from_slice(&10_000_u16.to_be_bytes());
        qsfp[50 + lane * 2..52 + lane * 2].copy_from_slice(&10_000_u16.to_be_bytes());
    }
    qsfp[38..40].copy_from_slice(&5_000_u16.to_be_bytes());
    let tree = |qsfp: &[u8]| host().file("/ethtool/eth0/module", "3\n").file("/ethtool/eth0/eeprom", qsfp);
    assert_eq!(tree(&qsfp).line("state.optics_received"), "nic:eth0: -3.01");
    assert_eq!(tree(&qsfp).line("state.optics_sent"), "nic:eth0: 0");
    assert_eq!(tree(&qsfp).line("state.optics_alarm"), "nic:eth0: false");
    qsfp[9] = 0x40;
    qsfp[34..36].copy_from_slice(&[0, 0]);
    assert_eq!(tree(&qsfp).line("state.optics_received"), "nic:eth0: -40");
    assert_eq!(tree(&qsfp).line("state.optics_alarm"), "nic:eth0: true (too little light is received)");
    let none = host().line("state.optics_alarm");
    assert_eq!(none, "nic:eth0: absent: it has no transceiver that measures light");
}

#[test]
fn the_encoding_of_a_link_is_told_and_set_by_hand() {
    let tree = host().file("/ethtool/eth0/fec", "16 8 0\n");
    assert_eq!(tree.line("nic.fec"), "nic:eth0: baser");
    assert_eq!(tree.command("nic.fec", "rs").as_deref(), Some("ethtool --set-fec eth0 encoding rs"));
}

#[test]
fn the_switch_at_the_end_of_a_cable_is_told_as_lldpd_heard_it() {
    let json = r#"{"lldp":[{"interface":[{"name":"eth0","via":"LLDP",
        "chassis":[{"id":[{"type":"mac","value":"00:1c"}],"name":[{"value":"leaf3"}]}],
        "port":[{"id":[{"type":"ifname","value":"Ethernet1/7"}],"descr":[{"value":"to n1"}]}]}]}]}"#;
    let tree = |json: &str| host().file("/lldp/neighbors.json", json);
    assert_eq!(tree(json).line("state.lldp_neighbour"), "nic:eth0: leaf3 Ethernet1/7");
    let silent = tree(r#"{"lldp":[{}]}"#).line("state.lldp_neighbour");
    assert_eq!(silent, "nic:eth0: absent: no switch has announced itself by LLDP");
    assert!(tree("no JSON").line("state.lldp_neighbour").contains("unreadable: lldpcli answers no JSON"));
    assert_eq!(host().line("state.lldp_neighbour"), "nic:eth0: absent: lldpd is not installed");
}

#[test]
fn what_fstab_wants_and_nobody_mounted_is_named() {
    let mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:40 / /my\\040data rw - nfs nas:/data rw\n";
    let tree = |fstab: &str| host().file("/etc/fstab", fstab).file("/proc/self/mountinfo", mounts);
    let sound = "# a comment\nUUID=1 / ext4 defaults 0 1\nUUID=2 none swap sw 0 0\nnas:/data /my\\040data nfs _netdev 0 0\n\
                 LABEL=usb /media/usb vfat noauto,user 0 0\nnas:/old /old nfs nofail 0 0\n";
    assert_eq!(tree(sound).line("state.fstab_mounted"), "node: true");
    let more = format!("{sound}nas:/home /home/ nfs defaults 0 0\nnas:/opt /opt nfs\n");
    assert_eq!(tree(&more).line("state.fstab_mounted"), "node: false (not mounted: /home, /opt)");
    assert!(host().line("state.fstab_mounted").starts_with("node: absent: /etc/fstab does not exist"));
}

#[test]
fn disks_and_cards_tell_their_firmware() {
    let tree = host()
        .file("/sys/block/nvme0n1/device/firmware_rev", "GDC5602Q\n")
        .file("/sys/block/sda/device/rev", "SC60\n");
    assert_eq!(tree.lines("software.disk_firmware"), ["disk:nvme0n1: GDC5602Q", "disk:sda: SC60"]);
    assert_eq!(tree.line("software.nic_firmware"), "nic:eth0: 22.39.1002");
    let none = host().lines("software.disk_firmware");
    assert!(none.iter().all(|line| line.contains("absent: ")), "{none:?}");
}
