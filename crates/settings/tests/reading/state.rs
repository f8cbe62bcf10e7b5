//! State at rest: error counters, the kernel's taint, file systems, links.

use seatrial_model::machine::{FileSystem, Known, Medium, Nic, NicKind};

use crate::tree::Tree;

const MC: &str = "/sys/devices/system/edac/mc/mc0";
const PCI: &str = "/sys/bus/pci/devices";

/// A host that runs for this many days.
fn up(days: f64) -> Tree {
    Tree::new().file("/proc/uptime", format!("{:.2} 100.00\n", days * 86_400.0))
}

#[test]
fn corrected_memory_errors_are_a_rate_of_the_worst_module_and_name_it() {
    let id = "state.memory_corrected";
    let tree = |first: &str, second: &str| {
        up(4.0)
            .files(
                MC,
                &[
                    ("ce_count", "0\n"),
                    ("ue_count", "0\n"),
                    ("dimm0/dimm_ce_count", first),
                    ("dimm0/dimm_label", "A1\n"),
                ],
            )
            .files(MC, &[("dimm1/dimm_ce_count", second), ("dimm1/dimm_label", "\n")])
    };
    assert_eq!(tree("0\n", "0\n").line(id), "node: 0");
    assert_eq!(tree("2\n", "200\n").line(id), "node: 50 (mc0 dimm1 200, A1 2, in 4.0 days)");
    assert_eq!(tree("1\n", "0\n").line(id), "node: 0.25 (A1 1, in 4.0 days)");
    assert!(tree("many\n", "0\n").line(id).starts_with("node: unreadable: "));
}

#[test]
fn a_burst_while_the_machine_boots_counts_as_one_of_a_day() {
    let tree = up(0.001).files(MC, &[("ce_count", "7\n")]);
    assert_eq!(tree.line("state.memory_corrected"), "node: 7 (mc0 7, in 1.0 days)");
}

#[test]
fn a_controller_with_errors_of_no_module_is_told_by_its_own_count() {
    let tree = up(1.0).files(MC, &[("ce_count", "30\n"), ("dimm0/dimm_ce_count", "0\n")]);
    assert_eq!(tree.line("state.memory_corrected"), "node: 30 (mc0 30, in 1.0 days)");
}

#[test]
fn uncorrected_memory_errors_are_summed() {
    let tree =
        up(2.0).files(MC, &[("ue_count", "1\n")]).file("/sys/devices/system/edac/mc/mc1/ue_count", "2\n");
    assert_eq!(tree.line("state.memory_uncorrected"), "node: 3 (mc1 2, mc0 1, in 2.0 days)");
}

#[test]
fn a_virtual_machine_counts_no_errors_of_memory_links_and_heat_and_says_who_does() {
    for id in [
        "state.memory_corrected",
        "state.memory_uncorrected",
        "state.pcie_correctable",
        "state.pcie_fatal",
        "state.thermal_throttling",
    ] {
        let line = up(1.0).virtual_machine().line(id);
        assert!(line.starts_with("node: absent: ") && line.contains("the host counts them"), "{line}");
        let line = up(1.0).line(id);
        assert!(line.starts_with("node: absent: ") && !line.contains("host counts"), "{line}");
    }
}

#[test]
fn pcie_errors_name_the_device() {
    let total = |kind: &str, count: u32| format!("Undefined 0\nTOTAL_ERR_{kind} {count}\n");
    let tree = up(2.0)
        .file(&format!("{PCI}/0000:3b:00.0/aer_dev_correctable"), total("COR", 40))
        .file(&format!("{PCI}/0000:3b:00.0/aer_dev_fatal"), total("FATAL", 1))
        .file(&format!("{PCI}/0000:5e:00.0/aer_dev_correctable"), total("COR", 2))
        .file(&format!("{PCI}/0000:5e:00.0/aer_dev_fatal"), total("FATAL", 0));
    assert_eq!(
        tree.line("state.pcie_correctable"),
        "node: 20 (0000:3b:00.0 40, 0000:5e:00.0 2, in 2.0 days)"
    );
    assert_eq!(tree.line("state.pcie_fatal"), "node: 1 (0000:3b:00.0 1, in 2.0 days)");
    assert!(tree.line("state.pcie_nonfatal").contains("absent: no device counts errors"));
}

#[test]
fn throttling_is_that_of_the_worst_core_or_package() {
    let cpu = "/sys/devices/system/cpu/cpu0";
    let tree = |core: &str, package: &str| {
        up(10.0).files(
            cpu,
            &[
                ("thermal_throttle/core_throttle_count", core),
                ("thermal_throttle/package_throttle_count", package),
                ("topology/physical_package_id", "0\n"),
                ("topology/thread_siblings_list", "0,4\n"),
            ],
        )
    };
    assert_eq!(tree("0\n", "0\n").line("state.thermal_throttling"), "node: 0");
    assert_eq!(
        tree("3\n", "50\n").line("state.thermal_throttling"),
        "node: 5 (package 0 50, the core of CPU 0 3, in 10.0 days)"
    );
}

#[test]
fn a_part_that_several_threads_tell_of_is_named_once() {
    let mut tree = up(1.0);
    for (cpu, package) in [(0, "6\n"), (4, "7\n")] {
        let files = [
            ("thermal_throttle/core_throttle_count", "2\n"),
            ("thermal_throttle/package_throttle_count", package),
            ("topology/physical_package_id", "0\n"),
            ("topology/thread_siblings_list", "0,4\n"),
        ];
        tree = tree.files(&format!("/sys/devices/system/cpu/cpu{cpu}"), &files);
    }
    assert_eq!(
        tree.line("state.thermal_throttling"),
        "node: 7 (package 0 7, the core of CPU 0 2, in 1.0 days)"
    );
}

#[test]
fn a_counter_that_cannot_be_read_is_no_clean_machine() {
    let broken = up(1.0)
        .file(&format!("{PCI}/0000:3b:00.0/aer_dev_fatal"), "what\n")
        .file(&format!("{PCI}/0000:5e:00.0/aer_dev_fatal"), "TOTAL_ERR_FATAL 0\n");
    assert!(broken.line("state.pcie_fatal").starts_with("node: unreadable: "));
    let core = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
    assert!(up(1.0).file(core, "hot\n").line("state.thermal_throttling").starts_with("node: unreadable: "));
}

#[test]
fn each_bit_of_the_taint_is_a_state_of_its_own() {
    let with = |text: &str, id: &str| Tree::new().file("/proc/sys/kernel/tainted", text).line(id);
    let bits = [
        ("state.machine_check", 4),
        ("state.bad_page", 5),
        ("state.kernel_oops", 7),
        ("state.kernel_warning", 9),
        ("state.soft_lockup", 14),
    ];
    for (id, bit) in bits {
        assert_eq!(with(&format!("{}\n", 1 << bit), id), "node: true");
        assert_eq!(with(&format!("{}\n", !(1_u32 << bit)), id), "node: false");
        assert!(with("clean\n", id).starts_with("node: unreadable: "));
    }
}

fn file_system(change: fn(&mut FileSystem)) -> Tree {
    let mut one = FileSystem {
        mount: "/data".to_owned(),
        kind: "ext4".to_owned(),
        medium: Medium::Disk,
        device: Some("sda2".to_owned()),
        fill_percent: Known::Known(62.5),
        inode_fill_percent: Some(3.0),
        ..FileSystem::default()
    };
    change(&mut one);
    Tree::new()
        .file("/sys/fs/ext4/sda2/errors_count", "3\n")
        .machine(|machine| machine.file_systems = Known::Known(vec![one]))
}

#[test]
fn a_file_system_on_a_disk_tells_its_fill_its_inodes_and_its_errors() {
    let tree = file_system(|_| ());
    assert_eq!(tree.line("state.space_used"), "fs:/data: 62.5");
    assert_eq!(tree.line("state.inodes_used"), "fs:/data: 3");
    assert_eq!(tree.line("state.became_read_only"), "fs:/data: false");
    assert_eq!(tree.line("state.file_system_errors"), "fs:/data: 3");
    let lost = file_system(|one| (one.read_only, one.became_read_only) = (true, true));
    assert_eq!(lost.line("state.became_read_only"), "fs:/data: true");
    let facts = &tree.read("state.space_used")[0].facts;
    assert_eq!((facts.text("kind"), facts.text("mount")), (Ok("fs"), Ok("/data")));
}

#[test]
fn images_servers_and_what_is_unknown_have_no_number() {
    let image = file_system(|one| one.read_only = true);
    assert_eq!(image.line("state.space_used"), "fs: absent: no file system is on a disk of this machine");
    let server = file_system(|one| one.medium = Medium::Network);
    assert!(server.line("state.became_read_only").starts_with("fs: absent: "));
    let silent =
        file_system(|one| one.fill_percent = Known::unknown("statvfs(/data) did not answer within 2 s"));
    assert_eq!(
        silent.line("state.space_used"),
        "fs:/data: unreadable: statvfs(/data) did not answer within 2 s"
    );
    let other = file_system(|one| (one.kind, one.inode_fill_percent) = ("btrfs".to_owned(), None));
    assert!(other.line("state.inodes_used").contains("absent: "));
    assert_eq!(other.line("state.file_system_errors"), "fs:/data: absent: only ext4 counts its errors");
}

#[test]
fn a_link_that_flaps_is_told_by_its_rate_and_software_has_none() {
    let nic = |name: &str, kind| Nic { name: name.to_owned(), kind, ..Nic::default() };
    let tree = up(2.0).file("/sys/class/net/eth0/carrier_down_count", "50\n").machine(|machine| {
        machine.nics = Known::Known(vec![
            nic("eth0", NicKind::Physical),
            nic("eth1", NicKind::Physical),
            nic("br0", NicKind::Bridge),
        ]);
    });
    assert_eq!(
        tree.lines("state.carrier_losses"),
        [
            "nic:eth0: 25 (eth0 50, in 2.0 days)",
            "nic:eth1: absent: /sys/class/net/eth1/carrier_down_count does not exist"
        ]
    );
}
