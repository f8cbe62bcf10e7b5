//! What fails, and that it is told and not waited for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use seatrial_sys::verbs::{
    Access, Init, MemoryRegion, QueuePair, Remote, Retry, SendList, State, Status, Transport, Verb,
    VerbsError, VerbsFault, Work,
};

use crate::rig::{BYTES, LONG, memory, pair, pair_with, spec};

/// How a request ended that was not done.
fn fault(completion: &seatrial_sys::verbs::WorkCompletion) -> VerbsFault {
    completion.check().unwrap_err().fault()
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_receiver_that_is_not_ready_ends_the_sender_after_its_retries() {
    let retry = Retry { rnr_retries: 1, rnr_timer: 1, ..Retry::default() };
    let (one, other) = pair_with(Transport::Rc, retry);
    let send = Work::new(Verb::Send, &one.region, 0, 64);
    let ended = one.does(send);
    assert_eq!((ended.status(), fault(&ended)), (Status::RnrRetryExceeded, VerbsFault::NotReady));
    assert_eq!(one.qp.state(), Ok(State::Error));
    let next = one.does(send);
    assert_eq!((next.status(), fault(&next)), (Status::Flushed, VerbsFault::Flushed));
    assert_eq!(other.qp.state(), Ok(State::ReadyToSend), "the receiver has not failed");
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_receiver_that_becomes_ready_in_time_is_waited_for() {
    let (one, other) = pair_with(Transport::Rc, Retry { rnr_retries: 7, rnr_timer: 1, ..Retry::default() });
    let mut list = SendList::new(&[Work::new(Verb::Send, &one.region, 0, 64)]).unwrap();
    one.qp.post_send(&mut list, 0..1).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    other.receives(1, 0, 64);
    one.ended(1)[0].check().unwrap();
    other.ended(1)[0].check().unwrap();
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_wrong_key_is_refused_by_the_peer_and_fails_both_ends() {
    let (one, other) = pair(Transport::Rc);
    other.receives(2, 0, 64);
    let Remote { address, key } = other.region.remote(0);
    let wrong = Some(Remote { address, key: key ^ 0x100 });
    let ended = one.does(Work { remote: wrong, ..Work::new(Verb::Write, &one.region, 0, 64) });
    assert_eq!(ended.status(), Status::RemoteAccess);
    let text = ended.check().unwrap_err().to_string();
    assert!(text.contains("IBV_WC_REM_ACCESS_ERR") && text.contains("wrong key"), "{text}");
    assert_eq!(one.qp.state(), Ok(State::Error));
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn memory_that_is_not_for_peers_is_refused() {
    let (one, other) = pair(Transport::Rc);
    let closed = MemoryRegion::register(&other.pd, memory(BYTES), Access::default()).unwrap();
    let read = Work { remote: Some(closed.remote(0)), ..Work::new(Verb::Read, &one.region, 0, 64) };
    assert_eq!(one.does(read).status(), Status::RemoteAccess);
    assert_eq!(closed.byte(0), 0);
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn beyond_the_end_of_the_peers_memory_nothing_is_written() {
    let (one, other) = pair(Transport::Rc);
    let behind =
        Some(Remote { address: other.region.address() + BYTES as u64 - 32, key: other.region.remote_key() });
    let ended = one.does(Work { remote: behind, ..Work::new(Verb::Write, &one.region, 0, 64) });
    assert_eq!(ended.status(), Status::RemoteAccess);
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_message_that_is_longer_than_its_receive_is_an_error_at_both_ends() {
    let (one, other) = pair(Transport::Rc);
    other.receives(1, 0, 64);
    let ended = one.does(Work::new(Verb::Send, &one.region, 0, 128));
    assert!(!ended.is_success(), "{ended:?}");
    assert!(!other.ended(1)[0].is_success());
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_list_keeps_the_memory_of_its_requests() {
    let (one, other) = pair(Transport::Rc);
    let gone = Arc::new(MemoryRegion::register(&one.pd, memory(BYTES), Access::ALL).unwrap());
    let remote = Some(other.region.remote(0));
    let mut list = SendList::new(&[Work { remote, ..Work::new(Verb::Write, &gone, 0, 64) }]).unwrap();
    one.qp.post_send(&mut list, 0..1).unwrap();
    one.ended(1)[0].check().unwrap();
    drop(gone);
    one.qp.post_send(&mut list, 0..1).unwrap();
    one.ended(1)[0].check().unwrap();
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn all_that_is_posted_is_flushed_when_a_queue_pair_is_failed() {
    let (one, other) = pair(Transport::Rc);
    other.receives(10, 0, 64);
    other.qp.fail().unwrap();
    let flushed = other.ended(10);
    assert!(flushed.iter().all(|completion| completion.status() == Status::Flushed));
    let ids: Vec<u64> = flushed.iter().map(seatrial_sys::verbs::WorkCompletion::id).collect();
    assert_eq!(ids, (100..110).collect::<Vec<_>>());
    drop(one);
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_peer_that_is_gone_is_told_as_silent_in_time() {
    let (one, other) = pair_with(Transport::Rc, Retry { timeout: 10, retries: 2, ..Retry::default() });
    let remote = Some(other.region.remote(0));
    let keep = other.region.clone();
    let (qp, cq) = (other.qp, other.cq);
    drop(qp);
    let clock = Instant::now();
    let ended = one.does(Work { remote, ..Work::new(Verb::Write, &one.region, 0, 64) });
    assert_eq!((ended.status(), fault(&ended)), (Status::RetryExceeded, VerbsFault::Unreachable));
    assert!(clock.elapsed() < LONG);
    drop((keep, cq));
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn nothing_comes_and_the_wait_ends() {
    let (one, _other) = pair(Transport::Rc);
    let clock = Instant::now();
    let none = one.cq.collect(1, Duration::from_millis(100), |_| ()).unwrap_err();
    assert_eq!(
        (none.fault(), none.to_string().as_str()),
        (VerbsFault::Unreachable, "0 of 1 completions came within 100ms")
    );
    assert!(clock.elapsed() >= Duration::from_millis(100));
    assert!(
        matches!(one.cq.collect_by_events(1, LONG, |_| ()), Err(VerbsError::Config { .. })),
        "it has no channel"
    );
    assert_eq!(one.pd.device().event(Duration::from_millis(20)), Ok(None));
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_queue_pair_that_was_not_connected_sends_nothing() {
    let (one, _other) = pair(Transport::Rc);
    let fresh = QueuePair::new(&one.pd, &one.cq, &one.cq, &spec(Transport::Rc)).unwrap();
    fresh.init(&Init { port: 1, pkey_index: 0, qkey: 0, access: Access::ALL }).unwrap();
    let mut list = SendList::new(&[Work::new(Verb::Send, &one.region, 0, 64)]).unwrap();
    // Providers differ: some refuse the post, some keep it. None may do it.
    let _ = fresh.post_send(&mut list, 0..1);
    assert!(
        one.cq
            .collect(1, Duration::from_millis(100), |done| assert!(!done.is_success()))
            .is_err_and(|error| error.fault() == VerbsFault::Unreachable)
    );
    assert!(fresh.init(&Init { port: 9, pkey_index: 0, qkey: 0, access: Access::ALL }).is_err());
}
