//! Daemons that change settings.

use crate::tree::Tree;

const ACTIVE: &str = "/etc/tuned/active_profile";

/// A host with these processes, besides the first one.
fn running(names: &[&str]) -> Tree {
    let all = ["systemd"].iter().chain(names).zip(1..);
    all.fold(Tree::new(), |tree, (name, pid)| tree.file(&format!("/proc/{pid}/comm"), format!("{name}\n")))
}

#[test]
fn the_profile_of_tuned_and_whether_it_is_in_force() {
    let id = "tuning.tuned_profile";
    let with = |tree: Tree| tree.file(ACTIVE, "throughput-performance\n").line(id);
    assert_eq!(with(running(&["tuned"])), "node: throughput-performance");
    assert_eq!(
        with(running(&["tunedish"])),
        "node: throughput-performance (tuned is not running, so the profile may not be in force)"
    );
    assert_eq!(
        with(running(&[]).container()),
        "node: throughput-performance (it is unknown whether tuned is running: a container sees only its own \
         processes)"
    );
    assert_eq!(running(&[]).line(id), format!("node: absent: {ACTIVE} does not exist"));
    assert_eq!(running(&[]).file(ACTIVE, "\n").line(id), "node: absent: tuned has no active profile");
    assert!(running(&[]).file(ACTIVE, "a\nb\n").line(id).contains("expected one line"));
    assert!(running(&[]).file(ACTIVE, [0xff, 0xfe]).line(id).contains("expected text in UTF-8"));
}

#[test]
fn irqbalance_runs_or_does_not_or_may_be_hidden() {
    let id = "tuning.irqbalance";
    assert_eq!(running(&["bash", "irqbalance"]).line(id), "node: true");
    assert_eq!(running(&["bash"]).line(id), "node: false");
    assert_eq!(
        running(&["bash"]).container().line(id),
        "node: unreadable: a container sees only its own processes"
    );
    assert_eq!(running(&["irqbalance"]).container().line(id), "node: true");
    // hidepid: only own processes are listed.
    let hidden = Tree::new().file("/proc/4711/comm", "bash\n").line(id);
    assert!(hidden.contains("/proc may hide processes of other users"), "{hidden}");
    let tree = running(&["irqbalance"]);
    assert_eq!(tree.command(id, "false").as_deref(), Some("systemctl disable --now irqbalance"));
}
