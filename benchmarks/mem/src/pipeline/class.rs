//! The scheduling class of the threads, and how exactly they are woken.

use seatrial_model::{Cause, Reason};
use seatrial_sys::sched::{self, Class};

/// Has the calling thread woken exactly, and tries `class`, which is taken only while there is work to pace.
pub fn settle(class: Class) -> Result<(), Reason> {
    sched::wake_exactly()
        .map_err(|errno| Reason::new(Cause::Denied, format!("cannot take the slack from timers: {errno}")))?;
    in_class(class, || Ok(()))
}

/// Does `work` in a scheduling class and returns to that of everybody.
///
/// # Errors
/// When the class is not to be had, and what `work` says.
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
