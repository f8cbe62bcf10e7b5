//! Scheduling class and timer slack of the threads.

use seatrial_model::{Cause, Reason};
use seatrial_sys::sched::{self, Class};

/// Removes the timer slack of the calling thread, and tests `class`, which is set only while there is work.
pub fn settle(class: Class) -> Result<(), Reason> {
    sched::wake_exactly().map_err(|errno| {
        Reason::new(Cause::Denied, format!("cannot set the timer slack (prctl PR_SET_TIMERSLACK): {errno}"))
    })?;
    in_class(class, || Ok(()))
}

/// Runs `work` in a scheduling class, then returns to SCHED_OTHER. Fails when the class is denied, and when `work`
/// fails.
pub fn in_class<T>(class: Class, work: impl FnOnce() -> Result<T, Reason>) -> Result<T, Reason> {
    if class == Class::Other {
        return work();
    }
    let set = |class| {
        sched::set_class(class)
            .map_err(|error| Reason::new(Cause::Denied, format!("{error}; or measure with -p sched=other")))
    };
    set(class)?;
    let done = work();
    set(Class::Other).and(done)
}
