//! Threads with mounts and privileges of their own: what they change, the processes they start see, and nobody else.
//!
//! Nothing needs cleaning up, even when a test panics: the mounts of a namespace vanish with its last process.

use std::ffi::CString;
use std::path::Path;
use std::thread;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{
    CapabilitySet, UnshareFlags, capabilities, remove_capability_from_bounding_set, set_capabilities,
};

/// Says that a test could not look, which in continuous integration is a failure.
#[track_caller]
#[expect(clippy::print_stdout, reason = "`cargo xtask test` counts these lines")]
pub fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    println!("skipped: {why}");
}

/// Whether a program is there, or else says that a test could not look.
#[track_caller]
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        skipped(&format!("there is no {program}"));
    }
    found
}

/// Runs `test` with a memory file system of `size` (such as `64k`) on a folder that only this thread and what it starts
/// see. Needs root.
pub fn with_private_mounts(size: &str, test: impl FnOnce(&Path) + Send + 'static) {
    let options = CString::new(format!("size={size}")).expect("no zero byte");
    // Made and removed out here, where nothing is mounted on it.
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

#[expect(deprecated, reason = "the thread shares no file table with anything that would notice")]
fn unshare_mounts() -> rustix::io::Result<()> {
    rustix::thread::unshare(UnshareFlags::NEWNS)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

/// Runs `test` such that it and what it starts may not pass over file permissions, as root otherwise does.
pub fn without_privilege_over_files(test: impl FnOnce() + Send + 'static) {
    on_own_thread(|| {
        let over_files = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH | CapabilitySet::FOWNER;
        let mut sets = capabilities(None).expect("capabilities");
        if sets.effective.intersects(over_files) {
            for one in over_files.iter() {
                // A program that root starts gets what the bounding set holds.
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
