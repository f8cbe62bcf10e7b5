//! How the kernel schedules the calling thread: in which class, how exactly it is woken, how long it ran.
#![expect(unsafe_code, reason = "sched_setscheduler, which rustix does not wrap")]

use std::fmt;
use std::num::NonZeroU64;

use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

/// A scheduling class of sched(7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// `SCHED_OTHER`: shares the CPU fairly with everybody.
    #[default]
    Other,
    /// `SCHED_FIFO` of a priority from 1 to 99: runs before all of class `Other` until it sleeps.
    Fifo(u8),
}

/// Why a thread did not get its scheduling class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchedError {
    /// The kernel does not allow it (sched(7), "Privileges and resource limits").
    #[error(
        "sched_setscheduler to {class}: {}; it takes a limit on real-time priorities that allows it (`ulimit -r`, \
         `rtprio` in limits.conf) or the capability CAP_SYS_NICE, and a control group that may run real-time threads",
        Errno::PERM
    )]
    Denied {
        /// The class asked for.
        class: Class,
    },
    /// Anything else that the kernel answered.
    #[error("sched_setscheduler to {class}: {errno}")]
    Refused {
        /// The class asked for.
        class: Class,
        /// What the kernel answered.
        errno: Errno,
    },
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Other => f.write_str("other"),
            Class::Fifo(priority) => write!(f, "fifo:{priority}"),
        }
    }
}

/// Puts the calling thread into `class`. Threads that it starts from then on inherit it.
///
/// # Errors
/// [`SchedError::Denied`] without the privilege; a priority that does not exist is refused as EINVAL.
pub fn set_class(class: Class) -> Result<(), SchedError> {
    let (policy, priority) = match class {
        Class::Other => (libc::SCHED_OTHER, 0),
        Class::Fifo(priority) => (libc::SCHED_FIFO, priority),
    };
    let param = libc::sched_param { sched_priority: priority.into() };
    // SAFETY: the parameter lives through the call, which only reads it; pid 0 is this thread.
    if unsafe { libc::sched_setscheduler(0, policy, &raw const param) } == 0 {
        return Ok(());
    }
    match Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO) {
        Errno::PERM => Err(SchedError::Denied { class }),
        errno => Err(SchedError::Refused { class, errno }),
    }
}

/// Has the calling thread's sleeps end at their deadline instead of up to 50 us later.
///
/// By default the kernel may delay the end of a sleep by this slack, to wake several threads at once
/// (PR_SET_TIMERSLACK, prctl(2)). It does not apply to real-time classes, which have none.
pub fn wake_exactly() -> Result<(), Errno> {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))
}

/// Nanoseconds that the calling thread has run on a CPU since it was started (`CLOCK_THREAD_CPUTIME_ID`).
pub fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // Neither is negative for this clock.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_priority_that_does_not_exist_is_refused() {
        let class = Class::Fifo(100);
        let refused = thread::spawn(move || set_class(class)).join().expect("joined");
        assert_eq!(refused, Err(SchedError::Refused { class, errno: Errno::INVAL }));
    }

    #[test]
    fn everybody_may_go_back_to_the_class_of_everybody() {
        assert_eq!(thread::spawn(|| set_class(Class::Other)).join().expect("joined"), Ok(()));
    }

    #[test]
    fn the_slack_of_timers_is_taken_away_from_this_thread_alone() {
        let slack = || rustix::thread::current_timer_slack().expect("asked");
        let before = slack();
        let exact = thread::spawn(move || wake_exactly().map(|()| slack())).join().expect("joined");
        assert_eq!((exact, slack()), (Ok(1), before));
    }

    #[test]
    fn only_running_counts_as_time_on_a_cpu() {
        let before = cpu_ns();
        while cpu_ns() < before + 1_000_000 {}
        let (rest, worked) = (std::time::Duration::from_millis(30), cpu_ns());
        thread::sleep(rest);
        assert!(u128::from(cpu_ns() - worked) < rest.as_nanos());
    }

    #[test]
    fn a_refusal_names_the_class_and_what_to_do() {
        let text = SchedError::Denied { class: Class::Fifo(7) }.to_string();
        assert!(text.starts_with("sched_setscheduler to fifo:7: Operation not permitted"), "{text}");
        assert!(text.contains("ulimit -r") && text.contains("CAP_SYS_NICE"), "{text}");
    }
}
