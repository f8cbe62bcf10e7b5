//! The probe `kernel_log` on the log of the running kernel.
//!
//! Needs root: a mount with an unknown option makes the kernel log an error, and mounts nothing.

use std::process::{Command, Output};

use seatrial_sys::probe::{Difference, probe};
use seatrial_sys::root::SysRoot;

/// An option that no file system has; the kernel quotes it. With our PID, since other processes may run this test
/// too.
fn option() -> String {
    format!("seatrial_no_such_option_{}", std::process::id())
}

fn complain() -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", &option(), "none"]).arg(folder.path()).output();
    mount.expect("the program mount of util-linux")
}

fn named(seen: &Difference) -> usize {
    seen.lines.iter().filter(|line| line.level == 3 && line.text.contains(&option())).count()
}

#[test]
fn a_complaint_of_the_kernel_is_seen_in_its_window_and_in_no_other() {
    let probe = probe("kernel_log").expect("there is one");
    let (before, around) = (probe.watch(&SysRoot::live()), probe.watch(&SysRoot::live()));
    let before = before.end();
    let refused = complain();
    let seen = around.end();
    let said = String::from_utf8_lossy(&refused.stderr);
    let closed = |why: &String| why.starts_with("cannot read") || why.ends_with("does not exist");
    if seen.unreadable.iter().any(closed)
        || said.contains("ermission denied")
        || said.contains("must be superuser")
    {
        let why = format!("the kernel's log or mount(8) is denied: {:?} {said}", seen.unreadable);
        assert!(std::env::var("CI").map_or(true, |ci| ci != "true"), "{why}");
        #[expect(clippy::print_stdout, reason = "says why nothing was tested")]
        {
            println!("skipped: {why}");
        }
        return;
    }
    assert!(!refused.status.success(), "the mount was refused");
    assert!(seen.unreadable.is_empty(), "{:?}", seen.unreadable);
    let after = probe.watch(&SysRoot::live()).end();
    assert_eq!((named(&before), named(&seen), named(&after)), (0, 1, 0), "{:?} {said}", seen.lines);
}
