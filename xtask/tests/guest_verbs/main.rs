//! Verbs on soft-RoCE, in a guest: one boot, in which this program runs its own trials.
//!
//! The machine's own kernel may have no RDMA; Debian's has, and libibverbs and its provider are those of the host. The
//! trials are in `inside`; they are marked as ignored, since they need the guest, and are called by the one test here.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "../common/boot.rs"]
mod boot;
mod confined;
mod inside;
mod rig;

/// Runs all trials, then those of a process that may lock 64 KiB of memory and has no capability to lock more.
fn script(program: &str) -> String {
    let trials = format!("'{program}' --ignored --test-threads=1 --nocapture");
    format!(
        "{trials} inside:: || exit 9; setpriv --bounding-set -ipc_lock prlimit --memlock=65536 {trials} confined::"
    )
}

/// The number of trials that a run of them passed, from libtest's last line.
fn passed(output: &str) -> Vec<u32> {
    let counts = output.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    counts.filter_map(|counts| counts.split(' ').next()?.parse().ok()).collect()
}

#[test]
fn verbs_do_on_soft_roce_what_they_promise() {
    let program = std::env::current_exe().unwrap();
    let command = script(&program.display().to_string());
    let Some(output) = boot::boot(&["--nics", "1", "--limit", "1200"], &["sh", "-c", &command], &[]) else {
        return;
    };
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}\n{told}", boot::complaint(&output));
    let passed = passed(&told);
    assert!(passed.len() == 2 && passed[0] >= 15 && passed[1] == 1, "{passed:?}: {told}");
}
