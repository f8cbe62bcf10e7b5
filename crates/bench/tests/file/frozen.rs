//! A file system that stops answering in the middle is a result, told with what was under way.

use std::time::{Duration, Instant};

use seatrial_model::{Cause, Outcome};

use crate::rig::{LoopDisk, case, measured, or_skip, prepared};

/// What a supervisor allows beyond the measuring time.
const GRACE: Duration = Duration::from_secs(10);

fn hangs(changed: &[(&str, &str)], what: &[&str]) {
    let Some(disk) = or_skip(LoopDisk::new(64, None)) else { return };
    let mut all = vec![("size", "16 MiB"), ("block", "16 KiB"), ("time", "1 s"), ("operation", "write")];
    all.extend_from_slice(changed);
    let case = case(&disk.mount(), &all);
    let mut part = prepared(&case).expect("prepared");
    let began = Instant::now();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            disk.freeze();
        });
        measured(&case, &mut *part).expect_err("nothing comes back")
    });
    let took = began.elapsed();
    assert_eq!((error.cause, error.cause.outcome()), (Cause::Hang, Outcome::Failed), "{error}");
    for word in what {
        assert!(error.text.contains(word), "'{word}' is not in: {error}");
    }
    // This is about the patience of the worker, which has to speak before its supervisor ends it.
    assert!(took < Duration::from(case.budget.measure) + GRACE, "{took:?}");
    disk.thaw().expect("thawed");
}

#[test]
fn a_frozen_file_system_hangs_with_the_oldest_request_through_a_ring() {
    hangs(
        &[("depth", "4")],
        &["a write at offset", "of file 0", "under way) has been going on for", "thread 0"],
    );
}

#[test]
fn a_frozen_file_system_hangs_with_the_call_of_each_thread() {
    let what = ["a write at offset", "its thread is in state D", "2 of 2 threads have something under way"];
    hangs(&[("engine", "sync"), ("threads", "2"), ("files", "shared")], &what);
}
