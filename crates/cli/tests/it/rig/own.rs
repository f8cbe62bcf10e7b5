//! Threads with private mounts and privileges, inherited by their processes. The mounts vanish with the last process,
//! also after a panic.

use std::ffi::CString;
use std::path::Path;
use std::process::Command;
use std::thread;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{
    CapabilitySet, UnshareFlags, capabilities, remove_capability_from_bounding_set, set_capabilities,
};

/// Reports a skipped test; in continuous integration, fails.
#[track_caller]
#[expect(clippy::print_stdout, reason = "`cargo xtask test` counts these lines")]
pub fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    println!("skipped: {why}");
}

/// Whether a program is installed; reports a skipped test otherwise.
#[track_caller]
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        skipped(&format!("there is no {program}"));
    }
    found
}

/// Runs `test` with a private tmpfs of `size` (such as `64k`), which its processes see too. Needs root.
pub fn with_private_mounts(size: &str, test: impl FnOnce(&Path) + Send + 'static) {
    let options = CString::new(format!("size={size}")).expect("no zero byte");
    // Created and removed outside, where nothing is mounted on it.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_owned();
    on_own_thread(move || {
        if let Err(errno) = unshare_mounts() {
            return skipped(&format!("no mount namespace ({errno}); it needs root"));
        }
        mount("seatrial-test", &path, "tmpfs", MountFlags::empty(), options.as_c_str()).expect("mounted");
        test(&path);
    });
}

/// Runs `test` in a network namespace of its own, with loopback of small packets, and with an empty `/var/lib`, which its processes see too.
/// Needs root and `ip`.
pub fn with_own_network(test: impl FnOnce() + Send + 'static) {
    on_own_thread(|| {
        if !is_installed("ip") {
            return;
        }
        if let Err(errno) = unshare_mounts_and(UnshareFlags::NEWNET) {
            return skipped(&format!("no network namespace ({errno}); it needs root"));
        }
        mount("seatrial-test", "/var/lib", "tmpfs", MountFlags::empty(), c"size=1m").expect("mounted");
        let status =
            Command::new("ip").args(["link", "set", "lo", "mtu", "1500", "up"]).status().expect("ip runs");
        assert!(status.success(), "{status}");
        test();
    });
}

fn unshare_mounts() -> rustix::io::Result<()> {
    unshare_mounts_and(UnshareFlags::empty())
}

#[expect(deprecated, reason = "the thread shares no file table with anything that would notice")]
fn unshare_mounts_and(more: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(UnshareFlags::NEWNS | more)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

/// Runs `test` without the root privilege to ignore file permissions, also for its processes.
pub fn without_privilege_over_files(test: impl FnOnce() + Send + 'static) {
    on_own_thread(|| {
        let over_files = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH | CapabilitySet::FOWNER;
        let mut sets = capabilities(None).expect("capabilities");
        if sets.effective.intersects(over_files) {
            for one in over_files.iter() {
                // A program started by root gets the bounding set.
                remove_capability_from_bounding_set(one).expect("given up");
            }
            sets.effective &= !over_files;
            set_capabilities(None, sets).expect("given up");
        }
        test();
    });
}

fn on_own_thread(test: impl FnOnce() + Send + 'static) {
    if let Err(panic) = thread::spawn(test).join() {
        std::panic::resume_unwind(panic);
    }
}
