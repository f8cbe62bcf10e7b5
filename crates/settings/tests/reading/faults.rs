//! Hosts on which little can be read: nothing is guessed and nothing panics.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use seatrial_model::setting::Present;

use crate::tree::Tree;

#[test]
fn nothing_has_a_value_on_an_empty_tree() {
    for tree in [Tree::new(), Tree::bare()] {
        for reading in tree.read_all() {
            let why = reading.present.why().unwrap_or_else(|| panic!("{reading:#?}"));
            assert!(!why.is_empty(), "{reading:#?}");
        }
    }
}

#[test]
fn a_container_without_sys_could_not_look_which_is_not_the_same_as_no_knob() {
    let (without, with) = (Tree::bare().container(), Tree::new().container());
    for setting in ["cpu.governor", "cpu.boost", "cpu.smt", "cpu.cstates", "memory.transparent_huge_pages"] {
        assert!(matches!(with.read(setting)[0].present, Present::Absent(_)), "{setting}");
        let line = without.line(setting);
        assert!(
            line.starts_with("node: unreadable: ") && line.contains("neither does /sys/devices"),
            "{line}"
        );
    }
    let line = without.line("net.core.rmem_max");
    assert!(line.ends_with("does not exist, and neither does /proc/sys"), "{line}");
    assert_eq!(with.line("net.core.rmem_max"), "node: absent: /proc/sys/net/core/rmem_max does not exist");
}

/// One file of each kind that settings read.
const FILES: &[(&str, &str)] = &[
    ("cpu.governor", "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor"),
    ("cpu.boost", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
    ("cpu.boost", "/sys/devices/system/cpu/cpufreq/boost"),
    ("cpu.smt", "/sys/devices/system/cpu/smt/active"),
    ("cpu.dma_latency", "/dev/cpu_dma_latency"),
    ("memory.transparent_huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled"),
    ("memory.swappiness", "/proc/sys/vm/swappiness"),
    ("net.core.rmem_max", "/proc/sys/net/core/rmem_max"),
    ("net.ipv4.udp_mem", "/proc/sys/net/ipv4/udp_mem"),
    ("tuning.tuned_profile", "/etc/tuned/active_profile"),
];

/// Runs `test` on a thread without the root privilege to ignore file permissions.
fn without_privilege_over_files(test: impl FnOnce() + Send + 'static) {
    let confined = thread::spawn(|| {
        let over_files = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
        let mut sets = capabilities(None).expect("capabilities");
        sets.effective &= !over_files;
        set_capabilities(None, sets).expect("given up");
        test();
    });
    if let Err(panic) = confined.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn a_file_that_is_denied_is_unreadable_and_says_so() {
    without_privilege_over_files(|| {
        for (setting, path) in FILES {
            let tree = Tree::new().file(path, "1\n");
            fs::set_permissions(tree.root().locate(path), fs::Permissions::from_mode(0o000)).expect("set");
            let line = tree.line(setting);
            assert!(line.contains("unreadable: ") && line.contains("ermission denied"), "{line}");
        }
    });
}

#[test]
fn a_folder_in_the_place_of_a_file_is_unreadable_even_to_the_superuser() {
    for (setting, path) in FILES {
        let tree = Tree::new();
        fs::create_dir_all(tree.root().locate(path)).expect("made");
        let line = tree.line(setting);
        assert!(line.contains("unreadable: ") && line.contains("s a directory"), "{line}");
    }
}

#[test]
fn bytes_that_are_no_text_are_garbage() {
    for (setting, path) in FILES {
        let line = Tree::new().file(path, [0xff, 0xfe, 0x00]).line(setting);
        assert!(line.contains("unreadable: ") && line.contains("holds"), "{line}");
    }
}

#[test]
fn an_endless_line_is_cut() {
    let line = Tree::new().file("/proc/sys/vm/swappiness", "9".repeat(1 << 20)).line("memory.swappiness");
    assert!(line.starts_with("node: unreadable: ") && line.len() < 200, "{}", line.len());
}
