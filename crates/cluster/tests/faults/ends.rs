//! How workers end; nothing is left of them.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::process::{Signal, kill_process_group};
use seatrial_cluster::{EndKind, FromWorker, ToWorker, WorkerEnd};
use seatrial_model::{Cause, Integrity, Nanos};
use tempfile::TempDir;

use crate::process::{
    assert_dead, assert_gone, computed, has_stopped, part, process_id, state, wait_until, written,
};
use crate::rig::Rig;
use crate::{cases, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_good_worker_goes_through_all_phases", a_good_worker_goes_through_all_phases),
        trial("stop_ends_the_phase_that_runs", stop_ends_the_phase_that_runs),
        trial("two_workers_run_side_by_side", two_workers_run_side_by_side),
        trial("a_crash_names_its_signal", a_crash_names_its_signal),
        trial("an_abort_names_its_signal", an_abort_names_its_signal),
        trial("an_early_exit_is_seen", an_early_exit_is_seen),
        trial("a_panic_is_a_crash_with_its_text", a_panic_is_a_crash_with_its_text),
        trial("an_error_of_the_part_keeps_its_cause", an_error_of_the_part_keeps_its_cause),
        trial(
            "what_cannot_be_made_fails_before_it_is_prepared",
            what_cannot_be_made_fails_before_it_is_prepared,
        ),
        trial("a_loop_dies_by_sigterm_with_evidence", a_loop_dies_by_sigterm_with_evidence),
        trial("who_ignores_sigterm_dies_by_sigkill", who_ignores_sigterm_dies_by_sigkill),
        trial("a_stopped_worker_can_be_killed", a_stopped_worker_can_be_killed),
        trial("garbage_ends_the_worker", garbage_ends_the_worker),
        trial("what_is_no_frame_ends_the_worker", what_is_no_frame_ends_the_worker),
        trial("a_flood_of_output_is_drained_and_cut", a_flood_of_output_is_drained_and_cut),
        trial("a_flood_of_samples_waits_for_the_reader", a_flood_of_samples_waits_for_the_reader),
        trial("children_of_a_worker_die_with_it", children_of_a_worker_die_with_it),
        trial("children_of_a_good_worker_do_not_outlive_it", children_of_a_good_worker_do_not_outlive_it),
        trial("a_stray_in_a_session_of_its_own_is_swept", a_stray_in_a_session_of_its_own_is_swept),
        trial("what_a_killed_worker_left_is_gone_with_it", what_a_killed_worker_left_is_gone_with_it),
        trial(
            "what_no_worker_makes_keeps_its_folder_and_is_told",
            what_no_worker_makes_keeps_its_folder_and_is_told,
        ),
        trial("ctrl_c_does_not_reach_a_worker", ctrl_c_does_not_reach_a_worker),
    ]
}

/// Attempts of tests that need a SIGTERM to be handled first: without CPU for half a second, SIGKILL comes before.
const TRIES: usize = 40;

fn killed(signal: i32, name: &str) -> EndKind {
    EndKind::Signalled { signal, name: name.to_owned() }
}

fn a_good_worker_goes_through_all_phases() {
    let mut rig = Rig::new();
    let toy = rig.connect("well");
    rig.tell(toy.id, ToWorker::WarmUp { span: Nanos::millis(5) });
    assert_eq!(rig.said(toy.id), FromWorker::WarmedUp);
    rig.tell(toy.id, ToWorker::Measure { span: Nanos::millis(30), at: None });
    let FromWorker::Samples { batch } = rig.said(toy.id) else { panic!("no samples") };
    assert!(
        !batch.is_empty() && batch.iter().all(|sample| sample.channel == "tick"),
        "the warm-up counts: {batch:?}"
    );
    assert_eq!(rig.said(toy.id), FromWorker::Measured);
    rig.tell(toy.id, ToWorker::Verify);
    let FromWorker::Verified { integrity, evidence } = rig.said(toy.id) else { panic!("not verified") };
    assert_eq!(integrity, Integrity::Verified { checked: 7 });
    assert_eq!(evidence["toy"], "well");
    assert!(evidence["probes"]["vmstat"]["counts"].as_object().is_some_and(|counts| !counts.is_empty()));
    assert_eq!(
        evidence["probes"]["no_such_probe"]["unreadable"][0],
        "this build has no probe 'no_such_probe'"
    );
    rig.tell(toy.id, ToWorker::Finish);
    assert_eq!(rig.ended(toy.id).0.how, EndKind::Exited { code: 0 });
    assert_gone(toy.pid);
}

fn stop_ends_the_phase_that_runs() {
    let mut rig = Rig::new();
    let toy = rig.measure("well");
    rig.tell(toy.id, ToWorker::Stop);
    while rig.said(toy.id) != FromWorker::Measured {}
    rig.tell(toy.id, ToWorker::Finish);
    assert_eq!(rig.ended(toy.id).0.how, EndKind::Exited { code: 0 });
}

/// Repeats a kill until the worker ends by SIGTERM.
fn by_sigterm<T>(mut kill: impl FnMut() -> (WorkerEnd, T)) -> (WorkerEnd, T) {
    for _ in 1..TRIES {
        let (end, told) = kill();
        if end.how != killed(9, "SIGKILL") {
            assert_eq!(end.how, killed(15, "SIGTERM"));
            return (end, told);
        }
        assert_eq!(end.evidence["ignored"], "SIGTERM");
    }
    let (end, told) = kill();
    assert_eq!(end.how, killed(15, "SIGTERM"), "{TRIES} times");
    (end, told)
}

fn two_workers_run_side_by_side() {
    let mut rig = Rig::new();
    let first = rig.measure("well");
    by_sigterm(|| {
        let second = rig.measure("loops");
        assert_ne!(first.pid, second.pid);
        rig.kill(second.id);
        rig.ended(second.id)
    });
    rig.tell(first.id, ToWorker::Stop);
    while rig.said(first.id) != FromWorker::Measured {}
}

fn a_crash_names_its_signal() {
    let mut rig = Rig::new();
    let toy = rig.measure("crashes");
    assert_eq!(rig.ended(toy.id).0.how, killed(11, "SIGSEGV"));
    assert_gone(toy.pid);
}

fn an_abort_names_its_signal() {
    let mut rig = Rig::new();
    let toy = rig.measure("aborts");
    assert_eq!(rig.ended(toy.id).0.how, killed(6, "SIGABRT"));
    assert_gone(toy.pid);
}

fn an_early_exit_is_seen() {
    let mut rig = Rig::new();
    let toy = rig.measure("leaves");
    assert_eq!(rig.ended(toy.id).0.how, EndKind::Exited { code: 0 });
    assert_gone(toy.pid);
}

fn a_panic_is_a_crash_with_its_text() {
    let mut rig = Rig::new();
    let mut outputs = Vec::new();
    // The agent waits for the last output only a moment, in which its reader may get no CPU.
    for _ in 0..TRIES {
        let toy = rig.measure("panics");
        let FromWorker::Failed { reason } = rig.said(toy.id) else { panic!("not failed") };
        assert_eq!(
            (reason.cause, reason.text.as_str()),
            (Cause::Crash, "the part panicked: the toy broke on n1")
        );
        let (end, _) = rig.ended(toy.id);
        assert_eq!(end.how, EndKind::Exited { code: 1 });
        assert_gone(toy.pid);
        if end.output.contains("thread 'part'") && end.output.contains("toys.rs") {
            return;
        }
        outputs.push(end.output);
    }
    panic!("{outputs:#?}");
}

fn an_error_of_the_part_keeps_its_cause() {
    let mut rig = Rig::new();
    let id = rig.spawn(&cases::case("has_no_memory"));
    rig.tell(id, ToWorker::Prepare);
    let FromWorker::Failed { reason } = rig.said(id) else { panic!("not failed") };
    assert_eq!(
        (reason.cause, reason.text.as_str()),
        (Cause::NoSpace, "mmap of 1 PiB: Cannot allocate memory")
    );
    assert_eq!(rig.ended(id).0.how, EndKind::Exited { code: 1 });
}

fn what_cannot_be_made_fails_before_it_is_prepared() {
    let mut rig = Rig::new();
    let mut unknown = cases::case("well");
    unknown.bench = "toy.unknown".to_owned();
    let mut nowhere = cases::case("well");
    nowhere.places.clear();
    for (case, cause, text) in [
        (unknown, Cause::Protocol, "no benchmark 'toy.unknown'"),
        (nowhere, Cause::Protocol, "has no place 0"),
    ] {
        let id = rig.spawn(&case);
        let FromWorker::Failed { reason } = rig.said(id) else { panic!("not failed") };
        assert!(reason.cause == cause && reason.text.contains(text), "{reason:?}");
        assert_eq!(rig.ended(id).0.how, EndKind::Exited { code: 1 });
    }
}

fn a_loop_dies_by_sigterm_with_evidence() {
    let mut rig = Rig::new();
    let (end, pid) = by_sigterm(|| {
        let toy = rig.measure("loops");
        rig.tell(toy.id, ToWorker::Stop);
        // The part is sometimes runnable earlier too; only the loop uses so much CPU time.
        wait_until("the part to loop", || computed(toy.pid) > 3);
        rig.kill(toy.id);
        (rig.ended(toy.id).0, toy.pid)
    });
    let threads = end.evidence["when_killed"]["threads"].as_array().expect("threads");
    let part = threads.iter().find(|thread| thread["name"] == "part").expect("the part's thread");
    assert_eq!(part["state"], "R (running)");
    assert!(!end.evidence.contains_key("ignored"));
    assert_gone(pid);
}

fn who_ignores_sigterm_dies_by_sigkill() {
    let mut rig = Rig::new();
    let toy = rig.measure("is_stubborn");
    rig.kill(toy.id);
    let (end, _) = rig.ended(toy.id);
    assert_eq!(end.how, killed(9, "SIGKILL"));
    assert_eq!(end.evidence["ignored"], "SIGTERM");
    assert_gone(toy.pid);
}

fn a_stopped_worker_can_be_killed() {
    let mut rig = Rig::new();
    let (end, _) = by_sigterm(|| {
        let toy = rig.measure("loops");
        crate::process::kill(toy.pid, Signal::STOP);
        wait_until("all threads of the worker to stop", || has_stopped(toy.pid));
        rig.kill(toy.id);
        rig.ended(toy.id)
    });
    assert_eq!(end.evidence["when_killed"]["threads"][0]["state"], "T (stopped)");
}

fn garbage_ends_the_worker() {
    let mut rig = Rig::new();
    let toy = rig.measure("says_garbage");
    let EndKind::Garbled { why } = rig.ended(toy.id).0.how else { panic!("not garbled") };
    assert!(why.starts_with("the frame is not a message"), "{why}");
    assert_gone(toy.pid);
}

fn what_is_no_frame_ends_the_worker() {
    let mut rig = Rig::new();
    let toy = rig.measure("says_no_frame");
    let EndKind::Garbled { why } = rig.ended(toy.id).0.how else { panic!("not garbled") };
    assert!(why.contains("above the limit"), "{why}");
    assert_gone(toy.pid);
}

fn a_flood_of_output_is_drained_and_cut() {
    let mut rig = Rig::new();
    let toy = rig.connect("floods_its_output");
    rig.tell(toy.id, ToWorker::Measure { span: Nanos::millis(100), at: None });
    while rig.said(toy.id) != FromWorker::Measured {}
    rig.tell(toy.id, ToWorker::Finish);
    let (end, _) = rig.ended(toy.id);
    assert_eq!(end.how, EndKind::Exited { code: 0 });
    assert!(end.output.starts_with('[') && end.output.contains("bytes before]"), "{}", end.output);
    assert!(end.output.len() < 4200, "{} bytes kept", end.output.len());
}

fn a_flood_of_samples_waits_for_the_reader() {
    let mut rig = Rig::new();
    by_sigterm(|| {
        let toy = rig.measure("floods_its_samples");
        // Nobody reads, so the flood stops with the part asleep in a write.
        wait_until("the flood to stand still", || {
            let before = written(toy.pid);
            sleep(Duration::from_millis(300));
            part(toy.pid).state == 'S' && written(toy.pid) == before
        });
        rig.kill(toy.id);
        let (end, samples) = rig.ended(toy.id);
        // 64 reports in the controller, a few in pipes and threads, 256 samples each.
        assert!((256..256 * 100).contains(&samples), "{samples} samples were under way");
        assert_gone(toy.pid);
        (end, samples)
    });
}

fn children_of_a_worker_die_with_it() {
    let mut rig = Rig::new();
    let toy = rig.measure("starts_a_child");
    let child = toy.child.expect("a child");
    assert!(state(child).is_some());
    crate::process::kill(toy.pid, Signal::KILL);
    assert_eq!(rig.ended(toy.id).0.how, killed(9, "SIGKILL"));
    assert_dead(child);
}

fn children_of_a_good_worker_do_not_outlive_it() {
    let mut rig = Rig::new();
    let toy = rig.prepare("starts_a_child");
    rig.tell(toy.id, ToWorker::Finish);
    assert_eq!(rig.ended(toy.id).0.how, EndKind::Exited { code: 0 });
    assert_dead(toy.child.expect("a child"));
}

fn a_stray_in_a_session_of_its_own_is_swept() {
    let mut rig = Rig::new();
    let toy = rig.prepare("starts_a_stray");
    let stray = toy.child.expect("a child");
    let leads = || kill_process_group(process_id(stray), Signal::CONT).is_ok();
    wait_until("the stray to lead a group of its own", leads);
    rig.kill(toy.id);
    rig.ended(toy.id);
    assert_gone(stray);
}

fn ctrl_c_does_not_reach_a_worker() {
    let mut rig = Rig::new();
    let toy = rig.measure("well");
    // The terminal signals only the foreground group; this signals each process.
    kill_process_group(process_id(toy.pid), Signal::INT).expect("sent to the worker");
    kill_process_group(process_id(toy.agent), Signal::INT).expect("sent to the agent");
    rig.tell(toy.id, ToWorker::Stop);
    while rig.said(toy.id) != FromWorker::Measured {}
}

pub fn folder() -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().expect("a folder");
    let path = parent.path().join(".seatrial-metadata-0123456789abcdef");
    (parent, path)
}

fn what_a_killed_worker_left_is_gone_with_it() {
    let mut rig = Rig::new();
    for signal in [Signal::KILL, Signal::TERM] {
        let (_parent, path) = folder();
        let toy = rig.measure(&format!("leaves_a_folder {}", path.display()));
        assert!(path.join("thread.0/file.0.0.0").exists());
        kill_process_group(process_id(toy.pid), signal).expect("sent");
        let (end, _) = rig.ended(toy.id);
        assert!(matches!(end.how, EndKind::Signalled { .. }), "{end:?}");
        assert!(!path.exists(), "{signal:?}: it is gone when the end is told");
        assert_eq!(end.evidence.get("leftovers_kept"), None);
    }
}

fn what_no_worker_makes_keeps_its_folder_and_is_told() {
    let mut rig = Rig::new();
    let (_parent, path) = folder();
    let toy = rig.measure(&format!("leaves_a_folder {}", path.display()));
    std::fs::write(path.join("thesis.tex"), "mine").expect("written");
    rig.kill(toy.id);
    let (end, _) = rig.ended(toy.id);
    let told = end.evidence["leftovers_kept"][0].as_str().expect("told");
    assert!(told.contains(&path.display().to_string()) && told.contains("thesis.tex"), "{told}");
    assert!(path.join("thesis.tex").exists() && path.join("thread.0/file.0.0.0").exists());
}
