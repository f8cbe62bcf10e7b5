//! The scheduling class of a benchmark's threads.

use seatrial_model::{Cause, Kind, ParamSpec, Params, Reason};
use seatrial_sys::sched::{Class, set_class};

const OTHER: &str = "other";

pub const SCHED: ParamSpec = ParamSpec::new("sched", Kind::Text, OTHER).word(OTHER).doc(
    "Scheduling class of the threads: other, or fifo:N for SCHED_FIFO with priority N from 1 to 99, as `chrt -f N` (needs \
     CAP_SYS_NICE or RLIMIT_RTPRIO).",
);

/// The class of [`SCHED`]; cases of earlier versions have none. A wrong word is a contradiction, which is a usage error.
pub fn class(params: &Params) -> Result<Class, Reason> {
    let word = params.text(SCHED.name).unwrap_or(OTHER);
    let priority = word.strip_prefix("fifo:").and_then(|number| number.parse().ok());
    match (word, priority) {
        (OTHER, _) => Ok(Class::Other),
        (_, Some(priority @ 1..=99)) => Ok(Class::Fifo(priority)),
        _ => {
            let text = format!("sched={word} is neither 'other' nor 'fifo:N' with a priority N from 1 to 99");
            Err(Reason::new(Cause::Contradiction, text))
        }
    }
}

/// Puts the calling thread into the class; threads that it starts inherit it.
pub fn enter(params: &Params) -> Result<(), Reason> {
    match class(params)? {
        Class::Other => Ok(()),
        class => set_class(class)
            .map_err(|error| Reason::new(Cause::Denied, format!("{error}; or measure with -p sched=other"))),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    use seatrial_model::{Case, PartPlacement, Subject};

    use super::*;
    use crate::Part;

    fn params(word: &str) -> Params {
        Params::from_iter([(SCHED.name.to_owned(), word.into())])
    }

    #[test]
    fn classes_are_other_or_fifo_with_a_priority_that_exists() {
        assert_eq!(class(&Params::default()), Ok(Class::Other));
        assert_eq!(class(&params("other")), Ok(Class::Other));
        assert_eq!(class(&params("fifo:1")), Ok(Class::Fifo(1)));
        assert_eq!(class(&params("fifo:99")), Ok(Class::Fifo(99)));
        for word in ["fifo", "fifo:0", "fifo:100", "fifo:-1", "fifo:1.5", "rr:1", ""] {
            let reason = class(&params(word)).expect_err(word);
            assert_eq!(reason.cause, Cause::Contradiction);
            assert!(reason.text.contains("a priority N from 1 to 99"), "{reason}");
        }
    }

    #[test]
    fn fifo_without_the_privilege_is_denied_before_a_part_prepares_anything() {
        let hard = getrlimit(Resource::Rtprio).maximum;
        setrlimit(Resource::Rtprio, Rlimit { current: Some(0), maximum: hard })
            .expect("lowering is always allowed");
        let prepared = thread::spawn(|| {
            let mut sets = capabilities(None).expect("our own capabilities");
            sets.effective -= CapabilitySet::SYS_NICE;
            set_capabilities(None, sets).expect("dropping is always allowed");
            let about = &crate::toy::ABOUT;
            let budget = crate::budget(&about.defaults()).expect("a budget");
            let case = Case::new(about, "n1", Subject::node(), &params("fifo:1"), budget);
            let place = PartPlacement::new("worker", 0, "n1", Vec::new());
            let part = Part::new(&case, &place, |_, _| panic!("prepares"));
            part.prepare().map(drop)
        });
        let error = prepared.join().expect("joined").expect_err("denied");
        assert_eq!(error.cause, Cause::Denied);
        assert!(error.text.starts_with("sched_setscheduler to fifo:1: Operation not permitted"), "{error}");
        assert!(error.text.ends_with("or measure with -p sched=other"), "{error}");
    }
}
