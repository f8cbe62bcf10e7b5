//! Resource limits and the capabilities that lift them.

use seatrial_model::machine::{Known, ProcessLimit};

use crate::tree::Tree;

/// A process with these limits and effective capabilities, in the user namespace of this map.
fn process(soft: Option<u64>, hard: Option<u64>, capabilities: &str, map: &str) -> Tree {
    let limit = Known::Known(ProcessLimit { soft, hard });
    Tree::new()
        .file("/proc/self/status", format!("Name:\tseatrial\nCapEff:\t{capabilities}\n"))
        .file("/proc/self/uid_map", map)
        .machine(|machine| {
            machine.confinement.realtime_priority = limit.clone();
            machine.confinement.locked_memory = limit;
        })
}

const FIRST: &str = "         0          0 4294967295\n";
const NONE: &str = "0000000000000000";
const ALL: &str = "000001ffffffffff";

#[test]
fn the_limit_in_force_counts_and_the_hard_one_is_noted() {
    assert_eq!(process(Some(0), Some(0), NONE, FIRST).line("limits.rtprio"), "node: 0");
    assert_eq!(
        process(Some(0), Some(50), NONE, FIRST).line("limits.rtprio"),
        "node: 0 (a program can raise it to 50 itself)"
    );
    assert_eq!(
        process(Some(8 << 20), None, NONE, FIRST).line("limits.memlock"),
        "node: 8 MiB (a program can raise it to unlimited itself)"
    );
    assert_eq!(process(None, None, NONE, FIRST).line("limits.memlock"), "node: unlimited");
}

#[test]
fn a_capability_lifts_the_limit() {
    let root = process(Some(0), Some(0), ALL, FIRST);
    assert_eq!(root.line("limits.rtprio"), "node: 99 (by CAP_SYS_NICE; without it 0)");
    let root = process(Some(65536), Some(65536), ALL, FIRST);
    assert_eq!(root.line("limits.memlock"), "node: unlimited (by CAP_IPC_LOCK; without it 64 KiB)");
    // CAP_SYS_NICE alone.
    let some = process(Some(0), Some(0), "0000000000800000", FIRST);
    assert_eq!(some.line("limits.rtprio"), "node: 99 (by CAP_SYS_NICE; without it 0)");
    assert_eq!(some.line("limits.memlock"), "node: 0 B");
    // CAP_IPC_LOCK alone.
    let some = process(Some(0), Some(0), "0000000000004000", FIRST);
    assert_eq!(some.line("limits.rtprio"), "node: 0");
    assert_eq!(some.line("limits.memlock"), "node: unlimited (by CAP_IPC_LOCK; without it 0 B)");
}

#[test]
fn capabilities_of_another_user_namespace_lift_nothing() {
    let map = "         0       1000          1\n";
    assert_eq!(process(Some(0), Some(0), ALL, map).line("limits.rtprio"), "node: 0");
}

#[test]
fn garbage_about_capabilities_leaves_the_limit() {
    assert_eq!(process(Some(3), Some(3), "many", FIRST).line("limits.rtprio"), "node: 3");
}

#[test]
fn a_limit_that_was_not_read_is_unreadable() {
    let tree = Tree::new().machine(|machine| machine.confinement.locked_memory = Known::unknown("no answer"));
    assert_eq!(tree.line("limits.memlock"), "node: unreadable: no answer");
}

#[test]
fn the_commands_speak_of_the_own_shell() {
    let tree = process(Some(0), Some(0), NONE, FIRST);
    assert_eq!(tree.command("limits.rtprio", "1").as_deref(), Some("prlimit --pid $$ --rtprio=1"));
    assert_eq!(
        tree.command("limits.memlock", "unlimited").as_deref(),
        Some("prlimit --pid $$ --memlock=unlimited")
    );
    assert_eq!(
        tree.command("limits.memlock", "1 MiB").as_deref(),
        Some("prlimit --pid $$ --memlock=1048576")
    );
}
