//! Real-time scheduling on the running kernel, with the privilege and without.
#![expect(clippy::print_stdout, reason = "says what was skipped")]

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use seatrial_sys::sched::{Class, SchedError, set_class};
use std::thread;

/// The class of the calling thread by its number in the kernel, the 41st field of its stat (proc(5)).
fn policy() -> u32 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("our own stat");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in parentheses");
    fields.split(' ').nth(38).expect("41 fields").parse().expect("a number")
}

#[test]
fn without_the_privilege_it_is_denied_and_the_thread_stays_as_it_is() {
    // The limit is the whole process's; no other test here depends on it, as privileged ones use their capability.
    let hard = getrlimit(Resource::Rtprio).maximum;
    setrlimit(Resource::Rtprio, Rlimit { current: Some(0), maximum: hard })
        .expect("lowering is always allowed");
    let class = Class::Fifo(1);
    let (denied, policy) = thread::spawn(move || {
        let mut sets = capabilities(None).expect("our own capabilities");
        sets.effective -= CapabilitySet::SYS_NICE;
        set_capabilities(None, sets).expect("dropping is always allowed");
        (set_class(class), policy())
    })
    .join()
    .expect("joined");
    assert_eq!(denied, Err(SchedError::Denied { class }));
    assert_eq!(policy, 0);
}

#[test]
fn with_the_privilege_the_class_is_taken_and_given_back() {
    let may = capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_NICE));
    if !may {
        assert!(std::env::var("CI").is_err(), "needs CAP_SYS_NICE");
        return println!("skipped: needs CAP_SYS_NICE");
    }
    let (fifo, other) = thread::spawn(|| {
        set_class(Class::Fifo(1)).expect("allowed, unless the control group may not run real-time threads");
        let fifo = policy();
        set_class(Class::Other).expect("always allowed");
        (fifo, policy())
    })
    .join()
    .expect("joined");
    assert_eq!((fifo, other), (1, 0));
}
