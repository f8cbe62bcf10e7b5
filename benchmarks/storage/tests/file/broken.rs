//! Every way in which storage refuses or returns wrong data has its own outcome.

use std::fs::OpenOptions;

use seatrial_model::{Cause, Integrity, Outcome};

use crate::rig::{LoopDisk, call, case, measured, or_skip, prepared};

#[test]
fn a_read_only_file_system_is_denied_and_a_full_one_has_no_space() {
    let Some(disk) = or_skip(LoopDisk::new(32, None)) else { return };
    let used = disk.used();
    let error = prepared(&case(&disk.mount(), &[("size", "1 GiB")])).err().expect("does not fit");
    assert_eq!(error.cause, Cause::NoSpace, "{error}");
    assert_eq!(disk.used(), used, "something was written before that was known");
    disk.read_only().expect("remounted");
    let error =
        prepared(&case(&disk.mount(), &[("size", "1 MiB"), ("block", "4 KiB")])).err().expect("refused");
    assert_eq!(error.cause, Cause::Denied, "{error}");
    assert!(error.text.contains("read-only"), "{error}");
}

#[test]
fn a_device_that_answers_with_errors_fails() {
    for (operation, word) in [("write", "write"), ("read", "read")] {
        let Some(disk) = or_skip(LoopDisk::new(64, None)) else { return };
        let case = case(&disk.mount(), &[("size", "32 MiB"), ("operation", operation), ("work", "once")]);
        let mut part = prepared(&case).expect("prepared");
        // Truncates the image, so that most of the device is gone.
        let image = OpenOptions::new().write(true).open(disk.image()).expect("opened");
        image.set_len(1 << 20).expect("cut");
        call("losetup", &["--set-capacity", &disk.device]).expect("shrunk");
        let error = measured(&case, &mut *part).expect_err("is not there");
        assert_eq!((error.cause, error.cause.outcome()), (Cause::IoError, Outcome::Failed), "{error}");
        assert!(error.text.starts_with(&format!("a {word} of 1048576 B at offset ")), "{error}");
    }
}

#[test]
fn a_volume_that_promised_more_than_it_has_is_out_of_space() {
    // The device claims 64 MiB, but its image has room for less than half.
    let Some(disk) = or_skip(LoopDisk::new(64, Some(16))) else { return };
    let case = case(&disk.mount(), &[("size", "32 MiB"), ("operation", "write"), ("work", "once")]);
    let mut part = prepared(&case).expect("prepared");
    let error = measured(&case, &mut *part).expect_err("does not fit");
    assert!(matches!(error.cause, Cause::NoSpace | Cause::IoError), "{error}");
    assert!(error.text.starts_with("a write of 1048576 B at offset "), "{error}");
}

#[test]
fn blocks_smaller_than_the_sectors_of_a_disk_are_refused_and_others_go_through() {
    let Some(disk) = or_skip(LoopDisk::with(64, None, 4096)) else { return };
    let of = |block, operation| {
        let changed = [
            ("size", "8 MiB"),
            ("block", block),
            ("operation", operation),
            ("pattern", "random"),
            ("depth", "32"),
        ];
        case(&disk.mount(), &changed)
    };
    let error = prepared(&of("512 B", "read")).err().expect("half of a sector and less");
    assert_eq!((error.cause, error.cause.outcome()), (Cause::Missing, Outcome::Unmeasured), "{error}");
    assert!(error.text.contains("multiples of 4096 B"), "{error}");
    for operation in ["read", "write", "mixed"] {
        let case = of("4 KiB", operation);
        let mut part = prepared(&case).expect("prepared");
        let record = measured(&case, &mut *part).expect("measured");
        assert_eq!(record.evidence["files"]["alignment"]["offset"], 4096, "{operation}");
        let integrity = part.verify().expect("looked at");
        assert!(matches!(integrity, Integrity::Verified { .. }), "{operation}: {integrity:?}");
    }
}

#[test]
fn a_device_that_forgets_is_found_corrupt() {
    let Some(disk) = or_skip(LoopDisk::new(64, None)) else { return };
    let case = case(&disk.mount(), &[("size", "16 MiB"), ("time", "200 ms")]);
    let mut part = prepared(&case).expect("prepared");
    // The device reads as zeros behind its first megabyte; the file system's own metadata are cached.
    let image = OpenOptions::new().write(true).open(disk.image()).expect("opened");
    image.set_len(1 << 20).and_then(|()| image.set_len(64 << 20)).expect("cut");
    // A busy machine may leave no CPU for the whole measuring time.
    for _ in 0..50 {
        let record = measured(&case, &mut *part).expect("reads zeros as fast as anything");
        if record.evidence["requests"].as_u64().is_some_and(|count| count > 20) {
            break;
        }
    }
    let Integrity::Corrupt { wrong, first, .. } = part.verify().expect("looked at") else {
        panic!("not seen")
    };
    assert!(wrong > 0 && first.contains("a zeroed block"), "{first}");
}

#[test]
fn a_directory_that_is_removed_takes_nothing_from_a_case_that_runs_and_is_missed_by_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("made");
    let changed = [
        ("size", "4 MiB"),
        ("block", "64 KiB"),
        ("access", "buffered"),
        ("operation", "mixed"),
        ("time", "1 s"),
    ];
    let case = case(&inner, &changed);
    let mut part = prepared(&case).expect("prepared");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(200));
            std::fs::remove_dir(&inner).expect("nothing with a name is in it");
        });
        measured(&case, &mut *part).expect("its files are open");
    });
    let integrity = part.verify().expect("read back");
    assert!(matches!(integrity, Integrity::Verified { .. }), "{integrity:?}");
    let error = prepared(&case).err().expect("is gone");
    assert_eq!((error.cause, error.cause.outcome()), (Cause::Missing, Outcome::Unmeasured), "{error}");
    assert!(error.text.contains("the directory does not exist"), "{error}");
}
