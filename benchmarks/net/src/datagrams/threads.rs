//! CPU time of a phase's threads.

use seatrial_model::Reason;
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::ThreadTime;

use super::record::Effort;

pub struct Took {
    from_ns: u64,
    to_ns: u64,
    time: ThreadTime,
}

/// Runs `work`; returns its result and the CPU time of the calling thread.
pub fn timed<T>(work: impl FnOnce() -> Result<T, Reason>) -> Result<(Took, T), Reason> {
    let (before, from_ns) = (ThreadTime::now(), now_ns());
    let made = work()?;
    let (after, to_ns) = (ThreadTime::now(), now_ns());
    let time = after.ok().zip(before.ok()).map(|(now, then)| now.since(&then)).unwrap_or_default();
    Ok((Took { from_ns, to_ns, time }, made))
}

impl Took {
    /// The same whose time ends at `end_ns`, if it has not ended before.
    pub fn until(self, end_ns: Option<u64>) -> Self {
        let to_ns = end_ns.map_or(self.to_ns, |end| self.to_ns.min(end.max(self.from_ns)));
        Self { to_ns, ..self }
    }
}

pub fn effort(took: &[Took]) -> Effort {
    let (from, to) = (took.iter().map(|one| one.from_ns).min(), took.iter().map(|one| one.to_ns).max());
    let sum = |of: fn(&ThreadTime) -> u64| took.iter().map(|one| of(&one.time)).sum();
    Effort {
        span_ns: to.zip(from).map_or(0, |(to, from)| to - from),
        user_ns: sum(|time| time.user_ns),
        system_ns: sum(|time| time.system_ns),
        waited_ns: took.iter().map(|one| one.time.waited_ns).sum(),
        ..Effort::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_waits_after_the_end_is_no_time_of_its_work() {
        let took = || Took { from_ns: 100, to_ns: 1400, time: ThreadTime::default() };
        let span = |end_ns| effort(&[took().until(end_ns)]).span_ns;
        assert_eq!([None, Some(1100), Some(2000), Some(50)].map(span), [1300, 1000, 1300, 0]);
    }
}
