//! No space, no permission, a read-only home: errors with path and next step. File systems are mounted in a private
//! mount namespace, which needs root.

use std::fs;
use std::path::Path;
use std::thread;

use super::common::{case, end, info, measured, record_case, small_run};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change, mount_remount};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities, set_capabilities};
use seatrial_model::Event;
use seatrial_store::{Home, RunFolder, StoreError};

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
pub fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    println!("skipped: {why}");
}

/// Runs `test` on a thread that sees a new tmpfs of `size` bytes on a folder of its own.
fn on_tmpfs(size: &str, test: impl FnOnce(&Path) + Send + 'static) {
    let options = std::ffi::CString::new(format!("size={size}")).unwrap();
    let run = thread::spawn(move || {
        let folder = tempfile::tempdir().unwrap();
        if let Err(errno) = private_mounts() {
            return skipped(&format!("no mount namespace ({errno}); it needs root"));
        }
        mount("seatrial-test", folder.path(), "tmpfs", MountFlags::empty(), options.as_c_str()).unwrap();
        test(folder.path());
        rustix::mount::unmount(folder.path(), rustix::mount::UnmountFlags::DETACH).unwrap();
    });
    if let Err(panic) = run.join() {
        std::panic::resume_unwind(panic);
    }
}

#[expect(
    deprecated,
    reason = "the thread that is unshared shares no file table with anything that would notice"
)]
fn private_mounts() -> rustix::io::Result<()> {
    rustix::thread::unshare(UnshareFlags::NEWNS)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

#[test]
fn a_full_file_system_is_told_before_anything_is_measured() {
    on_tmpfs("16k", |folder| {
        let home = Home::at(folder.join("home"));
        fs::write(folder.join("ballast"), [0; 16384]).unwrap();
        let error = RunFolder::create(&home, info()).unwrap_err();
        assert!(matches!(&error, StoreError::NoSpace { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(home.path().to_str().unwrap()), "{text}");
        assert!(text.contains("os error 28") && text.contains("set SEATRIAL_HOME"), "{text}");
    });
}

#[test]
fn space_that_runs_out_in_mid_run_loses_only_the_case_that_did_not_fit() {
    on_tmpfs("64k", |folder| {
        let home = Home::at(folder);
        let mut journal = RunFolder::create(&home, info()).unwrap();
        let path = journal.path().to_owned();
        let mut kept = Vec::new();
        let error = loop {
            let record = measured(&case(&format!("kernel{}", kept.len())), 20.0);
            match journal.record(Event::CaseEnded { record: Box::new(record.clone()) }) {
                Ok(()) => kept.push(record),
                Err(error) => break error,
            }
            assert!(kept.len() < 1000, "64 KiB hold no thousand records");
        };
        assert!(matches!(error, StoreError::NoSpace { .. }), "{error:?}");
        assert!(kept.len() > 3);
        drop(journal);
        let run = RunFolder::open(&path).unwrap();
        assert_eq!(run.damage, []);
        // A record counts even if its event could not be logged.
        assert_eq!(run.results[..kept.len()], kept);
        assert!(run.results.len() <= kept.len() + 1);
    });
}

#[test]
fn a_run_goes_on_once_there_is_space_again() {
    on_tmpfs("64k", |folder| {
        let home = Home::at(folder);
        let mut journal = RunFolder::create(&home, info()).unwrap();
        let path = journal.path().to_owned();
        record_case(&mut journal, measured(&case("copy"), 20.0));
        let ballast = folder.join("ballast");
        fs::write(&ballast, vec![0; 65536]).unwrap_err();
        let record = Event::CaseEnded { record: Box::new(measured(&case("triad"), 21.0)) };
        assert!(matches!(journal.record(record), Err(StoreError::NoSpace { .. })));
        fs::remove_file(&ballast).unwrap();
        drop(journal);
        let mut journal = RunFolder::resume(&path).unwrap().journal;
        record_case(&mut journal, measured(&case("triad"), 21.0));
        journal.end(end()).unwrap();
        assert_eq!(RunFolder::open(&path).unwrap().results.len(), 2);
    });
}

#[test]
fn a_line_that_did_not_fit_spoils_no_later_one() {
    on_tmpfs("64k", |folder| {
        let mut journal = RunFolder::create(&Home::at(folder), info()).unwrap();
        let note = |text: &str| Event::Note { case: None, text: text.to_owned() };
        journal.record(note("first")).unwrap();
        let ballast = folder.join("ballast");
        fs::write(&ballast, vec![0; 65536]).unwrap_err();
        // The rest of the file's last page takes a part of a line, and the line fails half-way.
        let long = note(&"x".repeat(700));
        let fitted = (0..100).take_while(|_| journal.record(long.clone()).is_ok()).count();
        assert!(fitted < 100, "a page holds no hundred such lines");
        fs::remove_file(&ballast).unwrap();
        journal.record(note("last")).unwrap();
        let events = RunFolder::open(journal.path()).unwrap().events();
        assert_eq!(events.len(), 1 + fitted + 1);
        assert_eq!(events[fitted + 1].event["text"], "last");
    });
}

#[test]
fn a_read_only_home_lists_and_opens_its_runs_but_takes_no_new_one() {
    on_tmpfs("1m", |folder| {
        let home = Home::at(folder);
        small_run(&home).end(end()).unwrap();
        mount_remount(folder, MountFlags::RDONLY, "").unwrap();
        let error = RunFolder::create(&home, info()).unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
        let path = home.find("last").unwrap();
        assert!(matches!(RunFolder::resume(&path), Err(StoreError::ReadOnly { .. })));
        assert_eq!(RunFolder::open(&path).unwrap().results.len(), 2);
        assert_eq!(home.history().unwrap().len(), 1);
    });
}

#[test]
fn a_home_of_somebody_else_is_denied() {
    // Root ignores permissions by two capabilities, which this thread drops.
    let test = thread::spawn(|| {
        let mut sets = capabilities(None).unwrap();
        sets.effective &= !(CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH);
        set_capabilities(None, sets).unwrap();
        let (folder, home) = super::common::home();
        let mode =
            |mode| fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(mode));
        mode(0o555).unwrap();
        let error = RunFolder::create(&home, info()).unwrap_err();
        mode(0o755).unwrap();
        assert!(matches!(&error, StoreError::Denied { .. }), "{error:?}");
        assert!(error.to_string().contains(home.path().to_str().unwrap()), "{error}");
    });
    if let Err(panic) = test.join() {
        std::panic::resume_unwind(panic);
    }
}
