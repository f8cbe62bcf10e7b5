//! The cause of a verbs error.

use std::time::{Duration, Instant};

use seatrial_model::{Cause, Reason};
use seatrial_sys::verbs::{Status, VerbsError, VerbsFault};

use crate::REPLY_TIMEOUT;

/// The library or the device refused while the part made itself ready: mostly nothing that speaks against the device.
pub fn preparing<'a>(device: &'a str, what: &'a str) -> impl Fn(VerbsError) -> Reason + use<'a> {
    move |error| {
        let cause = match error.fault() {
            // Not applicable to a machine without the library or a device without the feature.
            VerbsFault::NoLibrary | VerbsFault::NotSupported => Cause::Inapplicable,
            VerbsFault::NoDevice => Cause::Missing,
            VerbsFault::NotPermitted | VerbsFault::MemoryLocked => Cause::Denied,
            VerbsFault::OutOfMemory => Cause::NoSpace,
            VerbsFault::Config => Cause::Contradiction,
            VerbsFault::Unreachable | VerbsFault::NotReady | VerbsFault::Flushed | VerbsFault::Other => {
                Cause::IoError
            }
        };
        Reason::new(cause, format!("{device}: {what}: {error}"))
    }
}

/// The device failed while it worked: it, or the path to the peer, did not deliver.
pub fn during<'a>(device: &'a str, what: &'a str) -> impl Fn(VerbsError) -> Reason + use<'a> {
    move |error| {
        let advice = match error.fault() {
            VerbsFault::Unreachable => {
                "; the peer or the path to it is silent: look at the port's state and its error counters"
            }
            VerbsFault::NotReady => {
                "; the peer had no receive ready for long: its threads may not get to run"
            }
            VerbsFault::NotSupported => "; the device cannot do that",
            _ => "",
        };
        let cause = match error.fault() {
            VerbsFault::NotSupported => Cause::Inapplicable,
            VerbsFault::MemoryLocked => Cause::Denied,
            _ => Cause::IoError,
        };
        Reason::new(cause, format!("{device}: {what}: {error}{advice}"))
    }
}

/// Nothing that was `awaited` has arrived for [`REPLY_TIMEOUT`].
#[cold]
pub fn silent(device: &str, awaited: &str) -> Reason {
    let seconds = REPLY_TIMEOUT.as_secs();
    let text = format!("{device}: no {awaited} for {seconds} s; the peer or the path to it is silent");
    Reason::new(Cause::IoError, text)
}

/// How long an end that sees its work flushed waits for the cause, which stands in another queue or is told by the other
/// end: that one is the outcome.
pub const CAUSE_AFTER: Duration = Duration::from_secs(1);

/// How often it looks for the cause.
const CAUSE_LOOK: Duration = Duration::from_millis(5);

/// Whether it is what follows from another error: a queue pair that failed flushes all that is posted on it.
pub fn is_flush(error: &Reason) -> bool {
    error.text.contains(Status::Flushed.name())
}

/// The error that caused the others; waits for it if no queue has it yet, and `look` tells what the queues have got since.
pub fn first_cause(mut errors: Vec<Reason>, look: impl Fn() -> Option<Reason>) -> Option<Reason> {
    let deadline = Instant::now() + CAUSE_AFTER;
    while !errors.is_empty() && errors.iter().all(is_flush) && Instant::now() < deadline {
        std::thread::sleep(CAUSE_LOOK);
        errors.extend(look());
    }
    let at = errors.iter().position(|error| !is_flush(error)).unwrap_or(0);
    (!errors.is_empty()).then(|| errors.swap_remove(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fails_at_work_speaks_against_the_device() {
        let lacks = || VerbsError::Lacks { device: "mlx5_0".to_owned(), feature: "atomics".to_owned() };
        let locked = || VerbsError::MemoryLock { bytes: 1 << 20, limit_bytes: 65_536 };
        let silent =
            || VerbsError::Timeout { what: "a completion", waited: Duration::from_secs(5), got: 0, want: 1 };
        let cause = |error| preparing("mlx5_0", "opening")(error).cause;
        assert_eq!(cause(lacks()), Cause::Inapplicable);
        assert_eq!(cause(locked()), Cause::Denied);
        assert_eq!(during("mlx5_0", "writing")(silent()).cause, Cause::IoError);
        assert_eq!(during("mlx5_0", "writing")(lacks()).cause, Cause::Inapplicable);
    }

    #[test]
    fn the_message_names_the_device_and_what_was_tried() {
        let error = VerbsError::MemoryLock { bytes: 1 << 20, limit_bytes: 65_536 };
        let told = preparing("rxe0", "registering memory")(error);
        assert!(told.text.starts_with("rxe0: registering memory: "), "{}", told.text);
    }

    #[test]
    fn of_several_errors_the_one_that_is_no_consequence_is_the_cause() {
        let reason = |text: &str| Reason::new(Cause::IoError, text);
        let (flushed, other) = (reason(Status::Flushed.name()), reason("IBV_WC_REM_ACCESS_ERR"));
        let first = |errors: &[&Reason], later: Option<&Reason>| {
            first_cause(errors.iter().map(|error| (*error).clone()).collect(), || later.cloned())
        };
        assert_eq!(first(&[], Some(&other)), None);
        assert_eq!(first(&[&flushed, &other], None), Some(other.clone()));
        assert_eq!(first(&[&flushed], Some(&other)), Some(other.clone()), "another queue tells it later");
        assert_eq!(first(&[&flushed], None), Some(flushed));
    }
}
