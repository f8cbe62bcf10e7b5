//! Every answer that a file system can give, or withhold, has its own outcome.

use std::time::Duration;

use seatrial_model::{Cause, Outcome};

use crate::fuse::Fuse;
use crate::rig::{bench, case, measured, or_skip, prepared, reduced};

/// The error of a case on a file system with this fault.
fn outcome(order: &str, changed: &[(&str, &str)]) -> Option<(Cause, Outcome, String)> {
    let fuse = or_skip(Fuse::new(order))?;
    let mut all = vec![("size", "4 MiB"), ("block", "64 KiB"), ("time", "1 s"), ("operation", "write")];
    all.extend_from_slice(changed);
    let case = case(&fuse.mount(), &all);
    let error = match prepared(&case) {
        // A busy machine may not reach the request in question within one measuring time.
        Ok(mut part) => (0..60).find_map(|_| measured(&case, &mut *part).err()),
        Err(error) => Some(error),
    };
    let error = error.unwrap_or_else(|| panic!("{order}: nothing went wrong"));
    Some((error.cause, error.cause.outcome(), error.text))
}

#[test]
fn what_a_file_system_answers_decides_whether_it_failed() {
    let read = [("operation", "read")];
    let one_by_one = [("operation", "read"), ("engine", "sync")];
    let once = [("work", "once")];
    let each = [("engine", "sync"), ("access", "buffered"), ("sync", "each")];
    for (order, changed, cause, word) in [
        // An I/O error is a failure of the storage, with every engine.
        ("read:20=errno:5", &read[..], Cause::IoError, "a read of 65536 B at offset "),
        ("write:20=errno:5", &once, Cause::IoError, "a write of 65536 B at offset "),
        ("write:20=errno:5", &each, Cause::IoError, "a write of 65536 B at offset "),
        ("fsync:1=errno:5", &once, Cause::IoError, "flushing a file"),
        // So does a file system that was writable a moment ago.
        ("write:20=errno:30", &once, Cause::IoError, "made the file system read-only"),
        // Without space nothing is measured: on the device, or by quota.
        ("write:20=errno:28", &once, Cause::NoSpace, "free some, or lower size="),
        ("write:20=errno:122", &once, Cause::NoSpace, "the disk quota is used up"),
        ("create:1=errno:122", &once, Cause::NoSpace, "the disk quota is used up"),
        ("create:1=errno:28", &once, Cause::NoSpace, "making a file in "),
        // Neither without permission from the beginning.
        ("create:1=errno:30", &once, Cause::Denied, "mounted read-only"),
        ("create:1=errno:13", &once, Cause::Denied, "name a writable directory"),
        // A short read: the test requests the rest and gets half of it, until nothing comes.
        ("read:20=short", &one_by_one, Cause::IoError, "ended after 65535 B"),
        ("read:20=short", &read, Cause::IoError, "ended after 65535 B"),
        // The server of the file system dies.
        ("write:20=die", &once, Cause::IoError, "a write of 65536 B at offset "),
    ] {
        let Some((found, outcome, text)) = outcome(order, changed) else { return };
        assert_eq!(found, cause, "{order}: {text}");
        let fails = cause == Cause::IoError;
        assert_eq!(outcome == Outcome::Failed, fails, "{order}: {text}");
        assert!(text.contains(word), "{order}: '{word}' is not in: {text}");
    }
}

#[test]
fn what_is_never_answered_hangs_with_the_request_in_question() {
    for (order, engine, word) in [
        ("read:20=stall", "io_uring", "a read at offset "),
        ("read:20=stall", "sync", "a read at offset "),
        ("fsync:1=stall", "sync", "flushing a file"),
    ] {
        let operation = if order.starts_with("read") { "read" } else { "write" };
        let Some((cause, _, text)) = outcome(order, &[("operation", operation), ("engine", engine)]) else {
            return;
        };
        assert_eq!(cause, Cause::Hang, "{order}: {text}");
        assert!(text.contains(word) && text.contains("has been pending for"), "{order}: {text}");
    }
}

#[test]
fn a_slow_file_system_is_measured_and_its_latency_is_found() {
    let Some(fuse) = or_skip(Fuse::new("read:1=late:20")) else { return };
    let changed = [
        ("size", "4 MiB"),
        ("block", "64 KiB"),
        ("depth", "1"),
        ("time", "1 s"),
        ("engine", "sync"),
        ("files", "own"),
    ];
    let case = case(&fuse.mount(), &changed);
    let mut part = prepared(&case).expect("prepared");
    // A busy machine may end the measuring time before the first answer.
    let record = (0..60)
        .map(|_| measured(&case, &mut *part).expect("measured"))
        .find(|record| bench().reduce(&case, std::slice::from_ref(record)).is_ok())
        .expect("an answer within a minute");
    let latency = reduced(&case, &record).metrics["latency"].trials[0][0];
    // The server sleeps at least this long per answer; classes of the histogram are 0.8 % wide.
    assert!(latency >= 0.99 * 20_000.0, "{latency} us");
    assert!(record.evidence["requests"].as_u64().is_some_and(|count| count <= 1 + 1_300 / 20), "{record:?}");
    // A FUSE file system has no block device.
    assert_eq!(record.evidence["moved"]["source"], "process");
    assert_eq!(record.evidence["files"]["hidden"], "unlinked");
    drop(part);
    std::thread::sleep(Duration::from_millis(1));
    assert_eq!(std::fs::read_dir(fuse.mount()).expect("listed").count(), 0);
}
