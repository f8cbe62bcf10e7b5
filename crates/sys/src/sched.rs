//! Scheduling of the calling thread: class, timer slack, CPU time.
#![expect(unsafe_code, reason = "sched_setscheduler, which rustix does not wrap")]

use std::fmt;
use std::num::NonZeroU64;

use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    #[default]
    Other,
    /// `SCHED_FIFO` with a priority from 1 to 99: runs before all of class `Other` until it sleeps.
    Fifo(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchedError {
    #[error(
        "sched_setscheduler to {class}: {}; it takes a limit on real-time priorities that allows it (`ulimit -r`, \
         `rtprio` in limits.conf) or the capability CAP_SYS_NICE, and a control group that may run real-time threads",
        Errno::PERM
    )]
    Denied { class: Class },
    #[error("sched_setscheduler to {class}: {errno}")]
    Refused { class: Class, errno: Errno },
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Other => f.write_str("other"),
            Class::Fifo(priority) => write!(f, "fifo:{priority}"),
        }
    }
}

/// Puts the calling thread into `class`, which threads that it starts later inherit. EINVAL for an invalid priority.
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
    match crate::last_errno() {
        Errno::PERM => Err(SchedError::Denied { class }),
        errno => Err(SchedError::Refused { class, errno }),
    }
}

/// Sets the calling thread's timer slack to the minimum, so that sleeps end at their deadline.
///
/// By default the kernel may end a sleep up to 50 us late to wake several threads at once (PR_SET_TIMERSLACK,
/// prctl(2)). Real-time classes have no slack.
pub fn wake_exactly() -> Result<(), Errno> {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))
}

/// Nanoseconds of CPU time of the calling thread (`CLOCK_THREAD_CPUTIME_ID`).
pub fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // Neither field is negative for this clock.
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
