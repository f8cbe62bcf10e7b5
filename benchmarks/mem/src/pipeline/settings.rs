//! The parameters as types.

use std::str::FromStr;

use seatrial_model::{Cause, ParamError, Params, Reason};
use seatrial_sys::sched::Class;

use super::scenario::Scenario;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Paced,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    Core,
    Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Enough blocks to exceed the caches.
    Rotate,
    /// The same block again and again.
    One,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub scenario: Scenario,
    pub mode: Mode,
    pub threads: Threads,
    pub blocks: Blocks,
    pub class: Class,
}

impl Settings {
    /// Parses `params`; words that only this benchmark can check fail with cause `contradiction`, a usage error.
    pub fn of(params: &Params) -> Result<Self, Reason> {
        let missing = |error: ParamError| Reason::new(Cause::Protocol, error.to_string());
        let word = |name: &str| params.text(name).map_err(missing);
        Ok(Self {
            scenario: Scenario::shipped(word("scenario")?)
                .map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?,
            mode: if word("mode")? == "max" { Mode::Max } else { Mode::Paced },
            threads: if word("threads")? == "step" { Threads::Step } else { Threads::Core },
            blocks: if word("blocks")? == "one" { Blocks::One } else { Blocks::Rotate },
            class: class(word("sched")?)?,
        })
    }
}

fn class(word: &str) -> Result<Class, Reason> {
    let priority = word.strip_prefix("fifo:").and_then(|number| u8::from_str(number).ok());
    match (word, priority) {
        ("other", _) => Ok(Class::Other),
        (_, Some(priority @ 1..=99)) => Ok(Class::Fifo(priority)),
        _ => {
            let text = format!("sched={word} is neither 'other' nor 'fifo:N' with a priority N from 1 to 99");
            Err(Reason::new(Cause::Contradiction, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_other_or_fifo_with_a_priority_that_exists() {
        assert_eq!(class("other"), Ok(Class::Other));
        assert_eq!(class("fifo:1"), Ok(Class::Fifo(1)));
        assert_eq!(class("fifo:99"), Ok(Class::Fifo(99)));
        for word in ["fifo", "fifo:0", "fifo:100", "fifo:-1", "fifo:1.5", "rr:1", ""] {
            let reason = class(word).expect_err(word);
            assert_eq!(reason.cause, Cause::Contradiction);
            assert!(reason.text.contains("a priority N from 1 to 99"), "{reason}");
        }
    }
}
