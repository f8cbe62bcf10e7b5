//! Large pages, NUMA balancing, swapping.

use crate::tree::Tree;

const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

#[test]
fn the_word_in_brackets_is_the_one_in_force() {
    let line = |text: &str| Tree::new().file(ENABLED, text).line("memory.transparent_huge_pages");
    assert_eq!(line("always [madvise] never\n"), "node: madvise");
    assert_eq!(line("[always] madvise never\n"), "node: always");
    for wrong in ["", "always madvise never\n", "[always] [never]\n", "[] always\n"] {
        assert!(line(wrong).contains("expected words, one of them in brackets"), "{wrong}");
    }
    let tree = Tree::new().file(ENABLED, "always [madvise] never\n");
    assert_eq!(
        tree.command("memory.transparent_huge_pages", "never").as_deref(),
        Some("echo never > /sys/kernel/mm/transparent_hugepage/enabled")
    );
}

#[test]
fn the_counts_of_memory_are_their_sysctls() {
    let rows = [
        ("memory.huge_pages", "/proc/sys/vm/nr_hugepages", "512", "sysctl -w vm.nr_hugepages=512"),
        (
            "memory.numa_balancing",
            "/proc/sys/kernel/numa_balancing",
            "1",
            "sysctl -w kernel.numa_balancing=1",
        ),
        ("memory.swappiness", "/proc/sys/vm/swappiness", "60", "sysctl -w vm.swappiness=60"),
        ("memory.zone_reclaim", "/proc/sys/vm/zone_reclaim_mode", "0", "sysctl -w vm.zone_reclaim_mode=0"),
    ];
    for (setting, path, value, command) in rows {
        let tree = Tree::new().file(path, format!("{value}\n"));
        assert_eq!(tree.line(setting), format!("node: {value}"));
        assert_eq!(tree.command(setting, value).as_deref(), Some(command));
    }
}
