//! A file system that hangs in the middle is a result, reported with the requests in flight.

use std::time::{Duration, Instant};

use seatrial_model::{Cause, Outcome};

use crate::rig::{LoopDisk, case, measured, or_skip, prepared};

/// Far more than the patience of a worker, to allow for a busy machine.
const NEVER: Duration = Duration::from_secs(180);

fn hangs(changed: &[(&str, &str)], what: &[&str]) {
    let Some(disk) = or_skip(LoopDisk::new(64, None)) else { return };
    let mut all = vec![("size", "16 MiB"), ("block", "16 KiB"), ("operation", "write")];
    all.extend_from_slice(changed);
    let mut frozen = None;
    // The freezing thread may get no CPU for a whole measuring time.
    for time in ["1 s", "3 s", "10 s", "30 s"] {
        let case = case(&disk.mount(), &[&all[..], &[("time", time)]].concat());
        let mut part = prepared(&case).expect("prepared");
        let began = Instant::now();
        let measured = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                disk.freeze();
            });
            measured(&case, &mut *part)
        });
        if let Err(error) = measured {
            // Its threads hang, and so would a drop before the thaw.
            frozen = Some((error, began.elapsed(), case, part));
            break;
        }
        disk.thaw().expect("thawed");
    }
    let (error, took, case, part) = frozen.expect("nothing comes back");
    assert_eq!((error.cause, error.cause.outcome()), (Cause::Hang, Outcome::Failed), "{error}");
    for word in what {
        assert!(error.text.contains(word), "'{word}' is not in: {error}");
    }
    // The worker gives up by itself, after a time that the supervisor's patience exceeds.
    assert!(took < Duration::from(case.budget.measure) + NEVER, "{took:?}");
    disk.thaw().expect("thawed");
    drop(part);
}

#[test]
fn a_frozen_file_system_hangs_with_the_oldest_request_through_a_ring() {
    hangs(
        &[("depth", "4")],
        &["a write at offset", "of file 0", "in flight) has been pending for", "thread 0"],
    );
}

#[test]
fn a_frozen_file_system_hangs_with_the_call_of_each_thread() {
    let what = ["a write at offset", "its thread is in state D", "2 of 2 threads have pending requests"];
    hangs(&[("engine", "sync"), ("threads", "2"), ("files", "shared")], &what);
}
