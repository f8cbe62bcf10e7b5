//! The threads of a phase, and the time they take.

use std::thread::{self, Scope, ScopedJoinHandle};

use seatrial_model::Cause;
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::ThreadTime;

use super::record::Effort;
use seatrial_bench::Error;
use seatrial_bench::pin;

/// A thread that runs, and what it will have taken and made.
pub type Running<'scope, T> = ScopedJoinHandle<'scope, Result<(Took, T), Error>>;

/// When a thread ran, and what it took.
pub struct Took {
    from_ns: u64,
    to_ns: u64,
    time: ThreadTime,
}

/// Starts a thread that is pinned, where there is a CPU for it, and does `work`.
///
/// # Errors
/// When the system gives no thread.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    cpu: Option<u32>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'scope,
) -> Result<Running<'scope, T>, Error> {
    let work = move || {
        cpu.map_or(Ok(()), pin)?;
        let (before, from_ns) = (ThreadTime::now(), now_ns());
        let made = work()?;
        let (after, to_ns) = (ThreadTime::now(), now_ns());
        let time = after.ok().zip(before.ok()).map(|(now, then)| now.since(&then)).unwrap_or_default();
        Ok((Took { from_ns, to_ns, time }, made))
    };
    thread::Builder::new()
        .name(name.to_owned())
        .spawn_scoped(scope, work)
        .map_err(|error| Error::new(Cause::Denied, format!("cannot start a thread: {error}")))
}

/// Waits for all of them.
///
/// # Errors
/// The first one's.
pub fn join<T>(threads: Vec<Running<'_, T>>) -> Result<(Vec<Took>, Vec<T>), Error> {
    let panicked = |_| Err(Error::new(Cause::Crash, "a thread of the part panicked"));
    // All of them are waited for, and the first error is told.
    let all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect();
    Ok(all.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().unzip())
}

/// What all of them took together.
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
